"""A write is saved, not saved, or unknown; never something that was said and is not so. Faults are injected with strace."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.support import Bench, finish, or_refused, worker
from tests.worker import content_of

from indelible.errors import DiskFull, IndelibleError, IntegrityError, NotSaved, OutcomeUnknown

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

COUNT = 4
"""Saves of a worker in these tests."""


@pytest.fixture
def begun(bench: Bench) -> Bench:
    with bench.memory(create=True) as memory:
        memory.save("first", b"1")
    return bench


def acknowledged(said: list[dict[str, Any]]) -> set[str]:
    return {line["saved"] for line in said if "saved" in line}


def check(bench: Bench, acked: set[str]) -> None:
    """Everything acknowledged is there, whole, once, and nothing is altered."""
    with bench.memory() as memory:
        listing = memory.list()
        assert listing.findings == ()
        assert acked <= {item.key for item in listing.items}
        assert {item.version for item in listing.items} == {1}
    with bench.memory("fresh") as memory:
        assert memory.list().findings == ()


def inject(bench: Bench, strace: list[str], fault: str, verb: str = "insist") -> tuple[int, list[dict[str, Any]], str]:
    """A worker whose system calls fail as told."""
    call = fault.partition(":")[0]
    return finish(
        worker(
            bench,
            verb,
            "k",
            str(COUNT),
            prefix=[*strace, "-o", os.devnull, "-e", f"trace={call}", "-e", f"inject={fault}"],
        )
    )


@pytest.mark.parametrize("verb", ["insist", "save"])
@pytest.mark.parametrize("when", [1, 2, 3, 4])
def test_a_failed_fsync_leaves_an_unknown_outcome_and_a_repeat_makes_one_version(
    begun: Bench, strace: list[str], when: int, verb: str
) -> None:
    code, said, errors = inject(begun, strace, f"fdatasync:error=EIO:when={when}", verb)
    assert "Traceback" not in errors
    failed = [line for line in said if "error" in line]
    assert {line["error"] for line in failed} <= {"OutcomeUnknown"}
    assert when > 1 or failed, "the first fdatasync of the process is that of a save"
    assert all("--op-id" in line["message"] for line in failed)
    check(begun, acknowledged(said))
    code, said, errors = finish(worker(begun, "insist", "k", str(COUNT)))
    assert (code, errors) == (0, "")
    assert acknowledged(said) == {f"k-{number}" for number in range(COUNT)}
    assert {line["version"] for line in said} == {1}
    check(begun, acknowledged(said))


def test_after_a_failed_fsync_the_same_process_goes_on_and_repeats(begun: Bench, strace: list[str]) -> None:
    _, said, errors = inject(begun, strace, "fdatasync:error=EIO:when=1")
    assert errors == ""
    assert [line.get("error", line.get("saved")) for line in said] == ["OutcomeUnknown", "k-0", "k-1", "k-2", "k-3"]


@pytest.mark.parametrize("fault", ["error=EIO", "error=ENOSPC", "signal=SIGKILL"])
@pytest.mark.parametrize("when", [1, 4, 7, 10, 13, 16, 19, 22])
def test_a_failed_write_loses_nothing_that_was_acknowledged(
    begun: Bench, strace: list[str], fault: str, when: int
) -> None:
    _, said, errors = inject(begun, strace, f"pwrite64:{fault}:when={when}")
    assert "Traceback" not in errors
    failed = {line["error"] for line in said if "error" in line}
    assert failed <= {"OutcomeUnknown", "NotSaved", "DiskFull"}, said
    check(begun, acknowledged(said))
    _, said, errors = finish(worker(begun, "insist", "k", str(COUNT)))
    assert acknowledged(said) == {f"k-{number}" for number in range(COUNT)}, said
    check(begun, acknowledged(said))


@pytest.mark.parametrize("when", [4, 13, 19, 22])
def test_a_write_that_the_disk_only_claims_to_have_done_is_noticed(begun: Bench, strace: list[str], when: int) -> None:
    """`retval=10` carries nothing out and says that ten bytes were written: a disk that lies."""
    _, said, _ = inject(begun, strace, f"pwrite64:retval=10:when={when}")
    with begun.memory() as memory:
        with or_refused(2):
            listing = memory.list()
            assert listing.findings or acknowledged(said) <= {item.key for item in listing.items}
        for key in (f"k-{number}" for number in range(COUNT)):
            with or_refused(*((2,) if key in acknowledged(said) else (2, 3))):
                assert memory.load(key).content == content_of(key)


@pytest.mark.parametrize("when", [1, 2, 3])
def test_killed_at_an_fsync_nothing_acknowledged_is_lost(begun: Bench, strace: list[str], when: int) -> None:
    code, said, _ = inject(begun, strace, f"fdatasync:signal=SIGKILL:when={when}", "save")
    assert code in {-9, 137}
    check(begun, acknowledged(said))
    _, said, _ = finish(worker(begun, "insist", "k", str(COUNT)))
    assert acknowledged(said) == {f"k-{number}" for number in range(COUNT)}
    check(begun, acknowledged(said))


def test_a_commit_that_fails_moves_no_pin(begun: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = begun.memory()
    note = memory.checkpoint()

    def fail(*_: object) -> None:
        raise OutcomeUnknown("as if the disk had failed")

    with monkeypatch.context() as patch:
        patch.setattr(memory.store, "_commit", fail)
        with pytest.raises(OutcomeUnknown):
            memory.save("x", b"x")
    memory.store.give_up()  # type: ignore[attr-defined]
    with begun.memory() as after:
        assert after.checkpoint() == note


def test_a_repeat_adds_nothing_and_answers_as_the_first_time(begun: Bench) -> None:
    memory = begun.memory()
    first = memory.save("k", b"one", op="an operation")
    again = memory.save("k", b"one", op="an operation")
    assert again == first._replace(repeated=True)
    memory.save("k", b"two")
    assert memory.save("k", b"one", op="an operation").version == 1
    assert memory.load("k").content == b"two"
    assert len(begun.leaves()) == 3


def test_a_repeat_of_a_word_about_a_memory_adds_nothing(begun: Bench) -> None:
    memory = begun.memory()
    first = memory.archive("first", reason="old", op="an operation")
    again = memory.archive("first", reason="old", op="an operation")
    assert (first.repeated, again.repeated, again.seq) == (False, True, first.seq)
    assert len(begun.leaves()) == 2


@pytest.mark.parametrize("again", ["other content", "other key", "archive", "erase", "archive of another"])
def test_an_operation_id_that_was_used_for_something_else_is_a_conflict(begun: Bench, again: str) -> None:
    from indelible.errors import ConflictError

    memory = begun.memory()
    memory.save("j", b"other")
    memory.save("k", b"one", op="op")
    uses: dict[str, Callable[[], object]] = {
        "other content": lambda: memory.save("k", b"two", op="op"),
        "other key": lambda: memory.save("j", b"one", op="op"),
        "archive": lambda: memory.archive("k", op="op"),
        "erase": lambda: memory.erase("k", op="op"),
        "archive of another": lambda: memory.archive("j", op="op"),
    }
    with pytest.raises(ConflictError) as conflict:
        uses[again]()
    assert conflict.value.exit_code == 5
    assert (memory.load("k").content, memory.load("j").content) == (b"one", b"other")
    assert len(begun.leaves()) == 3


@pytest.mark.parametrize("saved_anew", [False, True])
def test_a_repeat_of_what_was_erased_since_is_no_tampering(begun: Bench, saved_anew: bool) -> None:
    memory = begun.memory()
    memory.save("k", b"one", op="op")
    memory.erase("k")
    if saved_anew:
        memory.save("k", b"two")
    with or_refused(3, 5):
        assert memory.save("k", b"one", op="op").repeated
    assert len(begun.leaves()) == 3 + saved_anew


@pytest.mark.parametrize("when", [1, 2, 3, 4, 6, 8, 12, 16])
def test_a_failed_read_is_an_error_of_ours_and_no_other_memory(begun: Bench, strace: list[str], when: int) -> None:
    fault = f"pread64:error=EIO:when={when}"
    prefix = [*strace, "-o", os.devnull, "-P", begun.path, "-P", f"{begun.path}-wal", "-e", f"inject={fault}"]
    code, said, errors = finish(worker(begun, "load", "first", "3", prefix=prefix))
    assert "Traceback" not in errors
    assert code in {0, 1, 2}
    assert {line["sha256"] for line in said if "loaded" in line} <= {hashlib.sha256(b"1").hexdigest()}
    assert code == 0 or said[-1]["exit"] == code


def test_a_repeat_is_not_believed_on_the_stores_word(begun: Bench) -> None:
    """Whoever can write the store and knows what will be saved must not make a save that never happens look done."""
    from tests.support import entry_of, sign_entry, signer_of

    memory = begun.memory()
    memory.save("k", b"old")
    forged = entry_of(begun.leaf(1))._replace(op="op")
    begun.sql("UPDATE entry SET leaf = ? WHERE id = ?", sign_entry(forged, signer_of("thief")), begun.row_id(1))
    begun.sql("UPDATE record SET content = x'6e6577' WHERE id = ?", begun.row_id(1))
    begun.sql("INSERT INTO op SELECT id, 'op', 1 FROM log")
    with pytest.raises(IntegrityError):
        memory.save("k", b"new", op="op")


# Full disks.


@pytest.fixture
def tiny(bench: Bench, small_disk: Callable[[str, str], str]) -> str:
    """The store's folder on a disk of 1 MB."""
    return small_disk(os.path.dirname(bench.path), "1m")


