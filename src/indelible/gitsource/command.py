"""Running git: as a reader, without prompts, pager, hooks or helpers that a repository could name, and not for ever.

Whatever a surrounding git command left in the environment (GIT_DIR, GIT_INDEX_FILE: we may run inside a hook) is taken
out, and what is said to us alone (INDELIBLE_…: where a passphrase lies), since git starts the filters that a repository names; what says how this user reaches servers (ssh, proxies, certificates, configuration) stays.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from contextlib import contextmanager, suppress

from indelible.errors import NotFoundError, Unchecked, UsageError
from indelible.light import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import IO, Self

PIECE = 1 << 16
"""Bytes of a stream that are in memory at once."""

_KEPT = re.compile(
    r"GIT_(?:CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+)|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM|"
    r"EXEC_PATH|SSH|SSH_COMMAND|SSH_VARIANT|SSL_\w+|PROXY_\w+|HTTP_\w+)"
)
_DROPPED = ("LANGUAGE", "PAGER", "SSH_ASKPASS")
_QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "GCM_INTERACTIVE": "never",
    "SSH_ASKPASS_REQUIRE": "never",
    "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
    "LC_ALL": "C",
    "GIT_GRAFT_FILE": os.devnull,  # whoever may write in .git could cut the history short with one
}
_SETTINGS = (
    "core.quotePath=false",
    "core.askPass=",
    "safe.bareRepository=all",  # our own copies of remotes are bare
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    "log.showSignature=false",
    "gc.auto=0",
    "maintenance.auto=false",
)
_CREDENTIALS = re.compile(r"//[^/@\s]+@")


class GitMissing(Unchecked):
    """There is no git on this machine."""

    slug = "git-missing"


class GitFailed(Unchecked):
    """Git could not do it, or not in the time allowed: nothing is known."""

    slug = "git-failed"


class NoSuchBranch(NotFoundError):
    """The recorded branch is not there any more."""

    slug = "git-branch-gone"


class NoSuchPath(NotFoundError):
    """The branch has no such file."""

    slug = "git-path-gone"


class NoSuchVersion(NotFoundError):
    """No version of the file that git knows has the recorded digest."""

    slug = "git-digest-unknown"


class NoRepository(UsageError):
    """No repository stands behind the file or the recorded source."""

    slug = "git-no-repository"


class Ended(NamedTuple):
    """A git command that has ended."""

    code: int
    out: bytes
    fault: str
    """The line in which git says what is wrong, without credentials."""
    err: bytes = b""
    """All that it said beside its answer. May name files and servers: for judging, never for showing."""


class Git:
    """Git with a clean environment and one time limit for all that is asked of it.

    Args:
        environ: the environment of this process.
        timeout: seconds, from now on.
        variables: what its environment has besides, or instead.
        settings: what it is set to besides, each as `name=value`.
        slow: what to do where the time was not enough.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        timeout: float,
        *,
        variables: Mapping[str, str] | None = None,
        settings: tuple[str, ...] = (),
        slow: str = "Try again with a better connection",
    ) -> None:
        kept = {
            name: value
            for name, value in environ.items()
            if name not in _DROPPED
            and not name.startswith("INDELIBLE_")
            and (not name.startswith("GIT_") or _KEPT.fullmatch(name))
        }
        self._environ = {**kept, **_QUIET, **(variables or {})}
        self._settings = (*_SETTINGS, *settings)
        self._timeout = timeout
        self._slow = slow
        self._ends = time.monotonic() + timeout

    def run(self, folder: str, *args: str, stdin: bytes = b"") -> Ended:
        """Run git in `folder`. How it ended is for the caller to judge.

        Raises:
            GitMissing: there is none. GitFailed: it took too long, or cannot be started there.
        """
        return self.begin(folder, *args).end(stdin)

    def begin(self, folder: str, *args: str) -> Running:
        """Start git in `folder`, to be ended later: beside other work.

        Raises:
            GitMissing: there is none. GitFailed: it cannot be started there.
        """
        return Running(self, self._start(folder, args, subprocess.PIPE), folder, args)

    def stream(self, folder: str, *args: str, stdin: bytes = b"") -> Iterator[bytes]:
        """What git prints, piece by piece and never whole in memory, where it has to succeed.

        Raises:
            GitFailed: it did not, which may show only after the last piece.
        """
        from tempfile import TemporaryFile
        from threading import Timer

        with TemporaryFile() as errors:  # a pipe that nobody empties would stop it
            process = self._start(folder, args, errors)
            watch = Timer(self.left(), _kill, (process,))
            watch.start()
            try:
                yield from _pieces(process, stdin)
            finally:
                watch.cancel()
                _end(process)
            if process.returncode:
                errors.seek(0)
                raise self.late(args) if not self.left() else _failed(folder, _fault(errors.read(1 << 16)))

    @contextmanager
    def talk(self, folder: str, *args: str) -> Iterator[Talk]:
        """Git as somebody who is asked and answers, until the `with` ends.

        Raises:
            GitMissing: there is none. GitFailed: it cannot be started there.
        """
        from threading import Timer

        process = self._start(folder, args, subprocess.PIPE)
        watch = Timer(self.left(), _kill, (process,))
        watch.start()
        talk = Talk(self, process, folder, args)
        try:
            yield talk
        finally:
            watch.cancel()
            talk.end()

    def left(self) -> float:
        """Seconds of the time allowed."""
        return max(0.0, self._ends - time.monotonic())

    def late(self, args: tuple[str, ...]) -> GitFailed:
        """The error where the time was not enough."""
        name = next((arg for arg in args if not arg.startswith("-") and "=" not in arg), "git")
        return GitFailed(f"Git took longer than {self._timeout:g} s ({name})", remedy=self._slow)

    def must(self, folder: str, *args: str, stdin: bytes = b"") -> bytes:
        """What git prints, where it has to succeed.

        Raises:
            GitFailed: it did not.
        """
        return self.begin(folder, *args).must(stdin)

    def line(self, folder: str, *args: str) -> str:
        """The one line that git prints; empty where it fails."""
        ended = self.run(folder, *args)
        return "" if ended.code else os.fsdecode(ended.out.removesuffix(b"\n"))

    def _start(self, folder: str, args: tuple[str, ...], errors: int | IO[bytes]) -> subprocess.Popen[bytes]:
        command = ["git", "--no-pager", "--no-replace-objects", "--no-optional-locks", "--literal-pathspecs"]
        command += [part for setting in self._settings for part in ("-c", setting)]
        command += args
        try:
            return subprocess.Popen(
                command,
                cwd=folder,
                env=self._environ,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,  # no terminal to prompt on, and one group to end
            )
        except (FileNotFoundError, NotADirectoryError, PermissionError) as exc:
            if not os.path.isdir(folder):
                raise NoRepository(f"{folder} is not a folder", folder=folder) from exc
            raise GitMissing(
                "Git is not installed, or not on the PATH", remedy="Install git, or restore from a file"
            ) from exc
        except (OSError, ValueError) as exc:
            raise GitFailed(f"Git cannot be started in {folder} ({exc})", folder=folder) from exc


