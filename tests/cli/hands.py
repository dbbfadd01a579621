"""What the tests of the command line hold things with: what a command said, a store's files, and an attacker's hands."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
from tests.conftest import Ran, environment, indelible_command

from indelible.cli.main import run as run_within

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tests.conftest import Run

CASES = Path(__file__).resolve().parent.parent / "vectors" / "cases"
SIDES = ("", "-wal", "-shm")
"""A store's files, by what follows its name."""
FIRST = "# Memory\n\n- 배포 전에 체크섬을 확인한다\n".encode()
"""What `kept` holds under MEMORY.md."""


def sha256(data: bytes) -> str:
    """Hexadecimal digits, as `sha256sum` prints them."""
    return hashlib.sha256(data).hexdigest()


def within(*words: str) -> int:
    """Run a command line in this process, which saves the start of an interpreter. For what comes before a test."""
    return run_within(list(words))


def said(ran: Ran) -> dict[str, Any]:
    """The one JSON document of a command that was called with `--json`."""
    assert ran.stdout.endswith(b"\n"), ran
    document = json.loads(ran.stdout)  # raises where there is none, or more than one
    assert isinstance(document, dict)
    assert document["exit_code"] == ran.code, ran
    assert document["ok"] is (ran.code == 0), ran
    assert isinstance(document["slug"], str)
    assert document["slug"]
    assert b"Traceback" not in ran.stderr, ran.err
    return document


def refused(ran: Ran, code: int, *words: str) -> str:
    """Standard error of a command that failed with `code`, in plain words and without a traceback."""
    assert ran.code == code, ran
    assert "Traceback" not in ran.err, ran.err
    for word in words:
        assert word in ran.err, ran.err
    return ran.err


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, with its bytes; a link with where it leads."""
    found = {}
    for parent, folders, files in os.walk(folder):
        for name in (*files, *(name for name in folders if os.path.islink(os.path.join(parent, name)))):
            path = Path(parent, name)
            is_link = path.is_symlink()
            found[str(path.relative_to(folder))] = os.fsencode(os.readlink(path)) if is_link else path.read_bytes()
    return found


def script(path: Path, text: str) -> Path:
    """A shell script that can be run."""
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def git(folder: Path, *words: str) -> str:
    """Run git in a folder, and give what it said."""
    done = subprocess.run(["git", "-C", folder, *words], capture_output=True, check=True, text=True)
    return done.stdout.strip()


def start(
    *args: str | Path,
    cwd: Path,
    prefix: Iterable[str] = (),
    env: Mapping[str, str | None] | None = None,
    **options: Any,
) -> subprocess.Popen[bytes]:
    """Start the installed command and go on; `prefix` stands before it, as `nice` would."""
    streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    command = [*prefix, *indelible_command(), *map(str, args)]
    process: subprocess.Popen[bytes] = subprocess.Popen(command, cwd=cwd, env=environment(env), **(streams | options))
    return process


def ended(process: subprocess.Popen[bytes], timeout: float = 120) -> Ran:
    """Wait for a command that was started."""
    out, err = process.communicate(timeout=timeout)
    return Ran(process.returncode, out or b"", err or b"")


@dataclass(frozen=True, slots=True)
class Kept:
    """A home with a store in it, in which MEMORY.md holds `FIRST`."""

    run: Run
    home: Path
    work: Path
    store: Path

    def save(self, key: str, content: bytes, *options: str) -> str:
        """Save what a test needs to be there, and give its digest; in this process, since that is not what is tested."""
        source = self.home / "to-be-saved"
        source.write_bytes(content)
        assert within("save", *options, "--", key, str(source)) == 0
        source.unlink()
        return sha256(content)

    def load(self, key: str) -> bytes:
        """The bytes that come back."""
        ran = self.run("load", "--", key)
        assert ran.code == 0, ran
        return ran.stdout

    def file(self, name: str, content: bytes) -> Path:
        """A file in the working folder."""
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    # What an attacker can do, who can write the store's folder.

    def sql(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Raw SQL behind the store's back."""
        with closing(apsw.Connection(str(self.store))) as connection:
            return connection.execute(statement, values).fetchall()

    def alter(self, content: bytes = b"evil") -> None:
        """Put other content in place of every record's."""
        self.sql("UPDATE record SET content = ?", content)

    def copy(self, name: str = "copy") -> Path:
        """Copy every file of the store, as `cp` would."""
        folder = self.home / "copies" / name
        folder.mkdir(parents=True)
        for side in SIDES:
            if os.path.exists(f"{self.store}{side}"):
                shutil.copy2(f"{self.store}{side}", folder / f"store{side}")
        return folder

    def put_back(self, copy: Path) -> None:
        """Put such a copy in the store's place, file by file."""
        self.remove()
        for side in SIDES:
            if (copy / f"store{side}").exists():
                shutil.copy2(copy / f"store{side}", f"{self.store}{side}")

    def remove(self) -> None:
        """Take every file of the store away."""
        for side in SIDES:
            Path(f"{self.store}{side}").unlink(missing_ok=True)

    # What happens to a reader.

    def lose_pin(self) -> None:
        """Take the state folder away, as a container that vanished does; the settings still know that there was a pin."""
        shutil.rmtree(self.home / "state")

    def be_new(self) -> None:
        """Be a reader that has never been here: neither pin nor memory of one, with the same keys."""
        self.lose_pin()
        shutil.rmtree(self.home / "config" / "indelible" / "known")

    def passphrase(self, text: str = "correct horse battery staple") -> dict[str, str]:
        """An environment that names a file with the owner's passphrase."""
        path = self.home / "passphrase"
        path.write_text(text + "\n", encoding="utf-8")
        path.chmod(0o600)
        return {"INDELIBLE_PASSPHRASE_FILE": str(path)}
