"""What the tests of store and memory stand on: one store with its readers, and an attacker's hands on its files.

A `Bench` is a folder with a store, the keys of one agent and of its owner, and any number of readers, each with a state
folder of its own. Keys are made from fixed seeds, so that a process started by a test can build the same bench again.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from base64 import b64encode
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import apsw

from indelible.entry import PAYLOAD_TYPE, format_entry, origin_of, parse_entry, split_leaf
from indelible.errors import IndelibleError
from indelible.memory import Memory
from indelible.seal.checkpoint import Checkpoint
from indelible.seal.merkle import leaf_hash, root_of
from indelible.seal.note import Signer, Verifier, pae, sign_note
from indelible.store.follower import Follower
from indelible.store.schema import SEQ_BITS
from indelible.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

NOW = "2026-11-30T00:00:00Z"
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SIDES = ("", "-wal", "-shm")
"""A store's files, by what follows its name."""


def signer_of(name: str, which: int = 0) -> Signer:
    """The key number `which` of that name: the same in every process."""
    return Signer(name, hashlib.sha256(f"{name}#{which}".encode()).digest())


@dataclass
class Trusted:
    """A reader's configuration: which keys count, and which pin was given."""

    origin: str
    agents: tuple[Verifier, ...]
    owners: tuple[Verifier, ...] = ()
    servers: tuple[Verifier, ...] = ()
    reviewers: tuple[Verifier, ...] = ()
    unprotected: frozenset[int] = frozenset()
    given: Checkpoint | None = None
    required: bool = False

    def agent_keys(self) -> tuple[Verifier, ...]:
        return self.agents

    def owner_keys(self) -> tuple[Verifier, ...]:
        return self.owners

    def server_keys(self) -> tuple[Verifier, ...]:
        return self.servers

    def reviewer_keys(self) -> tuple[Verifier, ...]:
        return self.reviewers

    def open_reviewers(self) -> frozenset[int]:
        return self.unprotected

    def given_pin(self) -> Checkpoint | None:
        return self.given

    def given_by_user(self) -> bool:
        return True

    def proposal(self) -> str:
        return ""

    def pin_required(self) -> bool:
        return self.required


