"""The index beside the follower: kept up with the log, bound to it, and of no use to who edits it."""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from indelible.memory.indexing import index_folder
from indelible.recall import shelf, shelved

if TYPE_CHECKING:
    from tests.support import Bench

    from indelible.memory import Memory

TEXTS = {
    "deploy": b"Deploy the billing service with make deploy once the nightly tests have passed",
    "tea": b"Tea is in the cupboard beside the window",
    "korean": "배포 전에 체크섬을 확인한다".encode(),
}


@pytest.fixture
def memory(bench: Bench) -> Memory:
    made = bench.memory(create=True)
    for key, text in TEXTS.items():
        made.save(key, text)
    return made


def keys(memory: Memory, query: str, **options: object) -> list[str]:
    return [one.key for one in memory.recall(query, **options).delivered]  # type: ignore[arg-type]


def folder(memory: Memory) -> str:
    return index_folder(memory.follower)


def sql(memory: Memory, statement: str, *values: object) -> None:
    """The catalogue edited behind everybody's back."""
    with closing(apsw.Connection(os.path.join(folder(memory), "index.db"))) as connection:
        connection.execute(statement, values)


def segment_of(memory: Memory) -> str:
    return next(os.path.join(folder(memory), name) for name in os.listdir(folder(memory)) if name.endswith(".idx"))


def bytes_of(path: str) -> bytes:
    return b"".join(one.read_bytes() for one in Path(path).iterdir())


@pytest.mark.parametrize("query", ["체크섬", "체크섬을", "확인", "배포 전"])
def test_korean_is_found_by_its_parts(memory: Memory, query: str) -> None:
    assert keys(memory, query) == ["korean"]


def test_a_save_adds_its_own_row_and_the_newest_version_counts(memory: Memory) -> None:
    memory.save("tea", b"Coffee is in the drawer")
    assert keys(memory, "coffee") == ["tea"]
    assert keys(memory, "cupboard") == []
    memory.archive("tea")
    assert keys(memory, "coffee") == []
    memory.unarchive("tea")
    assert keys(memory, "coffee") == ["tea"]


def test_another_reader_derives_the_index_for_itself(bench: Bench, memory: Memory) -> None:
    with bench.memory("second") as other:
        assert keys(other, "billing") == ["deploy"]
        assert os.path.isdir(folder(other))
    assert folder(memory) != folder(other)


def test_what_another_process_saved_and_said_is_seen(bench: Bench, memory: Memory) -> None:
    assert keys(memory, "billing") == ["deploy"]
    with bench.memory() as other:
        other.save("more", b"The billing ledger is closed on Friday")
        other.archive("deploy")
    assert keys(memory, "billing") == ["more"]


def test_a_trimmed_index_misses_nothing(memory: Memory) -> None:
    assert keys(memory, "billing") == ["deploy"]
    sql(memory, "DELETE FROM row")
    assert keys(memory, "billing") == ["deploy"]


def test_an_altered_row_is_named_and_derived_again(memory: Memory) -> None:
    sql(memory, "UPDATE row SET packed = CAST(packed || x'00' AS BLOB) WHERE seq = 0")
    found = memory.recall("billing")
    assert [one.key for one in found.delivered] == ["deploy"]
    assert "1 rows in index.db are altered" in found.warnings[0]
    assert memory.recall("billing").warnings == ()


def test_a_row_under_another_entrys_number_finds_nothing_there(memory: Memory) -> None:
    """Whoever can write the catalogue can compute a row's check, and not a commitment of the log."""
    sql(memory, "DELETE FROM row WHERE seq = 1")
    sql(memory, "UPDATE row SET seq = 1 WHERE seq = 0")
    found = memory.recall("billing")
    assert [one.key for one in found.delivered] == ["deploy"]
    assert keys(memory, "cupboard") == ["tea"]


