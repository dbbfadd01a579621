"""Searching the raw bytes of every file of ours for what was erased, and telling apart what other memories hold rightly."""

from __future__ import annotations

import os
import tempfile
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from indelible import wiring
from indelible.errors import IndelibleError
from indelible.settings import FOLDER
from indelible.store.traces import PIECE, STEP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from indelible.memory import Memory
    from indelible.sealed import Sealed
    from indelible.settings import Settings
    from indelible.store.traces import Traces

_CHUNK = 1 << 20
_APART = 2048
"""Bytes between two pieces from which on they are two places."""
_SAMPLE = 64


class Found(NamedTuple):
    """What stands in one file."""

    file: str
    hits: tuple[tuple[int, bytes], ...]
    """Offset and piece, in order. The pieces are content: they are shown to nobody."""
    problem: str = ""
    """Why it could not be searched."""

    def places(self, but: set[bytes]) -> tuple[int, ...]:
        """Where the places begin that hold more than the pieces of `but`."""
        starts: list[int] = []
        last = -_APART
        for at, piece in self.hits:
            if piece not in but:
                if at - last >= _APART:
                    starts.append(at)
                last = at
        return tuple(starts)


class Holder(NamedTuple):
    """Another memory that holds what was looked for."""

    agent: str
    key: str
    version: int


def files_of(settings: Settings, *, but: str | None = None) -> tuple[str, ...]:
    """Every file in which something of a memory of this store could lie on this machine.

    Args:
        but: a file that is left out: the one that says what is looked for.
    """
    left_out = os.path.realpath(but) if but else None
    named = (*_store_files(settings), *_ours_below(settings), *_temporary())
    files = dict.fromkeys(os.path.abspath(path) for path in named)
    return tuple(
        path
        for path in files
        if os.path.isfile(path) and not os.path.islink(path) and os.path.realpath(path) != left_out
    )


def _store_files(settings: Settings) -> Iterator[str]:
    """The store with what lies beside it: -wal, -shm, backups of an older format, unfinished copies."""
    if settings.remote:
        return
    folder, name = os.path.split(settings.store)
    yield from (settings.store + suffix for suffix in ("", "-wal", "-shm", "-journal"))
    if os.path.basename(folder) == FOLDER:
        yield from _below(folder)
    elif os.path.isdir(folder):
        yield from (
            os.path.join(folder, one)
            for one in sorted(os.listdir(folder))
            if one.startswith((name, f".{name}", ".tmp-"))
        )


def _ours_below(settings: Settings) -> Iterator[str]:
    for folder in (settings.state_dir, settings.config_dir, settings.data_dir):
        yield from _below(folder)


def _below(folder: str) -> Iterator[str]:
    for parent, folders, files in os.walk(folder):
        folders.sort()
        yield from (os.path.join(parent, name) for name in sorted(files))


def _temporary() -> Iterator[str]:
    """What `edit` keeps of a text that could not be saved."""
    folder = tempfile.gettempdir()
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.name.startswith("indelible-") and _is_own(entry.path):
            yield entry.path


def _is_own(path: str) -> bool:
    try:
        return os.name != "posix" or os.lstat(path).st_uid == os.geteuid()
    except OSError:
        return False


def search(files: Iterable[str], traces: Traces, advance: Callable[[int, int], None]) -> tuple[Found, ...]:
    """Look for the traces in the raw bytes of each file."""
    sized = [(path, _size(path)) for path in files]
    total, done = sum(size for _, size in sized), 0
    found = []
    for path, size in sized:
        try:
            found.append(Found(path, tuple(_hits(path, traces))))
        except FileNotFoundError:  # a -wal that its process took away
            pass
        except OSError as exc:
            found.append(Found(path, (), str(exc.strerror)))
        done += size
        advance(done, total)
    return tuple(found)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _hits(path: str, traces: Traces) -> Iterator[tuple[int, bytes]]:
    overlap = PIECE + STEP  # a multiple of STEP, so that what follows is looked at in step
    with open(path, "rb") as file:
        start, data = 0, file.read(_CHUNK)
        while data:
            yield from ((start + at, piece) for at, piece in traces.find(data))
            more = file.read(_CHUNK)
            if not more:
                return
            start, data = start + len(data) - overlap, data[-overlap:] + more


def explain(settings: Settings, traces: Traces, wanted: set[bytes]) -> tuple[dict[Holder, set[bytes]], tuple[str, ...]]:
    """Which of the pieces other live memories of the store hold, each loaded and verified; and where the log itself says them.

    Returns:
        `(holders, said)`: the pieces of each holder, and a sentence for each entry that holds one of those left.
    """
    holders: dict[Holder, set[bytes]] = {}
    said: list[str] = []
    try:
        agents = (settings.agent,) if settings.remote else _agents(settings)
    except IndelibleError:
        return {}, ()
    for agent in agents:
        left = wanted.difference(*holders.values())
        if not left:
            break
        try:
            with wiring.open_memory(settings, agent=agent) as memory:
                holders |= _holders(memory, traces, left)
                said += _said(memory, left.difference(*holders.values()))
        except IndelibleError as error:
            said.append(f"The memories of {agent!r} could not be looked at: {error.message}")
    return holders, tuple(said)


def _agents(settings: Settings) -> tuple[str, ...]:
    store = wiring.open_store(settings)
    try:
        return store.agents()
    finally:
        store.close()


def _holders(memory: Memory, traces: Traces, wanted: set[bytes]) -> dict[Holder, set[bytes]]:
    candidates: list[tuple[Sealed, set[bytes]]] = []
    with memory.following() as (table, reading, head):
        memory.follower.keep(table)  # what follows may take long, and needs the store's snapshot alone
        for seq in range(head.size):
            sealed = reading.sealed(seq)
            if sealed is not None and (held := traces.within(_texts(sealed), wanted)):
                candidates.append((sealed, held))
    named = ((_holder(memory, sealed), held) for sealed, held in candidates)
    return {holder: held for holder, held in named if holder is not None}


def _texts(sealed: Sealed) -> bytes:
    """All that may stand somewhere because of one version, its digest in both spellings included."""
    digest = sha256(sealed.content)
    return b"\0".join((sealed.salt, sealed.body, sealed.content, digest.digest(), digest.hexdigest().encode()))


def _holder(memory: Memory, sealed: Sealed) -> Holder | None:
    """Who a row says it is, if that is what the log knows."""
    from indelible.record import Record

    try:
        record = Record.from_body(sealed.body)
        loaded = memory.fetch(record.key or "", record.revision)
    except IndelibleError:
        return None
    return Holder(memory.agent, loaded.key, loaded.version) if loaded.content == sealed.content else None


def _said(memory: Memory, left: set[bytes]) -> Iterator[str]:
    """The entries that hold one of those pieces: a reason, or the name of a key."""
    some = sorted(left)[:: max(1, len(left) // _SAMPLE)]
    with memory.following() as (table, reading, head):
        memory.follower.keep(table)
        for seq, leaf in enumerate(reading.leaves(0, head.size)):
            if any(piece in leaf for piece in some):
                yield f"Entry {seq} of the log of {memory.agent!r} says it, in its reason or its key: the log is kept for ever"
