"""How well and how fast memories are ranked, without a model: LoCoMo, KorQuAD, and stores of up to a million.

    python bench/ranking.py [--data FOLDER] [--sizes 10000,100000,1000000]

The sets are no part of the project: `--data` names the folder they lie in. The settings are the product's own, the same for both
sets and every conversation; LoCoMo is told for every other conversation as well, so that one sees how far its figures carry.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
import publicsets
import rankspeed
from table import Row, heading, machine

from indelible.recall.index import Index
from indelible.recall.row import FOREVER, bits_of
from indelible.recall.row import Row as Indexed
from indelible.recall.segment import Segment
from indelible.recall.tokens import features

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from publicsets import Pool

BESIDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "shared", "data")
LOCOMO_REACH, KORQUAD_REACH = (0.61, 0.71), (0.90, 0.993)
LOCOMO_ANCHOR = "anchors: BM25 .524/.591, FTS5 porter .549/.632, stems + n-grams + neighbours .601/.697"
KORQUAD_ANCHOR = "anchors: FTS5 unicode61 .783/.912, FTS5 trigram .818/.965, Hangul pairs .895/.993"
_TIMES = (0.0, -FOREVER, FOREVER, FOREVER)


def indexed(seq: int, text: str, group: int = 0, order: int = 0) -> Indexed:
    """The row of a memory."""
    content = text.encode()
    digest = sha256(content).digest()
    return Indexed(seq, features(content), (), _TIMES, group, order, len(content), bits_of(content), digest, digest)


def recalled(pools: Sequence[Pool], cuts: tuple[int, int], first: int | None = None) -> tuple[float, float, int]:
    """The mean share of a question's evidence that is among the best so many, for both cuts, and over how many questions."""
    shares = []
    for pool in pools:
        rows = [
            indexed(place, text, *turn) for place, (text, turn) in enumerate(zip(pool.texts, pool.turns, strict=True))
        ]
        index = Index([Segment.of(rows)], (), np.arange(len(rows), dtype=np.uint64))
        for question in pool.questions[:first]:
            found = [hit.seq for hit in index.query(question.text, limit=max(cuts))]
            shares.append([len(question.evidence.intersection(found[:cut])) / len(question.evidence) for cut in cuts])
    one, other = np.mean(shares, axis=0)
    return float(one), float(other), len(shares)


def rows(folder: str) -> Iterator[Row]:
    """Both sets."""
    pools = publicsets.locomo(folder)
    yield _row("LoCoMo, evidence R@5/R@10", LOCOMO_ANCHOR, recalled(pools, (5, 10)), LOCOMO_REACH)
    yield _row("– its first, third, … conversation", "", recalled(pools[::2], (5, 10)), None)
    yield _row("– its second, fourth, … conversation", "", recalled(pools[1::2], (5, 10)), None)
    passages = [publicsets.korquad(folder)]
    yield _row("KorQuAD, 1,000 questions, R@1/R@10", KORQUAD_ANCHOR, recalled(passages, (1, 10), 1000), KORQUAD_REACH)
    yield _row("– all its questions", "", recalled(passages, (1, 10)), None)


def _row(what: str, anchor: str, found: tuple[float, float, int], reach: tuple[float, float] | None) -> Row:
    one, other, count = found
    measured = f"{one:.3f}/{other:.3f} ({count:,} questions)" + (f"; {anchor}" if anchor else "")
    if reach is None:
        return Row(what, measured)
    return Row(what, measured, f"{reach[0]}/{reach[1]}", one >= reach[0] and other >= reach[1])


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", default=os.path.normpath(BESIDE), help="folder of the public sets")
    parser.add_argument("--sizes", default="10000,100000", help="memories in the stores that are timed")
    given = parser.parse_args()
    if absent := publicsets.missing(given.data):
        print(f"ranking: {absent}", file=sys.stderr)
        return 1
    print(machine(), heading("what", "measured", "reach", "reached"), sep="\n\n")
    for row in rows(given.data):
        print(row.format(), flush=True)
    with tempfile.TemporaryDirectory(prefix="indelible-ranking-") as folder:
        for size in map(int, given.sizes.split(",")):
            for row in rankspeed.rows(given.data, folder, size, indexed):
                print(row.format(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
