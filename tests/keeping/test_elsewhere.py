"""One store, two checkouts on two machines: what was written elsewhere is no tampering, and what was altered here still is."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest
from tests.cli.hands import git
from tests.keeping.desks import CRITIC, LAW, NEXT, STATE_OK, TICKET
from tests.serving import Served, home_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conftest import Ran, Run


class Checkout:
    """One clone of the repository on a machine of its own: `first("state", "check")`."""

    def __init__(self, root: Path, run: Run, name: str, **variables: str) -> None:
        self.work, self._run = root / name / "app", run
        cleared = {one: None for one in os.environ if one.startswith("INDELIBLE_")}
        self.environment = {**cleared, **home_of(root / name), **variables}
        (self.work / ".indelible").mkdir(parents=True)
        (self.work / ".indelible" / "config.toml").write_text('agent = "eros"\n[state]\nname = "team"\n')
        git(self.work, "init", "-q")

    def __call__(self, *words: str, content: bytes = b"") -> Ran:
        return self._run(*words, input=content, env=self.environment, cwd=self.work)

    def file(self, name: str) -> Path:
        return self.work / ".indelible" / "state" / name

    def found(self) -> dict[str, str]:
        """Slot to slug, as `state check` finds it."""
        return {one["name"]: one["slug"] for one in self("state", "check", "--json").json["findings"]}


@pytest.fixture(params=["store", "server"])
def pair(request: pytest.FixtureRequest, home: Path, run: Run) -> Iterator[tuple[Checkout, Checkout]]:
    """The machine that began, and a fresh one with its key and pin."""
    served = Served(home / "served", {}).start() if request.param == "server" else None
    place = {"INDELIBLE_STORE": served.url, "INDELIBLE_API_KEY": served.key()} if served else {"INDELIBLE_STORE": str(home / "shared" / "store.db")}  # fmt: skip
    (home / "shared").mkdir(mode=0o700)
    first = Checkout(home, run, "first", **place)
    begun = first("state", "init") if served else first("init")
    assert begun.code == 0, begun.err
    for name in (TICKET, CRITIC, NEXT):
        assert first("state", "append" if name == CRITIC else "write", name, content=STATE_OK[name]).code == 0
    pin, key = home / "eros.pin", home / "eros.key"
    assert first("checkpoint", "-o", str(pin)).code == 0
    shutil.copy(home / "first" / "config" / "indelible" / "keys" / "indelible+local+eros.key", key)
    second = Checkout(home, run, "second", **place, INDELIBLE_KEY_FILE=str(key), INDELIBLE_PIN=str(pin))
    yield first, second
    if served:
        served.stop()


def test_a_fresh_checkout_was_told_that_all_of_its_slots_had_been_removed(pair: tuple[Checkout, Checkout]) -> None:
    first, second = pair
    assert set(second.found().values()) == {"slot-absent"}
    assert second("state", "check").code == 0
    told = second("boot")
    assert told.code == 0, told.err
    assert told.out == first("boot").out
    assert second("state", "repair").code == 0
    assert second.found() == {}
    assert second.file(CRITIC).read_bytes() == first.file(CRITIC).read_bytes()


def test_what_the_other_machine_wrote_was_called_an_edit_of_this_ones_file(pair: tuple[Checkout, Checkout]) -> None:
    first, second = pair
    assert second("state", "append", CRITIC, content=b"Round 9: from the second\n").code == 0
    assert second("state", "write", NEXT, content=STATE_OK[NEXT] + b"- [ ] more\n").code == 0
    assert first.found() == {CRITIC: "slot-behind", NEXT: "slot-behind"}
    told = first("boot")
    assert told.code == 0, told.err
    assert "Round 9: from the second" in told.out
    assert first("state", "append", CRITIC, content=b"Round 10: from the first\n").code == 0
    ends = b"Round 9: from the second\nRound 10: from the first\n"
    assert first.file(CRITIC).read_bytes().endswith(ends), "it builds on what the other one wrote"
    assert first("state", "write", NEXT, content=STATE_OK[NEXT]).code == 0
    assert first.found() == {}
    assert second.found()[CRITIC] == "slot-behind"


def test_the_same_line_appended_by_both_is_there_twice(pair: tuple[Checkout, Checkout]) -> None:
    first, second = pair
    for one in (second, first):
        assert one("state", "append", CRITIC, content=b"the same\n").code == 0
    assert first.file(CRITIC).read_bytes().endswith(b"the same\nthe same\n")


def test_a_file_that_was_cut_or_removed_where_it_had_been_is_tampering_still(pair: tuple[Checkout, Checkout]) -> None:
    first, second = pair
    older = first.file(CRITIC).read_bytes()
    assert first("state", "append", CRITIC, content=b"Round 9\n").code == 0
    first.file(CRITIC).write_bytes(older)
    first.file(TICKET).unlink()
    assert first.found() == {CRITIC: "slot-cut", TICKET: "slot-removed"}
    assert first("boot").code == 2
    assert second("state", "repair").code == 0
    second.file(LAW).unlink()
    assert second.found() == {LAW: "slot-removed"}
    assert second("boot").code == 2


def test_an_older_version_than_the_one_this_folder_had_is_tampering_though_another_went_on(
    pair: tuple[Checkout, Checkout],
) -> None:
    first, second = pair
    older = first.file(CRITIC).read_bytes()
    assert first("state", "append", CRITIC, content=b"Round 9\n").code == 0
    assert second("state", "append", CRITIC, content=b"Round 10\n").code == 0
    first.file(CRITIC).write_bytes(older)
    assert first.found() == {CRITIC: "slot-cut"}


def test_a_ticket_that_was_closed_and_begun_again_elsewhere_removed_nothing_here(
    pair: tuple[Checkout, Checkout],
) -> None:
    first, second = pair
    assert second("state", "close").code == 0
    assert set(first.found().values()) == {"slot-closed"}
    assert first("state", "repair").code == 0
    assert second("state", "write", "10", content=b"# Ticket 8\n").code == 0
    assert first.found() == {TICKET: "slot-absent"}
    assert first("boot").code == 0
    assert first("state", "write", "10", content=b"# Ticket 9\n").code == 6
    assert first.file(TICKET).read_bytes() == b"# Ticket 8\n"


def test_closing_where_the_files_are_behind_takes_them_away_too(pair: tuple[Checkout, Checkout]) -> None:
    first, second = pair
    assert second("state", "append", CRITIC, content=b"Round 9\n").code == 0
    closed = first("state", "close", "--json")
    assert closed.code == 0, closed.err
    assert closed.json["left"] == []
    assert not first.file(CRITIC).exists()
