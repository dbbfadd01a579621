"""What a client must be able to do for a test, in one form for all of them."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from tests.clients.model import Model, Script
    from tests.clients.sandbox import Ended, Sandbox
    from tests.clients.wires import Call


class Package(NamedTuple):
    """Where a client comes from."""

    name: str
    """On npm."""
    version: str
    """The version that the contracts were measured with."""
    megabytes: int


class Driver(Protocol):
    """One client.

    `ready` writes the client's own settings (a model on loopback, telemetry and updates off) into the sandbox's home; `run`
    is one process of it, without a terminal.
    """

    host: ClassVar[str]
    """Our name of it: `claude-code`."""
    folder: ClassVar[str]
    """Its folder among the installed clients."""
    package: ClassVar[Package]
    at_once: ClassVar[bool]
    """Whether it tells its hooks after a compaction (or asks them at every request), so that the briefing is there again in the
    very next request; else it comes with the next prompt or the next result of a tool."""

    def program(self, clients: Path) -> list[str]:
        """The command that starts it, or nothing where it is not installed."""
        ...

    def ready(self, box: Sandbox, model: Model) -> None:
        """Prepare a sandbox; once, before anything is installed into it."""
        ...

    def run(self, clients: Path, box: Sandbox, model: Model, *prompts: str, again: bool = False) -> Ended:
        """Have the prompts worked on, one after the other; `again` continues the session before."""
        ...

    def shell(self, command: str) -> Call:
        """A call of its shell."""
        ...

    def read(self, path: str) -> Call:
        """A call that reads a file."""
        ...

    def write(self, path: str, content: str) -> Call:
        """A call that makes or replaces a file."""
        ...

    def edit(self, path: str, before: str, after: str) -> Call:
        """A call that changes a line of a file."""
        ...

    def compacting(self, *after: Call) -> Script:
        """A session that is compacted in its middle by the client's own doing, and in which `after` is called then."""
        ...

    def record(self, box: Sandbox, command: str) -> None:
        """Wire a command to every event that the client has: a tap on what it really sends."""
        ...


def node(clients: Path, *path: str) -> list[str]:
    """The command of a program in JavaScript, or nothing where it or node is not there."""
    program, found = clients.joinpath(*path), shutil.which("node")
    return [found, str(program)] if found and program.exists() else []


def native(clients: Path, folder: str, pattern: str) -> list[str]:
    """The command of a program in machine code, whatever this machine's kind is; nothing where it is not there."""
    found = sorted((clients / folder / "node_modules").glob(pattern))
    return [str(found[0])] if found and os.access(found[0], os.X_OK) else []


def ask(process: subprocess.Popen[str], number: int, method: str, params: dict[str, object]) -> dict[str, Any]:
    """One request of JSON-RPC, and its result."""
    assert process.stdin
    assert process.stdout
    process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n")
    process.stdin.flush()
    answers = (json.loads(line) for line in process.stdout)
    found: dict[str, Any] = next(one["result"] for one in answers if one.get("id") == number and "method" not in one)
    return found
