"""What `-o` named was written into the state directory, and over the store."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from tests.keeping.conftest import bare, desk

if TYPE_CHECKING:
    from tests.keeping.desks import Desk

__all__ = ["bare", "desk"]
LAW = "00_governance.md"
PLACES = {
    "a law": f".indelible/state/{LAW}",
    "a new slot": ".indelible/state/40_new.md",
    "a folder in it": ".indelible/state/folder/file",
    "the store": ".indelible/store.db",
    "its journal": ".indelible/store.db-wal",
    "through a linked folder": f"link/{LAW}",
}


@pytest.mark.parametrize("place", PLACES)
def test_a_verb_wrote_what_it_was_asked_for_over_what_is_sealed(desk: Desk, place: str) -> None:
    (desk.work / "link").symlink_to(desk.folder)
    path = desk.work / PLACES[place]
    before = path.read_bytes() if path.exists() else None
    for words in (
        ("load", "state/10_ticket.md", "-o", str(path)),
        ("checkpoint", "-o", PLACES[place]),
        ("proof", "state/10_ticket.md", "-o", str(path)),
    ):
        ran = desk.run(*words, cwd=desk.work)
        assert ran.code == 6, (words, ran)
        assert "the verbs that seal it" in ran.err
    assert (path.read_bytes() if path.exists() else None) == before
    assert desk.exit_of_check() == 0


def test_a_plugin_is_not_written_into_the_state_directory(desk: Desk) -> None:
    assert desk.run("hooks", "plugin", "claude-code", str(desk.folder / "plugin"), cwd=desk.work).code in (6, 64)
    assert not (desk.folder / "plugin").exists()


def test_keys_and_pins_are_no_place_for_it_either(desk: Desk) -> None:
    for folder in ("config", "state"):
        place = desk.home / folder / "indelible" / "planted"
        assert desk.run("checkpoint", "-o", str(place)).code == 6
        assert not os.path.lexists(place)
    assert desk.run("checkpoint", "-o", str(desk.work / "eros.pin")).code == 0
