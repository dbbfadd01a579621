"""Other places to keep an agent's memory in, each through its own public interface and with its own defaults.

Only the two raw ones are told to be as durable as Indelible (WAL, synchronous=FULL). None of them can say whether what
it gives back is what was saved. chromadb is handed a vector with each text, so that no model runs; MCP server-memory
is asked over its standard input and output, as a client does it, and rewrites its file at every save.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
from typing import TYPE_CHECKING, Any, Protocol

import apsw
import product

if TYPE_CHECKING:
    from collections.abc import Callable

    Items = list[tuple[str, bytes]]

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SERVER = os.path.join(ROOT, ".bench", "node_modules", "@modelcontextprotocol", "server-memory", "dist", "index.js")
TABLE = "CREATE TABLE memory (key TEXT PRIMARY KEY, content BLOB NOT NULL)"


class Contender(Protocol):
    """What is measured of each."""

    def fill(self, items: Items) -> None: ...
    def save(self, key: str, content: bytes) -> None: ...
    def load(self, key: str) -> bytes: ...
    def list(self) -> int: ...
    def close(self) -> None: ...


class Indelible:
    """Sealed, signed, logged, and verified at every load and for every line of a listing."""

    def __init__(self, folder: str) -> None:
        self._memory = product.open_memory(folder, create=True)

    def fill(self, items: Items) -> None:
        product.fill(self._memory, items)

    def save(self, key: str, content: bytes) -> None:
        self._memory.save(key, content)

    def load(self, key: str) -> bytes:
        return self._memory.load(key).content

    def list(self) -> int:
        return len(self._memory.list().items)

    def close(self) -> None:
        self._memory.close()


class Raw:
    """One table, through a driver's `execute`; the driver is in autocommit mode."""

    def __init__(self, connection: Any) -> None:  # noqa: ANN401 - two drivers that share no type
        self._connection = connection
        for statement in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", TABLE):
            connection.execute(statement).fetchall()

    def fill(self, items: Items) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        for key, content in items:
            self._connection.execute("INSERT INTO memory VALUES (?, ?)", (key, content))
        self._connection.execute("COMMIT")

    def save(self, key: str, content: bytes) -> None:
        self.fill([(key, content)])

    def load(self, key: str) -> bytes:
        return bytes(self._connection.execute("SELECT content FROM memory WHERE key = ?", (key,)).fetchone()[0])

    def list(self) -> int:
        return len(self._connection.execute("SELECT key, length(content) FROM memory ORDER BY key").fetchall())

    def close(self) -> None:
        self._connection.close()


class LangGraph:
    """`SqliteStore` of langgraph-checkpoint-sqlite."""

    def __init__(self, folder: str) -> None:
        from langgraph.store.sqlite import SqliteStore  # type: ignore[import-not-found]

        self._context = SqliteStore.from_conn_string(os.path.join(folder, "store.db"))
        self._store = self._context.__enter__()
        self._store.setup()

    def fill(self, items: Items) -> None:
        from langgraph.store.base import PutOp  # type: ignore[import-not-found]

        self._store.batch([PutOp(("memories",), key, {"text": content.decode()}) for key, content in items])

    def save(self, key: str, content: bytes) -> None:
        self._store.put(("memories",), key, {"text": content.decode()})

    def load(self, key: str) -> bytes:
        return str(self._store.get(("memories",), key).value["text"]).encode()

    def list(self) -> int:
        return len(self._store.search(("memories",), limit=1_000_000))

    def close(self) -> None:
        self._context.__exit__(None, None, None)


class Chroma:
    """A persistent collection of chromadb."""

    def __init__(self, folder: str) -> None:
        import chromadb  # type: ignore[import-not-found]
        from chromadb.config import Settings  # type: ignore[import-not-found]

        self._client = chromadb.PersistentClient(path=folder, settings=Settings(anonymized_telemetry=False))
        self._memories = self._client.create_collection("memories", embedding_function=None)

    def fill(self, items: Items) -> None:
        for at in range(0, len(items), 1_000):
            part = items[at : at + 1_000]
            vectors = [[number / 1_000, 1.0, 0.5, 0.25] for number in range(len(part))]
            self._memories.add(
                ids=[key for key, _ in part], documents=[text.decode() for _, text in part], embeddings=vectors
            )

    def save(self, key: str, content: bytes) -> None:
        self.fill([(key, content)])

    def load(self, key: str) -> bytes:
        return str(self._memories.get(ids=[key], include=["documents"])["documents"][0]).encode()

    def list(self) -> int:
        return len(self._memories.get(include=["metadatas"])["ids"])

    def close(self) -> None:
        self._client = self._memories = None


class McpServer:
    """@modelcontextprotocol/server-memory: one entity for each memory, its content the one observation."""

    def __init__(self, folder: str) -> None:
        environment = {**os.environ, "MEMORY_FILE_PATH": os.path.join(folder, "memory.jsonl")}
        self._process = subprocess.Popen(
            ["node", SERVER], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._last = 0
        client = {"name": "bench", "version": "1"}
        self._ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self._say({"method": "notifications/initialized"})

    def fill(self, items: Items) -> None:
        entities = [{"name": key, "entityType": "memory", "observations": [text.decode()]} for key, text in items]
        self._call("create_entities", {"entities": entities})

    def save(self, key: str, content: bytes) -> None:
        self.fill([(key, content)])

    def load(self, key: str) -> bytes:
        return str(self._call("open_nodes", {"names": [key]})["entities"][0]["observations"][0]).encode()

    def list(self) -> int:
        return len(self._call("read_graph", {})["entities"])

    def close(self) -> None:
        self._process.communicate()

    def _call(self, tool: str, arguments: dict[str, object]) -> Any:  # noqa: ANN401 - whatever JSON the tool gives
        answer = self._ask("tools/call", {"name": tool, "arguments": arguments})
        assert not answer.get("isError"), answer
        return json.loads(answer["content"][0]["text"])

    def _ask(self, method: str, parameters: dict[str, object]) -> Any:  # noqa: ANN401 - likewise
        self._last += 1
        self._say({"method": method, "params": parameters, "id": self._last})
        assert self._process.stdout is not None
        answer: dict[str, Any] = {}
        while answer.get("id") != self._last:
            answer = json.loads(self._process.stdout.readline())
        return answer["result"]

    def _say(self, message: dict[str, object]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode() + b"\n")
        self._process.stdin.flush()


def _sqlite3(folder: str) -> Raw:
    return Raw(sqlite3.connect(os.path.join(folder, "raw.db"), isolation_level=None))


def _apsw(folder: str) -> Raw:
    return Raw(apsw.Connection(os.path.join(folder, "raw.db")))


MAKERS: dict[str, Callable[[str], Contender]] = {
    "Indelible": Indelible, "raw apsw": _apsw, "raw sqlite3": _sqlite3, "LangGraph SqliteStore": LangGraph,
    "chromadb": Chroma, "MCP server-memory": McpServer,
}  # fmt: skip


def missing(name: str) -> str:
    """Why a contender cannot take part here; empty if it can."""
    from importlib.util import find_spec

    if name == "MCP server-memory" and not (os.path.exists(SERVER) and shutil.which("node")):
        return "npm did not bring it"
    module = {"LangGraph SqliteStore": "langgraph", "chromadb": "chromadb"}.get(name)
    return "not installed" if module and find_spec(module) is None else ""
