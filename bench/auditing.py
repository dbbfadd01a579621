"""How fast the audit is, beside what no audit can do without.

Two stores are audited whole: many memories of 500 bytes, and some of 100 KB. In turns with it, on the same bytes, run

    bare verify     Ed25519 over each entry's signature, with one key object
    bare hashlib    SHA-256 of each leaf, each node of the tree, each content and each record, from strings made before

A ratio of 1 would be an audit that costs no more than the bare calls.
"""

from __future__ import annotations

import os
from hashlib import sha256
from typing import NamedTuple

import apsw
import product
import workload
from ratios import Times, interleave, repeat
from table import Row

from indelible.audit import audit
from indelible.entry import PAYLOAD_TYPE, SIGNATURE_SIZE
from indelible.seal.digest import CONTENT_DOMAIN, RECORD_DOMAIN
from indelible.seal.note import pae

SAMPLE = 2_000
"""Signatures in the bare loop; each costs as much as the next."""
NODE = 65
"""Bytes that are hashed for a node of the tree."""
ROUNDS = 3


class Bare(NamedTuple):
    """The bytes of one store, ready for the bare calls."""

    signed: list[tuple[bytes, bytes]]
    hashed: list[bytes]


def rows(folder: str, small: int, large: int) -> list[Row]:
    """Three ratios."""
    few = _measure(os.path.join(folder, "small"), small, workload.SMALL)
    big = _measure(os.path.join(folder, "large"), large, workload.LARGE)
    verified = few["bare verify"].least / few["audit"].least
    rate = f"{1 / few['audit'].least:,.0f} records a second"
    rows = [
        Row(
            f"audit of {small:,} memories, signatures included, against bare Ed25519 verify",
            f"{verified:.2f} x ({rate})",
            ">= 0.7 x",
            verified >= 0.7,
        )
    ]
    for times, what, reach in ((few, f"{small:,} × 500 bytes", 0.15), (big, f"{large} × 100 KB", 0.5)):
        hashed = times["bare hashlib"].least / times["hashes"].least
        measured = f"{hashed:.2f} x ({times['hashes'].least * 1e6:.1f} µs a record)"
        rows.append(
            Row(f"audit by hashes alone, {what}, against bare hashlib", measured, f">= {reach} x", hashed >= reach)
        )
    return rows


def _measure(folder: str, count: int, size: int) -> dict[str, Times]:
    with product.open_memory(folder, create=True) as memory:
        product.fill(memory, workload.memories(count, size))
    ready = _bare(folder)
    verify = product.KEY.verify_raw

    def run(*, signatures: bool) -> None:
        report = audit(
            product.store_path(folder),
            verifiers=lambda *_: (product.KEY,),
            owners=(),
            pins=lambda _: None,
            signatures=signatures,
        )
        assert report.ok, report.findings
        assert report.agents[0].size == count

    def hash_all() -> None:
        for string in ready.hashed:
            sha256(string).digest()

    return interleave({
        "audit": (lambda: run(signatures=True), count),
        "hashes": (lambda: run(signatures=False), count),
        "bare verify": repeat(lambda number: verify(*ready.signed[number]), len(ready.signed)),
        "bare hashlib": (hash_all, count),
    }, rounds=ROUNDS)  # fmt: skip


def _bare(folder: str) -> Bare:
    """What the bare calls work on, read from the store before any clock runs."""
    raw = apsw.Connection(product.store_path(folder), flags=apsw.SQLITE_OPEN_READONLY)
    leaves = [leaf for (leaf,) in raw.execute("SELECT leaf FROM entry ORDER BY id")]
    hashed = [b"\0" + leaf for leaf in leaves] + [b"\1" * NODE] * (len(leaves) - 1)
    for salt, body, content in raw.execute("SELECT salt, body, content FROM record ORDER BY id"):
        hashed += [CONTENT_DOMAIN + salt + content, RECORD_DOMAIN + salt + body]
    signed = [(pae(PAYLOAD_TYPE, leaf[:-SIGNATURE_SIZE]), leaf[-SIGNATURE_SIZE:]) for leaf in leaves[:SAMPLE]]
    return Bare(signed, hashed)
