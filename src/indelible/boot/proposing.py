"""Which memories may be rules or scars: a small file beside the follower, kept up as the log grows.

    indelible/proposed/v1 SIZE FIRST RESTORED NOTE KEYS
    the keys in hex, one a line

SIZE is how far the log was looked through, FIRST its first leaf hash, RESTORED, NOTE and KEYS are SHA-256 of what the owner's
restores, the head and the lines below were then. Derived data proposes: each body was held against the follower's table when
it was looked at, and what a proposed memory is now is read and judged afresh. Whatever does not fit leads to a look at the
whole log, as at the first boot.
"""

from __future__ import annotations

from indelible.errors import DigestMismatch, Missing, NotSaved, UsageError
from indelible.files import replace_file
from indelible.light import TYPE_CHECKING, NamedTuple, sha256
from indelible.seal.digest import commit, same
from indelible.sealed import RECORD_DOMAIN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from indelible.store.follower import Follower, Latest, Pin
    from indelible.store.store import Store

_HEAD = "indelible/proposed/v1"
_SIGNS = (b'"authority":"instruction"', b'"kind":"failure"')
"""In canonical JSON a text cannot hold either, since its quotes are escaped."""


class _Known(NamedTuple):
    """The file, as it was left."""

    size: int
    first: str
    restored: str
    note: str
    keys: tuple[str, ...]


def proposed(store: Store, follower: Follower, agent: str, note: bytes | None) -> tuple[str, ...]:
    """Keys of memories that may be rules or scars, in the order in which they were saved.

    Args:
        note: the head that was just read by, where it is known: nothing is looked at if it is that of the last time.

    Raises:
        IntegrityError: a record is not what was sealed, or is gone.
    """
    path = follower.path.removesuffix(".db") + ".proposed"
    known = _read(path)
    if known is not None and note is not None and known.note == _digest(note):
        return known.keys
    found = follower.look_saved(lambda pin: known.size if known is not None and _continues(known, pin) else 0)
    if found is None:
        return ()
    pin, rows = found
    before = known.keys if known is not None and _continues(known, pin) else ()
    keys = _looked_through(store, agent, before, rows)
    if not follower.warning:
        _write(path, pin, keys)
    return keys


def _looked_through(
    store: Store, agent: str, before: tuple[str, ...], rows: Iterable[tuple[str, Latest]]
) -> tuple[str, ...]:
    keys = dict.fromkeys(before)
    with store.reading(agent) as reading:
        for key, latest in rows:
            keys.pop(key, None)
            if latest.state == "erased":
                continue
            sealed = reading.sealed(latest.saved_seq)
            if sealed is None:
                raise Missing(f"{key!r} (version {latest.version}) was sealed and is no longer in the store", key=key)
            actual = commit(RECORD_DOMAIN, sealed.salt, sealed.body)
            if not same(latest.record, actual):
                raise DigestMismatch(
                    subject=f"The record of {key!r}", expected=latest.record.hex(), actual=actual.hex(), key=key
                )
            if any(sign in sealed.body for sign in _SIGNS):
                keys[key] = None
    return tuple(keys)


def _continues(known: _Known, pin: Pin) -> bool:
    """Whether the log is the one that was looked through, grown or as it was."""
    return known.size <= pin.size and (known.first, known.restored) == (pin.first.hex(), _digest(pin.restored.encode()))


def _read(path: str) -> _Known | None:
    """What was left; None where there is nothing, or nothing that can be relied on."""
    try:
        with open(path, encoding="utf-8") as file:
            head, _, lines = file.read().partition("\n")
        form, size, first, restored, note, digest = head.split(" ")
        keys = tuple(bytes.fromhex(line).decode() for line in lines.split("\n") if line)
        whole = form == _HEAD and digest == _digest(lines.encode())
        return _Known(int(size), first, restored, note, keys) if whole else None
    except (OSError, ValueError):
        return None


def _write(path: str, pin: Pin, keys: tuple[str, ...]) -> None:
    lines = "".join(f"{key.encode().hex()}\n" for key in keys)
    head = (
        _HEAD,
        str(pin.size),
        pin.first.hex(),
        _digest(pin.restored.encode()),
        _digest(pin.note),
        _digest(lines.encode()),
    )
    try:
        replace_file(path, f"{' '.join(head)}\n{lines}".encode())
    except (NotSaved, UsageError, OSError):
        return  # the next boot looks once more


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()
