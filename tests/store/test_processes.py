"""Many processes on one store: nothing acknowledged is lost, nobody is told a lie, nobody cries wolf."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from tests.support import Bench, finish, worker
from tests.worker import content_of

from indelible.errors import Busy

if TYPE_CHECKING:
    from collections.abc import Iterable


@pytest.fixture
def begun(bench: Bench) -> Bench:
    with bench.memory(create=True) as memory:
        memory.save("first", b"1")
    return bench


def errors_in(results: Iterable[tuple[int, list[dict[str, Any]], str]]) -> list[Any]:
    """Whatever went wrong in workers, as they said it."""
    wrong: list[Any] = []
    for code, said, stderr in results:
        wrong += [line for line in said if "error" in line]
        wrong += [stderr] if code or stderr else []
    return wrong


def whole(bench: Bench, reader: str = "first") -> dict[str, bytes]:
    """Everything in the store, verified, with no finding."""
    with bench.memory(reader) as memory:
        listing = memory.list()
        assert listing.findings == ()
        return {item.key: memory.load(item.key).content for item in listing.items}


def test_readers_beside_two_savers_never_see_a_rollback(begun: Bench) -> None:
    """The follower is locked before the store's snapshot is taken: the other order cried wolf 6 to 7 times in a hundred."""
    readers = [worker(begun, "read", "3", reader=name) for name in ("first", "first", "second")]
    for process in readers:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline()) == {"ready": True}
    savers = [worker(begun, "save", f"s{number}", "400") for number in range(2)]
    pins: list[int] = []
    with closing(apsw.Connection(begun.follower_path(), flags=apsw.SQLITE_OPEN_READONLY)) as raw:
        while any(process.poll() is None for process in savers):
            pins += [int(str(row[0])) for row in raw.execute("SELECT size FROM pin")]
            time.sleep(0.01)
    results = [finish(process) for process in (*savers, *readers)]
    assert errors_in(results) == []
    assert sum(line.get("loads", 0) for _, said, _ in results for line in said) > 500
    assert pins == sorted(pins), "a pin never goes backward"
    assert len(whole(begun)) == 801


def test_four_processes_save_five_hundred_each_and_none_is_lost(begun: Bench) -> None:
    results = [finish(process) for process in [worker(begun, "save", f"s{number}", "500") for number in range(4)]]
    assert errors_in(results) == []
    expected = {f"s{process}-{number}" for process in range(4) for number in range(500)}
    found = whole(begun)
    assert expected <= set(found)
    assert all(found[key] == content_of(key) for key in expected)
    assert set(whole(begun, "fresh")) == set(found)


def test_sixteen_writers_of_different_keys_are_all_served(begun: Bench) -> None:
    """O-STO-01: two parallel writes corrupt the store."""
    results = [finish(process) for process in [worker(begun, "save", f"s{number}", "50") for number in range(16)]]
    assert errors_in(results) == []
    assert len(whole(begun)) == 801
    assert set(os.listdir(os.path.dirname(begun.path))) <= {"store.db", "store.db-wal", "store.db-shm"}


def test_many_first_looks_at_once_are_all_answered(begun: Bench) -> None:
    with begun.memory() as memory:
        for number in range(200):
            memory.save(f"k{number}", b"x")
    for round_ in range(3):
        results = [
            finish(process)
            for process in [worker(begun, "load", "first", "3", reader=f"new {round_}") for _ in range(5)]
        ]
        assert errors_in(results) == []


def test_many_first_saves_at_once_are_all_answered(bench: Bench) -> None:
    bench.memory(create=True).close()
    results = [finish(process) for process in [worker(bench, "save", f"s{number}", "5") for number in range(5)]]
    assert errors_in(results) == []
    assert len(whole(bench)) == 25


def test_agents_in_one_store_keep_out_of_each_others_logs(begun: Bench) -> None:
    others = [Bench(begun.root, f"agent {number}") for number in range(4)]
    results = [finish(process) for process in [worker(other, "save", "s", "60") for other in others]]
    assert errors_in(results) == []
    assert [len(whole(other)) for other in others] == [60] * 4


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_killed_thirty_times_nothing_acknowledged_is_lost(begun: Bench) -> None:
    chance = random.Random(20261130)
    acked: set[str] = set()
    for round_ in range(30):
        processes = [worker(begun, "save", f"r{round_}p{number}", "100000") for number in range(4)]
        for process in processes:
            assert process.stdout is not None
            first = process.stdout.readline()
            assert b"saved" in first, first
            acked.add(json.loads(first)["saved"])
        time.sleep(chance.random() * 0.08)
        for process in chance.sample(processes, 4):
            process.send_signal(signal.SIGKILL)
        for process in processes:
            out, err = process.communicate()
            assert err == b""
            # The last line may be cut: what was not said whole was not acknowledged.
            said = [json.loads(line) for line in out.split(b"\n")[:-1]]
            assert [line for line in said if "error" in line] == []
            acked |= {line["saved"] for line in said}
    found = whole(begun)
    assert len(acked) > 120
    assert acked - set(found) == set()
    assert all(found[key] == content_of(key) for key in acked)
    assert set(whole(begun, "fresh")) == set(found)


