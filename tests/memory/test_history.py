"""What is kept of a memory: its versions, its states, what was erased, and that each word of it is verified."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.support import SIDES, or_refused

from indelible.errors import DigestMismatch, HeldError, IntegrityError, Malformed, Missing, NotFoundError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support import Bench

    from indelible.memory import Memory
    from indelible.record import Record


def test_every_version_is_kept_and_says_how_it_came_to_be(memory: Memory) -> None:
    memory.save("k", b"one")
    memory.save("k", b"two", how="imported", reason="from a file")
    memory.restore("k", 1)
    memory.archive("k", reason="done")
    memory.unarchive("k")
    told = [(version.type, version.version, version.how, version.reason) for version in memory.history("k")]
    assert told == [
        ("unarchived", 3, "", None),
        ("archived", 3, "", "done"),
        ("saved", 3, "restored", "version 1"),
        ("saved", 2, "imported", "from a file"),
        ("saved", 1, "saved", None),
    ]
    assert [memory.load("k", version).content for version in (1, 2, 3)] == [b"one", b"two", b"one"]
    assert memory.load("k", 1).record.revision == 1
    assert memory.load("k", 1).latest.version == 3


def test_a_version_that_never_was_is_not_found(memory: Memory) -> None:
    memory.save("k", b"one")
    for version in (0, 2, -1, 10**9):
        with pytest.raises(NotFoundError, match="no version"):
            memory.load("k", version)
    with pytest.raises(NotFoundError):
        memory.history("other")
    with pytest.raises(NotFoundError):
        memory.load("other", 1)
    with pytest.raises(NotFoundError):
        memory.restore("k", 7)


def test_an_altered_older_version_is_refused_and_the_newest_is_served(bench: Bench, memory: Memory) -> None:
    for content in (b"one", b"two", b"three"):
        memory.save("k", content)
    bench.sql("UPDATE record SET content = x'00' WHERE id = ?", bench.row_id(0))
    bench.sql("DELETE FROM record WHERE id = ?", bench.row_id(1))
    with pytest.raises(DigestMismatch):
        memory.load("k", 1)
    with pytest.raises(DigestMismatch):
        memory.restore("k", 1)
    with pytest.raises(Missing):
        memory.load("k", 2)
    assert memory.load("k").content == b"three"
    assert memory.load("k", 3).content == b"three"


DAMAGE = {
    "altered": "UPDATE record SET content = x'00' WHERE id = ?",
    "gone": "DELETE FROM record WHERE id = ?",
    "of another type": "UPDATE record SET content = 'text' WHERE id = ?",
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("how", ["restore", "forced", "the same bytes"])
def test_a_damaged_present_version_is_mended_by_a_restore_or_a_forced_save(
    bench: Bench, memory: Memory, damage: str, how: str
) -> None:
    memory.save("k", b"one")
    memory.save("k", b"two")
    memory.close()
    row = bench.row_id(1)
    bench.loosen("record")
    bench.sql(DAMAGE[damage], row)
    memory = bench.memory()
    with pytest.raises(IntegrityError):
        memory.save("k", b"three")
    with pytest.raises(IntegrityError):
        memory.load("k")
    if how == "restore":
        memory.restore("k", 1)
    else:
        memory.save("k", b"two", how="forced" if how == "forced" else "restored")
    assert memory.load("k").content == (b"one" if how == "restore" else b"two")
    assert memory.load("k").version == 3
    assert memory.load("k", 1).content == b"one"
    with or_refused(2):
        assert memory.load("k", 2).content == b"two"
    assert bench.memory("fresh").list().findings == ()


@pytest.mark.parametrize("seq", [0, 1, 2])
def test_an_altered_entry_breaks_the_history_where_it_stands(bench: Bench, memory: Memory, seq: int) -> None:
    for content in (b"one", b"two", b"three"):
        memory.save("k", content)
    bench.sql("UPDATE entry SET leaf = ? WHERE id = ?", bench.leaf(seq).replace(b"saved", b"SAVED"), bench.row_id(seq))
    with pytest.raises(Malformed) as refused:
        memory.history("k")
    assert refused.value.facts["seq"] == seq
    bench.sql("DELETE FROM entry WHERE id = ?", bench.row_id(seq))
    with pytest.raises(Missing):
        memory.history("k")


def test_what_is_archived_is_held_kept_and_brought_back(memory: Memory) -> None:
    memory.save("k", b"v")
    memory.archive("k", reason="done")
    with pytest.raises(HeldError, match="archived") as held:
        memory.load("k")
    assert held.value.exit_code == 4
    assert memory.fetch("k").content == b"v"
    assert memory.verify("k").loaded.content == b"v"
    assert memory.list().items == ()
    assert [item.state for item in memory.list(states=frozenset({"archived"})).items] == ["archived"]
    memory.unarchive("k")
    assert memory.load("k").content == b"v"
    memory.archive("k")
    memory.save("k", b"saved again")
    assert memory.load("k").content == b"saved again"


def test_nothing_can_be_said_about_what_is_not_there(memory: Memory) -> None:
    for use in (memory.archive, memory.unarchive, memory.erase):
        with pytest.raises(NotFoundError):
            use("nothing")


def expiring(memory: Memory, key: str, at: str, content: bytes = b"v") -> None:
    def record(earlier: Record | None) -> Record:
        from indelible.record import draft

        made = draft(key, content, agent="eros", author="agent:eros", now="2026-11-30T00:00:00Z", random=bytes(10))
        return replace(made, validity=replace(made.validity, expires_at=at))

    memory.save(key, content, record=record)


@pytest.mark.parametrize(
    ("at", "held"),
    [
        ("2026-11-29T23:59:59Z", True),
        ("2026-11-30T00:00:00Z", True),
        ("2026-11-30T00:00:01Z", False),
        ("9999-12-31T23:59:59Z", False),
    ],
)
def test_an_expired_memory_is_held_with_its_date(memory: Memory, at: str, held: bool) -> None:
    expiring(memory, "k", at)
    assert memory.verify("k").loaded.content == b"v"
    if not held:
        assert memory.load("k").content == b"v"
        return
    with pytest.raises(HeldError, match=at):
        memory.load("k")
    assert memory.fetch("k").content == b"v"


def test_a_memory_saved_anew_after_its_expiry_is_not_born_expired(memory: Memory) -> None:
    expiring(memory, "k", "2026-11-29T00:00:00Z")
    memory.save("k", b"new")
    assert memory.load("k").content == b"new"
    assert memory.load("k").record.validity.expires_at is None


def test_order_is_that_of_the_log_whatever_the_clock_says(bench: Bench) -> None:
    times = iter(
        ["2026-11-30T00:00:00Z", "2001-01-01T00:00:00Z", "2099-01-01T00:00:00Z"] + ["2026-11-30T00:00:00Z"] * 50
    )
    bench.clock = lambda: next(times)
    memory = bench.memory(create=True)
    for content in (b"one", b"two", b"three", b"four"):
        memory.save("k", content)
    assert [version.version for version in memory.history("k")] == [4, 3, 2, 1]
    assert memory.load("k").content == b"four"
    assert bench.memory("fresh").list().findings == ()


# Erasure.


def bytes_on_disk(bench: Bench) -> bytes:
    data = b""
    for side in SIDES[:2]:
        if os.path.exists(bench.path + side):
            with open(bench.path + side, "rb") as file:
                data += file.read()
    return data


def test_what_is_erased_is_gone_from_the_files_and_its_proofs_stand(bench: Bench, memory: Memory) -> None:
    memory.save("other", b"stays")
    secret = b"the secret that was never meant to be kept "
    memory.save("k", secret * 200)
    memory.save("k", secret + b"again")
    leaf, _ = memory.proof("k")
    assert secret in bytes_on_disk(bench)
    memory.erase("k", reason="asked for")
    assert secret not in bytes_on_disk(bench)
    for use in (
        lambda: memory.load("k"),
        lambda: memory.load("k", 1),
        lambda: memory.fetch("k", 2),
        lambda: memory.verify("k"),
    ):
        with pytest.raises(NotFoundError, match="erased"):
            use()
    assert [(version.type, version.reason) for version in memory.history("k")] == [
        ("erased", "asked for"),
        ("saved", None),
        ("saved", None),
    ]
    assert bench.leaf(2) == leaf
    listing = memory.list(states=frozenset({"active", "erased"}))
    assert listing.findings == ()
    assert [(item.key, item.state, item.size) for item in listing.items] == [("k", "erased", 0), ("other", "active", 5)]
    assert bench.memory("fresh").list().findings == ()
    bench.close()
    assert secret not in bytes_on_disk(bench)


def test_the_salt_and_the_record_go_with_the_content(bench: Bench, memory: Memory) -> None:
    memory.save("k", b"yes")
    (salt, body) = bench.sql("SELECT salt, body FROM record")[0]
    memory.erase("k")
    assert bench.sql("SELECT count(*) FROM record") == [(0,)]
    assert bytes(salt) not in bytes_on_disk(bench)
    assert bytes(body) not in bytes_on_disk(bench)


def test_what_was_erased_can_be_saved_anew_but_not_restored(memory: Memory) -> None:
    memory.save("k", b"one")
    memory.erase("k")
    with pytest.raises(NotFoundError):
        memory.restore("k", 1)
    with pytest.raises(NotFoundError):
        memory.erase("k")
    assert memory.save("k", b"two").version == 2
    assert memory.load("k").content == b"two"
    with pytest.raises(NotFoundError):
        memory.load("k", 1)


def test_erased_content_that_somebody_puts_back_is_not_served(bench: Bench, memory: Memory) -> None:
    memory.save("k", b"one")
    row = bench.sql("SELECT * FROM record")[0]
    memory.erase("k")
    bench.sql("INSERT INTO record VALUES (?, ?, ?, ?)", *row)
    with pytest.raises(NotFoundError, match="erased"):
        memory.load("k")
    with pytest.raises(NotFoundError):
        memory.load("k", 1)


# What is known about it.


def test_what_is_known_about_a_memory_goes_on_to_the_next_version(memory: Memory) -> None:
    expiring(memory, "k", "2030-01-01T00:00:00Z")
    first = memory.load("k").record
    memory.save("k", b"two")
    second = memory.load("k").record
    assert (second.id, second.revision, second.validity) == (first.id, 2, first.validity)
    assert second.size is not None
    assert second.size.bytes == 3


def test_a_record_cannot_choose_its_version_or_key(memory: Memory) -> None:
    def wrong(_: Record | None) -> Record:
        from indelible.record import draft

        made: Any = draft(
            "another", b"v", agent="eros", author="agent:eros", now="2026-11-30T00:00:00Z", random=bytes(10)
        )
        return replace(made, revision=77)  # type: ignore[no-any-return]

    memory.save("k", b"v", record=wrong)
    loaded = memory.load("k")
    assert (loaded.record.key, loaded.record.revision, loaded.version) == ("k", 1, 1)


def test_a_record_that_cannot_be_made_saves_nothing(bench: Bench, memory: Memory) -> None:
    def broken(_: Record | None) -> Record:
        raise RuntimeError("as if a caller had a bug")

    with pytest.raises(RuntimeError):
        memory.save("k", b"v", record=broken)
    assert bench.sql("SELECT count(*) FROM entry") == [(0,)]
    assert memory.save("k", b"v").version == 1


def test_an_altered_version_is_not_built_upon(bench: Bench, memory: Memory) -> None:
    memory.save("k", b"one")
    bench.sql("UPDATE record SET content = x'00'")
    with pytest.raises(DigestMismatch):
        memory.save("k", b"two")
    assert len(bench.leaves()) == 1


@pytest.mark.parametrize(
    "use",
    [
        lambda m: m.load("k"),
        lambda m: m.list(),
        lambda m: m.history("k"),
        lambda m: m.verify("k"),
        lambda m: m.checkpoint(),
        lambda m: m.proof("k"),
    ],
)
def test_a_store_with_nothing_in_it_is_empty_and_not_broken(
    bench: Bench, memory: Memory, use: Callable[[Memory], Any]
) -> None:
    with or_refused(3):
        assert use(memory).items == ()
