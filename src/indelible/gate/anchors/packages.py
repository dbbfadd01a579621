"""Packages and the versions that lock files pin: `npm:react@19.0.1`, or several versions with commas between them."""

from __future__ import annotations

import os
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple, cast

from indelible.gate.anchors.locating import UNKNOWN, Doubt
from indelible.gate.anchors.lockfiles import LOCKS, kind_of, normal, versions_in

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from indelible.gate.anchors.files import Files


class Pinned(NamedTuple):
    """A package in a lock file."""

    lock: str
    """The lock file, relative to the top."""
    value: str
    """`ecosystem:name@versions`."""


def parse_value(value: str) -> tuple[str, str, str]:
    """Ecosystem, name and versions of an anchor's value; empty where it has none."""
    ecosystem, _, rest = value.partition(":")
    name, _, versions = rest.rpartition("@")
    return ecosystem, name, versions


def pinned(files: Files, lock: str, ecosystem: str, name: str) -> str:
    """The versions of a package in a lock file, with commas between them; empty where it is not in it.

    Raises:
        Doubt: there is no such lock file, or it cannot be read.
    """
    base = lock.rpartition("/")[2]
    found = cast("Mapping[str, tuple[str, ...]]", files.parsed(lock, _reader(base)))
    return ",".join(found.get(normal(name, ecosystem), ()))


def find_package(files: Files, wanted: str, folders: tuple[str, ...]) -> tuple[tuple[Pinned, ...], tuple[str, ...]]:
    """Where the lock files of some folders pin a package; and the lock files that were looked at.

    Args:
        files: Where to look.
        wanted: `react`, or `npm:react` for one ecosystem only.
        folders: Relative to the top; empty for the top itself.

    Raises:
        Doubt: a lock file cannot be read.
    """
    ecosystem, colon, name = wanted.partition(":")
    if not colon:
        ecosystem, name = "", wanted
    found: list[Pinned] = []
    locks = tuple(lock for folder in folders for lock in _locks_in(files, folder) if _fits(lock, ecosystem))
    for lock in locks:
        kind = kind_of(lock.rpartition("/")[2])
        if kind is None or (lock.endswith("go.sum") and any(one.lock.endswith("go.mod") for one in found)):
            continue  # go.sum keeps older versions too
        versions = pinned(files, lock, kind.ecosystem, name)
        if versions:
            found.append(Pinned(lock, f"{kind.ecosystem}:{normal(name, kind.ecosystem)}@{versions}"))
    return tuple(found), locks


def _locks_in(files: Files, folder: str) -> list[str]:
    try:
        names = sorted(os.listdir(os.path.join(files.top, folder)))
    except OSError as exc:
        raise Doubt(UNKNOWN, f"cannot be looked for in {folder or 'the top'} ({exc.strerror})") from None
    order = {lock.pattern: number for number, lock in enumerate(LOCKS)}
    known = [(order[kind.pattern], name) for name in names if (kind := kind_of(name)) is not None]
    return [f"{folder}/{name}" if folder else name for _, name in sorted(known)]


def _fits(lock: str, ecosystem: str) -> bool:
    kind = kind_of(lock.rpartition("/")[2])
    return kind is not None and ecosystem in ("", kind.ecosystem)


@lru_cache(maxsize=64)
def _reader(base: str) -> Callable[[bytes], object]:
    """The reader of a lock file of that name; the same one each time, since what it read is kept under it."""
    return partial(versions_in, base)
