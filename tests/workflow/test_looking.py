"""Digests of files: every byte counts, nothing outside of the checkout is read, and nothing is waited for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from indelible.workflow import looking
from indelible.workflow.looking import CannotLook, digest_of_glob, digest_of_path

if TYPE_CHECKING:
    from pathlib import Path

posix = pytest.mark.skipif(os.name == "nt", reason="links and pipes of POSIX")


def test_a_file_has_the_digest_of_its_bytes(tmp_path: Path) -> None:
    from hashlib import sha256

    (tmp_path / "메모.txt").write_bytes(b"x" * 3_000_000)
    assert digest_of_path(str(tmp_path), "메모.txt") == sha256(b"x" * 3_000_000).hexdigest()
    assert digest_of_path(str(tmp_path), "nothing") == ""
    assert digest_of_path(str(tmp_path), "메모.txt/below") == ""


@posix
def test_a_pipe_is_not_waited_for_and_a_folder_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(CannotLook):
            digest_of_path(str(tmp_path), name)


@posix
def test_a_link_counts_as_the_text_that_it_holds(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    top = tmp_path / "top"
    top.mkdir()
    (top / "link").symlink_to("../secret")
    first = digest_of_path(str(top), "link")
    (tmp_path / "secret").write_text("y")
    assert digest_of_path(str(top), "link") == first
    (top / "link").unlink()
    (top / "link").symlink_to("../other")
    assert digest_of_path(str(top), "link") != first


@posix
def test_nothing_is_read_through_a_folder_that_is_a_link(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x.py").write_text("x")
    top = tmp_path / "top"
    top.mkdir()
    (top / "in").symlink_to("../outside")
    with pytest.raises(CannotLook):
        digest_of_path(str(top), "in/x.py")
    with pytest.raises(CannotLook):
        digest_of_glob(str(top), "in/*.py")
    link = digest_of_glob(str(top), "**")
    (tmp_path / "outside" / "y.py").write_text("y")
    assert digest_of_glob(str(top), "**") == link


def test_a_glob_sees_what_is_added_taken_away_renamed_and_edited(tmp_path: Path) -> None:
    top = str(tmp_path)
    (tmp_path / "src").mkdir()
    assert digest_of_glob(top, "src/**/*.py") == ""
    seen = set()
    for name, text in (("a.py", "1"), ("b.py", "1"), ("a.py", "2")):
        (tmp_path / "src" / name).write_text(text)
        seen.add(digest_of_glob(top, "src/**/*.py"))
    (tmp_path / "src" / "b.py").rename(tmp_path / "src" / "c.py")
    seen.add(digest_of_glob(top, "src/**/*.py"))
    assert len(seen) == 4
    (tmp_path / "src" / "note.txt").write_text("x")
    (tmp_path / ".indelible").mkdir()
    (tmp_path / ".indelible" / "x.py").write_text("x")
    assert digest_of_glob(top, "src/**/*.py") in seen
    assert digest_of_glob(top, "**/*.py") in seen


def test_too_many_files_are_said_and_not_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "MOST_FILES", 3)
    for name in "abcd":
        (tmp_path / name).write_text(name)
    with pytest.raises(CannotLook, match="more than 3"):
        digest_of_glob(str(tmp_path), "*")


@posix
@pytest.mark.skipif(os.name == "posix" and os.geteuid() == 0, reason="modes stop nobody here")
def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x")
    (tmp_path / "x").chmod(0)
    with pytest.raises(CannotLook):
        digest_of_path(str(tmp_path), "x")
