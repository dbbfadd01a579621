"""Public sets of questions that recall is measured on, read from a folder that is no part of the project.

locomo10.json       LoCoMo: 10 long conversations in English, questions with the turns that answer them
korquad_dev.json    KorQuAD 1.0 dev: passages in Korean, questions each about one of them
"""

from __future__ import annotations

import json
import os
import random
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

BESIDE = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "shared", "data"))
"""Where they are looked for."""
LOCOMO, KORQUAD = "locomo10.json", "korquad_dev.json"
_SESSION = re.compile(r"session_(\d+)")


class Question(NamedTuple):
    """What is asked, and the places of the texts that answer it."""

    text: str
    evidence: frozenset[int]


class Pool(NamedTuple):
    """Texts that questions are put to."""

    texts: tuple[str, ...]
    turns: tuple[tuple[int, int], ...]
    """Of each text: its episode, counted from 1, and its place there; an episode of 0 is none."""
    questions: tuple[Question, ...]


def missing(folder: str) -> str:
    """What has to be said where the sets are not there; nothing where they are."""
    absent = [name for name in (LOCOMO, KORQUAD) if not os.path.exists(os.path.join(folder, name))]
    return f"{' and '.join(absent)} not in {folder}: name their folder with --data" if absent else ""


def locomo(folder: str) -> list[Pool]:
    """One pool for each conversation: all its turns, as "Name: text"."""
    with open(os.path.join(folder, LOCOMO), encoding="utf-8") as file:
        return [_conversation(sample) for sample in json.load(file)]


def _conversation(sample: dict[str, dict[str, list[dict[str, str]]]]) -> Pool:
    texts, turns, place = [], [], {}
    talk = sample["conversation"]
    sessions = sorted(int(found[1]) for name in talk if (found := _SESSION.fullmatch(name)))
    for session in sessions:
        for order, turn in enumerate(talk[f"session_{session}"]):
            place[turn["dia_id"]] = len(texts)
            texts.append(f"{turn['speaker']}: {turn['text']}")
            turns.append((session, order))
    asked = []
    for question in sample["qa"]:
        named = [name for line in question["evidence"] for name in re.split(r"[;\s]+", line)]
        if evidence := frozenset(place[name] for name in named if name in place):
            asked.append(Question(question["question"], evidence))
    return Pool(tuple(texts), tuple(turns), tuple(asked))


def korquad(folder: str) -> Pool:
    """One pool: all passages."""
    with open(os.path.join(folder, KORQUAD), encoding="utf-8") as file:
        passages = [passage for article in json.load(file)["data"] for passage in article["paragraphs"]]
    asked = [
        Question(question["question"], frozenset([place]))
        for place, passage in enumerate(passages)
        for question in passage["qas"]
    ]
    return Pool(tuple(passage["context"] for passage in passages), ((0, 0),) * len(passages), tuple(asked))


def recombined(folder: str, count: int, least: int = 200, most: int = 600) -> Iterator[str]:
    """So many texts of `least` to `most` bytes and the rest of a turn or sentence, 500 on average: turns in English or sentences in Korean, drawn anew."""
    rng = random.Random(1)
    english = [text for pool in locomo(folder) for text in pool.texts]
    korean = [f"{part.strip()}." for text in korquad(folder).texts for part in text.split(". ") if len(part) > 10]
    for _ in range(count):
        source, wanted, parts, size = english if rng.random() < 0.6 else korean, rng.randint(least, most), [], 0
        while size < wanted:
            parts.append(rng.choice(source))
            size += len(parts[-1].encode())
        yield " ".join(parts)
