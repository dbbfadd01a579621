"""Rows of the index as a save would make them."""

from __future__ import annotations

from hashlib import sha256

import numpy as np

from indelible.recall.index import Index
from indelible.recall.row import FOREVER, Row, bits_of
from indelible.recall.segment import Segment
from indelible.recall.tokens import features


def row(seq: int, text: str | bytes, *labels: str, group: int = 0, order: int = 0, expires: float = FOREVER) -> Row:
    content = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    digest = sha256(content).digest()
    times = (float(seq), -FOREVER, FOREVER, expires)
    return Row(
        seq, features(content), labels, times, group, order, len(content), bits_of(content), digest, digest[::-1]
    )


def index_of(*texts: str) -> Index:
    """Their numbers are 1, 2, …"""
    rows = [row(seq, text) for seq, text in enumerate(texts, 1)]
    return Index([Segment.of(rows)], (), np.arange(1, len(rows) + 1, dtype=np.uint64))


def found(index: Index, text: str, limit: int = 10) -> list[int]:
    return [hit.seq for hit in index.query(text, limit=limit)]
