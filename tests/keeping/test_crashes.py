"""A write that is killed at any step leaves a slot that is free or whole, and the same write again ends it. Two writers agree."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.conftest import environment, indelible_command
from tests.keeping.desks import CRITIC, NEXT, PLAN, STATE_OK, TICKET, Desk, desk_at

from indelible.keeping import begun
from indelible.state.filing import leftovers

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Run

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and strace")
PLANNED = STATE_OK[PLAN] * 40


def start(desk: Desk, *words: str, prefix: tuple[str, ...] = (), content: bytes = b"") -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [*prefix, *indelible_command(), *words], cwd=desk.work, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(content)
    process.stdin.close()
    process.stdin = None
    return process


def ends_of(processes: list[subprocess.Popen[bytes]]) -> list[int]:
    """The exit codes of all, once each has ended."""
    for process in processes:
        process.communicate(timeout=180)
    return [process.returncode for process in processes]


STEPS = {
    "openat": range(1, 2000, 60), "pwrite64": range(1, 200, 2), "write": range(1, 200), "fsync": range(1, 50), "fdatasync": range(1, 50),
    "chmod,fchmodat": range(1, 20), "link,linkat": range(1, 10), "unlink,unlinkat": range(1, 20), "rename,renameat,renameat2": range(1, 10),
}  # fmt: skip
"""System calls, and at which of them the process is killed: until one run comes to its end."""


@pytest.mark.slow
@pytest.mark.parametrize("call", STEPS)
def test_a_write_once_slot_that_was_killed_is_free_or_whole_and_can_be_written(
    home: Path, run: Run, strace: list[str], call: str
) -> None:
    desk = desk_at(home, home / "work", run)
    slots = (f"{number}_step.md" for number in range(10, 30))
    for when, slot in zip(STEPS[call], slots, strict=False):
        inject = (*strace, "-o", os.devnull, "-e", f"trace={call}", "-e", f"inject={call}:signal=SIGKILL:when={when}")
        process = start(desk, "state", "write", "--over-budget", slot, prefix=inject, content=PLANNED)
        process.communicate(timeout=120)
        assert not desk.file(slot).exists() or desk.file(slot).read_bytes() == PLANNED, when
        assert desk.exit_of_check() == 0, (when, desk.check())
        again = desk.tell("state", "write", "--over-budget", slot, content=PLANNED)
        assert again.code == 0, (when, again.err)
        assert desk.file(slot).read_bytes() == PLANNED
        assert desk.file(slot).stat().st_mode & 0o777 == 0o444
        assert [one["type"] for one in desk.said("state", "history", slot)["events"]] == ["saved"]
        assert leftovers(str(desk.folder)) == ()
        if process.returncode == 0:
            return
        assert process.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize(
    "call", ["fsync", "fdatasync", "rename,renameat,renameat2", "link,linkat", "unlink,unlinkat", "write"]
)
def test_an_append_that_was_killed_is_there_whole_or_not_at_all_and_is_ended_by_the_same_one(
    home: Path, run: Run, strace: list[str], call: str
) -> None:
    desk = desk_at(home, home / "work", run)
    for when in STEPS[call]:
        slot = f"{29 + when}_record.md"
        desk.write(slot, b"first\n")
        inject = (*strace, "-o", os.devnull, "-e", f"trace={call}", "-e", f"inject={call}:signal=SIGKILL:when={when}")
        process = start(desk, "state", "append", slot, prefix=inject, content=b"second\n")
        process.communicate(timeout=120)
        assert desk.file(slot).read_bytes() in (b"first\n", b"first\nsecond\n"), when
        assert desk.exit_of_check() == 0, (when, desk.check())
        assert desk.exit_of_boot() == 0, when
        if process.returncode == 0:
            return
        assert desk.tell("state", "append", slot, content=b"second\n").code == 0
        assert desk.file(slot).read_bytes() == b"first\nsecond\n", when
        assert leftovers(str(desk.folder)) == ()


@pytest.mark.slow
@pytest.mark.parametrize(
    "call", ["fsync", "fdatasync", "rename,renameat,renameat2", "link,linkat", "unlink,unlinkat", "write"]
)
def test_a_closing_that_was_killed_is_ended_by_the_same_one(home: Path, run: Run, strace: list[str], call: str) -> None:
    desk = desk_at(home, home / "work", run)
    for when in STEPS[call]:
        desk.write(PLAN, PLANNED)
        desk.write(TICKET, STATE_OK[TICKET])
        closed = len(desk.said("state", "list")["closed"])
        inject = (*strace, "-o", os.devnull, "-e", f"trace={call}", "-e", f"inject={call}:signal=SIGKILL:when={when}")
        process = start(desk, "state", "close", "--reason", str(when), prefix=inject)
        process.communicate(timeout=120)
        assert desk.exit_of_check() in (0, 1), (when, desk.check())
        if process.returncode != 0:
            again = desk.tell("state", "close", "--reason", str(when))
            assert again.code == 0, (when, again.err)
        assert not desk.file(PLAN).exists()
        assert not desk.file(TICKET).exists()
        assert len(desk.said("state", "list")["closed"]) == closed + 1, when
        assert desk.check() == []
        if process.returncode == 0:
            assert desk.tell("state", "close").code == 3, "there is nothing more to end"
            return


def test_of_two_writers_of_one_law_exactly_one_wins_and_the_other_is_told_its_digest(bare: Desk) -> None:
    for number in range(10, 16):
        slot = f"{number}_raced.md"
        texts = [f"# Plan of {name}\n".encode() * 200 for name in ("one", "two", "three")]
        processes = [start(bare, "state", "write", slot, "--json", "--over-budget", content=text) for text in texts]
        ends = [(process.communicate(timeout=120)[0], process.returncode) for process in processes]
        assert sorted(code for _, code in ends) == [0, 6, 6], ends
        winner = next(index for index, (_, code) in enumerate(ends) if code == 0)
        assert bare.file(slot).read_bytes() == texts[winner]
        digest = bare.said("state", "show", slot)["sha256"]
        assert all(digest.encode() in out for out, _ in ends)
        assert bare.check() == []


def test_of_many_that_append_at_once_none_is_lost(bare: Desk) -> None:
    lines = [f"- note {number:02}\n" for number in range(8)]
    processes = [start(bare, "state", "append", CRITIC, content=line.encode()) for line in lines]
    assert ends_of(processes) == [0] * len(lines)
    assert sorted(bare.file(CRITIC).read_text().splitlines(keepends=True)) == lines
    assert bare.check() == []


def test_of_many_that_replace_at_once_the_file_is_what_was_sealed_last(bare: Desk) -> None:
    counters = [f"Current Target: {n}\nLast Completed Step: x\nNext Permitted Action: y\n".encode() for n in range(8)]
    processes = [start(bare, "state", "write", NEXT, content=text) for text in counters]
    assert ends_of(processes) == [0] * len(counters)
    with bare.state() as state:
        assert bare.file(NEXT).read_bytes() == state.show(NEXT).content
    assert bare.check() == []
    assert leftovers(str(bare.folder)) == ()


LOOKING = """
import sys, time
from indelible import settings, wiring
end = time.monotonic() + float(sys.argv[1])
looks = 0
with wiring.open_state(settings.load()) as state:
    while time.monotonic() < end:
        found = state.check().tampering
        if found:
            print(found)
            sys.exit(1)
        looks += 1
