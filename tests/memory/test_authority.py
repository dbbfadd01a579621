"""Who may sign: what a server claims in the agent's name, and what a thief makes of a lawful restore, are refused."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from tests.support import NOW, Bench, bench_at, entry_of, sign_entry, signer_of

from indelible.entry import Saved, format_entry
from indelible.errors import BadSignature, IntegrityError
from indelible.memory.governing import restore_store, revoke
from indelible.record.draft import plain_body
from indelible.seal.checkpoint import Checkpoint
from indelible.seal.merkle import leaf_hash, root_of
from indelible.seal.note import Note, Signature, Verifier
from indelible.sealed import Sealed, commit

if TYPE_CHECKING:
    from pathlib import Path

    from indelible.seal.note import Signer


def version(bench: Bench, by: Signer, key: str, content: bytes, seq: int, prev: bytes) -> tuple[Saved, Sealed]:
    """The entry of a second or later version, whose number is its place in the log plus one."""
    body = plain_body(key, content, now=NOW, author="agent:eros", agent="eros", team="local", random=os.urandom(10))
    sealed = Sealed(os.urandom(32), body.replace(b'"revision":1', b'"revision":%d' % (seq + 1)), content)
    found = commit(sealed)
    entry = Saved(
        NOW, f"{by.key_id:08x}", found.content.hex(), "saved", key, f"op {seq}", bench.origin, prev.hex(), seq - 1, None,
        found.record.hex(), seq, "saved", seq + 1,
    )  # fmt: skip
    return entry, sealed


def test_a_server_that_attests_cannot_speak_in_the_agents_name(tmp_path: Path) -> None:
    """A line under its head that only names the agent's key does not keep the entries from being looked at."""
    bench, server = bench_at(tmp_path), signer_of("indelible-server/x")
    trust = bench.trusted(servers=(Verifier(server.vkey),))
    with bench.memory(create=True, trust=trust) as memory:
        memory.save("MEMORY.md", b"never push\n")
    first = bench.leaf(0)
    entry, sealed = version(bench, bench.signer, "MEMORY.md", b"always push\n", 1, leaf_hash(first))
    leaf = format_entry(entry) + bytes(64)
    text = Checkpoint(bench.origin, 2, root_of([leaf_hash(first), leaf_hash(leaf)]), ()).format()
    for name in ("x", bench.origin):
        note = Note(text, (server.signature(text), Signature(name, bench.signer.key_id, bytes(64)))).format()
        bench.sql("INSERT OR REPLACE INTO entry VALUES (?, ?)", bench.row_id(1), leaf)
        bench.sql("INSERT OR REPLACE INTO record VALUES (?, ?, ?, ?)", bench.row_id(1), *sealed)
        bench.sql("UPDATE log SET note = ?", note)
        for reader in ("first", "second"):
            with bench.memory(reader, trust=trust) as memory, pytest.raises(BadSignature):
                memory.verify("MEMORY.md")
    with bench.memory(trust=trust) as memory, pytest.raises(BadSignature):
        memory.save("MEMORY.md", b"on top of it")


def test_a_restore_serves_behind_no_other_entries_and_lets_no_revoked_key_back_in(tmp_path: Path) -> None:
    bench = bench_at(tmp_path)
    new, thief = signer_of(bench.origin, 1), bench.signer
    owners = bench.memory("A", create=True)
    owners.save("K", b"one")
    owners.save("K", b"two")
    copy = bench.snapshot("copy")
    owners.save("K", b"three")
    revoke(owners, bench.owner, f"{thief.key_id:08x}", new, from_seq=3, reason="stolen")
    assert bench.memory("B").load("K").content == b"three"
    bench.put_back(copy)
    both = bench.trusted(agents=(Verifier(thief.vkey), Verifier(new.vkey)))
    restore_store(bench.memory("A", trust=both, signer=new), bench.owner, reason="the disk died")
    genuine = bench.leaves()
    assert bench.memory("B", trust=both).load("K").content == b"two"
    bench.close()
    place = next(seq for seq, leaf in enumerate(genuine) if entry_of(leaf).type == "store-restored")
    leaves, rows = [genuine[0]], {}
    for seq in range(1, place):
        entry, sealed = version(bench, thief, "K", b"planted", seq, leaf_hash(leaves[-1]))
        leaves.append(sign_entry(entry, thief))
        rows[seq] = sealed
    bench.forge([*leaves, genuine[place]], thief)
    for seq, sealed in rows.items():
        bench.sql("INSERT OR REPLACE INTO record VALUES (?, ?, ?, ?)", bench.row_id(seq), *sealed)
    for reader in ("A", "B", "C"):
        with bench.memory(reader, trust=both) as memory, pytest.raises(IntegrityError):
            memory.verify("K")
