"""What the standard library has, without what it brings along: for the ways on which somebody waits for a process.

    NamedTuple       without `typing`, whose import takes as long as a hook's own work; a tuple of ten fields is made in a third of the time
    TYPE_CHECKING    likewise
    Protocol         likewise; only a type checker looks at one
    sha256           without `hashlib`, which loads all of OpenSSL for the digest of a few thousand bytes
    compare_digest   without `hmac`, which does so too

A type checker is shown the real ones. A class under `NamedTuple` is made as `typing.NamedTuple` makes it: fields are its
annotations in their order, with their defaults, and what else stands in it comes along. The digest of the standard library's
own C code is what `random` takes for the same reason; much data goes to OpenSSL, which is five times as fast, and so does
everything in a process that has it.
"""

from __future__ import annotations

from collections import namedtuple
from sys import modules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from hashlib import _Hash

__all__ = ["TYPE_CHECKING", "NamedTuple", "Protocol", "compare_digest", "hashing", "sha256"]

MUCH = 1 << 18
"""Bytes: more of them at once are a sign that loading OpenSSL is worth it, which takes as long as the slower code for four times as many."""
_OWN = frozenset({"__annotations__", "__module__", "__qualname__", "__classcell__"})


# Its arguments are plain at run time only, where a type checker looks for literals.
_make: Callable[..., type] = namedtuple  # noqa: PYI024 - this is what `typing` stands in front of


class _Fields(type):
    """Makes a tuple of whatever is derived from `NamedTuple`."""

    def __new__(mcs, name: str, bases: tuple[type, ...], members: dict[str, object]) -> type:
        if not bases:
            return super().__new__(mcs, name, bases, members)
        annotated = members.get("__annotations__")
        fields = list(annotated) if isinstance(annotated, dict) else []
        given = [field for field in fields if field in members]
        if given != fields[len(fields) - len(given) :]:
            raise TypeError(f"{name}: a field without a default stands behind one that has one")
        made = _make(name, fields, defaults=[members[field] for field in given], module=members["__module__"])
        for member, value in members.items():
            if member not in _OWN and member not in fields:
                setattr(made, member, value)
        return made


class _NamedTuple(metaclass=_Fields):
    """To be derived from."""


class _Protocol:
    """To be derived from."""


def _builtin() -> Callable[..., _Hash]:
    """CPython's own code, which has another name since 3.12."""
    for name in ("_sha2", "_sha256"):
        try:
            found: Callable[..., _Hash] = __import__(name).sha256
        except ImportError:  # a Python that was built without it
            continue
        return found
    from hashlib import sha256

    return sha256


_small: Callable[..., _Hash] | None = None
_large: Callable[..., _Hash] | None = None


def hashing(size: int) -> Callable[[bytes], _Hash]:
    """What begins a SHA-256 over so many bytes in all, with the first of them, in the least time."""
    global _small, _large  # noqa: PLW0603 - each found once in a process, when it is first needed
    if _large is not None:
        return _large
    if size > MUCH or "hashlib" in modules:
        from hashlib import sha256

        _large = sha256
        return sha256
    if _small is None:
        _small = _builtin()
    return _small


def _sha256(data: bytes = b"") -> _Hash:
    """As `hashlib.sha256`."""
    return hashing(len(data))(data)


if TYPE_CHECKING:
    from hashlib import sha256
    from hmac import compare_digest
    from typing import NamedTuple, Protocol
else:
    NamedTuple, Protocol, sha256 = _NamedTuple, _Protocol, _sha256
    try:
        from _operator import _compare_digest as compare_digest
    except ImportError:
        from hmac import compare_digest
