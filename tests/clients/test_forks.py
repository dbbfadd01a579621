"""A session whose children absorb 440,000 tokens, in real clients: its own context stays under 20,000, and is never compacted.

The parent and each of its children are the real client. Their models follow a script, and keep every request: what a client
absorbs is the size of the largest one that it sent, in bytes of JSON divided by four, which is more than a tokenizer counts.
The same number is what each scripted model reports as used, so that the clients decide about compaction by it.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.clients.drivers import claude, codex
from tests.clients.living import Home
from tests.clients.model import Model, Script
from tests.clients.seat import only_with_clients
from tests.clients.wires import Call, Turn
from tests.tokens import count

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.clients.model import Request, Rule
    from tests.clients.seat import Seat

only_with_clients()

STEPS = ("archaeology", "tdd", "critic", "triage")
ABSORBED, CONTEXT = 440_000, 20_000
SIZE = 56_000
"""Bytes of one file that a child reads."""
FILES = 10
RESULT = "Seven call sites; the cycle is in graph.py:88.\nNothing else depends on it."
NEXT = "Current Target: 9\\nLast Completed Step: 8\\nNext Permitted Action: commit\\n"
OURS = shutil.which("indelible", path=os.path.dirname(sys.executable)) or ""


def size_of(request: Request) -> int:
    """Of a request, in tokens of four bytes."""
    return len(json.dumps(request.body, ensure_ascii=False).encode()) // 4


def honest(turn: Turn) -> Callable[[Request], Turn]:
    """The turn, with what the request really took."""
    return lambda request: turn._replace(used=size_of(request))


def sources(box: Path) -> list[str]:
    """Files of a project that are worth not reading."""
    names = [f"module_{number}.txt" for number in range(FILES)]
    for name in names:
        line = f"{name}: value = transform(value, depth=3, mode='strict')\n"
        (box / name).write_text(line * (SIZE // len(line)), encoding="utf-8")
    return names


def child_of(seat: Seat, model: Model) -> tuple[list[str], Callable[[str], Call], Rule]:
    """The command of a child, how its model reads a file, and what would compact it."""
    driver = seat.driver
    if isinstance(driver, claude.Claude):
        words = ["-p", "look into it", "--output-format", "stream-json", "--verbose", "--allowedTools", "Bash Read"]
        env = ["env", f"ANTHROPIC_BASE_URL={model.url}"]
        return (
            [*env, *driver.program(seat.clients), *words],
            lambda name: driver.read(driver_path(seat, name)),
            claude.SUMMARY,
        )
    assert isinstance(driver, codex.Codex)
    words = ["exec", "--json", "-c", f'model_providers.scripted.base_url="{model.url}/v1"', "-c", "model_auto_compact_token_limit=900000",
             "-c", "tool_output_token_limit=40000", "look into it"]  # fmt: skip

    def read(name: str) -> Call:
        return Call("exec_command", {"cmd": f"cat {name}", "max_output_tokens": 40_000})

    return [*driver.program(seat.clients), *words], read, codex.SUMMARY


def driver_path(seat: Seat, name: str) -> str:
    return str(seat.box.project / name)


@pytest.mark.parametrize("host", ["claude_code", "codex"])
def test_children_absorb_and_the_parent_stays_small(host: str, request: pytest.FixtureRequest) -> None:
    seat: Seat = request.getfixturevalue(host)
    home, driver = Home(seat), seat.driver
    names = sources(seat.box.project)
    with Model() as theirs:
        command, read, summary = child_of(seat, theirs)
        reading = [honest(Turn(calls=(read(name),))) for name in names]
        writing = honest(Turn(calls=(driver.shell(f"printf '{NEXT}' | {OURS} state write 99"),)))
        theirs.follow(Script([*reading, writing, honest(Turn(RESULT))] * len(STEPS), rules=[summary]))
        forks = [f"{OURS} fork {step} --limit-minutes 2 -- {shlex.join(command)}" for step in STEPS]
        calls = [honest(Turn(calls=(driver.shell(fork),))) for fork in forks]
        home.seat.run(Script([*calls, honest(Turn("DONE"))], rules=[summary]), "work on the ticket")
        children = list(theirs.conversation)
    check(home, summary.name, children)


def check(home: Home, summary: str, children: list[Request]) -> None:
    parent = home.seat.model.conversation
    told = " ".join(parent[-1].texts())
    assert len(parent) == len(STEPS) + 1, told[-3000:]
    each = [children[number : number + FILES + 2] for number in range(0, len(children), FILES + 2)]
    absorbed = [max(map(size_of, one)) for one in each]
    figures = f"absorbed {absorbed}, in all {sum(absorbed)}; the parent {max(map(size_of, parent))}"
    sys.stdout.write(f"{figures}, by a tokenizer {counted(parent[-1])}\n")
    assert (len(absorbed), sum(absorbed) >= ABSORBED) == (len(STEPS), True), absorbed
    assert max(map(size_of, parent)) < CONTEXT
    assert counted(parent[-1]) < CONTEXT
    assert home.seat.model.by(summary) == []  # nobody was asked to sum the parent's context up
    assert told.count("| Seven call sites; the cycle is in graph.py:88.") == len(STEPS)
    runs = json.loads(home.seat.indelible("forks", "--json").out)["forks"]
    assert [run["name"] for run in runs] == list(STEPS)
    for run, one in zip(runs, each, strict=True):
        judge(home, run, one)
    assert "mend parse_date" in home.seat.indelible("state", "show", "99").out


def judge(home: Home, run: dict[str, Any], requests: list[Request]) -> None:
    """One child: what its client reported, its seal, and that it did not write the parent's next action."""
    assert (run["exit"], run["reason"], run["sealed"] is not None) == (0, "exited", True)
    assert run["tokens"]["input"] == sum(map(size_of, requests))
    assert run["output"]["sha256"] in " ".join(home.seat.model.conversation[-1].texts())
    assert requests[-1].says("is the parent's to do")
    home.seat.indelible("forks", "verify", run["id"])


def counted(request: Request) -> int:
    """Tokens of all that a request says, by a real tokenizer."""
    return count("\n".join(request.texts()))