# A busy store. (O-STO-04: database locked means a memory silently dropped.)


def held(bench: Bench, seconds: str) -> subprocess.Popen[bytes]:
    process = worker(bench, "hold", seconds)
    assert process.stdout is not None
    assert json.loads(process.stdout.readline()) == {"held": True}
    return process


def test_a_save_waits_for_a_writer_that_takes_its_time(begun: Bench) -> None:
    """3 s of waiting under the 10 s that are allowed, at a quarter of the scale."""
    process = held(begun, "0.75")
    memory = begun.memory(busy_ms=2_500)
    assert memory.save("k", b"v").version == 1
    assert finish(process)[0] == 0
    assert memory.load("k").content == b"v"


def test_a_save_that_waits_too_long_says_so_and_reads_go_on(begun: Bench) -> None:
    """60 s of waiting over the 10 s that are allowed, at a fortieth of the scale."""
    process = held(begun, "0")
    memory = begun.memory(busy_ms=250)
    began = time.monotonic()
    with pytest.raises(Busy, match="try again") as busy:
        memory.save("k", b"v", op="op")
    assert time.monotonic() - began < 5
    assert (busy.value.exit_code, busy.value.http_status) == (1, 503)
    assert memory.load("first").content == b"1"
    assert memory.list().findings == ()
    assert begun.memory("second").load("first").content == b"1"
    process.communicate(b"\n")
    assert memory.save("k", b"v", op="op").version == 1


def test_readers_are_not_kept_waiting_by_a_writer_that_waits(begun: Bench) -> None:
    """A save that waits for the store must not make another process's read look like a lost pin."""
    with begun.memory("second") as other:
        other.load("first")
    process = held(begun, "1")
    waiting = worker(begun, "one", "patient", reader="first")
    time.sleep(0.4)
    with begun.memory() as memory:
        assert memory.load("first").content == b"1"
    assert finish(process)[0] == 0
    code, said, _ = finish(waiting)
    assert (code, said) == (0, [{"saved": "patient"}])


def test_a_long_reader_lets_the_wal_grow_and_not_the_writers_wait(begun: Bench) -> None:
    reader = begun.memory("second")
    with reader.following() as (_, reading, head), begun.memory() as memory:
        for number in range(300):
            memory.save(f"k{number}", b"x" * 3000)
        assert head.size == 1
        assert len(list(reading.leaves(0, 10))) == 1, "a snapshot does not move while it is held"
    assert reader.load("k299").content == b"x" * 3000
    with begun.memory() as memory:
        for number in range(50):
            memory.save(f"l{number}", b"x" * 3000)
    assert begun.sql("PRAGMA wal_checkpoint(TRUNCATE)")[0][0] == 0


# Forks.


@pytest.mark.skipif(
    not hasattr(os, "fork") or sys.version_info >= (3, 12),
    reason="forking beside threads warns from Python 3.12 on; see the next test",
)
def test_a_fork_harms_neither_side(begun: Bench) -> None:
    memory = begun.memory()
    memory.save("before", b"before")
    child = os.fork()
    if child == 0:
        try:
            for number in range(20):
                memory.save(f"child {number}", b"child")
            os._exit(0 if memory.load("before").content == b"before" else 5)
        except BaseException:  # noqa: BLE001 - a child must not come back into the test run
            os._exit(6)
    for number in range(20):
        memory.save(f"parent {number}", b"parent")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(whole(begun)) == 42
    assert memory.save("after", b"after").version == 1


FORK = """
import os, sys
from tests.support import Bench
memory = Bench(sys.argv[1]).memory()
memory.save("before", b"before")
with memory.following():
    children = []
    for name in range(3):
        child = os.fork()
        if child == 0:
            break
        children.append(child)
if children == [] or len(children) < 3:
    for number in range(10):
        memory.save(f"{len(children)} {number}", b"child")
    os._exit(0)
for number in range(10):
    memory.save(f"parent {number}", b"parent")
sys.exit(sum(os.waitpid(child, 0)[1] for child in children))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_forks_out_of_an_open_read_harm_nobody(begun: Bench) -> None:
    from tests.support import ROOT

    ended = subprocess.run(
        [sys.executable, "-c", FORK, begun.root], check=False, capture_output=True, text=True, timeout=60,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([ROOT, *filter(None, sys.path)])},
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (0, "")
    assert len(whole(begun)) == 42


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_worker_pool_that_forks_may_use_the_parents_memory(begun: Bench) -> None:
    begun.memory().save("k", b"v")
    context = multiprocessing.get_context("spawn")
    with context.Pool(2) as pool:
        assert pool.map(_load_in_pool, [begun.root] * 4) == [b"v"] * 4


def _load_in_pool(root: str) -> bytes:
    with Bench(root).memory() as memory:
        return memory.load("k").content
