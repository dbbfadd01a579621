"""An audit of stores that are as they should be."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.audit.stores import SIZE, look, pin_of, slugs
from tests.support import Bench, bench_at, signer_of

from indelible.memory.governing import restore_store, revoke, rotate, set_pin
from indelible.seal.merkle import leaf_hash, root_of
from indelible.seal.note import Verifier

if TYPE_CHECKING:
    from pathlib import Path

    from indelible.seal.checkpoint import Checkpoint


def test_a_store_that_is_as_it_was_sealed_has_no_findings(bench: Bench) -> None:
    report = look(bench, pin=pin_of(bench))
    assert report.findings == ()
    assert report.ok


def test_the_report_says_what_was_read(bench: Bench) -> None:
    (agent,) = look(bench).agents
    assert (agent.agent, agent.origin, agent.size) == ("eros", bench.origin, SIZE)
    assert agent.root == root_of([leaf_hash(leaf) for leaf in bench.leaves()]).hex()
    assert (agent.keys, agent.versions) == (SIZE - 3, SIZE - 2)
    assert agent.signed_by == (f"{bench.origin}+{bench.signer.key_id:08x}",)


def test_the_report_can_be_written_as_json(bench: Bench) -> None:
    bench.sql("UPDATE record SET content = x'00' WHERE id = ?", bench.row_id(1))
    said = json.loads(json.dumps(look(bench).as_dict()))
    assert said["ok"] is False
    assert [finding["slug"] for finding in said["agents"][0]["findings"]] == ["altered-content"]
    assert said["agents"][0]["findings"][0]["key"] == "MEMORY.md"


def test_without_signatures_the_heads_are_checked_all_the_same(bench: Bench) -> None:
    assert look(bench, signatures=False).agents[0].signed_by
    assert "unknown-key" in slugs(look(bench, signatures=False, keys=(Verifier(signer_of("somebody/else").vkey),)))


def test_an_audit_writes_nothing(bench: Bench) -> None:
    def read() -> tuple[bytes, int]:
        with open(bench.path, "rb") as file:
            return file.read(), os.stat(bench.path).st_mtime_ns

    before = read()
    look(bench)
    assert read() == before


def test_an_empty_store_has_no_agents_and_no_findings(tmp_path: Path) -> None:
    bench = bench_at(tmp_path)
    bench.memory(create=True)
    bench.close()
    report = look(bench)
    assert (report.agents, report.findings) == ((), ())


def test_what_lies_in_the_wal_is_read_too(bench: Bench) -> None:
    memory = bench.memory()
    set_pin(memory, None)
    memory.save("late.md", b"not checkpointed yet")
    assert os.path.getsize(bench.path + "-wal") > 0
    report = look(bench)
    assert report.findings == ()
    assert report.agents[0].size == SIZE + 1


def test_a_save_in_between_does_not_look_like_a_rollback(bench: Bench) -> None:
    """The pin is asked for before the snapshot is taken: it is never ahead of it."""
    memory = bench.memory()
    set_pin(memory, None)

    def pins(_: str) -> Checkpoint:
        pin = pin_of(bench)
        memory.save("late.md", b"while somebody audits")
        return pin

    assert look(bench, pins=pins).findings == ()


def test_every_agent_is_read_and_one_can_be_asked_for(tmp_path: Path) -> None:
    bench = bench_at(tmp_path)
    for agent in ("eros", "두번째 에이전트/2"):
        other = Bench(bench.root, agent)
        other.memory(create=True).save("MEMORY.md", agent.encode())
        other.close()
    assert [agent.agent for agent in look(bench).agents] == ["eros", "두번째 에이전트/2"]
    assert look(bench).ok
    report = look(bench, agents=["두번째 에이전트/2"])
    assert [agent.agent for agent in report.agents] == ["두번째 에이전트/2"]
    assert report.ok


def test_progress_goes_up_to_all(bench: Bench) -> None:
    told: list[tuple[int, int]] = []
    look(bench, progress=lambda done, total: told.append((done, total)))
    assert told == sorted(told)
    assert told[-1] == (SIZE, SIZE)


def test_a_log_that_was_handed_to_a_new_key_is_fine(tmp_path: Path) -> None:
    bench = bench_at(tmp_path)
    new = signer_of(bench.origin, 1)
    memory = bench.memory(create=True)
    memory.save("MEMORY.md", b"by the old key")
    rotate(memory, bench.signer, new, reason="a new laptop")
    bench.close()
    memory = bench.memory(signer=new)
    memory.save("MEMORY.md", b"by the new key")
    bench.close()
    report = look(bench)
    assert report.findings == ()
    assert report.agents[0].signed_by == (f"{bench.origin}+{new.key_id:08x}",)


def test_what_a_stolen_key_signed_before_the_theft_stands(tmp_path: Path) -> None:
    bench = bench_at(tmp_path)
    new = signer_of(bench.origin, 1)
    memory = bench.memory(create=True)
    memory.save("MEMORY.md", b"before the theft")
    revoke(memory, bench.owner, f"{bench.signer.key_id:08x}", new, from_seq=1, reason="stolen")
    bench.close()
    assert look(bench).findings == ()


def test_an_attested_log_is_signed_by_a_server(tmp_path: Path) -> None:
    bench = bench_at(tmp_path)
    server = signer_of("indelible-server/test")
    key = Verifier(server.vkey)
    memory = bench.memory(create=True, signer=server, trust=bench.trusted(agents=(), servers=(key,)))
    memory.save("MEMORY.md", b"through the plain form")
    bench.close()
    report = look(bench, keys=(key,))
    assert report.findings == ()
    assert report.agents[0].signed_by == (f"indelible-server/test+{server.key_id:08x}",)


def test_a_lawful_restore_leaves_nothing_behind_for_a_reader_who_followed_it(bench: Bench) -> None:
    bench.memory(trust=bench.trusted(given=pin_of(bench))).load("MEMORY.md")
    bench.close()
    copy = bench.snapshot()
    memory = bench.memory()
    set_pin(memory, None)
    memory.save("late.md", b"to be given up")
    bench.put_back(copy)
    restore_store(bench.memory(), bench.owner, reason="the disk died")
    bench.close()
    assert look(bench, pin=pin_of(bench)).findings == ()


def test_a_store_on_a_read_only_file_system_is_read_as_it_is(bench: Bench, tmp_path: Path) -> None:
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("mounting a file system read-only needs root on Linux")
    folder = str(tmp_path / "store")
    bind = subprocess.run(["mount", "--bind", folder, folder], capture_output=True, check=False, text=True)
    if bind.returncode:
        pytest.skip(f"nothing can be mounted here: {bind.stderr.strip()}")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", folder], check=True)
        assert look(bench).findings == ()
    finally:
        subprocess.run(["umount", "-l", folder], check=True)
