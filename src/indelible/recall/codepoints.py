"""Texts as arrays of code points: folded, classed, cut into words, and hashed over any range in one step.

A text is read as UTF-8; a byte that is none is carried through (PEP 383), so that every place in the text is a place in its
bytes. It is brought to NFC, so that both forms of Hangul are one text; `Text.byte` leads back to the bytes as they were saved.

What counts as a word: a run of letters, digits, combining marks and `_`; in a script that is written without spaces (Han,
Kana, Thai, Lao, Khmer, Burmese) each character. Letters are compared without case and width.

A range [i, j) of values v is hashed as `(S[j] - S[i]) * B**-i mod 2**64`, with `S[k] = sum(v[t] * B**t for t < k)` and B odd,
and then mixed (the finaliser of SplitMix64): equal ranges have equal hashes wherever they stand (Rabin and Karp 1987).
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Hashes: TypeAlias = NDArray[np.uint64]
    Places: TypeAlias = NDArray[np.int64]
    Numbers: TypeAlias = NDArray[np.int32]
    Kinds: TypeAlias = NDArray[np.uint8]

NOTHING, LETTER, ALONE, HANGUL = range(4)
"""What a code point is: between words; of a word; a word by itself; of a word, and a syllable."""
FULL = 2
"""What a word weighs; a character that is a word by itself weighs 1, since about two of them make one."""
_UNSPACED = (
    "CJK UNIFIED",
    "CJK COMPAT",
    "HIRAGANA",
    "KATAKANA",
    "THAI",
    "LAO",
    "KHMER",
    "MYANMAR",
    "HALFWIDTH KATAKANA",
)
_PAGE = 256
_PAGES = 0x110000 // _PAGE
_BASE = 0x9E3779B97F4A7C15
_INVERSE = pow(_BASE, -1, 1 << 64)


class Words(NamedTuple):
    """The words of several texts, one after the other, and their code points; n words of m code points."""

    points: Hashes
    """(m,) folded code points, mixed."""
    kinds: Kinds
    """(m,)"""
    hashes: Hashes
    """(n,)"""
    starts: Places
    """(n,) first code point of each."""
    ends: Places
    """(n,) one past the last."""
    weights: Places
    """(n,) `FULL`, or 1."""
    texts: Places
    """(n,) in which text it stands, from 0."""
    origins: Places
    """(k + 1,) first code point of each text, and one past all."""


class Text(NamedTuple):
    """One text, as it was saved and in NFC."""

    content: bytes
    plain: str
    """As it was saved, decoded."""
    nfc: str

    def byte(self, point: int) -> int:
        """The byte at which a code point of `nfc` begins."""
        if self.plain is self.nfc:
            return len(_encode(self.nfc[:point]))
        return len(_encode(self.plain[: _before(self.plain, point)]))


def read(content: bytes) -> Text:
    """The text of some bytes; never fails."""
    plain = content.decode("utf-8", "surrogateescape")
    nfc = plain if unicodedata.is_normalized("NFC", plain) else unicodedata.normalize("NFC", plain)
    return Text(content, plain, nfc)


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _before(plain: str, point: int) -> int:
    """How many characters of `plain` make the first `point` of its NFC. Composition never reaches over a space."""
    at = made = 0
    for piece in plain.split(" "):
        length = len(unicodedata.normalize("NFC", piece))
        if made + length >= point:
            return at + _within(piece, point - made)
        made, at = made + length + 1, at + len(piece) + 1
    return len(plain)


def _within(piece: str, point: int) -> int:
    """As `_before`, of one piece: the least prefix that a further character does not change."""
    for end in range(len(piece) + 1):
        head = unicodedata.normalize("NFC", piece[:end])
        if len(head) == point and len(unicodedata.normalize("NFC", piece[: end + 1])) != point:
            return end
    return len(piece)


def words_of(texts: Sequence[str]) -> Words:
    """The words of texts in NFC.

    Args:
        texts: in all up to some million characters: about 60 bytes of memory for each.
    """
    joined = "\n".join((*texts, ""))
    codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    fold, kind = _tables(codes)
    points, kinds = mix(fold[codes].astype(np.uint64)), kind[codes]
    within, alone = (kinds == LETTER) | (kinds == HANGUL), kinds == ALONE
    before = np.concatenate(([False], within[:-1]))
    after = np.concatenate((within[1:], [False]))
    starts = np.flatnonzero((within & ~before) | alone)
    ends = np.flatnonzero((within & ~after) | alone) + 1
    origins = np.cumsum([0, *(len(text) + 1 for text in texts)])
    hashes = ranges(points, starts, ends)
    weights = np.where(alone[starts], 1, FULL)
    return Words(points, kinds, hashes, starts, ends, weights, np.searchsorted(origins, starts, "right") - 1, origins)


def ranges(values: Hashes, starts: Places, ends: Places) -> Hashes:
    """The hash of each range [start, end) of `values`, all (n,)."""
    forward, back = _powers(1 << max(10, len(values).bit_length()))
    sums = np.zeros(len(values) + 1, np.uint64)
    np.cumsum(values * forward[: len(values)], out=sums[1:])
    return mix((sums[ends] - sums[starts]) * back[starts])


def mix(values: Hashes) -> Hashes:
    """The finaliser of SplitMix64 (Steele, Lea and Flood 2014): every bit of the result hangs on every bit."""
    made = values + np.uint64(0x9E3779B97F4A7C15)
    made = (made ^ (made >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    made = (made ^ (made >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return made ^ (made >> np.uint64(31))


@lru_cache(maxsize=2)
def _powers(count: int) -> tuple[Hashes, Hashes]:
    """The powers of the base and of its inverse, from the zeroth on."""
    made = []
    for base in (_BASE, _INVERSE):
        powers = np.full(count, base, np.uint64)
        powers[0] = 1
        made.append(np.cumprod(powers))
    return made[0], made[1]


def _tables(codes: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], Kinds]:
    """What each code point is folded to, and its kind, by code point; filled for the pages that these texts use."""
    fold, kind, known = _all()
    for page in np.flatnonzero(np.bincount(codes >> 8, minlength=_PAGES)[:_PAGES]):
        if not known[page]:
            for code in range(int(page) * _PAGE, (int(page) + 1) * _PAGE):
                fold[code], kind[code] = _folded(chr(code)), _kind(chr(code))
            known[page] = True
    return fold, kind


@lru_cache(maxsize=1)
def _all() -> tuple[NDArray[np.uint32], Kinds, NDArray[np.bool_]]:
    return np.zeros(0x110000, np.uint32), np.zeros(0x110000, np.uint8), np.zeros(_PAGES, np.bool_)


def _folded(char: str) -> int:
    """Without case and width, where that is one character too."""
    plain = unicodedata.normalize("NFKC", char)
    plain = plain if len(plain) == 1 else char
    small = plain.casefold()
    return ord(small if len(small) == 1 else plain)


def _kind(char: str) -> int:
    if "\uac00" <= char <= "\ud7a3":
        return HANGUL
    if not (char.isalnum() or char == "_" or unicodedata.category(char).startswith("M")):
        return NOTHING
    return ALONE if unicodedata.name(char, "").startswith(_UNSPACED) else LETTER
