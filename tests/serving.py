"""A real server in a process of its own, for the tests that speak to one.

Each has a home, a store and keys under one folder. What it writes to stderr goes to a file, which tests may read.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import apsw
import httpx

from indelible import settings
from indelible.server.apikeys import AGENTS, ApiKeys
from indelible.wiring import open_memory

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from indelible.memory import Memory

PROGRAM = """
import json, sys
from indelible import settings
from indelible.server.serving import serve
serve(settings.load(), **json.loads(sys.argv[1]))
"""
_OURS = ("INDELIBLE_", "MEMORY_API_", "XDG_", "HOME")


def home_of(root: Path) -> dict[str, str]:
    """An environment whose home is `root`: what a person on a machine of their own has."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    folders = {f"XDG_{kind}_HOME": str(root / kind.lower()) for kind in ("CONFIG", "STATE", "DATA")}
    return {**kept, **folders, "HOME": str(root), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


@dataclass
class Served:
    """A server and what its operator can do."""

    root: Path
    options: dict[str, Any]
    process: subprocess.Popen[bytes] | None = None
    url: str = ""
    clients: list[httpx.Client] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    """What else its environment says."""

    @property
    def environment(self) -> dict[str, str]:
        return {**home_of(self.root / "operator"), "INDELIBLE_STORE": self.store, **self.variables}

    @property
    def store(self) -> str:
        return str(self.root / "store" / "store.db")

    @property
    def settings(self) -> settings.Settings:
        return settings.load(self.root, self.environment)

    @property
    def log(self) -> str:
        return (self.root / "server.log").read_text(encoding="utf-8")

    def start(self, port: int = 0) -> Served:
        """Start, and wait until it says that it serves."""
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.root / "server.log").open("wb") as log:
            options = json.dumps({"port": port, **self.options})
            self.process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, options], env=self.environment, cwd=self.root, stderr=log
            )
        ends = time.monotonic() + 30
        while "Serving on " not in self.log:
            assert self.process.poll() is None, self.log
            assert time.monotonic() < ends, self.log
            time.sleep(0.02)
        self.url = self.log.split("Serving on ", 1)[1].split()[0]
        return self

    def stop(self, number: int = signal.SIGTERM) -> int:
        """End it by a signal, and wait; its exit code."""
        for client in self.clients:
            client.close()
        self.clients.clear()
        if self.process is None:
            return 0
        process, self.process = self.process, None
        process.send_signal(number)
        return process.wait(30)

    def again(self, number: int = signal.SIGKILL) -> Served:
        """Kill it and start it at the same port."""
        port = int(self.url.rsplit(":", 1)[1])
        self.stop(number)
        return self.start(port)

    def key(self, agent: str = "eros", verbs: Iterable[str] = AGENTS, prefix: str = "") -> str:
        """A fresh API key."""
        with closing(ApiKeys(self.settings.config_dir)) as keys:
            return keys.create(agent, verbs, prefix)

    def client(self, agent: str = "eros", verbs: Iterable[str] = AGENTS, prefix: str = "") -> httpx.Client:
        """An HTTP client with a fresh API key."""
        made = httpx.Client(
            base_url=self.url, headers={"x-api-key": self.key(agent, verbs, prefix)}, timeout=30, trust_env=False
        )
        self.clients.append(made)
        return made

    def memory(self, agent: str = "eros") -> Memory:
        """The same memory, as the operator has it on the server's own machine."""
        return open_memory(self.settings, agent=agent)

    def sql(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Raw SQL behind the store's back."""
        with closing(apsw.Connection(self.store)) as connection:
            return connection.execute(statement, values).fetchall()


def save(client: httpx.Client, key: str, content: str, **more: Any) -> httpx.Response:
    """Save in the seeds' form."""
    return client.post("/memory/save", json={"key": key, "content": content, **more})


def rows(client: httpx.Client, key: str | None = None) -> dict[str, str]:
    """Contents by key, in the seeds' form."""
    reply = client.get("/memory/load", params={} if key is None else {"key": key})
    return {row["key_name"]: row["content"] for row in reply.json()["memories"]}
