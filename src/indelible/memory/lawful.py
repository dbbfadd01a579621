"""Whether the slots came where they are as their disciplines allow: read from the log, past whichever door they came.

Who holds the agent's key can sign anything in its log, past this program. What that key alone cannot make lawful is noticed
here, at every boot: another text in a write-once slot, or an append-only one that does not continue what stood there, without
an owner's word for that very version; a slot that was put away by no closing, or brought back.

A chain that was found lawful is remembered by its last hash, beside the pin and as good as that, and is not read again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from indelible.entry import Judged, Noted, parse_entry, split_leaf
from indelible.entry import Saved as SavedEntry
from indelible.errors import IntegrityError
from indelible.files import replace_file
from indelible.memory.disciplining import is_owners
from indelible.memory.pinned import leaf_at
from indelible.memory.slotted import chains_of, doubtful, known_chains
from indelible.sealed import Commitments, verify
from indelible.state.directory import SLUGS, Finding
from indelible.state.remedies import about_the_log
from indelible.state.slot import LAWS, REPLACEABLE, WRITE_ONCE, namespace_of_closed

if TYPE_CHECKING:
    from indelible.entry import Entry
    from indelible.memory.reading import Reader
    from indelible.memory.slotted import Kept
    from indelible.state.slot import Slot
    from indelible.store.follower import Latest
    from indelible.store.store import Reading

_OPENING = frozenset({"archived", "erased"})


class _Link(NamedTuple):
    """One entry about a slot's key."""

    entry: Entry
    leaf: bytes
    digest: bytes


def check_disciplines(reader: Reader, kept: Kept) -> tuple[Finding, ...]:
    """What is wrong with how the slots came where they are; nothing, most of the time, and then without a look at the log.

    Raises:
        IntegrityError: the log is not what was sealed.
    """
    doubled = _doubled(kept)
    doubted = doubtful(kept)
    if not doubted:
        return doubled
    known = known_chains(reader.follower.path)
    unread = [one for one in doubted if known.get(one[0]) != one[2].head.hex()]
    if not unread:
        return doubled
    found: list[Finding] = []
    lawful = dict(known)
    with reader.following() as (table, reading, _):
        for key, slot, _latest in unread:
            latest = table.get(key)
            if latest is None:
                continue
            finding = _Chain(reader, reading, key, slot, known.get(key, "")).check(latest)
            found += [finding] if finding else []
            if finding is None:
                lawful[key] = latest.head.hex()
    _remember(chains_of(reader.follower.path), known, lawful)
    return (*doubled, *found)


def _doubled(kept: Kept) -> tuple[Finding, ...]:
    """A number has one slot; of two the later one is the stranger."""
    first: dict[int, int] = {}
    for one in kept.slots:
        first[one.slot.number] = min(one.loaded.seq, first.get(one.slot.number, one.loaded.seq))
    return tuple(
        _finding("slot-doubled", one.slot, "sealed past this program")
        for one in kept.slots
        if one.loaded.seq != first[one.slot.number]
    )


def _remember(path: str, known: dict[str, str], lawful: dict[str, str]) -> None:
    """Where it cannot be kept, the chains are read again the next time."""
    from indelible.errors import IndelibleError

    if lawful == known:
        return
    text = "".join(f"{digest} {key}\n" for key, digest in sorted(lawful.items()))
    try:
        replace_file(path, text.encode())
    except IndelibleError:
        return


