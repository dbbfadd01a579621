"""What is erased is in no byte of the store's files: however it was stored, moved, split and joined before."""

from __future__ import annotations

import random
from contextlib import closing
from typing import TYPE_CHECKING

import apsw
import pytest
from tests.support import SIDES, Bench

from indelible.errors import DiskFull

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(str(tmp_path))


def raw(bench: Bench) -> bytes:
    """Every byte of the store's files."""
    found = b""
    for side in SIDES:
        try:
            with open(bench.path + side, "rb") as file:
                found += file.read()
        except FileNotFoundError:
            continue
    return found


def pieces_left(content: bytes, data: bytes) -> int:
    return sum(content[at : at + 24] in data for at in range(0, len(content) - 23, 16))


def salts(bench: Bench, key: str) -> list[bytes]:
    memory = bench.memory()
    return [memory.fetch(key, one.version).salt for one in memory.history(key) if one.type == "saved"]


@pytest.mark.parametrize("size", [0, 1, 20, 300, 4000, 4096, 9000, 100_000])
def test_content_of_any_size_leaves_no_byte(bench: Bench, size: int) -> None:
    content = random.Random(size).randbytes(size)
    memory = bench.memory(create=True)
    memory.save("k", content, allow_empty=True)
    memory.save("other", b"stays")
    (salt,) = salts(bench, "k")
    assert memory.erase("k").warnings == ()
    data = raw(bench)
    assert salt not in data
    assert pieces_left(content, data) == 0
    assert memory.load("other").content == b"stays"


def test_fifty_versions_leave_no_byte(bench: Bench) -> None:
    memory = bench.memory(create=True)
    source = random.Random(50)
    contents = [source.randbytes(source.choice([40, 500, 5000, 20_000])) for _ in range(50)]
    for content in contents:
        memory.save("k", content)
        memory.save("neighbour", content[::-1])
    every = salts(bench, "k")
    assert len(every) == 50
    memory.erase("k")
    data = raw(bench)
    assert not any(salt in data for salt in every)
    assert sum(pieces_left(content, data) for content in contents) == 0


def test_rows_that_were_moved_between_pages_leave_no_copy(bench: Bench, tmp_path: Path) -> None:
    """Logs that grow side by side split one another's pages, and SQLite leaves what it moved where it was."""
    source = random.Random(1)
    benches = [Bench(str(tmp_path), agent=name) for name in ("eros", "rudex", "third")]
    memories = [one.memory(create=not number) for number, one in enumerate(benches)]
    saved = []
    for number in range(600):
        which = source.randrange(3)
        content = source.randbytes(source.choice([50, 300, 600, 900]))
        memories[which].save(f"k{number}", content)
        saved.append((which, f"k{number}", content))
    gone = source.sample(saved, 120)
    every = [memories[which].load(key).salt for which, key, _ in gone]
    for which, key, _ in gone:
        assert memories[which].erase(key).warnings == ()
    data = raw(bench)
    assert [
        key for (_, key, content), salt in zip(gone, every, strict=True) if salt in data or pieces_left(content, data)
    ] == []
    for which, key, content in saved:
        if (which, key, content) not in gone:
            assert memories[which].load(key).content == content


def test_a_copy_that_another_process_left_goes_with_the_next_purge(bench: Bench) -> None:
    memory = bench.memory(create=True)
    memory.save("k", b"the quick brown fox, and nothing but it " * 4)
    with closing(apsw.Connection(bench.path)) as other:
        other.execute("PRAGMA secure_delete=OFF")
        other.execute("DELETE FROM record")
    assert b"quick brown fox" in raw(bench)
    assert memory.purge() == ""
    assert b"quick brown fox" not in raw(bench)


def test_a_reader_of_long_standing_is_said_and_what_it_held_goes_once_it_has_ended(bench: Bench) -> None:
    content = b"only for a while, and then never again: a secret\n"
    memory = bench.memory(create=True, busy_ms=50)
    memory.save("k", content)
    with closing(apsw.Connection(bench.path)) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM record").fetchall()
        erased = memory.erase("k")
        assert len(erased.warnings) == 1
        assert content in raw(bench)
    assert memory.purge() == ""
    assert content not in raw(bench)


def test_a_disk_without_room_to_write_the_file_anew_is_a_warning_and_no_failed_erasure(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = bench.memory(create=True)
    memory.save("k", b"x")

    def full(**_: object) -> None:
        raise DiskFull("no room")

    monkeypatch.setattr(memory.store, "settle", full)
    assert "no room" in memory.erase("k").warnings[0]
    assert memory.history("k")[0].type == "erased"


def test_a_store_with_one_writer_is_not_written_anew_for_each_erasure(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = bench.memory(create=True)
    for number in range(300):
        memory.save(f"k{number}", f"content number {number}, as long as it is".encode() * 9)
    memory.erase("k0")
    seen: list[str] = []
    store = memory.store
    real: Callable[[str], None] = store._checkpoint  # type: ignore[attr-defined]

    def checkpoint(mode: str) -> None:
        seen.append(mode)
        real(mode)

    monkeypatch.setattr(store, "_checkpoint", checkpoint)
    for number in range(100, 110):
        memory.erase(f"k{number}")
    assert seen == ["TRUNCATE"] * 10
