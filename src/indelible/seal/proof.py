"""One entry's proof as a file of its own (c2sp.org/tlog-proof), to verify offline.

    c2sp.org/tlog-proof@v1
    extra <base64>              optional, and not authenticated
    index 73894
    <inclusion proof, one base64 hash a line, from the leaf's sibling up>

    <the log's checkpoint, a signed note, verbatim>

`parse` is the exact inverse of `TlogProof.format`. A proof means nothing until
`TlogProof.verify` has checked it against a leaf hash, keys and an origin that the
reader already had.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from indelible.errors import Malformed, UsageError
from indelible.seal import checkpoint
from indelible.seal.merkle import ProofError, verify_inclusion
from indelible.seal.note import from_base64, open_note, parse_note, to_base64

if TYPE_CHECKING:
    from collections.abc import Iterable

    from indelible.seal.note import Verifier

MAX_PROOF = 2_000_000

_HEADER = "c2sp.org/tlog-proof@v1"
_HASH_BYTES = 32
_MAX_HASHES = 63


@dataclass(frozen=True, slots=True)
class TlogProof:
    """Where an entry is in a log, and under which signed head. Not verified: see `verify`."""

    index: int
    hashes: tuple[bytes, ...]
    checkpoint_note: bytes
    extra: bytes | None = None

    def format(self) -> bytes:
        """The file's bytes.

        Raises:
            UsageError: a field that would not come back as it is.
        """
        extra = () if self.extra is None else (f"extra {to_base64(self.extra)}",)
        lines = (_HEADER, *extra, f"index {self.index}", *map(to_base64, self.hashes))
        data = "\n".join(lines).encode() + b"\n\n" + self.checkpoint_note
        try:
            if parse(data) == self:
                return data
        except Malformed as exc:
            raise UsageError("A proof cannot be written with these fields") from exc
        raise UsageError("A proof cannot be written with these fields")

    def verify(self, leaf: bytes, verifiers: Iterable[Verifier], origin: str) -> checkpoint.Checkpoint:
        """Check that the leaf hash `leaf` is in the log `origin`, and return the head that says so.

        Args:
            leaf: the leaf hash, worked out from the entry by who asks.
            verifiers: the log's own keys; how many witnesses are enough is for the caller to judge.
            origin: the log's name, from the reader's configuration and never from the proof.

        Raises:
            Malformed, BadSignature: the head is no checkpoint, or not signed by the log.
            ProofError: another log's head, or the entry is not in it.
        """
        note, _ = open_note(self.checkpoint_note, verifiers)
        head = checkpoint.parse(note.text)
        if head.origin != origin:
            raise ProofError("The proof is of another log", expected=origin, actual=head.origin)
        verify_inclusion(leaf, self.index, head.size, self.hashes, head.root)
        return head


def parse(data: bytes) -> TlogProof:
    """The exact inverse of `TlogProof.format`; verifies nothing.

    Raises:
        Malformed: anything that `TlogProof.format` does not write.
    """
    head, blank, note = data.partition(b"\n\n")
    if len(data) > MAX_PROOF or not blank or not head.isascii():
        raise Malformed("A log proof is not proof lines, a blank line and a checkpoint")
    header, *lines = head.decode("ascii").split("\n")
    if header != _HEADER:
        raise Malformed(f"A log proof does not begin with {_HEADER}")
    extra = from_base64(lines.pop(0).removeprefix("extra ")) if lines and lines[0].startswith("extra ") else None
    if not lines or not lines[0].startswith("index "):
        raise Malformed("A log proof has no index line")
    index = checkpoint.parse_size(lines[0].removeprefix("index "))
    hashes = tuple(map(from_base64, lines[1:]))
    if len(hashes) > _MAX_HASHES or any(len(item) != _HASH_BYTES for item in hashes):
        raise Malformed(f"A log proof has at most {_MAX_HASHES} hashes of {_HASH_BYTES} bytes")
    checkpoint.parse(parse_note(note).text)
    return TlogProof(index, hashes, note, extra)
