"""Whether a text is worth reading by the rules: all that an ordinary note costs."""

from __future__ import annotations

import re
from typing import NamedTuple

from indelible.gate.lexicon import CLASSES, RULES
from indelible.gate.tokens import DOMAINS, MEANINGS, SECRET_NAMES, STEMS

_BIT = {name: 1 << number for number, name in enumerate(CLASSES)}
_PLACES = (".ssh", "id_", ".env", ".aws", ".netrc", ".pgpass", ".git-", ".kube", "/etc/")
_ADDRESSES = ("@", "//", *(f".{domain}" for domain in DOMAINS))


class _Key(NamedTuple):
    """A word or phrase, which is noticed by the longest word of it."""

    words: frozenset[str]
    bits: int


def _bits(names: frozenset[str] | set[str]) -> int:
    return sum(_BIT[name] for name in names)


def _keys() -> dict[str, list[_Key]]:
    keys: dict[str, list[_Key]] = {}
    for text, meaning in MEANINGS.items():
        words = re.split("[ '-]", text)
        keys.setdefault(max(words, key=len), []).append(_Key(frozenset(words), _bits(meaning.classes)))
    return keys


def _stems() -> dict[str, list[tuple[str, int]]]:
    """By their first character."""
    stems: dict[str, list[tuple[str, int]]] = {}
    for stem in STEMS:
        stems.setdefault(stem[0], []).append((stem, _bits(MEANINGS[stem].classes)))
    return stems


_KEYS, _STEMS = _keys(), _stems()
_BEGINS = re.compile(
    "|".join(f"{first}(?={'|'.join(re.escape(stem[1:]) for stem, _ in stems)})" for first, stems in _STEMS.items())
)
"""The first character of a stem, where one stands."""
NOTICED = frozenset(_KEYS)
"""Words by which a word or phrase of the lexicon is noticed."""
_KEY, _PLACE, _ADDRESS = _BIT["KEY"], _BIT["PLACE"], _BIT["ADDRESS"]
_NEEDED = tuple({_bits(set(rule.replace("DEST", "ADDRESS").split())) for _, rule in RULES})


def may_meet_a_rule(text: str, words: set[str]) -> bool:
    """Whether a folded text, of which these are the words, has something of every class that some rule asks for."""
    found = _PLACE | _ADDRESS
    for word in words & NOTICED:
        for key in _KEYS[word]:
            if key.words <= words:
                found |= key.bits
    if not text.isascii():
        found |= _bits_of_stems(text)
    if "_" in text and any(word.endswith(SECRET_NAMES) for word in words):
        found |= _KEY
    needed = [bits for bits in _NEEDED if bits & found == bits]
    if not needed:
        return False
    if not any(place in text for place in _PLACES):
        found ^= _PLACE
    if not any(mark in text for mark in _ADDRESSES):
        found ^= _ADDRESS
    return any(bits & found == bits for bits in needed)


def _bits_of_stems(text: str) -> int:
    found = 0
    for first in set(_BEGINS.findall(text)):
        for stem, bits in _STEMS[first]:
            if stem in text:
                found |= bits
    return found
