"""Key files: whole or not there, private, and every fault one plain sentence that does not show the key."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest

from indelible.errors import Busy, DiskFull, NotSaved, ReadOnly, UsageError
from indelible.keys import files

if TYPE_CHECKING:
    from pathlib import Path

posix = pytest.mark.skipif(os.name != "posix", reason="file modes and links")
as_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
SECRET = "PRIVATE+KEY+a+00000000+AQSECRET"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "a.key"
    assert files.create(str(file), SECRET)
    return file


def fault_of(path: Path, *, private: bool = True) -> str:
    with pytest.raises(UsageError) as caught:
        files.read_key(str(path), private=private)
    told = str(caught.value)
    assert str(path) in told
    assert caught.value.remedy
    assert "SECRET" not in told + repr(caught.value.facts)
    return told


def test_what_was_written_is_read_again(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == f"{SECRET}\n"
    assert files.read_key(str(path), private=True) == SECRET
    files.replace(str(path), "other")
    assert files.read_key(str(path), private=True) == "other"
    assert os.listdir(path.parent) == ["a.key"]


@posix
def test_a_key_file_is_for_its_owner_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        files.create(str(tmp_path / "new" / "sub" / "a.key"), SECRET)
    finally:
        os.umask(before)
    modes = [
        path.stat().st_mode & 0o777 for path in (tmp_path / "new", tmp_path / "new/sub", tmp_path / "new/sub/a.key")
    ]
    assert modes == [0o700, 0o700, 0o600]


def test_a_key_file_that_is_there_is_never_written_over(path: Path) -> None:
    assert not files.create(str(path), "other")
    assert files.read_key(str(path), private=True) == SECRET
    assert os.listdir(path.parent) == ["a.key"]


@posix
def test_creating_does_not_follow_a_link(tmp_path: Path) -> None:
    (tmp_path / "a.key").symlink_to(tmp_path / "elsewhere")
    assert not files.create(str(tmp_path / "a.key"), SECRET)
    assert not (tmp_path / "elsewhere").exists()


@posix
def test_creating_works_where_there_are_no_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    assert files.create(str(tmp_path / "a.key"), SECRET)
    assert not files.create(str(tmp_path / "a.key"), "other")
    assert files.read_key(str(tmp_path / "a.key"), private=True) == SECRET


@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_newlines_at_the_end_do_not_matter(end: str, path: Path) -> None:
    path.write_bytes(f"{SECRET}{end}".encode())
    assert files.read_key(str(path), private=True) == SECRET


@pytest.mark.parametrize(("data", "told"), [
    (b"", "is empty"),
    (b" \n", "is empty"),
    (b"\xef\xbb\xbf" + SECRET.encode(), "byte-order mark"),
    (SECRET.encode("utf-16"), "byte-order mark"),
    (SECRET.encode() + b"\r\n", "line ends of Windows"),
    (SECRET.encode() + b"\nSECRET", "does not hold a key"),
    (b"SECRET\xff", "does not hold a key"),
    (SECRET.encode() * 1000, "does not hold a key"),
])  # fmt: skip
def test_a_file_that_holds_no_single_line_of_text_is_told_apart(data: bytes, told: str, path: Path) -> None:
    path.write_bytes(data)
    assert told in fault_of(path)


@posix
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o620, 0o604, 0o610])
def test_a_private_key_that_others_can_reach_is_refused_with_the_command_that_mends_it(mode: int, path: Path) -> None:
    path.chmod(mode)
    assert f"chmod 600 {path}" in fault_of(path)


@posix
def test_a_public_key_may_be_read_by_others_but_not_changed(path: Path) -> None:
    path.chmod(0o644)
    assert files.read_key(str(path), private=False) == SECRET
    path.chmod(0o664)
    assert "to change" in fault_of(path, private=False)


@posix
def test_a_link_a_folder_and_a_pipe_are_no_key_files(path: Path) -> None:
    link, folder, pipe = path.with_name("link.key"), path.with_name("folder.key"), path.with_name("pipe.key")
    link.symlink_to(path)
    folder.mkdir()
    os.mkfifo(pipe)
    assert "symbolic link" in fault_of(link)
    assert "is a folder" in fault_of(folder)
    assert "is not a file" in fault_of(pipe)


@as_root
def test_a_key_file_of_another_account_is_refused(path: Path) -> None:
    os.chown(path, 1234, 1234)
    assert "another user" in fault_of(path)


def test_a_file_that_is_not_there_is_left_to_the_caller(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        files.read_key(str(tmp_path / "none"), private=True)


@pytest.mark.parametrize(("number", "kind"), [
    (errno.ENOSPC, DiskFull), (errno.EROFS, ReadOnly), (errno.EACCES, ReadOnly), (errno.EIO, NotSaved),
])  # fmt: skip
def test_what_could_not_be_written_leaves_nothing_behind(
    number: int, kind: type[NotSaved], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(kind) as caught:
        files.create(str(tmp_path / "a.key"), SECRET)
    assert type(caught.value) is kind
    assert os.listdir(tmp_path) == []


@posix
def test_a_file_is_on_the_disk_before_its_name_and_the_name_before_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    fsync, link = os.fsync, os.link

    def seen_fsync(descriptor: int) -> None:
        steps.append("folder" if os.path.isdir(f"/proc/self/fd/{descriptor}") else "file")
        fsync(descriptor)

    def seen_link(source: str, target: str) -> None:
        steps.append("link")
        link(source, target)

    monkeypatch.setattr(os, "fsync", seen_fsync)
    monkeypatch.setattr(os, "link", seen_link)
    files.create(str(tmp_path / "a.key"), SECRET)
    assert steps == (["file", "link", "folder"] if os.path.isdir("/proc/self/fd") else ["file", "link", "file"])


def test_writers_take_turns_and_one_that_does_not_end_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_PAUSE", 0.0)
    with files.locked(str(tmp_path)), pytest.raises(Busy), files.locked(str(tmp_path)):
        pass
    with files.locked(str(tmp_path)):
        pass


def test_what_a_killed_writer_left_is_swept_by_the_next(tmp_path: Path) -> None:
    code = textwrap.dedent("""
        import os, sys
        from indelible.keys import files
        os.link = os.rename = lambda *_: os._exit(9)
        with files.locked(sys.argv[1]):
            files.create(os.path.join(sys.argv[1], "a.key"), "SECRET")
    """)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code, tmp_path], env=env, check=False).returncode == 9
    assert any(name.startswith(".tmp-") for name in os.listdir(tmp_path))
    with files.locked(str(tmp_path)):
        assert os.listdir(tmp_path) == [".lock"]


@posix
def test_a_folder_in_which_others_may_exchange_files_takes_no_key(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(UsageError, match="chmod 700"), files.locked(str(tmp_path)):
        pass


def test_a_file_where_the_folder_should_be_is_told(path: Path) -> None:
    with pytest.raises((UsageError, NotSaved)), files.locked(str(path / "sub")):
        pass
    with pytest.raises(UsageError, match="not a folder"), files.locked(str(path)):
        pass
