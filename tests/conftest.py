"""What every test stands on: a home of its own, the real command line, and small property tests.

No test sees the account it runs in. The whole session gets a scratch home, so that
a test which forgets to ask for one cannot touch a real key or pin; `home` gives a
fresh one to a test, for code in this process and for commands that it starts.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

# A shared machine's clock says nothing about the code, hence no deadline.
settings.register_profile("ci", max_examples=50, deadline=None, derandomize=True)
settings.register_profile("dev", max_examples=200, deadline=None)
settings.register_profile("deep", max_examples=5_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

OURS = ("INDELIBLE_", "MEMORY_API_", "MEMORY_AGENT")
"""Variables that steer the product, or the seeds' clients."""

STRAY = ("EDITOR", "VISUAL", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "LC_ALL", "LANGUAGE", "PYTHONIOENCODING")
"""Variables of the developer's own that would change what a command prints or starts."""


def _enter(root: Path, patch: pytest.MonkeyPatch) -> Path:
    """Make `root` the home of this process: environment, git identity and working folder."""
    for name in list(os.environ):
        if name.startswith((*OURS, "GIT_", "XDG_")) or name in STRAY:
            patch.delenv(name)
    work = root / "work"
    work.mkdir(parents=True)
    folders = {
        "HOME": root,
        "USERPROFILE": root,
        "APPDATA": root / "config",
        "LOCALAPPDATA": root / "data",
        "XDG_CONFIG_HOME": root / "config",
        "XDG_STATE_HOME": root / "state",
        "XDG_DATA_HOME": root / "data",
        "XDG_CACHE_HOME": root / "cache",
        "XDG_RUNTIME_DIR": root / "run",
        "GIT_CONFIG_GLOBAL": root / ".gitconfig",
        # A scratch folder inside somebody's repository must not be taken for it.
        "GIT_CEILING_DIRECTORIES": root.parent,
    }
    for name, folder in folders.items():
        patch.setenv(name, str(folder))
    patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    (root / ".gitconfig").write_text(
        "[user]\n\tname = Test\n\temail = test@example.org\n"
        "[init]\n\tdefaultBranch = main\n[commit]\n\tgpgSign = false\n[core]\n\tautocrlf = false\n",
        encoding="utf-8",
    )
    patch.chdir(work)
    return root


@pytest.fixture(scope="session", autouse=True)
def _no_real_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        _enter(tmp_path_factory.mktemp("session") / "home", patch)
        yield


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scratch home with its config, state, data and cache folders named in the environment.

    The working folder is `home / "work"`, which is no git repository and empty.
    """
    return _enter(tmp_path / "home", monkeypatch)


@dataclass(frozen=True, slots=True)
class Ran:
    """A command that has ended."""

    code: int
    stdout: bytes
    stderr: bytes

    @property
    def out(self) -> str:
        return self.stdout.decode()

    @property
    def err(self) -> str:
        return self.stderr.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.stdout)


class Run(Protocol):
    """Start the installed `indelible` command and wait for its end.

    `input` is its whole standard input (text is sent as UTF-8). `env` is laid over
    the environment of the test; a value of None takes the variable away.
    """

    def __call__(
        self,
        *args: str | Path,
        input: bytes | str = b"",  # noqa: A002 - as subprocess calls it
        env: Mapping[str, str | None] | None = None,
        cwd: str | Path | None = None,
        timeout: float = 60,
    ) -> Ran: ...


def indelible_command() -> list[str]:
    """The console script beside this interpreter, or the module where it is not installed."""
    script = shutil.which("indelible", path=os.path.dirname(sys.executable))
    return [script] if script else [sys.executable, "-m", "indelible"]


def environment(changes: Mapping[str, str | None] | None = None) -> dict[str, str]:
    """The environment for a process that a test starts: this one, with `changes` laid over it."""
    merged: dict[str, str | None] = {**os.environ, **(changes or {})}
    return {name: value for name, value in merged.items() if value is not None}


def loaded_by(*words: str) -> set[str]:
    """The modules that `indelible WORDS`, which ends well, loads beside those of a Python that does nothing."""
    program = (
        "import os, sys\nbefore = set(sys.modules)\n"
        "leave = os._exit\nos._exit = lambda code: (print('', *set(sys.modules) - before, sep='\\n', file=sys.stderr), leave(code))\n"
        "from indelible.__main__ import main\nmain()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, env=environment(), check=False
    )
    assert ended.returncode == 0, ended.stderr
    return {line for line in ended.stderr.splitlines() if line and " " not in line}


@pytest.fixture
def run(home: Path) -> Run:
    """`run("save", "MEMORY.md", "-", input=b"…").code`; always in the scratch home."""

    def start(
        *args: str | Path,
        input: bytes | str = b"",  # noqa: A002 - as subprocess calls it
        env: Mapping[str, str | None] | None = None,
        cwd: str | Path | None = None,
        timeout: float = 60,
    ) -> Ran:
        ended = subprocess.run(
            [*indelible_command(), *map(str, args)],
            input=input.encode() if isinstance(input, str) else input,
            capture_output=True,
            check=False,
            env=environment(env),
            cwd=cwd or home / "work",
            timeout=timeout,
        )
        return Ran(ended.returncode, ended.stdout, ended.stderr)

    return start
