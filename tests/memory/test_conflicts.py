"""Two who write one memory: the second is told, and nothing is lost silently."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from indelible.errors import ConflictError, NotFoundError

if TYPE_CHECKING:
    from tests.support import Bench

    from indelible.memory import Memory


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def sessions(bench: Bench, memory: Memory) -> tuple[Memory, Memory]:
    """Two sessions of one agent, with one pin."""
    memory.save("MEMORY.md", b"v1\n")
    return memory, bench.memory()


def test_the_later_of_two_edits_of_one_version_is_a_conflict_that_shows_both_digests(
    sessions: tuple[Memory, Memory],
) -> None:
    """O-STO-02: two sessions, one MEMORY.md, last writer wins."""
    one, two = sessions
    base = one.load("MEMORY.md").sha256
    assert two.load("MEMORY.md").sha256 == base
    one.save("MEMORY.md", b"v1\nline A\n", based_on=base)
    with pytest.raises(ConflictError) as conflict:
        two.save("MEMORY.md", b"v1\nline B\n", based_on=base)
    assert conflict.value.exit_code == 5
    assert base in str(conflict.value)
    assert digest(b"v1\nline A\n") in str(conflict.value)
    assert two.load("MEMORY.md").content == b"v1\nline A\n"
    two.save("MEMORY.md", b"v1\nline A\nline B\n", based_on="sha256:" + digest(b"v1\nline A\n"))
    assert [version.version for version in one.history("MEMORY.md")] == [3, 2, 1]


def test_force_overrides_a_conflict_and_is_recorded(sessions: tuple[Memory, Memory]) -> None:
    one, two = sessions
    base = one.load("MEMORY.md").sha256
    one.save("MEMORY.md", b"A", based_on=base)
    two.save("MEMORY.md", b"B", based_on=base, how="forced", reason="mine is right")
    newest = one.history("MEMORY.md")[0]
    assert (newest.how, newest.reason) == ("forced", "mine is right")
    assert one.load("MEMORY.md", 2).content == b"A"


def test_a_new_memory_can_be_asked_to_be_new(sessions: tuple[Memory, Memory]) -> None:
    one, two = sessions
    one.save("plan", b"one", based_on="")
    with pytest.raises(ConflictError):
        two.save("plan", b"two", based_on="")
    with pytest.raises(ConflictError):
        two.save("new", b"two", based_on=digest(b"something"))
    assert two.load("plan").content == b"one"
    with pytest.raises(NotFoundError):
        two.load("new")


@pytest.mark.parametrize("based_on", ["sha256:", "deadbeef", "0" * 63, "0" * 65, "md5:" + "0" * 32])
def test_a_base_that_is_no_digest_saves_nothing(sessions: tuple[Memory, Memory], based_on: str) -> None:
    from indelible.errors import IndelibleError

    one, _ = sessions
    with pytest.raises(IndelibleError) as refused:
        one.save("MEMORY.md", b"new", based_on=based_on)
    assert refused.value.exit_code in {5, 64}
    assert one.load("MEMORY.md").version == 1


def test_a_tidy_up_that_thought_for_long_loses_nothing_that_was_added_meanwhile(
    sessions: tuple[Memory, Memory],
) -> None:
    """O-STO-05: a long merge step erases what was added meanwhile."""
    tidy, session = sessions
    for key in ("A", "B", "L"):
        session.save(key, key.encode())
    snapshot = {item.key: tidy.load(item.key) for item in tidy.list().items}
    session.save("K", b"added meanwhile")
    session.save("B", b"changed meanwhile")
    session.erase("L", reason="not needed")
    outcomes = {}
    for key, loaded in snapshot.items():
        try:
            tidy.save(key, loaded.content.upper(), based_on=loaded.sha256, reason="tidied")
            outcomes[key] = "saved"
        except ConflictError:
            outcomes[key] = "conflict"
    assert outcomes == {"A": "saved", "B": "conflict", "L": "conflict", "MEMORY.md": "saved"}
    assert session.load("K").content == b"added meanwhile"
    assert session.load("B").content == b"changed meanwhile"
    with pytest.raises(NotFoundError):
        session.load("L")


def test_saves_without_a_base_keep_every_version(sessions: tuple[Memory, Memory]) -> None:
    for number in range(6):
        sessions[number % 2].save("k", b"%d" % number)
    assert [sessions[0].load("k", version).content for version in range(1, 7)] == [
        b"%d" % number for number in range(6)
    ]
