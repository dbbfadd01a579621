"""What is edited behind the store's back is refused when memory is read, and hides nothing else."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest
from tests.support import Bench, entry_of, or_refused, sign_entry, signer_of

from indelible.errors import (
    BadSignature,
    DigestMismatch,
    Forked,
    IntegrityError,
    Malformed,
    Missing,
    NotFoundError,
    PinLost,
    RolledBack,
    StrayRows,
)
from indelible.memory import Loaded

if TYPE_CHECKING:
    from collections.abc import Callable

    from indelible.memory import Memory


def three(bench: Bench) -> Memory:
    """A, B and C saved, B twice: entries 0 to 3."""
    memory = bench.memory(create=True)
    for key, content in (("A", b"a"), ("B", b"old b"), ("B", b"b"), ("C", b"c")):
        memory.save(key, content)
    return memory


@pytest.mark.parametrize(
    ("edit", "refusal"),
    [
        ("UPDATE record SET content = x'00' WHERE id = ?", DigestMismatch),
        ("UPDATE record SET content = CAST(content || ' ' AS BLOB) WHERE id = ?", DigestMismatch),
        ("UPDATE record SET salt = zeroblob(32) WHERE id = ?", DigestMismatch),
        ("UPDATE record SET salt = x'' WHERE id = ?", DigestMismatch),
        (
            "UPDATE record SET body = CAST(replace(CAST(body AS TEXT), 'claimed', 'verified') AS BLOB) WHERE id = ?",
            DigestMismatch,
        ),
        ("DELETE FROM record WHERE id = ?", Missing),
    ],
)
def test_an_edited_version_is_refused_and_the_others_are_served(
    bench: Bench, edit: str, refusal: type[IntegrityError]
) -> None:
    memory = three(bench)
    bench.sql(edit, bench.row_id(2))
    with pytest.raises(refusal) as refused:
        memory.load("B")
    assert refused.value.exit_code == 2
    assert refused.value.facts["key"] == "B"
    assert [memory.load(key).content for key in "AC"] == [b"a", b"c"]
    assert [memory.load(key).finding for key in "AC"] == [None, None]


def test_a_listing_names_what_fails_and_leaves_nothing_out(bench: Bench) -> None:
    memory = three(bench)
    bench.sql("UPDATE record SET content = x'00' WHERE id = ?", bench.row_id(2))
    bench.sql("DELETE FROM record WHERE id = ?", bench.row_id(3))
    listing = memory.list()
    assert [item.key for item in listing.items] == ["A"]
    assert [finding.facts["key"] for finding in listing.findings] == ["B", "C"]
    assert listing.total == 3


def test_an_older_genuine_version_in_the_place_of_the_newest_is_refused(bench: Bench) -> None:
    memory = three(bench)
    bench.sql(
        "UPDATE record SET (salt, body, content) = (SELECT salt, body, content FROM record WHERE id = ?) WHERE id = ?",
        bench.row_id(1), bench.row_id(2),
    )  # fmt: skip
    with pytest.raises(DigestMismatch):
        memory.load("B")


def test_a_genuine_version_of_another_key_or_agent_is_refused(bench: Bench) -> None:
    memory = three(bench)
    other = Bench(bench.root, "rudex")
    with other.memory() as foreign:
        foreign.save("B", b"rudex says")
    for donor in (bench.row_id(0), other.row_id(0)):
        bench.sql(
            "UPDATE record SET (salt, body, content) = (SELECT salt, body, content FROM record WHERE id = ?) WHERE id = ?",
            donor,
            bench.row_id(2),
        )
        with pytest.raises(DigestMismatch):
            memory.load("B")


def test_two_swapped_records_are_both_refused(bench: Bench) -> None:
    memory = three(bench)
    first, last, spare = bench.row_id(0), bench.row_id(3), 1 << 60
    for source, target in ((first, spare), (last, first), (spare, last)):
        bench.sql("UPDATE record SET id = ? WHERE id = ?", target, source)
    assert [finding.facts["key"] for finding in memory.list().findings] == ["A", "C"]
    for key in "AC":
        with pytest.raises(DigestMismatch):
            memory.load(key)


def test_the_log_cut_at_its_end_is_refused_whole(bench: Bench) -> None:
    three(bench).close()
    note = bench.sql("SELECT note FROM log")[0][0]
    memory = bench.memory()
    memory.save("D", b"d")
    bench.sql("DELETE FROM record WHERE id = ?", bench.row_id(4))
    bench.sql("DELETE FROM entry WHERE id = ?", bench.row_id(4))
    bench.sql("UPDATE log SET note = ?", note)
    with pytest.raises(RolledBack) as refused:
        memory.load("D")
    assert refused.value.facts == {"accepted": 5, "found": 4}
    with pytest.raises(RolledBack):
        memory.list()


def test_a_log_that_is_gone_is_refused(bench: Bench) -> None:
    memory = three(bench)
    bench.sql("UPDATE log SET agent = 'somebody'")
    for read in (lambda: memory.load("A"), memory.list, lambda: memory.history("A"), lambda: memory.save("E", b"e")):
        with pytest.raises(Missing):
            read()


def test_a_new_empty_store_in_the_place_of_a_known_one_is_refused(bench: Bench) -> None:
    three(bench)
    bench.close()
    bench.put_back("/nonexistent")
    memory = bench.memory(create=True)
    with pytest.raises(Missing, match="gone"):
        memory.load("A")
    with pytest.raises(Missing):
        memory.save("A", b"again")


@pytest.mark.parametrize("seq", [0, 1, 2, 3])
@pytest.mark.parametrize(
    "change",
    [
        lambda leaf: leaf[:-1] + bytes([leaf[-1] ^ 1]),
        lambda leaf: leaf.replace(b"2026", b"2025"),
        lambda _: b"short",
        lambda _: b"\xff" * 300,
    ],
)
def test_an_edited_entry_is_refused_by_a_new_reader_and_in_the_history(
    bench: Bench, seq: int, change: Callable[[bytes], bytes]
) -> None:
    memory = three(bench)
    bench.sql("UPDATE entry SET leaf = ? WHERE id = ?", change(bench.leaf(seq)), bench.row_id(seq))
    with pytest.raises((Forked, Malformed)):
        bench.memory("second").load("A")
    with pytest.raises(Malformed):
        memory.history("ABBC"[seq])


def test_what_is_said_about_a_memory_is_read_from_verified_bytes_only(bench: Bench) -> None:
    memory = three(bench)
    bench.sql("UPDATE op SET seq = 0")
    leaf = bench.leaf(2).replace(b"2026-11-30", b"1999-01-01")
    bench.sql("UPDATE entry SET leaf = ? WHERE id = ?", leaf, bench.row_id(2))
    assert {item.at for item in memory.list().items} == {"2026-11-30T00:00:00Z"}
    loaded = memory.load("B")
    assert loaded.sha256 == hashlib.sha256(b"b").hexdigest()
    assert loaded.latest.at == "2026-11-30T00:00:00Z"


def test_rows_that_no_head_covers_are_named_and_harm_nobody(bench: Bench) -> None:
    memory = three(bench)
    forged = entry_of(bench.leaf(3))._replace(seq=4, key="forged", op="forged", prev=None, prev_seq=None, version=1)
    bench.sql("INSERT INTO entry VALUES (?, ?)", bench.row_id(4), sign_entry(forged, signer_of(bench.origin, 666)))
    bench.sql("INSERT INTO record VALUES (?, zeroblob(32), x'7b7d', x'00')", bench.row_id(4))
    bench.sql("INSERT INTO record VALUES (?, zeroblob(32), x'7b7d', x'00')", bench.row_id(900))
    assert [memory.load(key).content for key in "ABC"] == [b"a", b"b", b"c"]
    listing = memory.list()
    assert [item.key for item in listing.items] == ["A", "B", "C"]
    assert [(type(finding), finding.facts["table"]) for finding in listing.findings] == [
        (StrayRows, "entries"),
        (StrayRows, "records"),
    ]


def test_a_save_over_stray_rows_is_refused_as_tampering_and_saves_nothing(bench: Bench) -> None:
    memory = three(bench)
    bench.sql("INSERT INTO entry VALUES (?, x'00')", bench.row_id(4))
    with pytest.raises(IntegrityError) as refused:
        memory.save("D", b"d")
    assert refused.value.exit_code == 2
    assert memory.load("C").content == b"c"


def test_one_bad_head_does_not_hide_everything(bench: Bench) -> None:
    memory = three(bench)
    note = bytes(bench.sql("SELECT note FROM log")[0][0])
    bench.sql("UPDATE log SET note = ?", note[:-20] + (b"A" if note[-20:-19] != b"A" else b"B") + note[-19:])
    for key, content in (("A", b"a"), ("B", b"b"), ("C", b"c")):
        loaded = memory.load(key)
        assert loaded.content == content
        assert isinstance(loaded.finding, IntegrityError)
    for refuse in (
        memory.list,
        lambda: memory.verify("A"),
        lambda: memory.save("A", b"x"),
        lambda: memory.history("A"),
        lambda: memory.load("A", 1),
        memory.checkpoint,
    ):
        with pytest.raises(IntegrityError):
            refuse()


def test_behind_a_bad_head_an_edited_memory_is_still_refused(bench: Bench) -> None:
    memory = three(bench)
    bench.sql("UPDATE log SET note = x'00'")
    bench.sql("UPDATE record SET content = x'00' WHERE id = ?", bench.row_id(2))
    with pytest.raises(IntegrityError):
        memory.load("B")
    assert memory.load("A").content == b"a"


def test_a_reader_without_a_pin_gets_nothing_from_behind_a_bad_head(bench: Bench) -> None:
    three(bench)
    bench.sql("UPDATE log SET note = x'00'")
    with pytest.raises(Malformed):
        bench.memory("second").load("A")


def test_a_whole_forged_store_is_refused_by_everybody_who_knows_the_key(bench: Bench) -> None:
    memory = three(bench)
    thief = signer_of(bench.origin, 666)
    forged = [sign_entry(entry_of(leaf), thief) for leaf in bench.leaves()]
    bench.forge(forged, thief)
    for reader in (memory, bench.memory("second")):
        with pytest.raises((BadSignature, Forked)):
            reader.list()


def test_another_log_of_the_same_agent_with_a_new_beginning_is_refused_at_a_known_place(
    bench: Bench, tmp_path_factory: pytest.TempPathFactory
) -> None:
    three(bench)
    elsewhere = Bench(str(tmp_path_factory.mktemp("elsewhere")))
    with elsewhere.memory(create=True) as genuine:
        for number in range(9):
            genuine.save(f"key {number}", b"genuine too")
    bench.put_back(elsewhere.snapshot())
    memory = bench.memory()
    for read in (lambda: memory.load("key 1"), memory.list, lambda: memory.save("A", b"a2")):
        with pytest.raises((Forked, RolledBack)):
            read()


@pytest.mark.parametrize("restored", ["before-last", "first"])
def test_an_older_complete_copy_is_refused_in_each_of_its_memories_that_changed_since(
    bench: Bench, restored: str
) -> None:
    with bench.memory(create=True) as memory:
        memory.save("A", b"a")
    copies = {"first": bench.snapshot("1")}
    with bench.memory() as memory:
        memory.save("B", b"b")
        memory.save("B", b"b2")
    copies["before-last"] = bench.snapshot("2")
    with bench.memory() as memory:
        memory.save("B", b"b3")
    bench.put_back(copies[restored])
    memory = bench.memory()
    with pytest.raises(RolledBack):
        memory.load("B")
    with pytest.raises(RolledBack):
        memory.list()
    kept = memory.load("A")
    assert (kept.content, type(kept.finding)) == (b"a", RolledBack)


@pytest.mark.parametrize("value", ["NULL", "1", "1.5", "'text'", "x''"])
@pytest.mark.parametrize(
    ("table", "column"),
    [("log", "note"), ("entry", "leaf"), ("record", "salt"), ("record", "body"), ("record", "content")],
)
def test_a_column_of_another_type_is_refused_not_stumbled_over(
    bench: Bench, table: str, column: str, value: str
) -> None:
    three(bench)
    bench.memory("second").load("A")
    bench.close()
    bench.loosen(table)
    bench.sql(f"UPDATE {table} SET {column} = {value}")
    reads: list[Callable[[Memory], object]] = [
        lambda memory: memory.load("B"), lambda memory: memory.load("B", 1), lambda memory: memory.verify("B"),
        lambda memory: memory.history("B"), lambda memory: memory.proof("B"), lambda memory: memory.save("D", b"d"),
    ]  # fmt: skip
    for reader in ("first", "second", "third"):
        for read in reads:
            with bench.memory(reader) as memory:
                try:
                    given = read(memory)
                except (IntegrityError, PinLost):
                    continue
                except NotFoundError:
                    # A head that says nothing is no log, for a reader who never saw one.
                    assert (table, value, reader) == ("log", "NULL", "third")
                    continue
            # What is served does not stand on the column that was replaced.
            if isinstance(given, Loaded):
                assert table != "record"
                assert reader != "third"
                assert given.content in {b"b", b"old b"}


@pytest.mark.parametrize("table", ["log", "entry", "record", "op", "tile"])
def test_a_table_that_was_dropped_leads_to_a_refusal_and_never_to_an_empty_memory(bench: Bench, table: str) -> None:
    three(bench).close()
    bench.sql(f"DROP TABLE {table}")
    with bench.memory() as memory:
        with or_refused(1, 2):
            assert memory.load("B").content == b"b"
        with or_refused(1, 2):
            assert [item.key for item in memory.list().items] == ["A", "B", "C"]


@pytest.mark.parametrize(
    "trigger",
    [
        "AFTER INSERT ON record BEGIN UPDATE record SET content = x'65' WHERE id = new.id; END",
        "BEFORE INSERT ON record BEGIN SELECT RAISE(IGNORE); END",
        "BEFORE DELETE ON record BEGIN SELECT RAISE(IGNORE); END",
        "BEFORE UPDATE ON log BEGIN SELECT RAISE(IGNORE); END",
        "AFTER INSERT ON entry BEGIN DELETE FROM entry WHERE id = new.id; END",
    ],
)
def test_a_trigger_put_into_the_store_does_not_run(bench: Bench, trigger: str) -> None:
    three(bench).close()
    bench.sql(f"CREATE TRIGGER evil {trigger}")
    with bench.memory() as memory:
        memory.save("D", b"d")
        assert memory.verify("D").loaded.content == b"d"
        memory.erase("B", reason="asked for")
        assert memory.load("A").content == b"a"
    assert bench.sql("SELECT count(*) FROM record WHERE content = x'62'") == [(0,)]


def test_a_head_of_another_agent_is_refused(bench: Bench) -> None:
    memory = three(bench)
    other = Bench(bench.root, "rudex")
    with other.memory() as foreign:
        for number in range(9):
            foreign.save(f"{number}", b"x")
    bench.sql("UPDATE log SET note = (SELECT note FROM log WHERE agent = 'rudex') WHERE agent = 'eros'")
    with pytest.raises(Forked):
        memory.list()
