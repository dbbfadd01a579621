"""Keys as an encrypted text that can be printed, and typed in again from paper.

    -----BEGIN INDELIBLE KEY BACKUP-----
    01/12 aW5k ZWxp Ymxl … 7f3a
    …
    12/12 Zm9v 01c2
    -----END INDELIBLE KEY BACKUP-----

Each line has its number, up to 30 bytes in groups of four characters of base64, and
four hex digits over number and data, so that a slip is found in its line before
the passphrase is asked for. The bytes are salt, nonce and ciphertext of a canonical
JSON list of the keys' files.
"""

from __future__ import annotations

from hashlib import sha256
from typing import NamedTuple

from indelible.errors import Malformed, UsageError
from indelible.keys.sealedkey import decrypt, encrypt
from indelible.seal import canonical
from indelible.seal.note import from_base64, to_base64

_BEGIN = "-----BEGIN INDELIBLE KEY BACKUP-----"
_END = "-----END INDELIBLE KEY BACKUP-----"
_CONTEXT = b"indelible/key-backup/v1\n"
_LINE = 30
_GROUP = 4


class SavedKey(NamedTuple):
    """One key as a backup holds it: the texts of its files."""

    name: str
    current: str
    retired: tuple[str, ...]
    """Keys that it replaced, which older entries are signed with."""


def format_backup(keys: tuple[SavedKey, ...], passphrase: str) -> str:
    """The text to print; `parse_backup` is the inverse."""
    listed = [{"current": key.current, "name": key.name, "retired": list(key.retired)} for key in keys]
    blob = encrypt(passphrase, canonical.dumps({"keys": listed, "version": 1}), _CONTEXT)
    parts = [to_base64(blob[start : start + _LINE]) for start in range(0, len(blob), _LINE)]
    lines = (_format_line(number, len(parts), part) for number, part in enumerate(parts, 1))
    return "\n".join((_BEGIN, *lines, _END, ""))


def read_blob(text: str) -> bytes:
    """The encrypted bytes of a typed or copied backup; text round it and spaces in it do not matter.

    Raises:
        UsageError: naming the lines that are missing or not as they were printed.
    """
    _, begin, rest = text.partition(_BEGIN)
    body, end, _ = rest.partition(_END)
    lines = [words for words in map(str.split, body.splitlines()) if words]
    if not begin or not end or not lines:
        raise UsageError("A key backup stands between its BEGIN and END lines", remedy="Type or copy it whole")
    total = _count([words[0].partition("/")[2] for words in lines])
    good = dict(filter(None, (_parse_line(words, total) for words in lines)))
    wrong = [number for number in range(1, total + 1) if number not in good]
    if wrong:
        raise UsageError(
            f"In the key backup, line {', '.join(map(str, wrong[:20]))} of {total} is missing or not as it was printed",
            remedy="Compare it letter by letter: 0 and O, 1, l and I",
            lines=wrong,
        )
    return b"".join(good[number] for number in range(1, total + 1))


def parse_backup(blob: bytes, passphrase: str) -> tuple[SavedKey, ...]:
    """The keys.

    Raises:
        AccessDenied: the passphrase is wrong.
        UsageError: a later version wrote the backup.
    """
    value = canonical.loads(decrypt(passphrase, blob, _CONTEXT))
    if not isinstance(value, dict) or value.get("version") != 1 or not isinstance(keys := value.get("keys"), list):
        raise UsageError("The key backup is of a newer version", remedy="Upgrade indelible")
    return tuple(map(_saved_key, keys))


def _saved_key(value: canonical.Json) -> SavedKey:
    match value:
        case {"name": str(name), "current": str(current), "retired": list(retired)}:
            return SavedKey(name, current, tuple(map(str, retired)))
    raise UsageError("The key backup holds something that is no key", remedy="Upgrade indelible")


def _count(said: list[str]) -> int:
    """How many lines there are, as most of them say: any one may be mistyped."""
    total = max(said, key=said.count)
    if not (total.isascii() and total.isdigit() and len(total) <= 5):
        raise UsageError("The lines of the key backup do not begin with their numbers", remedy="Type them as printed")
    return int(total)


def _format_line(number: int, total: int, part: str) -> str:
    label = f"{number:0{len(str(total))}}/{total}"
    groups = (part[start : start + _GROUP] for start in range(0, len(part), _GROUP))
    return " ".join((label, *groups, _check(label, part)))


def _parse_line(words: list[str], total: int) -> tuple[int, bytes] | None:
    """Number and bytes of a line, or None where it is not as printed."""
    label, *groups, check = words if len(words) > 1 else [*words, ""]
    number, _, of = label.partition("/")
    part = "".join(groups)
    if of != str(total) or not (number.isascii() and number.isdigit()) or check.lower() != _check(label, part):
        return None
    try:
        return int(number), from_base64(part)
    except Malformed:
        return None


def _check(label: str, part: str) -> str:
    return sha256(f"{label} {part}".encode()).hexdigest()[:4]
