"""The Merkle tree of RFC 6962: hashes, frontier, proofs.

    leaf hash   SHA-256(0x00 || data)
    node hash   SHA-256(0x01 || left || right)
    empty tree  SHA-256("")

A *reader* gives back stored hashes: `reader(level, index)` is the root of the
complete subtree number `index` with 2**level leaves. Provers ask it for nothing
that reaches past `size`, so it can be a tile of any store.

The verifiers follow RFC 9162, 2.1.3.2 and 2.1.4.2, and return nothing: what
does not verify raises `ProofError`.
"""

from __future__ import annotations

from indelible.errors import IntegrityError, Malformed, UsageError
from indelible.light import TYPE_CHECKING, NamedTuple, compare_digest, hashing, sha256

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    HashReader = Callable[[int, int], bytes]

EMPTY_ROOT = sha256(b"").digest()

_SIZE_BYTES = 8
_HASH_BYTES = 32


class ProofError(IntegrityError):
    """A proof does not lead from what was given to the root that was signed."""

    slug = "bad-proof"


def leaf_hash(data: bytes) -> bytes:
    """The hash of one entry of the log."""
    return sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash over two subtrees."""
    return sha256(b"\x01" + left + right).digest()


def root_of(leaf_hashes: Iterable[bytes]) -> bytes:
    """The root of the tree over these leaf hashes."""
    return EMPTY_FRONTIER.extend(leaf_hashes).root()


class Frontier(NamedTuple):
    """The right edge of a tree: all that is needed to go on appending to it.

    Also known as a compact range. One hash for each bit set in `size`, of
    the complete subtrees from left (largest) to right (smallest).
    """

    size: int
    hashes: tuple[bytes, ...]

    def append(self, leaf: bytes) -> Frontier:
        """The frontier after one more leaf hash."""
        kept, size = len(self.hashes), self.size
        while size & 1:
            kept -= 1
            leaf = sha256(b"\x01" + self.hashes[kept] + leaf).digest()
            size >>= 1
        return Frontier(self.size + 1, (*self.hashes[:kept], leaf))

    def extend(self, leaf_hashes: Iterable[bytes]) -> Frontier:
        """The frontier after all these leaf hashes, level by level."""
        level = list(leaf_hashes)
        begin = hashing(len(level) * 2 * _HASH_BYTES)
        total, size = self.size + len(level), self.size
        waiting, edge = list(self.hashes), []
        while level or size:
            if size & 1:
                level.insert(0, waiting.pop())
            if len(level) & 1:
                edge.append(level.pop())
            # node_hash, written out: this line is where a first follow spends its time.
            pairs = iter(level)
            level = [begin(b"\x01" + left + right).digest() for left, right in zip(pairs, pairs, strict=True)]
            size >>= 1
        return Frontier(total, tuple(reversed(edge)))

    def root(self) -> bytes:
        """The root of the tree so far."""
        return _fold(self.hashes) if self.hashes else EMPTY_ROOT

    def to_bytes(self) -> bytes:
        """Eight bytes of size, most significant first, then the hashes."""
        return self.size.to_bytes(_SIZE_BYTES, "big") + b"".join(self.hashes)

    @classmethod
    def from_bytes(cls, data: bytes) -> Frontier:
        """The exact inverse of `to_bytes`."""
        size = int.from_bytes(data[:_SIZE_BYTES], "big")
        if len(data) != _SIZE_BYTES + _HASH_BYTES * size.bit_count():
            raise Malformed("A frontier has not as many hashes as its size asks for", size=size)
        starts = range(_SIZE_BYTES, len(data), _HASH_BYTES)
        return cls(size, tuple(data[start : start + _HASH_BYTES] for start in starts))


EMPTY_FRONTIER = Frontier(0, ())


def prove_inclusion(index: int, size: int, reader: HashReader) -> list[bytes]:
    """The proof that leaf `index` is in the tree of `size` leaves (RFC 6962, 2.1.1)."""
    if not 0 <= index < size:
        raise UsageError(f"There is no leaf {index} in a log of {size} entries", index=index, size=size)
    proof, low, high = [], 0, size
    while high - low > 1:
        middle = low + _split(high - low)
        if index < middle:
            proof.append(_subtree(middle, high, reader))
            high = middle
        else:
            proof.append(_subtree(low, middle, reader))
            low = middle
    proof.reverse()
    return proof


def prove_consistency(size1: int, size2: int, reader: HashReader) -> list[bytes]:
    """The proof that the tree of `size2` leaves begins with that of `size1` (RFC 6962, 2.1.2)."""
    if not 0 < size1 <= size2:
        raise UsageError(
            f"Nothing proves a log of {size2} entries consistent with one of {size1}", size1=size1, size2=size2
        )
    proof, low, high = [], 0, size2
    while size1 < high:
        middle = low + _split(high - low)
        if size1 <= middle:
            proof.append(_subtree(middle, high, reader))
            high = middle
        else:
            proof.append(_subtree(low, middle, reader))
            low = middle
    if low:
        proof.append(_subtree(low, high, reader))
    proof.reverse()
    return proof


def verify_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> None:
    """Check that the leaf hash `leaf` is number `index` of the tree with this size and root.

    Raises:
        ProofError: it is not, or the proof has a hash too many, too few or wrong.
    """
    if not 0 <= index < size:
        raise ProofError("The entry's number is outside the log", index=index, size=size)
    _require_hashes(leaf, root, *proof)
    number, last, running = index, size - 1, leaf
    for sibling in proof:
        if last == 0:
            raise ProofError("The inclusion proof is too long", index=index, size=size)
        if number & 1 or number == last:
            running = node_hash(sibling, running)
            number, last = _climb_to_odd(number, last)
        else:
            running = node_hash(running, sibling)
        number, last = number >> 1, last >> 1
    if last:
        raise ProofError("The inclusion proof is too short", index=index, size=size)
    if not compare_digest(running, root):
        raise ProofError("The entry is not in the log that was signed", index=index, size=size)


def verify_consistency(size1: int, size2: int, proof: Sequence[bytes], root1: bytes, root2: bytes) -> None:
    """Check that the tree (size2, root2) is a continuation of the tree (size1, root1).

    Raises:
        ProofError: it is not; or `size1` is 0, from which everything and so nothing follows.
    """
    if not 0 < size1 <= size2:
        raise ProofError(f"Nothing proves a log of {size2} entries consistent with one of {size1}")
    if size1 == size2:
        if proof or not compare_digest(root1, root2):
            raise ProofError("Two logs of the same size differ", size1=size1, size2=size2)
        return
    _require_hashes(root1, root2, *proof)
    old, new = _roots_from_consistency(size1, size2, proof, root1)
    if not (compare_digest(old, root1) and compare_digest(new, root2)):
        raise ProofError("The log is not a continuation of the earlier one", size1=size1, size2=size2)


def _roots_from_consistency(size1: int, size2: int, proof: Sequence[bytes], root1: bytes) -> tuple[bytes, bytes]:
    """Both roots as the proof has them (RFC 9162, 2.1.4.2, steps 2 to 7)."""
    # A complete old tree is itself the first hash, and the proof leaves it out.
    path = [root1, *proof] if size1.bit_count() == 1 else list(proof)
    number, last = size1 - 1, size2 - 1
    while number & 1:
        number, last = number >> 1, last >> 1
    if not proof:
        raise ProofError("The consistency proof is empty", size1=size1, size2=size2)
    old = new = path[0]
    for sibling in path[1:]:
        if last == 0:
            raise ProofError("The consistency proof is too long", size1=size1, size2=size2)
        if number & 1 or number == last:
            old, new = node_hash(sibling, old), node_hash(sibling, new)
            number, last = _climb_to_odd(number, last)
        else:
            new = node_hash(new, sibling)
        number, last = number >> 1, last >> 1
    if last:
        raise ProofError("The consistency proof is too short", size1=size1, size2=size2)
    return old, new


def _climb_to_odd(number: int, last: int) -> tuple[int, int]:
    """Skip the levels at which a node of the right edge has no sibling."""
    while number and not number & 1:
        number, last = number >> 1, last >> 1
    return number, last


def _split(width: int) -> int:
    """The largest power of two below `width`: how many leaves go left."""
    return 1 << (width - 1).bit_length() - 1


def _subtree(low: int, high: int, reader: HashReader) -> bytes:
    """The hash over leaves low..high, where `low` is a multiple of a power of two >= high - low."""
    hashes = []
    while low < high:
        level = (high - low).bit_length() - 1
        hashes.append(reader(level, low >> level))
        low += 1 << level
    return _fold(hashes)


def _fold(hashes: Sequence[bytes]) -> bytes:
    """One hash over complete subtrees, from the right."""
    running = hashes[-1]
    for left in reversed(hashes[:-1]):
        running = sha256(b"\x01" + left + running).digest()
    return running


def _require_hashes(*hashes: bytes) -> None:
    if any(len(item) != _HASH_BYTES for item in hashes):
        raise ProofError(f"Every hash of a proof has {_HASH_BYTES} bytes")
