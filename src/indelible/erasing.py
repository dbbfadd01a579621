"""Erasing a memory everywhere on this machine, and making sure of it: what is taken along, what is looked for, what is left."""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

import apsw

from indelible.deliveries import first_line, journal_of
from indelible.errors import IndelibleError, IntegrityError, NotFoundError, UsageError
from indelible.plain.forms import SUFFIX, read_checksum
from indelible.seal.digest import Digest
from indelible.searching import explain, files_of, search
from indelible.sources import source_book
from indelible.store.follower import name_of
from indelible.store.traces import Traces

if TYPE_CHECKING:
    from collections.abc import Callable

    from indelible.memory import Memory, Saved
    from indelible.memory.results import Loaded
    from indelible.searching import Found, Holder
    from indelible.settings import Settings


class Erased(NamedTuple):
    """What an erasure did."""

    saved: Saved
    also: tuple[str, ...]
    """Checksums that went with it, by their keys."""
    warnings: tuple[str, ...]
    """What could not be taken along."""


class Wanted(NamedTuple):
    """What is looked for after an erasure."""

    traces: Traces
    versions: int
    notes: tuple[str, ...]
    """What cannot be looked for, and why."""


class Remains(NamedTuple):
    """What a search found."""

    found: tuple[Found, ...]
    explained: set[bytes]
    holders: tuple[Holder, ...]
    """Other memories that hold the same text, rightly."""
    said: tuple[str, ...]

    @property
    def left(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Files that hold what nothing explains, with the places where it stands."""
        places = ((one.file, one.places(self.explained)) for one in self.found)
        return tuple((file, starts) for file, starts in places if starts)

    @property
    def problems(self) -> tuple[str, ...]:
        return tuple(f"{one.file} could not be searched ({one.problem})" for one in self.found if one.problem)


def erase(
    settings: Settings,
    memory: Memory,
    key: str,
    *,
    reason: str | None = None,
    op: str | None = None,
    purge: bool = True,
) -> Erased:
    """Erase a memory, the checksum that its writer stated beside it, and what this machine noted of its text.

    Args:
        purge: leave nothing in the store's files; False for one of many, where `Memory.purge` follows.

    Raises:
        As `Memory.erase` does.
    """
    erased = memory.note("erased", key, reason=reason, op=op)
    also, warnings = erase_checksum(memory, key, reason)
    for gone in (key, *also):
        warnings += forget(settings, gone)
    if purge and (left := memory.purge()):
        warnings += (left,)
    return Erased(erased, also, (*erased.warnings, *warnings))


def erase_checksum(memory: Memory, key: str, reason: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """`KEY.sha256`, where the seeds' clients state the digest of KEY, since that would let a short text be guessed.

    Returns:
        `(erased, warnings)`.
    """
    stated = key + SUFFIX
    try:
        text = memory.fetch(stated).content.decode("utf-8", "replace")
        if not isinstance(read_checksum(text), Digest):
            return (), ()
        memory.note("erased", stated, reason=reason)
    except (NotFoundError, UsageError):  # none, or a key that is too long to have one
        return (), ()
    except IndelibleError as error:
        return (), (f"The checksum stated under {stated!r} is still there: {error.message}",)
    return (stated,), ()


def forget_deliveries(memory: Memory, *keys: str) -> tuple[str, ...]:
    """Take the digests of erased memories' texts out of the deliveries that this memory notes; gives what stayed."""
    journal = memory.gate.journal
    if journal is None:
        return ()
    warnings = []
    for key in keys:
        try:
            journal.forget_digests(key)
        except (OSError, apsw.Error):
            warnings.append("The digest of its text may still be in the deliveries")
    return tuple(warnings)


def forget(settings: Settings, key: str) -> tuple[str, ...]:
    """Take the digests of an erased memory's text out of the state folder; gives what stayed, and why."""
    from indelible.plain.receipts import Receipts
    from indelible.settings import now

    receipts = Receipts(os.path.join(settings.state_dir, "receipts.db"), now)
    journal = journal_of(settings.state_dir, name_of(settings.store, settings.agent))
    warnings = []
    for what, do in (
        ("deliveries", lambda: journal.forget_digests(key)),
        ("book of sources", lambda: source_book(settings).forget(key)),
        ("receipts", lambda: receipts.forget(settings.store, settings.agent, key)),
    ):
        try:
            do()
        except (OSError, apsw.Error, IndelibleError) as exc:
            warnings.append(f"The digest of its text may still be in the {what} of this machine ({first_line(exc)})")
    journal.close()
    return tuple(warnings)


def is_erased(memory: Memory, key: str) -> bool:
    """Whether nothing is left under `key` to be erased.

    Raises:
        NotFoundError: nothing was ever saved under it.
    """
    return memory.history(key)[0].type == "erased"


def wanted_of(settings: Settings, memory: Memory, key: str, text: bytes | None) -> Wanted:
    """What to look for once `key` is erased: contents, salts, digests and titles of every version, and `text`.

    Raises:
        IntegrityError: the log could not be followed.
    """
    innocent = (
        key,
        memory.agent,
        memory.team,
        memory.origin,
        settings.store,
        settings.repository_top or "",
        settings.state_dir,
    )
    traces = Traces("\0".join(innocent).encode("utf-8", "surrogatepass"))
    notes: list[str] = []
    if text is not None and not _add_text(traces, text):
        notes.append("The text given is too short or too plain to be told from bytes that are there by chance")
    versions = 0
    for version in memory.history(key):
        if version.type == "erased":
            break
        if version.type == "saved":
            try:
                loaded = memory.fetch(key, version.version)
            except (IntegrityError, NotFoundError):
                notes.append(f"Version {version.version} is damaged, and was not looked for")
                continue
            versions += 1
            notes += _add_version(traces, loaded)
    return Wanted(traces, versions, tuple(notes))


def _add_text(traces: Traces, text: bytes) -> bool:
    digest = sha256(text)
    for data in (digest.digest(), digest.hexdigest().encode()):
        traces.add(data)
    return traces.add(text)


def _add_version(traces: Traces, loaded: Loaded) -> list[str]:
    traces.add(loaded.salt)
    record = loaded.record
    for private in (record.title, record.summary, *record.tags):
        traces.add((private or "").encode("utf-8", "surrogatepass"))
    if _add_text(traces, loaded.content):
        return []
    return [
        f"The text of version {loaded.version} is too short or too plain to be told from bytes that are there by chance: its salt and its digest were looked for"
    ]


def look(settings: Settings, traces: Traces, advance: Callable[[int, int], None], *, but: str | None = None) -> Remains:
    """Search every file of ours on this machine, and tell what other memories hold.

    Args:
        but: a file that is left out.
    """
    found = search(files_of(settings, but=but), traces, advance)
    wanted = {piece for one in found for _, piece in one.hits}
    holders, said = explain(settings, traces, wanted) if wanted else ({}, ())
    return Remains(found, set().union(*holders.values()), tuple(holders), said)
