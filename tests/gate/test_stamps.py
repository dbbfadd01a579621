"""What tells that a file may have changed since it was read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from indelible.gate.stamps import RACY_NS, is_racy, stamp_of

if TYPE_CHECKING:
    from pathlib import Path

READ = 1_800_000_000_000_000_000


@pytest.mark.parametrize(
    ("before", "racy"), [(0, True), (20_000_001, True), (RACY_NS, True), (RACY_NS + 1, False), (-5, True)]
)
def test_a_file_written_shortly_before_it_was_read_may_change_without_a_trace(before: int, racy: bool) -> None:
    old = READ - 10 * RACY_NS
    assert is_racy((1, READ - before, old, 7), READ) is racy
    assert is_racy((1, old, READ - before, 7), READ) is racy


def test_a_stamp_changes_with_what_is_written(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("one")
    first = stamp_of(path.stat())
    assert stamp_of(path.stat()) == first
    os.utime(path, ns=(1, 1))
    assert stamp_of(path.stat()) != first
