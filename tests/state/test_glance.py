"""What the last boot came to, as it is kept for a status line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from indelible.state import glance
from indelible.state.glance import Glance

if TYPE_CHECKING:
    from pathlib import Path

STAMPS = (("00_governance.md", 1, 59, 3, 4, 33060, 1), ("2026 notes, 한국.md", 5, 6, 7, 8))


@pytest.mark.parametrize("kept", [
    Glance("booted", 6, 1, "", STAMPS), Glance("tampered", 0, 0, "slot-edited 20_plan_approved.md", ()), Glance("no-state", 0, 0, "", ()),
])  # fmt: skip
def test_what_is_noted_is_read_again(kept: Glance, tmp_path: Path) -> None:
    glance.note(str(tmp_path), "/a place", kept)
    assert glance.last(str(tmp_path), "/a place") == kept
    assert glance.last(str(tmp_path), "/another") is None


@pytest.mark.parametrize(
    "content", [b"", b"x", b"booted a b\n\n", b"booted 1 1\n\nno numbers\n", b"\xff\xfe", b'{"slug": "booted"}']
)
def test_a_damaged_note_is_none(content: bytes, tmp_path: Path) -> None:
    glance.note(str(tmp_path), "/a place", Glance("booted", 6, 1, "", STAMPS))
    (path,) = (tmp_path / "glances").iterdir()
    path.write_bytes(content)
    assert glance.last(str(tmp_path), "/a place") is None


def test_a_line_stays_a_line(tmp_path: Path) -> None:
    glance.note(str(tmp_path), "/a place", Glance("tampered", 0, 0, "two\nlines", (("a\nb", 1),)))
    assert glance.last(str(tmp_path), "/a place") == Glance("tampered", 0, 0, "two lines", (("a b", 1),))


def test_files_that_changed_or_came_or_went_are_stale() -> None:
    then = Glance("booted", 2, 0, "", STAMPS)
    assert then.stale(STAMPS) == 0
    assert then.stale(STAMPS[:1]) == 1
    assert then.stale((*STAMPS, ("new", 1))) == 1
    assert then.stale((("00_governance.md", 2), STAMPS[1])) == 1
