"""One log, replayed from its first entry: leaves, keys, chains, versions, operations, tiles and the root."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from indelible.audit.authority import AMENDED, GOVERNED, Authority
from indelible.audit.grammar import SIGNATURE_SIZE, Entry, Fault, parse_entry
from indelible.audit.source import UNREADABLE, Torn
from indelible.audit.tree import WIDTH, Tree, is_full_tile
from indelible.audit.versions import Versions
from indelible.seal.merkle import leaf_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from indelible.audit.findings import Notebook
    from indelible.audit.source import Row, Source

_STEP = 256
"""Entries between two words about the progress."""
_END = (2**63,)

_RESTORED = b'"type":"store-restored"'


class Replay:
    """What the entries of one log come to.

    Args:
        log: the id of its row.
        size: entries that its head covers.
    """

    def __init__(self, source: Source, log: int, size: int, authority: Authority, findings: Notebook) -> None:
        self._source, self._log, self._size = source, log, size
        self._authority, self._findings = authority, findings
        self._origin = authority.origin
        self._tree = Tree()
        self._next = self._pin_size = 0
        self._signatures = True
        self._at = ""
        self._operations: dict[bytes, int] = {}
        self._unchecked: dict[str, int] = {}
        self.versions = Versions(findings)
        self.whole = True
        """No entry is missing, so that a root can be worked out."""
        self.pin_root = b""
        """Empty if the pin's size was not reached."""
        self.restores: list[Entry] = []
        """What the owner signed for as given up."""

    def root(self) -> bytes:
        """The root over all entries; means something only if none is missing."""
        return self._tree.root()

    def run(self, pin_size: int, progress: Callable[[int], None], *, signatures: bool) -> None:
        """Read every row that the head covers.

        Args:
            pin_size: of a head that was accepted before, whose root is to be worked out on the way; 0 for none.
            progress: told now and then how many entries were read.
            signatures: check the signature of every entry; those about keys are checked in any case.
        """
        self._pin_size, self._signatures = pin_size, signatures
        self._read_operations()
        end = min(self._size, self._source.end("entry", self._log))
        versions = iter(self._source.records(self._log, self._size))
        version: Row = next(versions, _END)
        for seq, leaf in self._source.entries(self._log, end):
            while version[0] < seq:
                self._tell_stray_record(version)
                version = next(versions, _END)
            if seq != self._next:
                self._skip_to(seq)
            if version[0] == seq:
                self._take(seq, leaf, version)
                version = next(versions, _END)
            else:
                self._take(seq, leaf, None)
            if not seq % _STEP:
                progress(seq)
        self._meet_pin()
        self._skip_to(self._size)
        if version is not _END:
            self._tell_stray_records((version, *versions))
        self._tell_stray_operations()
        for by, count in self._unchecked.items():
            words = f"{count} entries are by the key {by}, unknown here, from which the log was handed to a known one"
            self._findings.add("unchecked-signature", words)
        self._check_upper_tiles()
        self.versions.close(self._authority)

    def _take(self, seq: int, leaf: object, version: Row | None) -> None:
        self._next = seq + 1
        if type(leaf) is not bytes or len(leaf) <= SIGNATURE_SIZE:
            torn = isinstance(leaf, Torn)
            why = f"cannot be read ({leaf})" if torn else "is too short to be signed, or no bytes"
            self._findings.add("damaged" if torn else "bad-entry", f"Entry {seq} {why}", seq=seq)
            self.whole = False
            return
        digest = leaf_hash(leaf)
        before = self._tree.root() if _RESTORED in leaf else b""
        row = self._tree.open
        row.append(digest)
        if len(row) == WIDTH:
            self._close_tile()
        try:
            entry = parse_entry(leaf[:-SIGNATURE_SIZE])
        except Fault as fault:
            self._findings.add("bad-entry", f"Entry {seq} does not parse: {fault}", seq=seq)
            return
        if entry.seq != seq or entry.origin != self._origin:
            entry = self._put_right(seq, entry)
        if entry.at < self._at:
            self._tell("clock-backwards", entry, f"says {entry.at}, and the one before it {self._at}")
        self._at = entry.at
        pointed = self._operations.pop(entry.op.encode(), None)
        if pointed != seq:
            self._tell_wrong_operation(entry, pointed)
        self._check_restore(entry, before)
        owned = False
        if self._signatures or entry.type in GOVERNED or entry.type == AMENDED:
            owned = not self._check_signing(entry, leaf) and entry.type == AMENDED
        if entry.type in GOVERNED:
            self._tell_stray_records(() if version is None else (version,))
        elif version is not None and isinstance(version[1], Torn):
            self._tell("damaged", entry, f"has a version of {entry.key!r} that cannot be read ({version[1]})")
            self.versions.add(entry, digest, ())
        else:
            self.versions.add(entry, digest, version, owned=owned)

    def _check_restore(self, entry: Entry, before: bytes) -> None:
        if entry.type == "store-restored" and entry.subject[64:] != before.hex():
            self._tell("misplaced-entry", entry, "stands behind other entries than the owner signed it for")

    def _close_tile(self) -> None:
        self._meet_pin()
        n, hashes = self._tree.close()
        if self.whole:
            self._check_tile(0, n, hashes)

    def _meet_pin(self) -> None:
        """Work the root at the pin's size out, if that is in the open tile."""
        size = self._tree.size
        if self.whole and size - len(self._tree.open) < self._pin_size <= size:
            self.pin_root = self._tree.root(self._pin_size)

    def _put_right(self, seq: int, entry: Entry) -> Entry:
        """An entry that says it is another one is told of, and replayed as the one whose place it has."""
        entry, said = entry._replace(seq=seq), entry.seq
        self._tell("misplaced-entry", entry, f"says that it is entry {said} of {entry.origin}")
        return entry

    def _tell_wrong_operation(self, entry: Entry, pointed: int | None) -> None:
        if pointed is None:
            self._tell("missing-operation", entry, f"has the operation {entry.op!r}, which is not in the index")
        else:
            words = f"has the operation {entry.op!r}, which the index has at entry {pointed}"
            self._tell("wrong-operation", entry, words)

    def _tell(self, slug: str, entry: Entry, words: str) -> None:
        self._findings.add(slug, f"Entry {entry.seq} {words}", seq=entry.seq, key=entry.key or None)

    def _check_signing(self, entry: Entry, leaf: bytes) -> str:
        """Tell what is wrong with a signature, and give its slug; empty where nothing is."""
        if self._authority.knows_nobody:
            return "unchecked-signature"
        slug, words = self._authority.judge(entry, leaf)
        if slug == "unchecked-signature":
            self._unchecked[entry.by] = self._unchecked.get(entry.by, 0) + 1
        elif slug:
            self._tell(slug, entry, words)
        if entry.type in GOVERNED and slug in ("", "retired-key", "unchecked-signature"):
            self._obey(entry)
        return slug

    def _obey(self, entry: Entry) -> None:
        try:
            self._authority.obey(entry)
        except Fault as fault:
            self._tell("bad-entry", entry, f"cannot be followed: {fault}")
        if entry.type == "store-restored":
            self.restores.append(entry)

    def _skip_to(self, seq: int) -> None:
        if self._next < seq:
            self.whole = False
            one = f"Entry {self._next} is gone"
            many = f"Entries {self._next} to {seq - 1} are gone"
            self._findings.add("missing-entry", one if seq == self._next + 1 else many, seq=self._next)
            self._next = seq

    def _tell_stray_records(self, versions: Iterable[Row]) -> None:
        for version in versions:
            self._tell_stray_record(version)

    def _tell_stray_record(self, version: Row) -> None:
        seq, what = version[:2]
        if isinstance(what, Torn):
            self._findings.add("damaged", f"The version at entry {seq} cannot be read ({what})", seq=seq)
        else:
            self._findings.add("stray-record", f"There is a version at {seq}, where no entry saved one", seq=seq)

    def _read_operations(self) -> None:
        try:
            self._operations = dict(self._source.operations(self._log))
        except UNREADABLE as exc:
            self._findings.add("damaged", f"The index of operations cannot be read ({exc})")

    def _tell_stray_operations(self) -> None:
        for name, seq in self._operations.items():
            text = name.decode("utf-8", "backslashreplace")
            self._findings.add(
                "stray-operation", f"The index names an operation {text!r} at entry {seq}, which is not its", seq=seq
            )

    def _check_upper_tiles(self) -> None:
        if self.whole:
            for level, n, hashes in self._tree.upper_tiles():
                self._check_tile(level, n, hashes)
        try:
            tiles = self._source.tiles(self._log)
        except UNREADABLE as exc:
            self._findings.add("damaged", f"The tiles cannot be read ({exc})")
            return
        for level, n in tiles:
            if not is_full_tile(level, n, self._size):
                self._findings.add(
                    "stray-tile", f"There is a tile {n} of level {level}, which a log of {self._size} entries has not"
                )

    def _check_tile(self, level: int, n: int, hashes: bytes) -> None:
        try:
            stored: Any = self._source.tile(self._log, level, n)
        except UNREADABLE as exc:
            self._findings.add("damaged", f"Tile {n} of level {level} cannot be read ({exc})")
            return
        if stored is None:
            self._findings.add("missing-tile", f"Tile {n} of level {level} is gone")
        elif stored != hashes:
            self._findings.add("bad-tile", f"Tile {n} of level {level} does not hold the hashes of what is below it")