class _Chain:
    """The entries about one slot's key, from the last one that was found lawful on.

    Args:
        known: its leaf hash in hex; empty where none was.
    """

    def __init__(self, reader: Reader, reading: Reading, key: str, slot: Slot, known: str) -> None:
        self._reader, self._reading, self._key, self._slot, self._known = reader, reading, key, slot, known
        self._content: bytes | None = None
        self._open = False

    def check(self, latest: Latest) -> Finding | None:
        """The last thing that is wrong and that no owner put right since; None where there is nothing."""
        links, past = self._links(latest)
        for link in past:
            self._begin(link)
        wrong: Finding | None = None
        for at, link in enumerate(links):
            amended = self._is_amended(link, links[at + 1] if at + 1 < len(links) else None)
            wrong = None if amended else wrong
            wrong = self._step(link, amended=amended) or wrong
        return wrong

    def _links(self, latest: Latest) -> tuple[list[_Link], list[_Link]]:
        """What is new, and of what is known as much as it takes to know what stood there; both oldest first."""
        links: list[_Link] = []
        past: list[_Link] = []
        seq: int | None = latest.head_seq
        expected = latest.head
        while seq is not None:
            leaf = leaf_at(self._reading, self._reader.origin, seq, expected, key=self._key)
            entry = parse_entry(split_leaf(leaf)[0])
            is_known = bool(past) or expected.hex() == self._known
            (past if is_known else links).append(_Link(entry, leaf, expected))
            if is_known and (isinstance(entry, SavedEntry) or entry.type in _OPENING):
                break
            seq, expected = getattr(entry, "prev_seq", None), bytes.fromhex(getattr(entry, "prev", None) or "")
        return links[::-1], past[::-1]

    def _begin(self, link: _Link) -> None:
        if isinstance(link.entry, SavedEntry):
            self._open, self._content = True, self._read(link.entry)
        elif link.entry.type in _OPENING:
            self._open, self._content = False, None

    def _step(self, link: _Link, *, amended: bool) -> Finding | None:
        entry = link.entry
        if isinstance(entry, SavedEntry):
            return self._save(entry, amended=amended)
        if isinstance(entry, Noted):
            return self._note(entry)
        bound = isinstance(entry, Judged) and entry.type == "superseded" and self._open
        return self._wrong("slot-withdrawn", entry, "another memory was put in its place") if bound else None

    def _save(self, entry: SavedEntry, *, amended: bool) -> Finding | None:
        before, was_open = self._content, self._open
        self._open, self._content = True, self._read(entry)
        if not was_open or amended or self._slot.discipline == REPLACEABLE:
            return None
        if before is None or self._content is None:
            return self._wrong(
                "slot-rewritten", entry, "what stood there before is gone, so that the two cannot be compared"
            )
        if self._content == before or (self._slot.discipline != WRITE_ONCE and self._content.startswith(before)):
            return None
        return self._wrong("slot-rewritten", entry, f"by the key {entry.by}")

    def _note(self, entry: Noted) -> Finding | None:
        was_open = self._open
        if entry.type == "archived":
            self._open, self._content = False, None
            lawful = self._slot.number >= LAWS and self._is_closing(entry)
            return self._wrong("slot-withdrawn", entry, f"by the key {entry.by}") if was_open and not lawful else None
        if entry.type == "unarchived":
            self._open = True
            return self._wrong("slot-rewritten", entry, f"it was closed, and brought back by the key {entry.by}")
        if entry.type == "erased":
            self._open, self._content = False, None
            return self._wrong("slot-withdrawn", entry, f"erased by the key {entry.by}") if was_open else None
        return None

    def _is_closing(self, entry: Noted) -> bool:
        """Whether that note stands right behind the record of a closing, which it names by its hash."""
        for seq in range(entry.seq - 1, max(-1, entry.seq - 101), -1):
            leaf = leaf_at(self._reading, self._reader.origin, seq, None)
            one = parse_entry(split_leaf(leaf)[0])
            if isinstance(one, SavedEntry):
                from indelible.seal.merkle import leaf_hash

                return (
                    namespace_of_closed(one.key) == self._key.rpartition("/")[0]
                    and leaf_hash(leaf).hex() == entry.digest
                )
            if one.type != "archived":
                return False
        return False

    def _is_amended(self, link: _Link, after: _Link | None) -> bool:
        entry = after.entry if after is not None else None
        if (
            after is None
            or not isinstance(entry, Judged)
            or entry.type != "amended"
            or not isinstance(link.entry, SavedEntry)
        ):
            return False
        return entry.digest == link.digest.hex() and is_owners(self._reader.trust, entry, after.leaf)

    def _read(self, entry: SavedEntry) -> bytes | None:
        """The content of a version; None where the store has lost or altered it."""
        try:
            sealed = self._reading.sealed(entry.seq)
            if sealed is None:
                return None
            verify(sealed, Commitments(bytes.fromhex(entry.content), bytes.fromhex(entry.record)), self._key)
        except (IntegrityError, ValueError):
            return None
        return sealed.content

    def _wrong(self, slug: str, entry: Entry, words: str) -> Finding:
        return _finding(slug, self._slot, f"entry {entry.seq}, {entry.at}: {words}")


def _finding(slug: str, slot: Slot, words: str) -> Finding:
    return Finding(slug, slot.name, f"{slot.name}: {SLUGS[slug]} ({words})", about_the_log(slot.name))
