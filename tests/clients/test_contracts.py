"""The contracts themselves, against the clients: with `VERSION=latest` these tests say what a new version has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.clients.drivers.codex import Codex
from tests.clients.living import Home
from tests.clients.model import Script
from tests.clients.record import record
from tests.clients.seat import only_with_clients
from tests.clients.wires import Turn

from indelible.hosts.registry import HOSTS

if TYPE_CHECKING:
    from tests.clients.seat import Seat

only_with_clients()

ONLY_WITH_A_CHILD = {"SubagentStart", "SubagentStop", "subagentStart", "subagentStop"}
"""Events that the recorded session has no occasion for."""


def test_every_event_that_we_answer_is_really_sent(seat: Seat) -> None:
    host = next(host for host in HOSTS if host.name == seat.driver.host)
    sent = {one["event"] for one in record(seat.clients, seat.driver, seat.box, seat.model)}
    assert {one.name for one in host.hooked} - ONLY_WITH_A_CHILD <= sent


def test_every_event_names_its_session_and_its_folder(seat: Seat) -> None:
    for one in record(seat.clients, seat.driver, seat.box, seat.model):
        text = str(one["sent"])
        assert str(seat.box.project) in text or seat.driver.host == "opencode", one["event"]
        assert any(name in text for name in ("session_id", "sessionId", "sessionID")), one["event"]


def test_the_client_leaves_this_machine_alone(seat: Seat) -> None:
    home = Home(seat)
    home.attempt(seat.driver.shell("echo hello"))
    assert [request.path for request in seat.model.requests if request.via == "stray"] == []
    assert isinstance(seat.driver, Codex) or seat.model.conversation


def test_what_is_uninstalled_leaves_the_client_as_it_was(seat: Seat) -> None:
    seat.indelible("init")
    before = seat.box.git("status", "--short", "--untracked-files=all"), files_of(seat)
    seat.indelible("hooks", "install", "--host", seat.driver.host)
    assert files_of(seat) != before[1]
    seat.indelible("hooks", "uninstall", "--host", seat.driver.host)
    assert (seat.box.git("status", "--short", "--untracked-files=all"), files_of(seat)) == before
    seat.run(Script([Turn("DONE")]), "good morning")
    assert not seat.model.saying("Governance")


def files_of(seat: Seat) -> dict[str, bytes]:
    """Every file of the home and the project, but for the product's own."""
    return {
        str(path): path.read_bytes()
        for folder in (seat.box.home, seat.box.project)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not {"indelible", ".indelible", ".git"} & set(path.parts)
    }
