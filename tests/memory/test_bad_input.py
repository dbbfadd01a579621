"""Whatever is wrong with a request gets one plain sentence, and nothing of it reaches the log."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from indelible.errors import IndelibleError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support import Bench

    from indelible.memory import Memory

BAD: dict[str, Callable[[Any], object]] = {
    "a reason that is a number": lambda m: m.save("k", b"x", reason=5),
    "a reason with half a surrogate pair": lambda m: m.save("k", b"x", reason="\ud800"),
    "a reason of nothing known": lambda m: m.archive("k", reason=b"bytes"),
    "a reason with half a surrogate pair, archived": lambda m: m.archive("k", reason="\udfff"),
    "a way of saving that there is not": lambda m: m.save("k", b"x", how="bogus"),
    "a key that is a number": lambda m: m.save(5, b"x"),
    "a key that is None": lambda m: m.load(None),
    "a key that is bytes": lambda m: m.load(b"k"),
    "an operation id that is a number": lambda m: m.save("k", b"x", op=7),
    "an operation id that is too long": lambda m: m.archive("k", op="x" * 600),
    "a page of less than nothing": lambda m: m.list(limit=-1),
    "a page of nothing": lambda m: m.list(limit=0),
    "a prefix with half a surrogate pair": lambda m: m.list(prefix="\ud800"),
    "a word that nobody says about a memory": lambda m: m.note("praised", "k"),
    "a digest that is a number": lambda m: m.note("archived", "k", digest=5),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_refused_and_leaves_the_log_as_it_was(bench: Bench, memory: Memory, what: str) -> None:
    memory.save("k", b"v")
    with pytest.raises(UsageError) as refused:
        BAD[what](memory)
    assert refused.value.exit_code == 64
    assert len(bench.leaves()) == 1
    assert bench.memory("fresh").load("k").content == b"v"


def test_whatever_a_writer_may_say_its_readers_can_follow(bench: Bench, memory: Memory) -> None:
    for reason in ("", "x" * 3000, "줄\n바꿈", '"\\', "\0", "😀"):
        try:
            memory.save("k", b"v", reason=reason)
            memory.archive("k", reason=reason)
        except UsageError:
            continue
    assert bench.memory("fresh").fetch("k").content == b"v"
    assert bench.memory("fresh").history("k")


def test_threads_that_share_a_memory_are_served_or_told_so(bench: Bench, memory: Memory) -> None:
    memory.save("first", b"1")
    wrong: list[BaseException] = []
    acked: list[str] = []

    def run(name: int) -> None:
        for number in range(20):
            try:
                acked.append(memory.save(f"{name} {number}", b"x").key)
                assert memory.load("first").content == b"1"
            except UsageError:
                continue  # "one Memory for each thread" is an answer too
            except BaseException as error:  # noqa: BLE001 - a thread's error is what is looked for
                wrong.append(error)

    threads = [threading.Thread(target=run, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert {item.key for item in bench.memory("fresh").list().items} == {"first", *acked}


def test_no_error_holds_content(bench: Bench, memory: Memory) -> None:
    secret = b"hunter2 is the secret"
    memory.save("k", secret)
    said = []
    bench.sql("UPDATE record SET content = CAST('other ' || content AS BLOB)")
    for use in (
        lambda: memory.load("k"),
        lambda: memory.save("k", b"", based_on="0" * 64),
        lambda: memory.verify("k", secret),
    ):
        with pytest.raises(IndelibleError) as refused:
            use()
        said.append(f"{refused.value} {refused.value.as_dict()} {refused.value!r}")
    assert [line for line in said if "hunter2" in line] == []
