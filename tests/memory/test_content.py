"""Content is bytes: what is saved comes back byte for byte, and nothing near it passes for it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support import bench_at

from indelible.errors import DigestMismatch, DisciplineError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support import Bench

    from indelible.memory import Memory

FIXTURES = (
    "int_crlf.md", "int_lf.md", "int_nonl.md", "int_two_nl.md", "int_nfc.md", "int_nfd.md", "int_empty.md", "int_separators.md", "int_loneCR.md",
)  # fmt: skip


@pytest.mark.parametrize("name", FIXTURES)
def test_odd_bytes_come_back_as_they_were_saved(
    bench: Bench, memory: Memory, case: Callable[[str], bytes], name: str
) -> None:
    """O-INT-01, 02, 04, 05 a, 06: CRLF, final newlines, both forms of Hangul, nothing at all, odd separators."""
    content = case(name)
    saved = memory.save(name, content)
    memory.close()
    loaded = bench.memory().verify(name, content)
    assert loaded.loaded.content == content
    assert loaded.local == "same"
    assert {saved.sha256, loaded.loaded.sha256, loaded.local_sha256} == {hashlib.sha256(content).hexdigest()}
    assert bench.memory("fresh").load(name).content == content


def test_final_newlines_tell_three_memories_apart(bench: Bench, memory: Memory, case: Callable[[str], bytes]) -> None:
    """O-INT-02: trailing newline trimmed or added on the way through."""
    names = ("int_nonl.md", "int_lf.md", "int_two_nl.md")
    assert len({memory.save(name, case(name)).sha256 for name in names}) == 3
    for seq, name in enumerate(names):
        bench.sql("UPDATE record SET content = ? WHERE id = ?", case(names[seq - 1]), bench.row_id(seq))
        with pytest.raises(DigestMismatch):
            memory.verify(name)


def test_decomposed_hangul_in_the_place_of_composed_is_refused(
    bench: Bench, memory: Memory, case: Callable[[str], bytes]
) -> None:
    """O-INT-04: Korean text in composed and decomposed form."""
    assert memory.save("A", case("int_nfc.md")).sha256 != memory.save("B", case("int_nfd.md")).sha256
    bench.sql("UPDATE record SET content = ? WHERE id = ?", case("int_nfd.md"), bench.row_id(0))
    with pytest.raises(DigestMismatch):
        memory.load("A")
    assert memory.load("B").content == case("int_nfd.md")


@pytest.mark.parametrize(
    ("local", "verdict"),
    [
        (b"one\ntwo\n", "same"),
        (b"one\r\ntwo\r\n", "line-endings"),
        (b"one\rtwo\r", "line-endings"),
        (b"one\ntwo", "different"),
        (b"one\n\ntwo\n", "different"),
        (b"", "different"),
    ],
)
def test_a_local_copy_is_compared_and_line_endings_are_told_from_edits(
    memory: Memory, local: bytes, verdict: str
) -> None:
    """O-INT-03: a checkout rewrites line endings after a correct save."""
    memory.save("MEMORY.md", b"one\ntwo\n")
    assert memory.verify("MEMORY.md", local).local == verdict


def test_nothing_is_a_content_like_any_other(memory: Memory) -> None:
    """O-INT-05 a: test for None, not for falsiness."""
    saved = memory.save("empty", b"")
    assert saved.sha256 == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    loaded = memory.load("empty")
    assert (loaded.content, loaded.version, loaded.checksum_ok) == (b"", 1, True)
    assert memory.save("empty", b"").version == 2
    assert memory.save("empty", b"now full").version == 3


def test_nothing_over_something_needs_to_be_said(memory: Memory) -> None:
    """O-INT-05 b: an empty file replaces a good memory without a word."""
    memory.save("MEMORY.md", b"x" * 2048)
    for how in ("saved", "forced", "imported"):
        with pytest.raises(DisciplineError, match="allow-empty") as refused:
            memory.save("MEMORY.md", b"", how=how)
        assert refused.value.exit_code == 6
    assert memory.load("MEMORY.md").content == b"x" * 2048
    assert len(memory.history("MEMORY.md")) == 1
    assert memory.save("MEMORY.md", b"", allow_empty=True).version == 2
    assert memory.load("MEMORY.md").content == b""
    assert memory.load("MEMORY.md", 1).content == b"x" * 2048


def test_nothing_over_an_archived_something_needs_to_be_said_too(memory: Memory) -> None:
    memory.save("k", b"something")
    memory.archive("k")
    with pytest.raises(DisciplineError):
        memory.save("k", b"")


@pytest.mark.parametrize("size", [1, 500, 4096, 100_000, 5_000_000])
def test_content_of_any_size_comes_back(memory: Memory, size: int) -> None:
    content = hashlib.shake_256(b"seed").digest(size)
    memory.save("k", content)
    assert memory.load("k").content == content
    assert memory.list().items[0].size == size


@given(content=st.binary(max_size=300), key=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40))
def test_whatever_is_saved_is_loaded(tmp_path_factory: pytest.TempPathFactory, content: bytes, key: str) -> None:
    bench = bench_at(tmp_path_factory.mktemp("bench"))
    with bench.memory(create=True) as memory:
        assert memory.save(key, content).sha256 == hashlib.sha256(content).hexdigest()
    with bench.memory() as memory:
        loaded = memory.load(key)
        assert (loaded.key, loaded.content, loaded.record.key) == (key, content, key)
        assert [item.key for item in memory.list().items] == [key]


@pytest.mark.parametrize("content", ["text", None, 3, memoryview(b"x")])
def test_what_is_not_bytes_is_not_saved(bench: Bench, memory: Memory, content: object) -> None:
    with pytest.raises((UsageError, TypeError)):
        memory.save("k", content)  # type: ignore[arg-type]
    assert bench.sql("SELECT count(*) FROM entry") == [(0,)]