@pytest.mark.parametrize("fault", ["cut", "altered", "gone", "emptied"])
def test_a_damaged_segment_is_named_and_derived_again(memory: Memory, fault: str) -> None:
    memory.reindex()
    path = segment_of(memory)
    memory.end_index()
    with open(path, "r+b") as file:
        if fault == "altered":
            file.seek(os.path.getsize(path) // 2)
            file.write(b"\xff\x00\xff")
        else:
            file.truncate({"cut": os.path.getsize(path) // 2}.get(fault, 0))
    if fault == "gone":
        os.unlink(path)
    found = memory.recall("billing")
    assert [one.key for one in found.delivered] == ["deploy"]
    assert "The index was not as it was written" in found.warnings[0]


def test_a_segment_that_is_altered_while_it_is_open_is_noticed(memory: Memory) -> None:
    memory.reindex()
    assert keys(memory, "billing") == ["deploy"]
    path = segment_of(memory)
    with open(path, "r+b") as file:
        file.truncate(os.path.getsize(path) - 8)
    assert keys(memory, "billing") == ["deploy"]


def test_a_segment_of_another_store_is_refused(bench: Bench, memory: Memory, tmp_path: Path) -> None:
    from tests.support import bench_at

    memory.reindex()
    other = bench_at(tmp_path / "other").memory(create=True)
    other.save("x", b"Billing is done by robots")
    other.reindex()
    memory.end_index()
    shutil.copyfile(segment_of(other), segment_of(memory))
    found = memory.recall("billing")
    assert [one.key for one in found.delivered] == ["deploy"]
    assert found.warnings
    memory.end_index()
    shutil.rmtree(folder(memory))
    other.close()
    shutil.copytree(folder(other), folder(memory))
    assert keys(memory, "billing") == ["deploy"]


def test_a_catalogue_that_is_none_is_put_aside(memory: Memory) -> None:
    memory.end_index()
    with open(os.path.join(folder(memory), "index.db"), "wb") as file:
        file.write(b"not a database, and long enough to be read as one" * 100)
    found = memory.recall("billing")
    assert [one.key for one in found.delivered] == ["deploy"]
    assert found.warnings


def test_a_save_goes_on_where_the_index_cannot_be_written(memory: Memory) -> None:
    memory.end_index()
    shutil.rmtree(folder(memory))
    with open(folder(memory), "wb") as file:
        file.write(b"a file where the folder should be")
    assert memory.save("more", b"The billing ledger is closed on Friday").version == 1
    found = memory.recall("ledger")
    assert [one.key for one in found.delivered] == ["more"]
    assert "could not be kept" in found.warnings[0]


def test_nothing_of_what_was_erased_stays_in_the_index(memory: Memory) -> None:
    memory.save("tea", b"Tea is in the safe, whose code is 4711-0815-zebra")
    memory.reindex()
    memory.save("tea", b"Coffee is in the safe, whose code is 4711-0815-zebra")
    assert keys(memory, "zebra") == ["tea"]
    memory.erase("tea")
    memory.end_index()
    held = bytes_of(folder(memory))
    assert b"4711-0815" not in held
    assert b"cupboard" not in held
    assert b"billing" in held
    assert keys(memory, "zebra") == []
    assert keys(memory, "billing") == ["deploy"]


def test_what_was_erased_elsewhere_leaves_this_readers_index_at_its_next_look(bench: Bench, memory: Memory) -> None:
    with bench.memory("second") as other:
        assert keys(other, "cupboard") == ["tea"]
        memory.erase("tea")
        assert keys(other, "cupboard") == []
        other.end_index()
        assert b"cupboard" not in bytes_of(folder(other))


def test_many_rows_become_segments_and_many_segments_become_one(
    bench: Bench, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelf, "FEW", 8)
    for number in range(200):
        memory.save(f"note-{number:03}", f"Item {number} of the ledger lies in drawer q{number}q".encode())
        if number % 10 == 0:
            assert keys(memory, f"q{number}q", limit=1) == [f"note-{number:03}"]
    names = [name for name in os.listdir(folder(memory)) if name.endswith(".idx")]
    assert 1 <= len(names) <= 2 * shelved.TIER
    memory.reindex()
    assert len([name for name in os.listdir(folder(memory)) if name.endswith(".idx")]) == 1
    assert keys(memory, "q77q", limit=1) == ["note-077"]
    assert memory.recall("billing").warnings == ()


def test_what_two_readers_of_one_follower_derive_at_once_counts_once(bench: Bench, memory: Memory) -> None:
    memory.end_index()
    shutil.rmtree(folder(memory))
    with bench.memory() as other:
        first, second = memory.indexed.finder, other.indexed.finder
        first._follow()
        second._follow()
        first.refresh()
        second._catch_up(None)
        assert keys(other, "billing") == ["deploy"]
        assert keys(memory, "billing") == ["deploy"]


def test_a_tampered_memory_is_named_when_it_is_found_and_when_it_cannot_be_derived(
    bench: Bench, memory: Memory
) -> None:
    bench.sql("UPDATE record SET content = x'00' WHERE id = ?", bench.row_id(0))
    assert [one.slug for one in memory.recall("billing").findings] == ["digest-mismatch"]
    assert memory.recall("cupboard").findings == ()
    assert [one.slug for one in memory.reindex().findings] == ["digest-mismatch"]
    found = memory.recall("cupboard")
    assert [one.key for one in found.delivered] == ["tea"]
    assert [one.slug for one in found.findings] == ["digest-mismatch"]
    bench.sql("UPDATE record SET content = ? WHERE id = ?", TEXTS["deploy"], bench.row_id(0))
    assert memory.recall("cupboard").findings == ()
    assert keys(memory, "billing") == ["deploy"]


def test_a_filter_comes_before_the_top_list(memory: Memory) -> None:
    """O-SRCH-02: 500 near-identical notes that do not apply, and one that does."""
    from dataclasses import replace

    from indelible.record import draft
    from indelible.record.parts import Scope, Validity

    def made(key: str, content: bytes, **changes: Any) -> None:
        record = draft(key, content, agent="eros", author="agent:eros", now="2026-11-30T00:00:00Z", random=bytes(10))
        memory.save(key, content, record=lambda _: replace(record, **changes))

    for number in range(250):
        text = f"The staging cluster is rebuilt nightly, note {number}".encode()
        made(f"elsewhere-{number}", text, scope=Scope("repo", repo="github.com/other/app"))
        made(f"expired-{number}", text, validity=Validity(expires_at="2026-01-01T00:00:00Z"))
    made("mine", b"When our staging cluster is rebuilt, the caches are cold: it happens nightly", tags=("ops",))
    found = memory.recall("staging cluster rebuilt nightly note")
    assert [one.key for one in found.delivered] == ["mine", "deploy"]
    assert len(found.held) <= 5
    assert found.withheld >= len(found.held)
    assert keys(memory, "staging", tags=["ops"]) == ["mine"]
    assert keys(memory, "staging", prefix="min") == ["mine"]
    assert keys(memory, "staging", kinds=["decision"]) == []


@pytest.mark.parametrize("query", ["", "   ", "the and of", "😀", "가나", "\x00", "x" * 1_000_000, "각" * 100, "각"])
def test_odd_questions_are_answered(memory: Memory, query: str) -> None:
    memory.recall(query)


def test_an_empty_store_has_nothing_near(bench: Bench) -> None:
    found = bench.memory(create=True).recall("anything")
    assert (found.delivered, found.held, found.findings) == ((), (), ())


def test_repeating_a_text_makes_no_second_answer_and_a_negation_is_not_merged(memory: Memory) -> None:
    """O-SRCH-03: kept apart in the store, and no crowd in an answer."""
    lesson = b"Run the migration before the deploy of the ledger"
    for number, text in enumerate(
        (lesson, lesson, lesson.upper(), lesson + b"  ", b"Do not run the migration before the deploy of the ledger")
    ):
        memory.save(f"lesson-{number}", text)
    memory.save("other", b"The migration of the ledger takes an hour")
    first = keys(memory, "run the migration before the deploy of the ledger", limit=3)
    assert "lesson-4" in first
    assert "other" in first


def test_what_a_killed_process_left_goes_with_the_next_erasure(memory: Memory) -> None:
    memory.reindex()
    for name in ("seg-0123456789abcdef.idx.part0", ".tmp-segment-4194999-abc", "seg-fedcba9876543210.idx"):
        Path(folder(memory), name).write_bytes(b"cupboard")
    assert keys(memory, "cupboard") == ["tea"]
    memory.erase("tea")
    assert b"cupboard" not in bytes_of(folder(memory))
    assert keys(memory, "billing") == ["deploy"]


def test_rows_are_found_in_whatever_chunk_they_lie(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelf, "CHUNK", 3)
    for number in range(17):
        memory.save(f"note-{number:03}", f"Item {number} lies in drawer q{number}q".encode())
        assert keys(memory, f"q{number}q", limit=1) == [f"note-{number:03}"]
        assert keys(memory, "billing", limit=1) == ["deploy"]
    memory.erase("note-005")
    assert keys(memory, "q5q") == []
    assert keys(memory, "q16q", limit=1) == ["note-016"]


def test_a_score_tells_nothing_of_what_a_prefix_leaves_out(memory: Memory) -> None:
    memory.save("mine/probe", b"The zanzibar project is late, and the budget of the harbour is spent")
    memory.save("mine/other", b"A second note about the harbour and its budget")
    before = memory.recall("zanzibar", prefix="mine/").why[0]
    for number in range(5):
        memory.save(f"secret/{number}", b"zanzibar zanzibar harbour")
    assert memory.recall("zanzibar", prefix="mine/").why[0] == before


def test_turns_lend_to_one_another_and_numbered_notes_do_not(memory: Memory) -> None:
    for name in ("chat/{}.md", "D1:{}", "note-{}"):
        memory.save(name.format(7), f"The harbour festival is moved, says {name[:2]}".encode())
        memory.save(name.format(8), f"All right, then we meet a week later, {name[:2]}".encode())
    found = memory.recall("harbour festival", limit=9)
    near = {one.key: why.channels.near for one, why in zip(found.delivered, found.why, strict=True)}
    assert near["chat/8.md"] > 0
    assert near["D1:8"] > 0
    assert "note-8" not in near
