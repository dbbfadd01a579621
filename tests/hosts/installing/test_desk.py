"""Files of others, replaced whole: links are followed, modes are kept, and what cannot be read is refused by name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from indelible.errors import ConflictError, UsageError
from indelible.hosts.installing.desk import MAX_FILE, Desk

posix = pytest.mark.skipif(os.name != "posix", reason="links and modes are POSIX ones")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(str(tmp_path / "state"), None)


def test_nothing_is_written_before_it_is_laid_down(desk: Desk, tmp_path: Path) -> None:
    desk.write(str(tmp_path / "a"), b"1")
    assert desk.read(str(tmp_path / "a")) == b"1"
    assert not (tmp_path / "a").exists()
    (laid,) = desk.lay_down()
    assert (tmp_path / "a").read_bytes() == b"1"
    assert laid.backup is None


@posix
def test_a_link_to_a_dotfile_is_followed_and_the_file_keeps_its_mode(desk: Desk, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "settings.json"
    real.parent.mkdir()
    real.write_bytes(b"old")
    real.chmod(0o640)
    (tmp_path / "link").symlink_to("dotfiles/settings.json")
    (tmp_path / "second").symlink_to("link")
    desk.write(str(tmp_path / "second"), b"new")
    (laid,) = desk.lay_down()
    assert real.read_bytes() == b"new"
    assert real.stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "second").is_symlink()
    assert (tmp_path / "link").is_symlink()
    assert laid.backup is not None
    assert Path(laid.backup).read_bytes() == b"old"
    assert os.stat(laid.backup).st_mode & 0o777 == 0o600
    assert os.listdir(real.parent) == ["settings.json"], "nothing is left beside it"


@posix
def test_links_in_a_circle_and_links_to_nothing_are_refused(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    (tmp_path / "c").symlink_to("nowhere")
    for name in ("a", "c"):
        with pytest.raises(UsageError, match=f"{name} is a link"):
            desk.read(str(tmp_path / name))


@posix
def test_in_a_project_no_link_leads_out_of_it(tmp_path: Path) -> None:
    inside, outside = tmp_path / "project", tmp_path / "private"
    inside.mkdir()
    outside.mkdir()
    (outside / "settings.json").write_bytes(b"{}")
    (inside / ".claude").symlink_to(outside)
    (inside / "CLAUDE.md").symlink_to("../private/settings.json")
    (inside / "AGENTS.md").symlink_to("docs.md")
    (inside / "docs.md").write_bytes(b"x")
    desk = Desk(str(tmp_path / "state"), str(inside))
    for name in (".claude/settings.json", ".claude/new.json", "CLAUDE.md"):
        with pytest.raises(UsageError, match="leads out of the repository"):
            desk.read(str(inside / name))
    assert desk.read(str(inside / "AGENTS.md")) == b"x", "a link within it is followed"


def test_a_folder_a_device_and_a_file_without_end_are_refused(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match="is a folder"):
        desk.read(str(tmp_path / "folder"))
    with open(tmp_path / "long", "wb") as file:
        file.truncate(MAX_FILE + 1)
    with pytest.raises(UsageError, match="has 2000001 bytes"):
        desk.read(str(tmp_path / "long"))
    if os.name == "posix":
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(UsageError, match="no plain file"):
            desk.read(str(tmp_path / "pipe"))


def test_a_file_that_somebody_changed_meanwhile_is_left_alone(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"1")
    desk.write(str(path), b"2")
    path.write_bytes(b"theirs")
    with pytest.raises(ConflictError, match="meanwhile"):
        desk.lay_down()
    assert path.read_bytes() == b"theirs"


def test_a_file_is_taken_away_and_kept_aside(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"1")
    desk.write(str(path), None)
    (laid,) = desk.lay_down()
    assert not path.exists()
    assert laid.backup is not None
    assert Path(laid.backup).read_bytes() == b"1"


def test_what_was_laid_down_is_put_back_where_another_file_cannot_be(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1")
    (tmp_path / "c").write_bytes(b"3")
    for name in ("a", "b", "c"):
        desk.write(str(tmp_path / name), b"new")
    (tmp_path / "c").write_bytes(b"theirs")
    with pytest.raises(ConflictError):
        desk.lay_down()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == {
        "a": b"1",
        "c": b"theirs",
    }
