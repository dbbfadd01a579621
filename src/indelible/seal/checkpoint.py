"""The head of a log as text (c2sp.org/tlog-checkpoint), to be signed as a note.

    indelible/local/eros        origin: which log
    20852163                    size: how many entries, no leading zero
    CsUYapGGPo4dkMgIAUqom/…=    root of the tree over them, base64
    <extension lines, none of them empty>

`parse` is the exact inverse of `Checkpoint.format`.
"""

from __future__ import annotations

from typing import NamedTuple

from indelible.errors import Malformed, UsageError
from indelible.seal.note import from_base64, to_base64

MAX_SIZE = 2**63 - 1
"""As large as a log may say it is: a signed 64-bit number."""

_ROOT_BYTES = 32
_FIXED_LINES = 3


class Checkpoint(NamedTuple):
    """What a log commits to: its name, size and root."""

    origin: str
    size: int
    root: bytes
    extensions: tuple[str, ...] = ()

    def format(self) -> bytes:
        """The text of the note.

        Raises:
            UsageError: a field that would not come back as it is, such as an origin with a newline.
        """
        lines = (self.origin, str(self.size), to_base64(self.root), *self.extensions)
        try:
            text = "".join(f"{line}\n" for line in lines).encode()
            if parse(text) == self:
                return text
        except (Malformed, UnicodeEncodeError) as exc:
            raise UsageError("A checkpoint cannot be written with these fields", origin=self.origin) from exc
        raise UsageError("A checkpoint cannot be written with these fields", origin=self.origin)


def parse(text: bytes) -> Checkpoint:
    """The checkpoint in the text of a note.

    Raises:
        Malformed: anything that `Checkpoint.format` does not write.
    """
    try:
        *lines, end = text.decode().split("\n")
    except UnicodeDecodeError as exc:
        raise Malformed("A checkpoint is not UTF-8") from exc
    if end or len(lines) < _FIXED_LINES or not all(lines):
        raise Malformed("A checkpoint has at least three lines, and none of them is empty")
    origin, size, encoded, *extensions = lines
    root = from_base64(encoded)
    if len(root) != _ROOT_BYTES:
        raise Malformed(f"A checkpoint's root has {_ROOT_BYTES} bytes, not {len(root)}", origin=origin)
    return Checkpoint(origin, parse_size(size), root, tuple(extensions))


def parse_size(text: str) -> int:
    """A number of entries: decimal digits, no sign, no leading zero.

    Raises:
        Malformed: another spelling, or more than a log can hold.
    """
    digits = text.isascii() and text.isdigit() and len(text) <= len(str(MAX_SIZE))
    if not digits or str(int(text)) != text or int(text) > MAX_SIZE:
        raise Malformed("A log's size or an entry's number is not a plain decimal number")
    return int(text)
