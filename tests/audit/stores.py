"""Stores for the audit's tests, and what a reader brings to an audit of one."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

from tests.support import Bench, bench_at, sign_entry, signer_of

from indelible.audit import audit
from indelible.seal import checkpoint
from indelible.seal.note import Verifier, parse_note

if TYPE_CHECKING:
    from pathlib import Path

    from indelible.audit import Report
    from indelible.entry import Entry
    from indelible.seal.checkpoint import Checkpoint

SIZE = 262
"""Entries in the store that most tests begin with: one full tile and a few more."""


def fill(path: Path) -> Bench:
    """A store with one full tile: a memory of two versions, an archived one, an erased one, and many more."""
    bench = bench_at(path)
    memory = bench.memory(create=True)
    memory.save("MEMORY.md", "첫째 판\n".encode())
    memory.save("MEMORY.md", "둘째 판\n".encode())
    memory.save("old.md", b"put away")
    memory.archive("old.md", reason="no longer true")
    memory.save("secret.md", b"gone for good")
    memory.erase("secret.md", reason="asked for")
    for number in range(SIZE - 6):
        memory.save(f"notes/{number:03}.md", b"note %d" % number)
    bench.sql("PRAGMA wal_checkpoint(TRUNCATE)")
    bench.close()
    return bench


def copy_of(bench: Bench, path: Path) -> Bench:
    """The same store in another folder."""
    shutil.copytree(bench.root, path, dirs_exist_ok=True)
    os.chmod(path / "store", 0o700)
    return Bench(str(path))


def pin_of(bench: Bench, agent: str = "eros") -> Checkpoint:
    """The store's present head, as a reader who has just accepted it keeps it."""
    note = bench.sql("SELECT note FROM log WHERE agent = ?", agent)[0][0]
    return checkpoint.parse(parse_note(note).text)


def look(
    bench: Bench, *, pin: Checkpoint | None = None, keys: tuple[Verifier, ...] | None = None, **asked: Any
) -> Report:
    """Audit a store as a reader who knows the key of each agent, and of the owner."""

    def verifiers(_: str, origin: str) -> tuple[Verifier, ...]:
        return (Verifier(signer_of(origin).vkey),) if keys is None else keys

    reader: dict[str, Any] = {"verifiers": verifiers, "owners": (Verifier(bench.owner.vkey),), "pins": lambda _: pin}
    return audit(bench.path, **(reader | asked))


def slugs(report: Report) -> set[str]:
    return {finding.slug for finding in report.findings}


def rewrite(bench: Bench, changes: dict[int, Entry]) -> None:
    """What a thief of the agent's key can do: sign other entries in the place of some, and a head over the whole."""
    leaves = bench.leaves()
    for seq, entry in changes.items():
        leaves[seq : seq + 1] = [sign_entry(entry, bench.signer)]
    bench.forge(leaves, bench.signer)
