"""A reader without a pin goes over a whole log: how many entries a second, hashed strictly, and with every signature."""

from __future__ import annotations

import os
import shutil
from itertools import count

import apsw
import product
import workload
from ratios import Times, interleave, repeat
from table import Row

from indelible.entry import PAYLOAD_TYPE, SIGNATURE_SIZE
from indelible.seal.note import pae

SAMPLE = 2_000
ROUNDS = 3


def rows(folder: str, size: int) -> list[Row]:
    """Both ways of following, and bare Ed25519 over some of the same entries, in turns."""
    with product.open_memory(folder, create=True) as memory:
        product.fill(memory, workload.memories(size))
    readers = count()

    def follow(*, signatures: bool) -> None:
        name = f"new{next(readers)}"
        with product.open_memory(folder, name) as fresh, fresh.following(signatures=signatures) as (_, _, head):
            assert head.size == size
        shutil.rmtree(os.path.join(folder, "readers", name))

    signed = _signed(folder)
    times = interleave({
        "strict": (lambda: follow(signatures=False), size),
        "signatures": (lambda: follow(signatures=True), size),
        "bare": repeat(lambda number: product.KEY.verify_raw(*signed[number]), len(signed)),
    }, rounds=ROUNDS)  # fmt: skip
    strict, signatures, bare = times["strict"], times["signatures"], times["bare"]
    share = bare.least / signatures.least
    return [
        Row(f"first follow of {size:,} entries from nothing, strict", f"{_rate(strict)} a second", ">= 90,000 a second", strict.least <= 1 / 90_000),
        Row("… with every signature, against bare Ed25519 verify", f"{share:.2f} x ({_rate(signatures)} a second; bare {_rate(bare)})",
            ">= 0.7 x", share >= 0.7),
    ]  # fmt: skip


def _rate(times: Times) -> str:
    return f"{1 / times.least:,.0f}"


def _signed(folder: str) -> list[tuple[bytes, bytes]]:
    """`(message, signature)` of the first entries."""
    raw = apsw.Connection(product.store_path(folder), flags=apsw.SQLITE_OPEN_READONLY)
    leaves = [leaf for (leaf,) in raw.execute("SELECT leaf FROM entry ORDER BY id LIMIT ?", (SAMPLE,))]
    return [(pae(PAYLOAD_TYPE, leaf[:-SIGNATURE_SIZE]), leaf[-SIGNATURE_SIZE:]) for leaf in leaves]
