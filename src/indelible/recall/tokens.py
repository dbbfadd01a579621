"""What of a text is indexed, and what a question asks: words, pairs of characters, and hashed character n-grams.

A row is the whole of what ranking ever sees of a text, little-endian:

    u32 length   words and CJK characters in the text, for BM25
    u32 n        distinct terms           u32 m   distinct grams
    n x u64      hashes of terms, ascending
    n x u8       how often each is there, 255 at most
    m x u16      buckets of grams, ascending

Terms are the stems of words (Snowball's English, http://snowball.tartarus.org) and, of scripts that write without spaces
between words or glue particles to them, each pair of neighbouring characters, with single characters where a run begins.
Grams are the two to four neighbouring characters of each word with its borders, so that misspelt words still meet.

Everything is compared in NFKC and without case, so that composed and decomposed Hangul meet. It is pure Python, the same on
every machine, and never fails on bytes: what is no UTF-8 counts as U+FFFD.
"""

from __future__ import annotations

import re
import struct
import unicodedata
from collections import Counter
from functools import cache, lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RECIPE = "stems-pairs-grams-1"
"""Names this recipe. Rows of another one cannot be compared with these: reindex."""
READ = 1 << 17
"""Bytes of a text that are read, the first ones."""
QUESTION = 4096
"""Characters of a question that are read, and no more."""
MOST_TERMS = 256
"""Terms of a question that are looked up, the first ones."""

_HEAD = struct.Struct("<III")
_CJK = "\u1100-\u11ff\u3041-\u30ff\u3130-\u318f\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+(?:['’][^\W_{_CJK}]+)*|[\u2600-\u27bf\U0001f000-\U0001faff]")
_FIRST_CJK = "\u1100"
_STOP_WORDS = (
    "a about after all also am an and any are as at be been before being but by can could did do does doing for from had has have"
    " he her here hers him his how i if in into is it its just may me more most my no not of on or our out over she should so"
    " some such than that the their them then there these they this those to too under up us was we were what when where which"
    " while who whom whose why will with would you your"
)
_STOPS = frozenset(_STOP_WORDS.split())


class Asked(NamedTuple):
    """What a question asks for, once for each thing."""

    terms: tuple[int, ...]
    """Hashes as in a row, ascending. Small words are left out unless there is nothing else."""
    grams: tuple[int, ...]
    """Buckets as in a row, ascending."""


class Features(NamedTuple):
    """A row taken apart, for tests and for whoever explains a score."""

    length: int
    terms: tuple[int, ...]
    counts: tuple[int, ...]
    grams: tuple[int, ...]


def features(content: bytes) -> bytes:
    """The row of a text, whatever its bytes are; of a long one, of its first `READ` bytes."""
    length, counts, grams = 0, Counter[int](), set[int]()
    for word in _words(content[:READ].decode("utf-8", "replace")):
        size, terms, buckets = _word(word)
        length += size
        counts.update(terms)
        grams.update(buckets)
    distinct = sorted(counts)
    head = _HEAD.pack(length, len(distinct), len(grams))
    tally = bytes(min(counts[term], 255) for term in distinct)
    return head + struct.pack(f"<{len(distinct)}Q", *distinct) + tally + struct.pack(f"<{len(grams)}H", *sorted(grams))


def split_row(row: bytes) -> tuple[int, bytes, bytes, bytes]:
    """Length; the bytes of the terms, of their counts, and of the grams.

    Raises:
        ValueError: no row, or not a whole one.
    """
    if len(row) < _HEAD.size:
        raise ValueError("no row of features")
    length, n, m = _HEAD.unpack_from(row)
    terms, counts = _HEAD.size + 8 * n, _HEAD.size + 9 * n
    if len(row) != counts + 2 * m:
        raise ValueError("no whole row of features")
    return length, row[_HEAD.size : terms], row[terms:counts], row[counts:]


def parse_features(row: bytes) -> Features:
    """The exact inverse of `features`' packing.

    Raises:
        ValueError: no row, or not a whole one.
    """
    length, terms, counts, grams = split_row(row)
    return Features(length, _numbers("Q", terms), tuple(counts), _numbers("H", grams))


def _numbers(kind: str, packed: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(packed) // struct.calcsize(kind)}{kind}", packed)


def query_terms(text: str) -> Asked:
    """What a question asks for. Only its first `QUESTION` characters are read."""
    words = list(_words(text[:QUESTION]))
    telling = [word for word in words if word not in _STOPS] or words
    terms: dict[int, None] = {}
    grams: set[int] = set()
    for word in telling:
        _, found, buckets = _word(word)
        terms.update(dict.fromkeys(found))
        grams.update(buckets)
    return Asked(tuple(sorted(list(terms)[:MOST_TERMS])), tuple(sorted(grams)))


def _words(text: str) -> Iterator[str]:
    return (found.group() for found in _WORD.finditer(unicodedata.normalize("NFKC", text).casefold()))


@lru_cache(maxsize=1 << 14)
def _word(word: str) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    """Its length, the hashes of its terms, the buckets of its grams."""
    if word[0] >= _FIRST_CJK and word[0].isalpha():
        terms = (word[0], *(word[at : at + 2] for at in range(len(word) - 1)))
        return len(word), tuple(map(_hash, terms)), _grams(word)
    return 1, (_hash(_stem()(word)),), _grams(word)


@cache
def _stem() -> Callable[[str], str]:
    from Stemmer import Stemmer

    stem: Callable[[str], str] = Stemmer("english", 0).stemWord
    return stem


def _hash(term: str) -> int:
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _grams(word: str) -> tuple[int, ...]:
    """The 16 low bits of CRC-32 of its two to four characters, its borders marked by spaces."""
    framed = f" {word} "
    size = len(framed)
    grams = {framed[at : at + width] for width in (2, 3, 4) for at in range(size - width + 1)}
    return tuple(crc32(gram.encode("utf-8", "surrogatepass")) & 0xFFFF for gram in grams)
