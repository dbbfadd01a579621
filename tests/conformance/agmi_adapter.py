"""The public suite `agent-memory-integrity` (command `agmi-check`) on Indelible over SQLite, by the library's read path.

    agmi-check --adapter tests.conformance.agmi_adapter:IndelibleAdapter

`verify` opens the store afresh and does what an agent does: it lists its memory and loads what is listed. Nothing else is
called, no audit above all, and only `IntegrityError` counts as a refusal: a crash leaves a cell that is not evaluable.
The attacker's hooks are raw SQL and copies of every file in the store's folder. The reader's pin lies elsewhere, where
the suite's attacker does not reach (its T9 says so).
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from agmi.adapters.base import MemoryAdapter, Record
from tests.support import Bench, bench_at, entry_of, sign_entry, signer_of

from indelible.errors import IntegrityError

AGENT = "eros"
OTHER = "rudex"
_COLUMNS = ("leaf", "salt", "body", "content")


class IndelibleAdapter(MemoryAdapter):  # type: ignore[misc] # not typed by its authors
    """One store with two agents; the suite's first context is `eros`, its second `rudex`."""

    name = "indelible (SQLite)"
    detection_point = "read"
    supports_replay = True
    supports_metadata = True
    supports_snapshot = True

    verify_detail: str | None = None
    reader = "first"

    def setup(self) -> None:
        self._root = Path(tempfile.mkdtemp(prefix="indelible-agmi-"))
        self.bench = bench_at(self._root)
        self.other = Bench(self.bench.root, OTHER)
        self.bench.memory(create=True).close()

    def teardown(self) -> None:
        self.reload()
        shutil.rmtree(self._root)

    def reload(self) -> None:
        self.bench.close()
        self.other.close()

    # The library, as the agent uses it.

    def seed(self, n: int) -> None:
        _save(self.bench, [f"note-{number}" for number in range(n)])

    def seed_other(self, n: int) -> None:
        _save(self.other, [f"note-{number}" for number in range(n)])

    def append_genuine(self) -> None:
        _save(self.bench, ["note-late"])

    def verify(self) -> bool:
        self.verify_detail = None
        try:
            with self.bench.memory(self.reader) as memory:
                listing = memory.list()
                for finding in listing.findings:
                    raise finding
                for item in listing.items:
                    loaded = memory.load(item.key)
                    if loaded.finding is not None:
                        raise loaded.finding
        except IntegrityError as refused:
            self.verify_detail = f"{refused.slug}: {refused.message}"
            return False
        return True

    # The attacker, who has the store's folder and no key.

    def read_all_raw(self) -> list[Record]:
        return _rows(self.bench)

    def read_other_raw(self) -> list[Record]:
        return _rows(self.other)

    def write_raw(self, record: Record) -> None:
        leaf, salt, body, content = (bytes.fromhex(record.fields[name]) for name in _COLUMNS)
        row = self.bench.row_id(record.seq)
        self.bench.sql("INSERT OR REPLACE INTO entry VALUES (?, ?)", row, leaf)
        self.bench.sql("INSERT OR REPLACE INTO record VALUES (?, ?, ?, ?)", row, salt, body, content)

    def delete_raw(self, seq: int) -> None:
        row = self.bench.row_id(seq)
        self.bench.sql("DELETE FROM entry WHERE id = ?", row)
        self.bench.sql("DELETE FROM record WHERE id = ?", row)
        self.bench.sql("DELETE FROM op WHERE log = (SELECT id FROM log WHERE agent = ?) AND seq = ?", AGENT, seq)

    def mutate_payload(self, record: Record) -> Record:
        record.fields["content"] += b" [altered]".hex()
        return record

    def forge_record(self, template: Record) -> Record:
        """A whole new memory with an entry of its own, signed with a key of the forger's."""
        entry = entry_of(bytes.fromhex(template.fields["leaf"]))
        forged = entry._replace(seq=template.seq + 1, key="forged", op="forged")
        fields = {**template.fields, "seq": template.seq + 1, "content": b"forged".hex()}
        fields["leaf"] = sign_entry(forged, signer_of(entry.origin, 666)).hex()
        return Record(template.seq + 1, fields)

    def replay_onto(self, victim_seq: int, donor: Record) -> None:
        salt, body, content = (bytes.fromhex(donor.fields[name]) for name in _COLUMNS[1:])
        row = self.bench.row_id(victim_seq)
        self.bench.sql("UPDATE record SET salt = ?, body = ?, content = ? WHERE id = ?", salt, body, content, row)

    def read_meta(self, seq: int) -> dict[str, Any]:
        body = self.bench.sql("SELECT body FROM record WHERE id = ?", self.bench.row_id(seq))[0][0]
        return dict(json.loads(body))

    def write_meta(self, seq: int, meta: dict[str, Any]) -> None:
        body = json.dumps(meta, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
        self.bench.sql("UPDATE record SET body = ? WHERE id = ?", body, self.bench.row_id(seq))

    def snapshot_store(self) -> object:
        return self.bench.snapshot()

    def restore_store(self, token: object) -> None:
        self.bench.put_back(str(token))

    # What the suite's guard asks about a raw record.

    def identity_of(self, record: Record) -> str:
        return f"{record.fields['agent']}:{record.fields['seq']}"

    def payload_of(self, record: Record) -> str:
        return str(record.fields["content"])

    def owner_of(self, record: Record) -> str:
        return str(record.fields["agent"])


def _save(bench: Bench, keys: list[str]) -> None:
    with bench.memory() as memory:
        for key in keys:
            memory.save(key, f"{bench.agent} says {key}".encode())


def _rows(bench: Bench) -> list[Record]:
    """Everything the store holds of one agent's versions, as stored."""
    rows = bench.sql(
        "SELECT e.seq, e.leaf, r.salt, r.body, r.content FROM entries e JOIN records r ON r.agent = e.agent AND r.seq = e.seq"
        " WHERE e.agent = ? ORDER BY e.seq", bench.agent,
    )  # fmt: skip
    return [
        Record(
            seq,
            {
                "agent": bench.agent,
                "seq": seq,
                **{name: value.hex() for name, value in zip(_COLUMNS, row, strict=True)},
            },
        )
        for seq, *row in rows
    ]
