"""How fast the audit is, as ratios in one run: beside bare Ed25519 verify calls, and beside bare SHA-256.

    python bench/audit_ratio.py [--records 10000] [--large 500]

Two stores are made: many memories of 500 bytes, and some of 100 KB. Each is audited whole, with every signature and with
those of the heads alone. Beside it, on the same bytes and in turns with it, runs what no audit can do without:

    bare verify     cryptography's Ed25519 verify over each entry's signature, with one key object
    bare hashlib    SHA-256 of each leaf, each node of the tree, each content and each record, from strings made before

Times are CPU seconds of this process, the least of several rounds. A ratio of 1 would be an audit that costs no more
than the bare calls; the aims are 0.7 of bare verify, and of bare hashlib 0.15 at 500 bytes and 0.5 at 100 KB.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

import apsw
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from indelible.audit import audit
from indelible.entry import PAYLOAD_TYPE, SIGNATURE_SIZE, origin_of
from indelible.memory import Memory
from indelible.seal.digest import CONTENT_DOMAIN, RECORD_DOMAIN
from indelible.seal.note import Signer, Verifier, pae
from indelible.store.follower import Follower
from indelible.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 5
SAMPLE = 3000
"""Signatures in the bare loop; each costs as much as the next."""
NODE = 65
WORDS = [
    "기억",
    "메모리",
    "봉인",
    "검증",
    "log",
    "head",
    "pin",
    "verify",
    "seal",
    "agent",
    "session",
    "branch",
    "release",
    "owner",
]


class Trust:
    """One agent's key, and nothing else."""

    def __init__(self, key: Verifier) -> None:
        self.origin, self._key = key.name, key

    def agent_keys(self) -> tuple[Verifier, ...]:
        return (self._key,)

    def server_keys(self) -> tuple[Verifier, ...]:
        return ()

    def owner_keys(self) -> tuple[Verifier, ...]:
        return ()

    def given_pin(self) -> None:
        return None

    def pin_required(self) -> bool:
        return False

    def proposal(self) -> str:
        return ""


class Bare(NamedTuple):
    """The bytes of one store, ready for the bare calls."""

    leaves: list[bytes]
    signed: list[tuple[bytes, bytes]]
    hashed: list[bytes]


def text(size: int, dice: random.Random) -> bytes:
    """About so many bytes of mixed Korean and English."""
    words = " ".join(dice.choices(WORDS, k=size // 4)).encode()
    return words[:size].decode(errors="ignore").encode()


def make(folder: str, signer: Signer, records: int, size: int) -> str:
    """A store with so many memories of that size."""
    dice = random.Random(size)
    path = os.path.join(folder, f"{size}", "store.db")
    store = SqliteStore(path, create=True)
    follower = Follower(os.path.join(folder, "state"), os.path.join(folder, "known"), store.place, "eros")
    trust = Trust(Verifier(signer.vkey))
    with Memory(
        store, follower, trust, agent="eros", team="local", signer=lambda: signer, clock=lambda: "2026-11-30T00:00:00Z"
    ) as memory:
        for number in range(records):
            memory.save(f"notes/{number:06}.md", text(size, dice))
    return path


def bare(path: str) -> Bare:
    """What the bare calls work on, read from the store before any clock runs."""
    connection = apsw.Connection(path)
    leaves = [leaf for (leaf,) in connection.execute("SELECT leaf FROM entry ORDER BY id")]
    records = list(connection.execute("SELECT salt, body, content FROM record ORDER BY id"))
    hashed = [b"\0" + leaf for leaf in leaves] + [b"\1" * NODE] * (len(leaves) - 1)
    for salt, body, content in records:
        hashed += [CONTENT_DOMAIN + salt + content, RECORD_DOMAIN + salt + body]
    signed = [(leaf[-SIGNATURE_SIZE:], pae(PAYLOAD_TYPE, leaf[:-SIGNATURE_SIZE])) for leaf in leaves[:SAMPLE]]
    return Bare(leaves, signed, hashed)


def verify_all(signed: list[tuple[bytes, bytes]], key: Ed25519PublicKey) -> None:
    """Bare Ed25519."""
    verify = key.verify
    for signature, message in signed:
        verify(signature, message)


def hash_all(strings: list[bytes]) -> None:
    """Bare SHA-256."""
    for string in strings:
        sha256(string).digest()


def clock(work: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def measure(path: str, key: Verifier) -> dict[str, float]:
    """Microseconds a record of each kind of work, the least of `ROUNDS`, taken in turns."""
    ready = bare(path)
    public = Ed25519PublicKey.from_public_bytes(key.public)
    records = len(ready.leaves)

    def run(*, signatures: bool) -> None:
        report = audit(path, verifiers=lambda *_: (key,), owners=(), pins=lambda _: None, signatures=signatures)
        assert report.ok, report.findings
        assert report.agents[0].size == records

    works: dict[str, tuple[Callable[[], object], int]] = {
        "audit": (lambda: run(signatures=True), records),
        "hashes": (lambda: run(signatures=False), records),
        "bare verify": (lambda: verify_all(ready.signed, public), len(ready.signed)),
        "bare hashlib": (lambda: hash_all(ready.hashed), records),
    }
    taken: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(ROUNDS):
        for name, (work, count) in works.items():
            taken[name].append(clock(work) / count * 1e6)
    return {name: min(times) for name, times in taken.items()}


def show(label: str, taken: dict[str, float], *, signatures: bool) -> None:
    """One block of the result."""
    print(label)
    for name, micros in taken.items():
        print(f"    {name:<13}{micros:>8.1f} us a record{1e6 / micros:>12,.0f} a second")
    if signatures:
        print(f"    audit with every signature: {taken['bare verify'] / taken['audit']:.2f} x bare Ed25519 verify")
    print(f"    audit of hashes alone:      {taken['bare hashlib'] / taken['hashes']:.2f} x bare hashlib")


def main() -> None:
    """Make both stores, measure, and print."""
    options = argparse.ArgumentParser(description="The audit beside the bare calls it stands on, as ratios.")
    options.add_argument("--records", type=int, default=10_000, help="memories of 500 bytes")
    options.add_argument("--large", type=int, default=500, help="memories of 100 KB")
    chosen = options.parse_args()
    signer = Signer.generate(origin_of("local", "eros"))
    key = Verifier(signer.vkey)
    # A folder in memory, where there is one: what a disk takes to make the stores is not what is measured.
    shared = next(filter(os.path.isdir, ["/dev/shm"]), None)  # noqa: S108 - a fresh folder of our own is made in it
    with tempfile.TemporaryDirectory(dir=shared) as folder:
        small = make(folder, signer, chosen.records, 500)
        show(f"{chosen.records} memories of 500 bytes", measure(small, key), signatures=True)
        large = make(folder, signer, chosen.large, 100_000)
        show(f"{chosen.large} memories of 100 KB", measure(large, key), signatures=False)


if __name__ == "__main__":
    main()
