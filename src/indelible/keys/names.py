"""What a key's file is called.

    indelible/local/eros       indelible+local+eros
    indelible/local/%EB%A9%94  indelible+local+%EB%A9%94
    anything else              indelible+local+eros~<32 hex of SHA-256 of the name>

A name stands in its file's name as it is, with `+` (which no key's name has) for `/`.
One that a file system might not hold, or not tell from another (capitals, other
characters, too long, a device of Windows) is hashed behind a readable prefix.
No two names share a file, on no file system: the first kind has no `~` and its only
capitals are those of an escape, which has no other spelling there.
"""

from __future__ import annotations

from hashlib import sha256

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789._@-/")
_HEX = frozenset("0123456789ABCDEF")
_DEVICES = frozenset({"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))})
_MAX_STEM = 100
"""An encrypted home allows 143 bytes, and a key id and a suffix may follow."""
_PREFIX = 40


def file_stem(name: str) -> str:
    """The name of the key `name`'s files, without their suffix."""
    if _is_plain(name):
        return name.replace("/", "+")
    readable = "".join(letter if letter in _PLAIN else "_" for letter in name.lower()[:_PREFIX])
    return f"{readable.replace('/', '+')}~{sha256(name.encode()).hexdigest()[:32]}"


def _is_plain(name: str) -> bool:
    if not 0 < len(name) <= _MAX_STEM or name.startswith(".") or name.split(".", 1)[0] in _DEVICES:
        return False
    head, *escapes = name.split("%")
    return _PLAIN.issuperset(head) and all(
        len(escape) >= 2 and _HEX.issuperset(escape[:2]) and _PLAIN.issuperset(escape[2:]) for escape in escapes
    )
