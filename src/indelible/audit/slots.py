"""The disciplines of state directories, read a second time: did every slot come where it is as its number allows?

    00 to 29   written once; 30 to 89 only added to; 90 to 99 replaced at will
    amended    lifts that for the one version that it names, if an owner signed it
    archived   of 10 to 99 alone, right behind the record of a closing, `NAMESPACE/closed/…`, which it names

An owner's amendment puts right what was wrong before it. docs/state.md says the same in more words.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from indelible.audit.findings import Notebook
    from indelible.audit.grammar import Entry

_NAMESPACE = r"state(?:/(?:worktree|at)/[^/]+)?"
_SLOT = re.compile(rf"({_NAMESPACE})/(([0-9]{{2}})_[A-Za-z0-9][A-Za-z0-9._-]{{0,95}}\.md)")
_RECORD = re.compile(rf"({_NAMESPACE})/closed/[^/]+")


class _Text(NamedTuple):
    """Of a content, as much as it takes to see whether another one continues it."""

    size: int
    digest: bytes


class _Slot:
    """The present of one slot."""

    __slots__ = ("is_open", "leaf", "text", "wrong")

    def __init__(self) -> None:
        self.is_open = False
        self.text: _Text | None = None
        self.leaf = b""
        """Leaf hash of the entry that saved the last version."""
        self.wrong: tuple[str, int, str] | None = None
        """Slug, entry and words of what no owner has put right."""


class Slots:
    """Every slot of one log, replayed."""

    def __init__(self, findings: Notebook) -> None:
        self._findings = findings
        self._slots: dict[str, _Slot] = {}
        self._record = ("", b"")
        """Namespace and leaf hash of the record of a closing, as long as nothing but its notes came after it."""

    def add(self, entry: Entry, leaf_hash: bytes, content: object, *, owned: bool) -> None:
        """Replay one entry about a key.

        Args:
            content: of a version, as stored; anything but bytes where there is none.
            owned: whether an owner who is known signed it.
        """
        closing = self._closing(entry, leaf_hash)
        match = _SLOT.fullmatch(entry.key) if entry.key.startswith("state/") else None
        if match is None:
            return
        namespace, number = match[1], int(match[3])
        slot = self._slots.setdefault(entry.key, _Slot())
        if entry.type == "saved":
            self._save(entry, slot, number, content)
            slot.leaf = leaf_hash
        elif entry.type == "amended" and owned and entry.digest == slot.leaf.hex():
            slot.wrong = None
        elif entry.type in {"archived", "erased"}:
            lawful = entry.type == "archived" and number >= 10 and closing == namespace
            self._put_away(entry, slot, lawful=lawful)
        elif entry.type == "unarchived":
            slot.is_open, slot.text = True, None
            slot.wrong = ("slot-rewritten", entry.seq, "was closed, and brought back")
        elif entry.type == "superseded" and slot.is_open:
            slot.wrong = ("slot-withdrawn", entry.seq, "was in force, and another memory was put in its place")

    def _closing(self, entry: Entry, leaf_hash: bytes) -> str:
        """The namespace whose closing a note belongs to; empty for none."""
        record = _RECORD.fullmatch(entry.key) if entry.type == "saved" else None
        if record is not None:
            self._record = (record[1], leaf_hash)
            return ""
        if entry.type != "archived":
            self._record = ("", b"")
        return self._record[0] if self._record[0] and entry.digest == self._record[1].hex() else ""

    def _save(self, entry: Entry, slot: _Slot, number: int, content: object) -> None:
        before, was_open = slot.text, slot.is_open
        slot.text = _Text(len(content), sha256(content).digest()) if isinstance(content, bytes) else None
        slot.is_open = True
        if not was_open:
            self._tell_double(entry, number)
        elif (
            number < 90
            and before is not None
            and isinstance(content, bytes)
            and not _continues(before, content, number)
        ):
            slot.wrong = ("slot-rewritten", entry.seq, f"was written again by the key {entry.by}, past its discipline")

    def _tell_double(self, entry: Entry, number: int) -> None:
        beside = f"{entry.key.rpartition('/')[0]}/{number:02}_"
        other = next(
            (key for key, one in self._slots.items() if key.startswith(beside) and key != entry.key and one.is_open),
            None,
        )
        if other is not None:
            words = f"{entry.key!r}, written at entry {entry.seq}, is a second slot {number:02} beside {other!r}"
            self._findings.add("slot-doubled", words, seq=entry.seq, key=entry.key)

    @staticmethod
    def _put_away(entry: Entry, slot: _Slot, *, lawful: bool) -> None:
        if slot.is_open and not lawful:
            slot.wrong = (
                "slot-withdrawn",
                entry.seq,
                f"was put away ({entry.type}) by the key {entry.by}, by no closing of a ticket",
            )
        slot.is_open, slot.text = False, None

    def close(self) -> None:
        """Tell what no owner has put right."""
        for key, slot in self._slots.items():
            if slot.wrong is not None:
                slug, seq, words = slot.wrong
                self._findings.add(slug, f"{key!r}, at entry {seq}, {words}", seq=seq, key=key)


def _continues(before: _Text, content: bytes, number: int) -> bool:
    if number >= 30:
        return sha256(content[: before.size]).digest() == before.digest
    return len(content) == before.size and sha256(content).digest() == before.digest
