"""Who is killed takes the tree along: the parent, the supervisor, both at once; and the record is closed all the same."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from tests.conftest import environment, indelible_command
from tests.forking import children
from tests.forking.conftest import eventually, on_linux

from indelible.forking import proc

if TYPE_CHECKING:
    from tests.forking.conftest import Place

pytestmark = on_linux
BAD = f"""
import os, subprocess, sys, time
subprocess.Popen([sys.executable, '-c', {children.DAEMON!r}, sys.argv[1]])
subprocess.Popen([sys.executable, '-c', {children.DEAF!r}, sys.argv[1]])
os.write(1, b'so far\\n')
time.sleep(600)
"""


def started(place: Place, *options: str) -> tuple[subprocess.Popen[bytes], Any]:
    process = place.start("work", sys.executable, "-c", BAD, place.mark, options=options)
    record = place.begun("work")
    folder = place.forks / record["id"]
    assert eventually(
        lambda: b"deaf" in (folder / "output").read_bytes() and b"daemonised" in (folder / "output").read_bytes()
    )
    return process, record


@pytest.mark.parametrize(
    ("number", "reason", "code"),
    [(signal.SIGINT, "interrupted", 130), (signal.SIGTERM, "interrupted", 143), (signal.SIGHUP, "interrupted", 129)],
)
def test_a_signal_to_the_parent_ends_the_tree_and_the_parent_still_tells(
    place: Place, number: int, reason: str, code: int
) -> None:
    process, _ = started(place)
    process.send_signal(number)
    told = json.loads(process.communicate(timeout=60)[0])
    assert (process.returncode, told["reason"], told["exit"]) == (code, reason, None)
    assert "so far" in told["summary"]
    assert told["sealed"] is not None
    place.sound()


def test_a_parent_that_is_killed_takes_the_tree_along_and_the_output_stays(place: Place) -> None:
    process, record = started(place)
    process.kill()
    process.communicate()
    assert eventually(lambda: place.record("work")["reason"] == "parent-gone")
    assert eventually(lambda: not place.orphans())  # the supervisor ends a moment after its record
    assert place.record("work")["sealed"] is None
    assert "its parent was killed" in place.run("forks", cwd=place.root).out
    assert place.record("work")["sealed"] is not None
    assert place.run("forks", "verify", record["id"], cwd=place.root).code == 0
    place.sound()


def test_a_supervisor_that_is_killed_leaves_the_tree_to_the_parent(place: Place) -> None:
    process, record = started(place)
    os.kill(record["supervisor"], signal.SIGKILL)
    told = json.loads(process.communicate(timeout=60)[0])
    assert (process.returncode, told["reason"]) == (1, "unsupervised")
    assert "so far" in told["summary"]
    place.sound()


def test_of_both_killed_at_once_the_next_look_ends_what_is_left(place: Place) -> None:
    process, record = started(place)
    os.kill(record["supervisor"], signal.SIGSTOP)
    process.kill()
    os.kill(record["supervisor"], signal.SIGKILL)
    process.communicate()
    ran = place.run("wait", "work", "--json", cwd=place.root)
    (told,) = ran.json["forks"]
    assert (ran.code, told["reason"]) == (1, "unsupervised")
    assert "so far" in told["summary"]
    assert told["sealed"] is not None
    place.sound()


def test_a_detached_fork_goes_on_until_it_is_stopped_or_waited_for(place: Place) -> None:
    ran = place.python("work", BAD, "--detach")
    assert ran.code == 0
    name = ran.out.strip()
    assert "goes on" in place.run("forks", cwd=place.root).out
    waited = place.run("wait", name, "--timeout", "0.2", "--json", cwd=place.root)
    assert (waited.code, waited.json["running"]) == (1, [name])
    assert eventually(lambda: place.record("work")["child"])
    stopped = place.run("forks", "stop", name, "--json", cwd=place.root)
    assert (stopped.code, [one["reason"] for one in stopped.json["forks"]]) == (0, ["stopped"])
    assert place.run("wait", name, cwd=place.root).code == 1
    place.sound()


def test_a_detached_fork_is_sealed_although_nobody_waits(place: Place) -> None:
    place.shell("quick", "echo done", "--detach")
    assert eventually(lambda: place.record("quick")["sealed"] is not None)
    assert place.run("wait", "quick", cwd=place.root).out.startswith("| done")


def test_the_waiting_process_of_a_detached_fork_is_killed_and_nothing_is_left(place: Place) -> None:
    name = place.python("work", BAD, "--detach").out.strip()
    record = place.begun("work")
    assert eventually(lambda: b"daemonised" in (place.forks / name / "output").read_bytes())
    parent = proc.statuses()[record["supervisor"]].parent
    os.kill(parent, signal.SIGKILL)
    assert place.run("wait", name, cwd=place.root).code == 1
    assert place.record("work")["reason"] == "parent-gone"
    place.sound()


def test_a_second_signal_does_not_wait_for_those_who_take_their_time(place: Place) -> None:
    process, _ = started(place)
    process.send_signal(signal.SIGTERM)
    eventually(lambda: False, 0.3)
    process.send_signal(signal.SIGTERM)
    told = json.loads(process.communicate(timeout=60)[0])
    assert (process.returncode, told["reason"]) == (143, "unsupervised")
    place.sound()


def test_two_that_close_a_run_at_once_seal_one_version_of_it(place: Place) -> None:
    process, record = started(place)
    os.kill(record["supervisor"], signal.SIGSTOP)
    process.kill()
    os.kill(record["supervisor"], signal.SIGKILL)
    process.communicate()
    looks = [
        subprocess.Popen(
            [*indelible_command(), "forks", "--json"], cwd=place.root, env=environment(), stdout=subprocess.PIPE
        )
        for _ in range(4)
    ]
    told = [json.loads(one.communicate(timeout=60)[0])["forks"][0] for one in looks]
    assert {one["reason"] for one in told} == {"unsupervised"}
    assert len({one["sealed"] for one in told}) == 1, told
    assert place.run("history", f"flow/fork/{record['id']}", cwd=place.root).out.count("stamped") == 1
    place.sound()


@pytest.mark.slow
def test_whoever_is_killed_whenever_nothing_is_left_and_nothing_is_lost(place: Place) -> None:
    """Parents, supervisors and children of twenty-four forks, killed at moments that are drawn by lot."""
    draw, waits = random.Random(7), []
    kinds = {**children.HANGING, **children.ENDING}
    del kinds[
        "cleared"
    ]  # who clears its environment is not found once parent and supervisor were killed at the same instant
    for number in range(24):
        process = place.start(
            f"lot{number}",
            sys.executable,
            "-c",
            kinds[draw.choice(sorted(kinds))],
            place.mark,
            options=("--limit-minutes", "0.05"),
        )
        waits.append(process)
        time.sleep(draw.random() / 2)
        victims = [process.pid, *_below(process.pid)]
        for pid in draw.sample(victims, draw.randint(0, len(victims))):
            with suppress(OSError):
                os.kill(pid, draw.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM)))
    for process in waits:
        process.communicate(timeout=120)
    assert eventually(lambda: all(one["reason"] for one in place.run("forks", "--json", cwd=place.root).json["forks"]))
    listed = place.run("forks", "--json", cwd=place.root).json
    assert listed["broken"] == []
    for one in listed["forks"]:
        assert place.run("forks", "verify", one["id"], cwd=place.root).code == 0, one
    place.sound()


def _below(parent: int) -> list[int]:
    return sorted(proc.descendants(parent))
