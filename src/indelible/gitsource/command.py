"""Running git: as a reader, without prompts, pager, hooks or helpers that a repository could name, and not for ever.

Whatever a surrounding git command left in the environment (GIT_DIR, GIT_INDEX_FILE: we may run inside a hook) is taken
out; what says how this user reaches servers (ssh, proxies, certificates, configuration) stays.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from indelible.errors import NotFoundError, Unchecked, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

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


@dataclass(frozen=True, slots=True)
class Ended:
    """A git command that has ended."""

    code: int
    out: bytes
    fault: str
    """The line in which git says what is wrong, without credentials."""


class Git:
    """Git with a clean environment and one time limit for all that is asked of it.

    Args:
        environ: the environment of this process.
        timeout: seconds, from now on.
        variables: what its environment has besides, or instead.
    """

    def __init__(self, environ: Mapping[str, str], timeout: float, *, variables: Mapping[str, str] | None = None) -> None:
        kept = {
            name: value
            for name, value in environ.items()
            if name not in _DROPPED and (not name.startswith("GIT_") or _KEPT.fullmatch(name))
        }
        self._environ = {**kept, **_QUIET, **(variables or {})}
        self._timeout = timeout
        self._ends = time.monotonic() + timeout

    def run(self, folder: str, *args: str, stdin: bytes = b"") -> Ended:
        """Run git in `folder`. How it ended is for the caller to judge.

        Raises:
            GitMissing: there is none. GitFailed: it took too long, or cannot be started there.
        """
        command = ["git", "--no-pager", "--no-replace-objects", "--no-optional-locks", "--literal-pathspecs"]
        command += [part for setting in _SETTINGS for part in ("-c", setting)]
        process = self._start([*command, *args], folder)
        try:
            out, err = process.communicate(stdin, timeout=max(0.0, self._ends - time.monotonic()))
        except subprocess.TimeoutExpired as exc:
            message = f"Git took longer than {self._timeout:g} s ({args[0]})"
            raise GitFailed(message, remedy="Try again with a better connection") from exc
        finally:
            _end(process)
        return Ended(process.returncode, out, _fault(err))

    def must(self, folder: str, *args: str, stdin: bytes = b"") -> bytes:
        """What git prints, where it has to succeed.

        Raises:
            GitFailed: it did not.
        """
        ended = self.run(folder, *args, stdin=stdin)
        if ended.code:
            raise GitFailed(
                f"Git could not do it in {folder} ({ended.fault})", remedy="Try 'git fsck' there", folder=folder
            )
        return ended.out

    def line(self, folder: str, *args: str) -> str:
        """The one line that git prints; empty where it fails."""
        ended = self.run(folder, *args)
        return "" if ended.code else os.fsdecode(ended.out.removesuffix(b"\n"))

    def _start(self, command: list[str], folder: str) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                command,
                cwd=folder,
                env=self._environ,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
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


def _end(process: subprocess.Popen[bytes]) -> None:
    """End git and what it started: ssh or a remote helper would outlive it."""
    if process.poll() is None:
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def _fault(err: bytes) -> str:
    lines = [line.strip() for line in err.decode("utf-8", "replace").splitlines() if line.strip()]
    marked = [line for line in lines if line.startswith(("fatal:", "error:", "ssh:", "git:"))]
    text = (marked or lines or ["no reason given"])[0].removeprefix("fatal: ")
    return "".join(letter if letter.isprintable() else "?" for letter in _CREDENTIALS.sub("//", text))[:300]
