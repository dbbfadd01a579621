"""A real tokenizer that needs no network: Qwen's vocabulary, as the package `dashscope` ships it.

It has 151,643 tokens, and reads Korean and English about as those of other vendors do.
"""

from __future__ import annotations

import base64
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import tiktoken

_SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""How it parts a text before it looks at its vocabulary."""


def count(text: str) -> int:
    """How many tokens `text` is."""
    return len(_vocabulary().encode_ordinary(text))


@cache
def _vocabulary() -> tiktoken.Encoding:
    package = find_spec("dashscope")
    assert package is not None
    assert package.submodule_search_locations
    path = Path(package.submodule_search_locations[0], "resources", "qwen.tiktoken")
    pairs = (line.split() for line in path.read_bytes().splitlines())
    ranks = {base64.b64decode(token): int(rank) for token, rank in pairs}
    return tiktoken.Encoding("qwen", pat_str=_SPLIT, mergeable_ranks=ranks, special_tokens={})