@dataclass
class Bench:
    """A store under `root`, as its agent `agent` and as an attacker see it."""

    root: str
    agent: str = "eros"
    clock: Callable[[], str] = lambda: NOW
    made: list[Memory] = field(default_factory=list)

    @property
    def path(self) -> str:
        return os.path.join(self.root, "store", "store.db")

    @property
    def origin(self) -> str:
        return origin_of("local", self.agent)

    @property
    def signer(self) -> Signer:
        return signer_of(self.origin)

    @property
    def owner(self) -> Signer:
        return signer_of("indelible-owner/test")

    def trusted(self, **changes: Any) -> Trusted:
        base: dict[str, Any] = {"agents": (Verifier(self.signer.vkey),), "owners": (Verifier(self.owner.vkey),)}
        return Trusted(self.origin, **(base | changes))

    def follower_path(self, reader: str = "first") -> str:
        """Where `reader` keeps its pin."""
        return Follower(self._state(reader), self._known(reader), os.path.realpath(self.path), self.agent).path

    def _state(self, reader: str) -> str:
        return os.path.join(self.root, "readers", reader, "followers")

    def _known(self, reader: str) -> str:
        return os.path.join(self.root, "readers", reader, "known")

    def memory(
        self,
        reader: str = "first",
        *,
        create: bool = False,
        signer: Signer | None = None,
        trust: Trusted | None = None,
        busy_ms: int = 10_000,
        secrets: str = "refuse",
    ) -> Memory:
        """The store opened afresh by `reader`."""
        store = SqliteStore(self.path, create=create, busy_ms=busy_ms)
        follower = Follower(self._state(reader), self._known(reader), store.place, self.agent)
        key = signer or self.signer
        memory = Memory(
            store,
            follower,
            trust or self.trusted(),
            agent=self.agent,
            team="local",
            signer=lambda: key,
            clock=self.clock,
            secrets=secrets,
        )
        self.made.append(memory)
        return memory

    def close(self) -> None:
        """Close every memory that was made here."""
        while self.made:
            self.made.pop().close()

    # What an attacker can do, who has the store's folder and no key.

    def sql(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Raw SQL behind the store's back."""
        with closing(apsw.Connection(self.path)) as connection:
            return connection.execute(statement, values).fetchall()

    def row_id(self, seq: int) -> int:
        """The id that a row of this agent's log has in `entry` and `record`."""
        return int(self.sql("SELECT id FROM log WHERE agent = ?", self.agent)[0][0]) << SEQ_BITS | seq

    def leaf(self, seq: int) -> bytes:
        return bytes(self.sql("SELECT leaf FROM entry WHERE id = ?", self.row_id(seq))[0][0])

    def leaves(self) -> list[bytes]:
        """Every leaf of the log, as stored."""
        return [bytes(row[0]) for row in self.sql("SELECT leaf FROM entries WHERE agent = ? ORDER BY seq", self.agent)]

    def loosen(self, table: str) -> None:
        """Make `table` one that takes values of any type: what a flipped byte in a row's header does to one row."""
        with closing(apsw.Connection(self.path)) as connection:
            connection.execute(
                f"DROP VIEW entries; DROP VIEW records; ALTER TABLE {table} RENAME TO old;"
                f"CREATE TABLE {table} AS SELECT * FROM old; DROP TABLE old; CREATE UNIQUE INDEX loose ON {table} (id)"
            )

    def snapshot(self, name: str = "copy") -> str:
        """Copy every file of the store, as `cp -a` would."""
        copy = os.path.join(self.root, "copies", name)
        os.makedirs(copy)
        for side in SIDES:
            if os.path.exists(self.path + side):
                shutil.copy2(self.path + side, os.path.join(copy, "store.db" + side))
        return copy

    def put_back(self, copy: str) -> None:
        """Put such a copy in the store's place, file by file."""
        self.close()
        for side in SIDES:
            if os.path.exists(self.path + side):
                os.unlink(self.path + side)
            if os.path.exists(os.path.join(copy, "store.db" + side)):
                shutil.copy2(os.path.join(copy, "store.db" + side), self.path + side)

    # What a thief of a key can do.

    def forge(self, leaves: Sequence[bytes], signer: Signer) -> None:
        """Make the log hold exactly `leaves`, under a head signed by `signer`."""
        root = root_of([leaf_hash(leaf) for leaf in leaves])
        note = sign_note(Checkpoint(self.origin, len(leaves), root, ()).format(), signer)
        base = self.row_id(0)
        with closing(apsw.Connection(self.path)) as connection, connection:
            connection.execute("DELETE FROM entry WHERE id >= ? AND id < ?", (base, base + (1 << SEQ_BITS)))
            connection.executemany("INSERT INTO entry VALUES (?, ?)", enumerate(leaves, base))
            connection.execute("UPDATE log SET note = ? WHERE agent = ?", (note, self.agent))


def sign_entry(entry: Any, signer: Signer) -> bytes:
    """The leaf of `entry`, signed by whoever holds `signer`."""
    body = format_entry(entry)
    return body + signer.sign_raw(pae(PAYLOAD_TYPE, body))


def entry_of(leaf: bytes) -> Any:
    """The entry in a leaf, with no check of its signature."""
    return parse_entry(split_leaf(leaf)[0])


@contextmanager
def or_refused(*codes: int) -> Iterator[None]:
    """A block that ends well, or is refused with one of these exit codes: never a third thing."""
    try:
        yield
    except IndelibleError as refused:
        if refused.exit_code not in codes:
            raise


def worker(bench: Bench, *args: str, prefix: Iterable[str] = (), reader: str = "first") -> subprocess.Popen[bytes]:
    """Start `tests/worker.py` on the same bench in a process of its own."""
    settings = json.dumps({"root": bench.root, "agent": bench.agent, "reader": reader})
    return subprocess.Popen(
        [*prefix, sys.executable, os.path.join(ROOT, "tests", "worker.py"), settings, *args],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([ROOT, *filter(None, sys.path)])},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
    )  # fmt: skip


def finish(process: subprocess.Popen[bytes], timeout: float = 120) -> tuple[int, list[dict[str, Any]], str]:
    """Wait for a worker: its exit code, the JSON lines it wrote, and its standard error."""
    out, err = process.communicate(timeout=timeout)
    return process.returncode, [json.loads(line) for line in out.decode().splitlines()], err.decode()


def traces(folder: str | Path, *secrets: bytes) -> list[str]:
    """The files below a folder that hold one of `secrets`: as it is, in UTF-16, in base64, or by its SHA-256."""
    wanted = [form for secret in secrets for form in _forms(secret)]
    found = []
    for parent, _, files in os.walk(folder):
        for name in files:
            with open(os.path.join(parent, name), "rb") as file:
                data = file.read()
            if any(form in data or form in os.fsencode(name) for form in wanted):
                found.append(os.path.relpath(os.path.join(parent, name), folder))
    return found


def _forms(secret: bytes) -> Iterable[bytes]:
    digest = hashlib.sha256(secret)
    yield from (secret, digest.digest(), digest.hexdigest().encode(), b64encode(secret).rstrip(b"="))
    yield secret.decode().encode("utf-16-le")


def bench_at(path: Path) -> Bench:
    """A bench in a fresh folder."""
    os.makedirs(path / "store", mode=0o700, exist_ok=True)
    return Bench(str(path))
