"""Names in an index's folder: which are ours, and whose process is gone."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from indelible.recall import leftovers

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def dead() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def names(folder: Path) -> set[str]:
    return {one.name for one in folder.iterdir()}


def test_files_of_a_dead_process_go_and_those_of_a_living_one_stay(tmp_path: Path, dead: int) -> None:
    mine = {f".tmp-segment-{os.getpid()}-ab", f"{leftovers.segment_name()}.part0", leftovers.segment_name()}
    others = {f".tmp-vectors-{dead}-ab", f"seg-{dead:08x}00000000.idx", f"seg-{dead:08x}00000000.idx.part3"}
    named = f"seg-{dead:08x}11111111.idx"
    for name in (*mine, *others, named):
        (tmp_path / name).write_bytes(b"x")
    leftovers.tidy(str(tmp_path), {named})
    assert names(tmp_path) == mine | {named}


def test_what_is_old_goes_though_its_process_lives(tmp_path: Path) -> None:
    for name, age in (
        (leftovers.segment_name(), leftovers.UNNAMED),
        (f".tmp-segment-{os.getpid()}-ab", leftovers.LEFT_OVER),
    ):
        (tmp_path / name).write_bytes(b"x")
        os.utime(tmp_path / name, (1, os.stat(tmp_path / name).st_mtime - age - 1))
    leftovers.tidy(str(tmp_path), ())
    assert names(tmp_path) == set()


def test_foreign_files_are_never_taken_away(tmp_path: Path) -> None:
    foreign = {"notes.txt", ".tmp-old", "seg-short.idx", "seg-0123456789ABCDEF.idx", "index.db.bak", "sub"}
    for name in foreign - {"sub"}:
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / "sub").mkdir()
    leftovers.tidy(str(tmp_path), ())
    leftovers.drop_folder(str(tmp_path))
    assert names(tmp_path) == foreign


def test_a_folder_that_is_a_link_is_not_gone_through(tmp_path: Path, dead: int) -> None:
    there = tmp_path / "there"
    there.mkdir()
    (there / "index.db").write_bytes(b"x")
    (tmp_path / "link").symlink_to(there)
    (tmp_path / f"a.index.{dead}.check").symlink_to(there)
    leftovers.drop_all(str(tmp_path / "link"))
    leftovers.tidy_checks(str(tmp_path / "a.index"))
    assert names(there) == {"index.db"}


def test_checks_of_dead_processes_go_with_what_is_in_them(tmp_path: Path, dead: int) -> None:
    gone, lives = tmp_path / f"a.index.{dead}.check", tmp_path / f"a.index.{os.getpid()}.check"
    other = tmp_path / f"b.index.{dead}.check"
    for folder in (gone, lives, other):
        folder.mkdir()
        (folder / f"seg-{dead:08x}00000000.idx").write_bytes(b"secret")
        (folder / "index.db").write_bytes(b"secret")
    leftovers.tidy_checks(str(tmp_path / "a.index"))
    assert names(tmp_path) == {lives.name, other.name}


@pytest.mark.parametrize("pid", [0, -1, 1 << 31, 0xFEDCBA98])
def test_what_is_no_process_number_lives_not(pid: int) -> None:
    assert not leftovers.lives(pid)
    assert leftovers.lives(os.getpid())
