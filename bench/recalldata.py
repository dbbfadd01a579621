"""The public texts that recall is measured on, read from a folder that is no part of the project: LoCoMo and KorQuAD."""

from __future__ import annotations

import json
import os
import sys
from typing import NamedTuple

FILES = ("locomo10.json", "korquad_dev.json")


class Texts(NamedTuple):
    """Distinct texts, in the order of the files."""

    turns: tuple[bytes, ...]
    """LoCoMo's turns, each as `speaker: text`; 5,880."""
    contexts: tuple[bytes, ...]
    """KorQuAD's contexts; 961."""
    strange: tuple[bytes, ...]
    """Of all these, the first two conversations and the first twenty articles: what a trial does not store."""

    @property
    def whole(self) -> tuple[bytes, ...]:
        """All 6,841."""
        return self.turns + self.contexts


def read(folder: str) -> Texts:
    """The texts, or an end of the program that says what is missing."""
    missing = [name for name in FILES if not os.path.exists(os.path.join(folder, name))]
    if missing:
        sys.exit(
            f"{folder} does not hold {' and '.join(missing)}: LoCoMo (snap-research/locomo) and KorQuAD 1.0 dev; --data says where they are"
        )
    conversations, articles = (_load(os.path.join(folder, name)) for name in FILES)
    told = [list(_turns(one["conversation"])) for one in conversations]
    held = [[paragraph["context"].encode() for paragraph in article["paragraphs"]] for article in articles["data"]]
    turns, contexts = (tuple(dict.fromkeys(text for part in parts for text in part)) for parts in (told, held))
    strange = dict.fromkeys(text for part in told[:2] + held[:20] for text in part)
    return Texts(turns, contexts, tuple(strange))


def _load(path: str):  # noqa: ANN202 - whatever the file's makers put into it
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def _turns(conversation: dict[str, object]):  # noqa: ANN202 - an iterator of bytes
    for name, session in conversation.items():
        if name.startswith("session_") and isinstance(session, list):
            for turn in session:
                yield f"{turn['speaker']}: {turn['text']}".encode()