def test_a_full_disk_loses_nothing_and_serves_on_and_works_again_when_freed(bench: Bench, tiny: str) -> None:
    memory = bench.memory(create=True)
    memory.save("first", b"1")
    acked: dict[str, bytes] = {}
    ballast = os.path.join(tiny, "ballast")
    with open(ballast, "wb") as file:
        file.write(bytes(200_000))
    failure: IndelibleError | None = None
    for number in range(3000):
        content = b"%d " % number * 100
        try:
            memory.save(f"k{number}", content)
        except IndelibleError as error:
            failure = error
            break
        acked[f"k{number}"] = content
    assert isinstance(failure, DiskFull), failure
    assert failure.exit_code == 1
    assert "room" in str(failure)
    assert {key: memory.load(key).content for key in acked} == acked
    assert memory.list().findings == ()
    check(bench, set(acked))
    os.unlink(ballast)
    memory.save("after", b"after")
    bench.close()
    check(bench, {*acked, "after"})


def test_on_a_full_disk_no_half_store_is_made(bench: Bench, tiny: str) -> None:
    with open(os.path.join(tiny, "ballast"), "wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)):
                pass
        except OSError:
            pass
    with pytest.raises(NotSaved):
        bench.memory(create=True)
    assert os.listdir(tiny) == ["ballast"]
    os.unlink(os.path.join(tiny, "ballast"))
    bench.memory(create=True).save("k", b"v")


def test_nothing_saved_over_something_fails_whole(bench: Bench, tiny: str) -> None:
    memory = bench.memory(create=True)
    memory.save("big", b"small")
    with pytest.raises(NotSaved):
        memory.save("big", os.urandom(2_000_000))
    assert memory.load("big").content == b"small"
    memory.save("big", b"small again")
    assert memory.load("big").version == 2


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such limits")
@pytest.mark.parametrize(
    ("limit", "spare"),
    [("RLIMIT_FSIZE", "60000"), ("RLIMIT_NOFILE", "-1"), ("RLIMIT_NOFILE", "0"), ("RLIMIT_NOFILE", "1")],
)
def test_a_limit_of_the_system_is_a_typed_error_and_no_partial_save(begun: Bench, limit: str, spare: str) -> None:
    code, said, errors = finish(worker(begun, "starve", limit, spare))
    assert (code, errors) == (0, "")
    assert said[0].get("error", "NotSaved") in {"NotSaved", "OutcomeUnknown", "StoreError", "DiskFull"}
    assert limit == "RLIMIT_NOFILE" or "error" in said[0]
    assert said[1] == {"loaded": "first"}
    assert said[2] == {"saved": "k", "version": 2 if "error" in said[0] else 3}
    with begun.memory() as after:
        assert after.list().findings == ()
        assert after.load("k").content == content_of("k")


# How often the disk is asked to be sure.


def fsyncs(bench: Bench, strace: list[str], path: Path, *args: str) -> dict[str, int]:
    """Calls of fsync and fdatasync by a worker, by what they were called on."""
    log = path / "calls"
    code, said, errors = finish(
        worker(bench, *args, prefix=[*strace, "-y", "-o", str(log), "-e", "trace=fsync,fdatasync"])
    )
    assert code == 0, (said, errors)
    found: dict[str, int] = {}
    for target in re.findall(r"f(?:data)?sync\(\d+<([^>]*)>", log.read_text()):
        part = "store" if target.startswith(os.path.dirname(bench.path)) else "other"
        found[part] = found.get(part, 0) + 1
    return found


def test_a_save_costs_one_fsync_of_the_store_and_a_one_shot_save_at_most_two(
    begun: Bench, strace: list[str], tmp_path: Path
) -> None:
    begun.close()
    one = fsyncs(begun, strace, tmp_path, "one", "a")
    eleven = fsyncs(begun, strace, tmp_path, "save", "b", "11")
    assert one.get("store", 0) in {1, 2}, one
    assert eleven.get("store", 0) - 11 <= 1, eleven
    assert eleven.get("store", 0) >= 11, "a save that is acknowledged was made durable"
    assert one.get("other", 0) == 0, "the pin is not synced: losing its last step costs a second look"


def test_the_second_one_shot_save_costs_no_more(begun: Bench, strace: list[str], tmp_path: Path) -> None:
    for key in "abc":
        assert fsyncs(begun, strace, tmp_path, "one", key).get("store", 0) <= 2


def test_a_one_shot_load_costs_no_fsync(begun: Bench, strace: list[str], tmp_path: Path) -> None:
    assert fsyncs(begun, strace, tmp_path, "load", "first") == {}
    assert fsyncs(begun, strace, tmp_path, "nothing") == {}
    shutil.rmtree(os.path.join(begun.root, "readers"))
    first_look = fsyncs(begun, strace, tmp_path, "load", "first")
    assert first_look.get("store", 0) == 0


def test_making_a_store_syncs_the_file_before_its_name_and_the_folder_after(
    bench: Bench, strace: list[str], tmp_path: Path
) -> None:
    """A store that has a name is whole, and the name is durable."""
    import subprocess

    from tests.support import ROOT

    log = tmp_path / "calls"
    code = f"from tests.support import Bench; Bench({bench.root!r}).memory(create=True).close()"
    subprocess.run(
        [*strace, "-y", "-o", str(log), "-e", "trace=fsync,fdatasync,link,linkat", sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([ROOT, *filter(None, sys.path)])}, check=True,
    )  # fmt: skip
    folder = os.path.dirname(bench.path)
    steps = []
    for line in log.read_text().splitlines():
        if "link" in line and "store.db" in line:
            steps.append("link")
        elif f"<{folder}>" in line:
            steps.append("folder")
        elif f"<{folder}/" in line:
            steps.append("file")
    assert "link" in steps
    at = steps.index("link")
    assert "file" in steps[:at]
    assert "folder" in steps[at:]


@pytest.mark.parametrize("seconds", ["0.5"])
def test_a_slow_fsync_only_takes_longer(begun: Bench, strace: list[str], seconds: str) -> None:
    delay = int(float(seconds) * 1_000_000)
    _, said, errors = inject(begun, strace, f"fdatasync:delay_enter={delay}:when=1", "save")
    assert errors == ""
    check(begun, acknowledged(said))
    assert len(acknowledged(said)) == COUNT
