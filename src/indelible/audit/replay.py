"""One log, replayed from its first entry: leaves, keys, chains, versions, operations, tiles and the root."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from indelible.audit.authority import GOVERNED, Authority
from indelible.audit.grammar import SIGNATURE_SIZE, Entry, Fault, parse_entry
from indelible.audit.source import UNREADABLE, Row
from indelible.audit.tree import Tree, is_full_tile
from indelible.audit.versions import Versions
from indelible.seal.merkle import leaf_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from indelible.audit.findings import Notebook
    from indelible.audit.source import Source

_STEP = 256
"""Entries between two words about the progress."""
_END = Row(2**63, ())


class Replay:
    """What the entries of one log come to.

    Args:
        log: the id of its row.
        size: entries that its head covers.
    """

    def __init__(self, source: Source, log: int, size: int, authority: Authority, findings: Notebook) -> None:
        self._source, self._log, self._size = source, log, size
        self._authority, self._findings = authority, findings
        self._tree = Tree()
        self._next = self._pin_size = 0
        self._signatures = True
        self._at = ""
        self._operations: dict[bytes, int] = {}
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
        version = next(versions, _END)
        for row in self._source.entries(self._log, end):
            while version.seq < row.seq:
                self._tell_stray_record(version)
                version = next(versions, _END)
            self._skip_to(row.seq)
            if version.seq == row.seq:
                self._take(row, version)
                version = next(versions, _END)
            else:
                self._take(row, None)
            if not row.seq % _STEP:
                progress(row.seq)
        self._skip_to(self._size)
        if version is not _END:
            self._tell_stray_records((version, *versions))
        self._tell_stray_operations()
        self._check_upper_tiles()
        self.versions.close(self._authority)

    def _take(self, row: Row, version: Row | None) -> None:
        seq, leaf = row.seq, row.columns[0] if row.columns else None
        self._next = seq + 1
        if type(leaf) is not bytes or len(leaf) <= SIGNATURE_SIZE:
            why = f"cannot be read ({row.fault})" if row.fault else "is too short to be signed, or no bytes"
            self._findings.add("damaged" if row.fault else "bad-entry", f"Entry {seq} {why}", seq=seq)
            self.whole = False
            return
        digest = leaf_hash(leaf)
        self._grow(digest)
        try:
            entry = parse_entry(leaf[:-SIGNATURE_SIZE])
        except Fault as fault:
            self._findings.add("bad-entry", f"Entry {seq} does not parse: {fault}", seq=seq)
            return
        self._check_place(seq, entry)
        entry = entry if entry.seq == seq else entry._replace(seq=seq)
        if self._signatures or entry.type in GOVERNED:
            self._check_signing(seq, entry, leaf)
        if entry.type not in GOVERNED:
            self._check_version(entry, digest, version)
        elif version is not None:
            self._tell_stray_record(version)

    def _grow(self, digest: bytes) -> None:
        tile = self._tree.add(digest)
        if tile is not None and self.whole:
            self._check_tile(0, *tile)
        if self._tree.size == self._pin_size and self.whole:
            self.pin_root = self._tree.root()

    def _check_place(self, seq: int, entry: Entry) -> None:
        """Number, log, time and operation of one entry."""
        key = entry.key or None
        if entry.seq != seq or entry.origin != self._authority.origin:
            self._findings.add(
                "misplaced-entry", f"Entry {seq} says that it is entry {entry.seq} of {entry.origin}", seq=seq, key=key
            )
        if entry.at < self._at:
            self._findings.add(
                "clock-backwards", f"Entry {seq} says {entry.at}, and the one before it {self._at}", seq=seq, key=key
            )
        self._at = entry.at
        pointed = self._operations.pop(entry.op.encode(), None)
        if pointed is None:
            self._findings.add(
                "missing-operation", f"The operation {entry.op!r} of entry {seq} is not in the index", seq=seq, key=key
            )
        elif pointed != seq:
            self._findings.add(
                "wrong-operation",
                f"The index has the operation {entry.op!r} of entry {seq} at entry {pointed}",
                seq=seq,
                key=key,
            )

    def _check_signing(self, seq: int, entry: Entry, leaf: bytes) -> None:
        if self._authority.knows_nobody:
            return
        slug, words = self._authority.judge(entry, leaf)
        if slug:
            self._findings.add(slug, f"Entry {seq} {words}", seq=seq, key=entry.key or None)
        if entry.type in GOVERNED and slug in ("", "retired-key"):
            self._obey(seq, entry)

    def _obey(self, seq: int, entry: Entry) -> None:
        try:
            self._authority.obey(entry)
        except Fault as fault:
            self._findings.add("bad-entry", f"Entry {seq} cannot be followed: {fault}", seq=seq)
        if entry.type == "store-restored":
            self.restores.append(entry)

    def _check_version(self, entry: Entry, digest: bytes, version: Row | None) -> None:
        if version is not None and version.fault:
            words = f"The version of {entry.key!r} at entry {entry.seq} cannot be read ({version.fault})"
            self._findings.add("damaged", words, seq=entry.seq, key=entry.key)
        self.versions.add(entry, digest, None if version is None else version.columns)

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
        if version.fault:
            self._findings.add(
                "damaged", f"The version at entry {version.seq} cannot be read ({version.fault})", seq=version.seq
            )
        else:
            words = f"There is a version under the number {version.seq}, at which no entry saved one"
            self._findings.add("stray-record", words, seq=version.seq)

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
