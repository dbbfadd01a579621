"""Which memory a text is a copy of, and how sure that is: the Hopfield memory proposes, the log has the last word."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import IntegrityError, NotFoundError
from indelible.recall.certify import Certainty

if TYPE_CHECKING:
    from indelible.memory.finding import Advance
    from indelible.memory.originals import Originals
    from indelible.memory.reading import Reader
    from indelible.recall.certify import Noise


class Original(NamedTuple):
    """A version that a text may be a copy of."""

    key: str
    version: int
    newest: int
    """The version that was saved last."""
    state: str
    """Of the memory: `active`, `archived` or `superseded`."""
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
    also: tuple[str, ...] = ()
    """Other keys that the very same original is stored under."""

    @property
    def longer(self) -> int:
        """Bytes that what is compared has more than the original; negative: fewer. 0 where nothing stands clear."""
        return 0 if self.noise is None else self.noise.longer

    @property
    def original(self) -> Original | None:
        """The one that stands clear."""
        clear = self.certainty in (Certainty.PERFECT, Certainty.MISMATCH)
        return self.originals[0] if clear else None


def certify(reader: Reader, text: bytes, *, prefix: str = "", advance: Advance | None = None) -> Certificate:
    """As `Memory.identify`."""
    originals = reader.indexed.originals
    with reader.indexed.finder.lock:
        originals.refresh(advance)
        associative = originals.associative(prefix)
    answer = associative.identify(text, _Stored(reader))
    named = [_original(reader, originals, one.seq, one.posterior) for one in answer.candidates]
    found = tuple(original for original in named if original is not None)
    made = Certificate(answer.certainty, found, answer.gap, answer.energy, answer.noise)
    if made.certainty not in (Certainty.PERFECT, Certainty.MISMATCH):
        return made
    if named[0] is None:  # it was erased since
        return made._replace(certainty=Certainty.UNKNOWN, noise=None)
    patterns = associative.patterns
    digest = patterns.digests[int((patterns.seqs == answer.candidates[0].seq).argmax())].tobytes()
    also = tuple(key for key in originals.holding(digest, prefix) if key != found[0].key)
    return _held_against_the_log(reader, made._replace(identical=sha256(text).digest() == digest, also=also))


class _Stored:
    """The bytes that lie in the store under an entry's number, not yet verified."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def __call__(self, seq: int) -> bytes:
        sealed = self._reader.store.peek(self._reader.agent, seq).sealed
        if sealed is None:
            raise NotFoundError("Nothing is stored under that entry any more", seq=seq)
        return sealed.content


def _original(reader: Reader, originals: Originals, seq: int, posterior: float) -> Original | None:
    known = originals.versions.get(seq)
    _, latest = reader.follower.look(known.key) if known is not None else (None, None)
    if known is None or latest is None:
        return None
    return Original(known.key, known.version, latest.version, latest.state, posterior)


def _held_against_the_log(reader: Reader, made: Certificate) -> Certificate:
    """What stands clear is fetched as every read is, and then stands or falls by the log."""
    first = made.originals[0]
    try:
        reader.fetch(first.key, first.version)
    except IntegrityError as finding:
        return made._replace(certainty=Certainty.MISMATCH, finding=finding)
    except NotFoundError:
        return made._replace(certainty=Certainty.UNKNOWN, originals=(), noise=None)
    return made
