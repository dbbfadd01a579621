"""Keys are data: any text of 1 to 512 bytes, exact match only, and never a path."""

from __future__ import annotations

import os
import unicodedata
from typing import TYPE_CHECKING

import pytest
from tests.support import Bench

from indelible.entry import KEY_LIMIT, origin_of
from indelible.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from indelible.memory import Memory

ODD = (
    " ", "\t", "\n", "a\nb", "a\r\nb", "\0", "a\0b", "\x1b[31m", "\x7f", "\u0085", "\u2028", "\ufeff", "\ufffe", "\U0010ffff", "😀", "👨‍👩‍👧", "메모",
    "'", '"', "';--", "%", "%00", "*", "?", "[a]", "NULL", "None", "0", "-1", "--help", "a/", "/", "\\", "C:\\x", "CON", "~", "$HOME", "{}", "<a>", "&amp;",
    "e\u0301", "\u00e9", "I", "\u0131", "ß", "SS", "K", "\u212a", "\u1100\u1161", "가", "k" * 512,
)  # fmt: skip


def files(bench: Bench) -> set[str]:
    found = set()
    for folder, folders, names in os.walk(bench.root):
        found |= {os.path.join(folder, name) for name in (*folders, *names)}
    return found


def save_all(memory: Memory, keys: list[str]) -> None:
    for number, key in enumerate(keys):
        memory.save(key, b"content %d" % number)


def check_all(memory: Memory, keys: list[str]) -> None:
    for number, key in enumerate(keys):
        assert memory.load(key).content == b"content %d" % number
        assert len(memory.history(key)) == 1
    listing = memory.list()
    assert listing.findings == ()
    assert [item.key for item in listing.items] == sorted(keys)


def test_keys_that_an_address_would_cut_are_kept_apart(
    bench: Bench, memory: Memory, odd_keys: dict[str, list[str]]
) -> None:
    """O-KEY-01: key with & # ? + % or space is cut in the query string."""
    save_all(memory, odd_keys["query"])
    memory.close()
    check_all(bench.memory(), odd_keys["query"])
    with pytest.raises(NotFoundError):
        Bench(bench.root, "other").memory().load("a")


def test_keys_that_look_like_paths_are_names_and_reach_no_file(
    bench: Bench, memory: Memory, odd_keys: dict[str, list[str]]
) -> None:
    """O-KEY-02: key that walks out of the store folder."""
    memory.save("k", b"v")
    before = files(bench)
    keys = [key for key in odd_keys["escape"] if key]
    with pytest.raises(NotFoundError):
        memory.load("/etc/hostname")
    save_all(memory, keys)
    assert files(bench) == before
    memory.erase("k")
    check_all(memory, keys)
    for key in keys:
        memory.erase(key)
        with pytest.raises(NotFoundError):
            memory.load(key)
    assert files(bench) == before


def test_an_empty_key_is_refused_everywhere(memory: Memory) -> None:
    for use in (
        lambda: memory.save("", b"x"),
        lambda: memory.load(""),
        lambda: memory.history(""),
        lambda: memory.archive(""),
        lambda: memory.erase(""),
    ):
        with pytest.raises(UsageError, match="empty"):
            use()


def test_long_keys_work_up_to_the_limit_and_are_refused_with_it(bench: Bench, memory: Memory) -> None:
    """O-KEY-03: name longer than the file system allows."""
    keys = ["k" * 200, "k" * 255, "k" * 256, "k" * 512, "k" * 511 + "l", "가" * 86, "가" * 170]
    save_all(memory, keys)
    check_all(memory, keys)
    for key in ("k" * 513, "k" * 1000, "가" * 171, "가" * 300):
        with pytest.raises(UsageError, match=f"limit is {KEY_LIMIT}"):
            memory.save(key, b"x")
        with pytest.raises(UsageError, match=f"limit is {KEY_LIMIT}"):
            memory.load(key)
    assert len(bench.leaves()) == len(keys)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Notes", "notes"), ("메모", unicodedata.normalize("NFD", "메모")), ("straße", "strasse"), ("a", "a ")],
)
def test_keys_that_a_disk_would_merge_are_kept_apart(memory: Memory, one: str, other: str) -> None:
    """O-KEY-04: two keys that differ only in case or normal form."""
    memory.save(one, b"one")
    with pytest.raises(NotFoundError):
        memory.load(other)
    memory.save(other, b"other")
    assert (memory.load(one).content, memory.load(other).content) == (b"one", b"other")
    assert (memory.load(one).version, memory.load(other).version) == (1, 1)


