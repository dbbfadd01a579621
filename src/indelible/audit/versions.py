"""The chain of each key, and the sealed version behind each `saved` entry of it.

An entry about a key names the leaf hash of the one before it. A version that was saved must be there with content and
record that fit the entry's commitments, unless the key was erased later: then it must be gone.
"""

from __future__ import annotations

from hmac import compare_digest
from typing import TYPE_CHECKING

from indelible.audit.bodies import Bodies
from indelible.audit.facts import Facts
from indelible.audit.grammar import Entry, Fault
from indelible.audit.slots import Slots
from indelible.seal.digest import CONTENT_DOMAIN, RECORD_DOMAIN, SIZE, commit

if TYPE_CHECKING:
    from indelible.audit.authority import Authority
    from indelible.audit.findings import Notebook
    from indelible.audit.source import Row


class _Key:
    """The present of one key."""

    __slots__ = ("by", "head", "head_seq", "live", "replaced_seq", "saved_by", "saved_seq", "version")

    def __init__(self) -> None:
        self.head, self.head_seq, self.by = b"", -1, ""
        self.saved_seq, self.saved_by, self.version = -1, "", 0
        self.replaced_seq = -1
        """Entry of the last version that was saved over what stood there, whatever it was: restored, or forced."""
        self.live: list[int] = []
        """Numbers of the versions that were saved since the key was last erased."""


class Versions:
    """Every key of one log, replayed."""

    def __init__(self, findings: Notebook) -> None:
        self._findings = findings
        self._keys: dict[str, _Key] = {}
        self._absent: set[int] = set()
        self._bodies = Bodies()
        self._slots = Slots(findings)
        self._facts = Facts(findings)
        self.saved = 0
        """Versions that the log speaks of."""

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, entry: Entry, leaf_hash: bytes, version: Row | None, *, owned: bool = False) -> None:
        """Replay one entry about a key.

        Args:
            version: the row of `record` under its number; empty if it cannot be read, None where there is none.
            owned: an owner who is known signed it.
        """
        key = self._keys.get(entry.key)
        if key is None:
            key = self._keys[entry.key] = _Key()
        if not _continues(entry, key):
            self._tell("broken-chain", entry, f"does not continue the chain of {entry.key!r}")
        key.head, key.head_seq, key.by = leaf_hash, entry.seq, entry.by
        self._slots.add(entry, leaf_hash, version[3] if version else None, owned=owned)
        self._facts.add(entry, leaf_hash, owned=owned)
        if entry.type == "saved":
            self.saved += 1
            key.version, key.saved_seq, key.saved_by = entry.version, entry.seq, entry.by
            key.live.append(entry.seq)
            if entry.how in {"restored", "forced"}:
                key.replaced_seq = entry.seq
            if version is None:
                self._absent.add(entry.seq)
            elif version:
                self._check_version(entry, version)
        elif version is not None:
            self._findings.add("stray-record", f"Entry {entry.seq} saved nothing, and yet there is a version under its number",
                               seq=entry.seq, key=entry.key)  # fmt: skip
        if entry.type == "erased":
            self._erase(entry.key, key)

    def _check_version(self, entry: Entry, version: Row) -> None:
        _, salt, body, content = version
        if not (type(salt) is bytes and type(body) is bytes and type(content) is bytes and len(salt) == SIZE):
            self._tell("altered-version", entry, f"is not a salt of {SIZE} bytes, a record and content")
            return
        same_content = compare_digest(commit(CONTENT_DOMAIN, salt, content), entry.content)
        same_record = compare_digest(commit(RECORD_DOMAIN, salt, body), entry.record)
        if same_content and same_record:
            self._check_body(entry, body, content)
        elif same_record:
            self._tell("altered-content", entry, "does not have the content that was sealed")
        elif same_content:
            self._tell("altered-record", entry, "does not have the record that was sealed")
        else:
            self._tell(
                "altered-version", entry, "has neither the content nor the record that was sealed, or another salt"
            )

    def _check_body(self, entry: Entry, body: bytes, content: bytes) -> None:
        """The record fits its commitment, so the one who signed wrote it: does it say what its entry says?"""
        try:
            key, revision, size = self._bodies.parse(body)
        except Fault as fault:
            self._tell("bad-record", entry, f"has a record that does not parse: {fault}")
            return
        if key not in (None, entry.key):
            self._tell("bad-record", entry, "has a record of another key")
        elif type(revision) is not int or revision != entry.version:
            self._tell("bad-record", entry, f"has a record that says it is revision {revision}")
        elif size not in (None, len(content)):
            self._tell("bad-record", entry, f"has a record of {size} bytes, and {len(content)} of content")

    def _tell(self, slug: str, entry: Entry, words: str) -> None:
        subject = f"Version {entry.version} of {entry.key!r}, saved at entry {entry.seq},"
        self._findings.add(slug, f"{subject} {words}", seq=entry.seq, key=entry.key)

    def _erase(self, name: str, key: _Key) -> None:
        for seq in key.live:
            if seq not in self._absent:
                self._findings.add(
                    "erased-still-there",
                    f"{name!r} was erased, and its version at entry {seq} is still there",
                    seq=seq,
                    key=name,
                )
        self._absent.difference_update(key.live)
        key.live = []

    def close(self, authority: Authority) -> None:
        """What can be said only at the end: slots that are not as they may be, versions that are gone, and what a key that was revoked left in force."""
        self._slots.close()
        self._facts.close()
        for name, key in self._keys.items():
            for seq in key.live:
                if seq in self._absent:
                    words = f"A version of {name!r} was sealed at entry {seq}, and is gone"
                    slug = "given-up-version" if seq < key.replaced_seq else "missing-record"
                    self._findings.add(slug, words, seq=seq, key=name)
            for seq, by in {(key.saved_seq, key.saved_by), (key.head_seq, key.by)} if authority.has_revoked else ():
                if authority.is_revoked_since(by, seq):
                    words = f"What holds for {name!r} now was signed at entry {seq} by the key {by}, revoked since"
                    self._findings.add("revoked-key", words, seq=seq, key=name)


def _continues(entry: Entry, key: _Key) -> bool:
    if entry.prev_seq != key.head_seq or not compare_digest(entry.prev, key.head):
        return False
    return entry.version == key.version + 1 if entry.type == "saved" else 1 <= entry.version <= key.version