print("looks", looks)
"""


def test_who_looks_while_others_write_raises_no_false_alarm(bare: Desk) -> None:
    seen = subprocess.Popen(
        [sys.executable, "-c", LOOKING, "6"], cwd=bare.work, env=environment(), stdout=subprocess.PIPE
    )
    with bare.state() as state:
        for number in range(150):
            state.append(CRITIC, f"- note {number}\n".encode())
            state.write(NEXT, f"Current Target: {number}\nLast Completed Step: x\nNext Permitted Action: y\n".encode())
            if seen.poll() is not None:
                break
    out, _ = seen.communicate(timeout=60)
    assert seen.returncode == 0, out
    assert int(out.split()[-1]) > 5


def test_an_addition_that_ends_like_one_that_was_cut_short_is_not_taken_for_it(
    bare: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = bare.state()
    with monkeypatch.context() as patch:
        patch.setattr(begun, "is_alive", lambda _pid: False)
        state.append(CRITIC, b"note: ok\n")
        state.memory.close()
        with bare.state() as again:
            assert again.append(CRITIC, b"note: ok\n").repeated
            assert not again.append(CRITIC, b"note: ok\n").repeated, "it was ended once: this is another one"
    with bare.state() as again:
        again.append(CRITIC, b"ok\n")
    assert bare.file(CRITIC).read_bytes() == b"note: ok\nnote: ok\nok\n"


def test_a_file_that_another_program_left_half_written_is_completed_by_its_author_alone(bare: Desk) -> None:
    bare.file(PLAN).write_bytes(PLANNED[:50])
    assert bare.tell("state", "write", PLAN, content=b"# Another plan\n").code == 2
    assert bare.check() == ["slot-unsealed"]
    assert bare.tell("state", "write", "--over-budget", PLAN, content=PLANNED).code == 0
    assert bare.file(PLAN).read_bytes() == PLANNED
    assert bare.check() == []


def test_a_stale_temporary_file_is_never_a_slot_and_is_swept_away(bare: Desk) -> None:
    stale = bare.file(f".tmp-{PLAN}-1999999-aa")
    stale.write_bytes(PLANNED[:50])
    assert bare.check() == []
    assert bare.tell("state", "write", "--over-budget", PLAN, content=PLANNED).code == 0
    assert not stale.exists()
