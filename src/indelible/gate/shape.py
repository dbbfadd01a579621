"""Why a text reads as an order to the model that is given it, instead of a note about the work.

`signs` gives slugs, each with its words in `SIGNS`. They are a reason to ask a person, never a reason to delete: an article
that quotes such a sentence has the sign too. What honest notes are full of is no sign: orders to a reader ("always run
make test", "never push without approval"), addresses, and talk about keys.
"""

from __future__ import annotations

import os
import re
from hashlib import blake2b
from typing import TYPE_CHECKING

from indelible.gate.characters import folded, hidden_ascii, parted, visible
from indelible.gate.lexicon import RULES
from indelible.gate.noticing import NOTICED, may_meet_a_rule
from indelible.gate.posing import HINTS, poses
from indelible.gate.tokens import LAST, known_words

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["SIGNS", "signs", "visible"]

SIGNS = {
    "claims-authority": "claims a review, an approval or a special mode for itself",
    "exfiltrates": "asks to send private matter to an address",
    "hidden-text": "holds text that nobody can see",
    "hides": "asks to keep something from a person",
    "overrides-instructions": "asks to drop the instructions given before",
    "poses-as-system": "speaks as the system, or to the model, or closes the frame it stands in",
    "reads-secrets": "asks to copy out what lies in a place for secrets",
    "skips-approval": "asks to act without the approval that is due",
}
"""Every sign, with what it says of a text."""

MOST = 16_384
"""How many texts' signs are remembered: about 3 MB."""
_PROCESS = os.urandom(32)
_KNOWN: dict[bytes, tuple[str, ...]] = {}
_SPACES = str.maketrans(dict.fromkeys('\n\t.,;:!?()[]{}<>"`*/#|=+~\\-@&%$^' + "'", " "))
_LEET = str.maketrans("0134578", "oieastb")
_ALPHABET = frozenset("abcdefghijklmnopqrstuvwxyz")
_MIXED = re.compile(r"[a-z0-9]+")
_SPELT = re.compile(r"(?<![^\W_])(?:[a-z][ .*_-]){3,80}[a-z](?![^\W_])")
_BLANKS = re.compile(r"[^\S\n]+")
_MARKS = re.compile(r"[*`]|(?<!\w)_|_(?!\w)")


def signs(text: str) -> tuple[str, ...]:
    """The signs that `text` reads as an order to a model, each once, in the order of the alphabet.

    A text is looked through once in a process, as long as no more than `MOST` others were: of each the digest is kept,
    under a key of this process, and no word.
    """
    digest = blake2b(text.encode(errors="surrogatepass"), digest_size=32, key=_PROCESS).digest()
    found = _KNOWN.get(digest)
    if found is None:
        found = _look(text)
        if len(_KNOWN) >= MOST:
            _KNOWN.clear()
        _KNOWN[digest] = found
    return found


def _look(text: str) -> tuple[str, ...]:
    found = set(_found(text))
    if (other := parted(text)) is not text:
        found.update(_found(other))
    return tuple(sorted(found)) if found else ()


def _found(text: str) -> Iterator[str]:
    if not text.isascii() and hidden_ascii(text):
        yield "hidden-text"
    plain = folded(text)
    plain, words = _undisguised(plain, _words(plain))
    if may_meet_a_rule(plain, words):
        yield from _rules_met(_MARKS.sub("", _BLANKS.sub(" ", plain)))
    if not words.isdisjoint(HINTS) or "<" in plain or "[" in plain or not plain.isascii():
        yield from poses(plain, words)


def _words(plain: str) -> set[str]:
    """The words in Latin letters: those of a script without spaces are found where they are looked for."""
    latin = plain if plain.isascii() else plain.encode("ascii", "replace").decode("ascii")
    return set(latin.translate(_SPACES).split())


def _undisguised(plain: str, words: set[str]) -> tuple[str, set[str]]:
    """The text with words that are written in digits, or letter by letter, put right, if rules know them."""
    if len(words & _ALPHABET) > 4:
        plain = _SPELT.sub(lambda match: "".join(filter(str.isalpha, match[0])), plain)
        words = words | _words(plain)
    odd = [word for word in words if not word.isalpha() and not word.isdigit()]
    if odd:
        meant = {word: _meant(word) for word in odd}
        if any(meant.values()):
            plain = _MIXED.sub(lambda match: meant.get(match[0]) or match[0], plain)
        words = words.union(meant.values(), *[word.split("_") for word in odd if "_" in word])
    return plain, words


def _meant(word: str) -> str:
    """The word of the lexicon that is written with digits in `word`, or nothing."""
    for one in "il":
        letters = word.replace("1", one).translate(_LEET)
        if letters != word and letters in NOTICED:
            return letters
    return ""


def _rules_met(plain: str) -> Iterator[str]:
    """Slugs of the rules whose classes follow one another."""
    ends: dict[tuple[int, int], int] = {}
    for start, end, slots in known_words(plain):
        for number, place, reach in slots:
            if place == 0 or start - ends.get((number, place - 1), -reach - 1) <= reach:
                ends[number, place] = end
                if place == LAST[number]:
                    yield RULES[number][0]