class Running:
    """A git command that was begun. Leaving its `with` stops it if it has not ended by then."""

    def __init__(self, git: Git, process: subprocess.Popen[bytes], folder: str, args: tuple[str, ...]) -> None:
        self._git, self._process, self._folder, self._args = git, process, folder, args

    def end(self, stdin: bytes = b"") -> Ended:
        """Wait for it. How it ended is for the caller to judge.

        Raises:
            GitFailed: it took too long.
        """
        try:
            out, err = self._process.communicate(stdin, timeout=self._git.left())
        except subprocess.TimeoutExpired as exc:
            raise self._git.late(self._args) from exc
        finally:
            _end(self._process)
        return Ended(self._process.returncode, out, _fault(err), err)

    def must(self, stdin: bytes = b"") -> bytes:
        """What it prints, where it has to succeed.

        Raises:
            GitFailed: it did not.
        """
        ended = self.end(stdin)
        if ended.code:
            raise _failed(self._folder, ended.fault)
        return ended.out

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        _end(self._process)


class Talk:
    """A git command that answers what it is asked. Its errors are read meanwhile: a pipe that nobody empties would stop it."""

    def __init__(self, git: Git, process: subprocess.Popen[bytes], folder: str, args: tuple[str, ...]) -> None:
        from threading import Thread

        self._git, self._process, self._folder, self._args = git, process, folder, args
        self._said: list[bytes] = []
        self._listener = Thread(target=self._listen, daemon=True)
        self._listener.start()

    def ask(self, data: bytes) -> None:
        """Hand something in; no more at once than a pipe takes while git waits for its answers to be read.

        Raises:
            GitFailed: it has ended.
        """
        try:
            if self._process.stdin is not None:
                self._process.stdin.write(data)
                self._process.stdin.flush()
        except BrokenPipeError:
            raise self._over() from None

    def line(self) -> bytes:
        """The next line, without its end.

        Raises:
            GitFailed: it has ended, or took too long.
        """
        line = self._process.stdout.readline() if self._process.stdout is not None else b""
        if not line.endswith(b"\n"):
            raise self._over()
        return line[:-1]

    def take(self, size: int) -> bytes:
        """So many bytes.

        Raises:
            GitFailed: it ended before, or took too long.
        """
        data = self._process.stdout.read(size) if self._process.stdout is not None else b""
        if len(data) != size:
            raise self._over()
        return data

    def end(self) -> None:
        """Stop it."""
        if self._process.poll() is None:
            _kill(self._process)
            self._process.wait()
        self._listener.join()
        if self._process.stdin is not None:
            with suppress(BrokenPipeError):  # what it did not take any more
                self._process.stdin.close()
        _end(self._process)

    def _listen(self) -> None:
        if self._process.stderr is not None:
            while piece := self._process.stderr.read(PIECE):
                self._said = [*self._said, piece][:4]

    def _over(self) -> GitFailed:
        self.end()
        return (
            self._git.late(self._args) if not self._git.left() else _failed(self._folder, _fault(b"".join(self._said)))
        )


def _failed(folder: str, fault: str) -> GitFailed:
    return GitFailed(f"Git could not do it in {folder} ({fault})", remedy="Try 'git fsck' there", folder=folder)


def _pieces(process: subprocess.Popen[bytes], stdin: bytes) -> Iterator[bytes]:
    if process.stdin is None or process.stdout is None:
        return
    with suppress(BrokenPipeError):
        process.stdin.write(stdin)
        process.stdin.close()
    while piece := process.stdout.read(PIECE):
        yield piece
    process.wait()


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End git and what it started: ssh or a remote helper would outlive it."""
    if process.poll() is None:
        _kill(process)
        process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def _fault(err: bytes) -> str:
    lines = [line.strip() for line in err.decode("utf-8", "replace").splitlines() if line.strip()]
    marked = [line for line in lines if line.startswith(("fatal:", "error:", "ssh:", "git:"))]
    text = (marked or lines or ["no reason given"])[0].removeprefix("fatal: ")
    return "".join(letter if letter.isprintable() else "?" for letter in _CREDENTIALS.sub("//", text))[:300]
