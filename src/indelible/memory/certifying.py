"""Which memory a text is a copy of, and how sure that is: the Hopfield memory proposes, the log has the last word.

Older versions of what comes near are looked at too, so that a damaged copy of one is not taken for a changed copy of the newest.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indelible.errors import IndelibleError, IntegrityError, NotFoundError
from indelible.recall.certify import Certainty, identify
from indelible.recall.certify import Memory as Associative
from indelible.recall.patterns import Patterns, build

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indelible.memory.finding import Advance, Finder
    from indelible.memory.reading import Reader
    from indelible.recall.certify import Answer, Noise

VERSIONS = 64
"""Older versions that are looked at, of all keys that come near."""


class Original(NamedTuple):
    """A version that a text may be a copy of."""

    key: str
    version: int
    newest: int
    """The version that is in force."""
    posterior: float
    """From 0 to 1; with 'not stored at all' they make 1."""


class Certificate(NamedTuple):
    """What recall says of a text."""

    certainty: Certainty
    originals: tuple[Original, ...]
    """The best first; PERFECT and MISMATCH speak of the first one."""
    gap: float
    """Nats between the first and the second; infinite where there is no other."""
    energy: float
    """Of the modern Hopfield network, in nats: the deeper, the better is the text explained by what is stored."""
    noise: Noise | None
    """PERFECT: of the text against its original. MISMATCH: of what is stored against the original's pattern."""
    finding: IntegrityError | None = None
    """MISMATCH: what is wrong with what is stored."""
    identical: bool = False
    """Whether the text has the very digest of the first original: a true copy."""
    longer: int = 0
    """Bytes that the text has more than its original; negative: fewer. 0 where nothing stands clear."""
    also: tuple[str, ...] = ()
    """Other keys that the very same original is stored under."""

    @property
    def original(self) -> Original | None:
        """The one that stands clear."""
        clear = self.certainty in (Certainty.PERFECT, Certainty.MISMATCH)
        return self.originals[0] if clear else None


def certify(reader: Reader, text: bytes, *, prefix: str = "", advance: Advance | None = None) -> Certificate:
    """As `Memory.identify`."""
    finder = reader.indexed.finder
    finder.refresh(advance)
    known = _Known(reader, finder)
    associative = finder.associative
    if prefix:
        under = np.isin(associative.patterns.seqs, np.array(finder.present.under(prefix), np.uint64))
        associative = Associative(associative.patterns.select(np.flatnonzero(under)))
    answer = associative.identify(text, known.stored)
    older = known.older(answer)
    if older is not None:
        answer = identify(
            text, _beside(associative.patterns, older), rebuild=known.stored, thresholds=associative.thresholds
        )
    found = known.certificate(text, answer)
    return found._replace(also=tuple(key for key in found.also if key.startswith(prefix)))


class _Known:
    """What an entry's number stands for."""

    def __init__(self, reader: Reader, finder: Finder) -> None:
        self._reader, self._finder = reader, finder
        self._older: dict[int, tuple[str, int, bytes]] = {}
        """Key, version and content of older versions, verified."""

    def stored(self, seq: int) -> bytes:
        """The bytes that lie in the store, not yet verified."""
        if seq in self._older:
            return self._older[seq][2]
        live = self._finder.present.get(seq)
        found = self._reader.remains(live.key) if live is not None else None
        if found is None:
            raise NotFoundError("Nothing is stored under that entry any more", seq=seq)
        return found[0].content

    def older(self, answer: Answer) -> Patterns | None:
        """The patterns of older versions of what came near; None where there are none."""
        keys = [live.key for one in answer.candidates if (live := self._finder.present.get(one.seq)) is not None]
        for key in keys:
            for seq, version, content in self._versions(key):
                if len(self._older) == VERSIONS:
                    break
                self._older[seq] = (key, version, content)
        return build([one[2] for one in self._older.values()], list(self._older)) if self._older else None

    def _versions(self, key: str) -> Iterator[tuple[int, int, bytes]]:
        _, latest = self._reader.follower.look(key)
        for version in range(latest.version - 1, 0, -1) if latest is not None else ():
            try:
                loaded = self._reader.fetch(key, version)
            except IndelibleError:
                continue  # altered or given up: no copy of it can be vouched for
            yield loaded.seq, version, loaded.content

    def certificate(self, text: bytes, answer: Answer) -> Certificate:
        """With keys for numbers. What stands clear is fetched as every read is, and then stands or falls by the log."""
        originals = tuple(
            original for one in answer.candidates if (original := self._original(one.seq, one.posterior)) is not None
        )
        made = Certificate(answer.certainty, originals, answer.gap, answer.energy, answer.noise)
        first = made.original
        if first is None:
            return made
        digest, size = self._pattern(answer.candidates[0].seq)
        made = made._replace(
            identical=sha256(text).digest() == digest, longer=len(text) - size, also=self._also(first.key, digest)
        )
        try:
            self._reader.fetch(first.key, first.version)
        except IntegrityError as finding:
            return made._replace(certainty=Certainty.MISMATCH, finding=finding)
        except NotFoundError:
            return made._replace(certainty=Certainty.UNKNOWN, originals=(), noise=None)
        return made

    def _pattern(self, seq: int) -> tuple[bytes, int]:
        """SHA-256 and size of an original, as they were derived from what was verified."""
        if seq in self._older:
            content = self._older[seq][2]
            return sha256(content).digest(), len(content)
        patterns = self._finder.associative.patterns
        place = int(np.flatnonzero(patterns.seqs == seq)[0])
        return patterns.digests[place].tobytes(), int(patterns.sizes[place])

    def _also(self, key: str, digest: bytes) -> tuple[str, ...]:
        """The other keys in force that have it."""
        seqs = self._finder.holding(digest)
        found = (live.key for seq in seqs if (live := self._finder.present.get(seq)) is not None)
        return tuple(sorted(other for other in found if other != key))

    def _original(self, seq: int, posterior: float) -> Original | None:
        live = self._finder.present.get(seq)
        key = self._older[seq][0] if seq in self._older else live.key if live is not None else ""
        _, latest = self._reader.follower.look(key)
        if latest is None:
            return None
        return Original(key, self._older[seq][1] if seq in self._older else latest.version, latest.version, posterior)


def _beside(newest: Patterns, older: Patterns) -> Patterns:
    """Both, in one."""
    return Patterns(
        np.concatenate((newest.seqs, older.seqs)), np.concatenate((newest.bits, older.bits)), np.concatenate((newest.sizes, older.sizes)),
        np.concatenate((newest.offsets, older.offsets[1:] + newest.offsets[-1])),
        np.concatenate((newest.buckets, older.buckets)), np.concatenate((newest.digests, older.digests)),
    )  # fmt: skip
