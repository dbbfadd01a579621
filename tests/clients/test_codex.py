"""What only Codex has: hooks that it leaves out, without a word, until a person trusts them; and its own subagents."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.clients.drivers.codex import Codex
from tests.clients.living import GOVERNANCE, LAW, RIDER, Home
from tests.clients.model import Rule, Script
from tests.clients.seat import only_with_clients
from tests.clients.wires import Call, Turn

if TYPE_CHECKING:
    from tests.clients.model import Request
    from tests.clients.seat import Seat

only_with_clients()

TASK, MINE = "CHILD'S TASK: count the files", "the parent's own prompt"


def status(seat: Seat, code: int) -> Any:
    """What is said of the project's hooks."""
    told = json.loads(seat.indelible("hooks", "status", "--host", "codex", "--json", code=code).out)
    return next(one for one in told["hosts"] if one["scope"] == "project")


def driver_of(seat: Seat) -> Codex:
    assert isinstance(seat.driver, Codex)
    return seat.driver


def findable(seat: Seat) -> None:
    """Put Codex where a person has it: on the PATH."""
    seat.box.extra["PATH"] = f"{seat.box.environment()['PATH']}:{driver_of(seat).folder_of_program(seat.clients)}"


def test_hooks_that_nobody_trusted_are_reported_and_work_once_they_are_trusted(codex: Seat) -> None:
    driver = driver_of(codex)
    findable(codex)
    home = Home(codex, trusting=False)
    home.attempt(driver.shell("echo hello"))
    assert not codex.model.saying(LAW)  # left out, without a word
    told = status(codex, 1)
    assert told["trusted"] is False
    assert "'/hooks'" in told["problems"][0]
    driver.trust(codex.clients, codex.box)
    assert status(codex, 0)["trusted"] is True
    (first, *_) = home.attempt(driver.shell("echo hello"))
    assert first.says(LAW)


def test_the_installer_trusts_them_where_it_is_told_to(codex: Seat) -> None:
    findable(codex)
    home = Home(codex, trusting=False)
    codex.indelible("hooks", "install", "--host", "codex", "--trust")
    assert status(codex, 0)["trusted"] is True
    (first, *_) = home.attempt(driver_of(codex).shell("echo hello"))
    assert first.says(LAW)


def test_hooks_stay_trusted_when_they_are_installed_again(codex: Seat) -> None:
    home, driver = Home(codex), driver_of(codex)
    codex.indelible("hooks", "install", "--host", "codex")
    (first, *_) = home.attempt(driver.shell("echo hello"))
    assert first.says(LAW)


def test_a_subagent_gets_the_laws_and_cannot_change_them(codex: Seat) -> None:
    home, driver = Home(codex), driver_of(codex)
    driver.with_agents(codex.box)
    before = home.governance.read_bytes()
    rules = [
        Rule("told", "indelible state amend", Turn("refused"), lacks=MINE),
        Rule("child", TASK, Turn(calls=(driver.shell(f"echo '{RIDER}' > {GOVERNANCE}"),)), lacks=MINE),
    ]
    codex.run(Script([Turn(calls=(driver.agent(TASK),)), driver.wait, Turn("DONE")], rules=rules), MINE)
    (child, *_) = codex.model.by("child")
    assert child.says(LAW)
    assert not child.says("mend parse_date, nothing else")
    assert len(codex.model.by("told")) == 1
    assert home.governance.read_bytes() == before


def test_what_is_typed_into_a_shell_that_runs_is_found_at_the_next_write(codex: Seat) -> None:
    """Codex asks no hook about `write_stdin`: the file is changed, and nothing more is written until that is made good."""
    home, driver = Home(codex), driver_of(codex)
    typed = f"chmod u+w {GOVERNANCE}; echo '{RIDER}' > {GOVERNANCE}; exit\n"

    def type_it(request: Request) -> Turn:
        session = int(request.finds(r"session ID ([0-9]+)"))
        return Turn(calls=(Call("write_stdin", {"session_id": session, "chars": typed}),))

    open_shell = Call("exec_command", {"cmd": "bash", "tty": True, "yield_time_ms": 500})
    write = driver.write("note.txt", "one\n")
    codex.run(Script([Turn(calls=(open_shell,)), type_it, Turn(calls=(write,)), Turn("DONE")]), "go on")
    assert RIDER in home.governance.read_text(encoding="utf-8")
    assert not (codex.box.project / "note.txt").exists()
    assert codex.model.conversation[-1].says("is not what was sealed")