def test_keys_that_only_look_like_the_trusted_one_are_never_it(memory: Memory, odd_keys: dict[str, list[str]]) -> None:
    """O-KEY-05: invisible characters make two keys look the same."""
    memory.save("MEMORY.md", b"trusted")
    for key in odd_keys["lookalike"]:
        with pytest.raises(NotFoundError):
            memory.load(key)
        memory.save(key, b"impostor")
    assert memory.load("MEMORY.md").content == b"trusted"
    assert len(memory.list(prefix="MEMORY.md").items) == 1 + sum(
        key.startswith("MEMORY.md") for key in odd_keys["lookalike"]
    )


def test_every_odd_character_is_a_key_like_any_other(bench: Bench, memory: Memory) -> None:
    keys = list(ODD)
    save_all(memory, keys)
    memory.close()
    check_all(bench.memory(), keys)
    check_all(bench.memory("fresh"), keys)
    for key in keys:
        assert [item.key for item in bench.memory().list(prefix=key).items] == sorted(
            other for other in keys if other.startswith(key)
        )


@pytest.mark.parametrize("key", ["\ud800", "a\udfffb"])
def test_half_a_surrogate_pair_is_refused(memory: Memory, key: str) -> None:
    for use in (lambda: memory.save(key, b"x"), lambda: memory.load(key), lambda: memory.save("k", b"x", op=key)):
        with pytest.raises(UsageError, match="surrogate"):
            use()


def test_pages_of_a_listing_meet_without_gap_or_overlap(memory: Memory) -> None:
    keys = [f"{prefix}{number}" for prefix in ("a", "b", "가", "😀") for number in range(25)]
    save_all(memory, keys)
    seen: list[str] = []
    after = ""
    while True:
        page = memory.list(after=after, limit=7)
        assert page.total == 100
        seen += [item.key for item in page.items]
        if page.next is None:
            break
        after = page.next
    assert seen == sorted(keys)
    assert [item.key for item in memory.list(prefix="가1").items] == sorted(
        key for key in keys if key.startswith("가1")
    )
    assert memory.list(prefix="a", limit=5).total == 25
    assert memory.list(prefix="nothing").items == ()


def test_an_altered_memory_stops_no_paging(bench: Bench, memory: Memory) -> None:
    save_all(memory, [f"k{number}" for number in range(9)])
    bench.sql("UPDATE record SET content = x'00'")
    after, found, pages = "", 0, 0
    while True:
        page = memory.list(after=after, limit=2)
        found += len(page.findings)
        pages += 1
        assert page.items == ()
        if page.next is None:
            break
        after = page.next
    assert (found, pages) == (9, 5)


@pytest.mark.parametrize("agent", ["eros", "claude-code@laptop", "a/b", "../up", "에로스", "a b", "%", "+", "x" * 200])
def test_an_agent_of_any_name_has_a_log_of_its_own(bench: Bench, memory: Memory, agent: str) -> None:
    memory.save("k", b"of eros")
    other = Bench(bench.root, agent)
    with other.memory("theirs") as theirs:
        if agent == "eros":
            assert theirs.load("k").content == b"of eros"
            return
        with pytest.raises(NotFoundError):
            theirs.load("k")
        theirs.save("k", agent.encode())
        assert theirs.load("k").content == agent.encode()
    assert memory.load("k").content == b"of eros"
    assert origin_of("local", agent) != origin_of("local", "eros")
