"""O-STO: many writers, two sessions, a full disk, a held lock, a long job beside others."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest
from tests.cli.hands import FIRST, Kept, ended, refused, said, sha256, start
from tests.conftest import environment, indelible_command

SAVE_MANY = """
import io, sys
from indelible.cli.main import run
name, count = sys.argv[1:]
for number in range(int(count)):
    sys.stdin = io.TextIOWrapper(io.BytesIO(f"{name} {number}\\n".encode() * 9))
    if code := run(["save", f"{name}/{number}", "-"]):
        sys.exit(code)
"""
"""What 50 calls of the command do, without 50 starts of an interpreter."""


@pytest.mark.slow
def test_sixteen_processes_save_fifty_memories_each(kept: Kept) -> None:
    """O-STO-01: all there, each verified, nothing left behind."""
    command = [sys.executable, "-c", SAVE_MANY]
    writers = [
        subprocess.Popen(
            [*command, f"writer-{number}", "50"],
            cwd=kept.work,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment(),
        )
        for number in range(16)
    ]
    for writer in writers:
        _, err = writer.communicate(timeout=300)
        assert writer.returncode == 0, err.decode()
    listing = said(kept.run("list", "--limit", "2000", "--json"))
    assert listing["total"] == 801
    assert {item["key"]: item["sha256"] for item in listing["memories"]} == {
        "MEMORY.md": sha256(FIRST),
        **{
            f"writer-{name}/{number}": sha256(f"writer-{name} {number}\n".encode() * 9)
            for name in range(16)
            for number in range(50)
        },
    }
    assert kept.run("audit").code == 0
    assert {path.name for path in kept.store.parent.iterdir()} <= {"store.db", "store.db-wal", "store.db-shm"}


def test_commands_that_start_at_once_all_save(kept: Kept) -> None:
    """O-STO-01, with the installed command: twelve at once, of which the first needs the key to be made."""
    streams = [
        start("save", f"k{number}", kept.file(f"f{number}", b"%d" % number), "--agent", "fresh", cwd=kept.work)
        for number in range(12)
    ]
    for process in streams:
        ran = ended(process)
        assert ran.code == 0, ran
    assert said(kept.run("list", "--agent", "fresh", "--json"))["total"] == 12
    assert kept.run("audit", "--all-agents").code == 0


def test_the_later_of_two_sessions_does_not_lose_the_line_of_the_earlier(kept: Kept) -> None:
    """O-STO-02."""
    base = said(kept.run("load", "MEMORY.md", "--json"))["sha256"]
    a = kept.save("MEMORY.md", FIRST + b"line A\n", "--based-on", base)
    ran = kept.run("save", "MEMORY.md", "--based-on", base, input=FIRST + b"line B\n")
    refused(ran, 5, base, a)
    document = said(kept.run("save", "MEMORY.md", "--based-on", base, "--json", input=FIRST + b"line B\n"))
    assert (document["based_on"], document["actual"]) == (base, a)
    assert kept.load("MEMORY.md") == FIRST + b"line A\n"
    kept.save("MEMORY.md", FIRST + b"line A\nline B\n", "--based-on", a)


def test_a_full_disk_leaves_the_old_memory_and_says_so(small_disk: Kept) -> None:
    """O-STO-03."""
    big = os.urandom(150_000)
    small_disk.save("notes", b"before\n")
    code = 0
    for number in range(6):
        ran = small_disk.run("save", "notes", "-", input=big)
        if (code := ran.code) != 0:
            refused(ran, 1, "room")
            break
        big = os.urandom(150_000 + number)
    assert code == 1, "the disk was filled"
    assert said(small_disk.run("save", "notes", "--json", input=big))["slug"] in ("disk-full", "outcome-unknown")
    assert small_disk.load("MEMORY.md") == FIRST
    assert small_disk.run("verify", "notes").code == 0
    assert small_disk.run("audit").code == 0
    assert {path.name for path in small_disk.store.parent.iterdir()} <= {"store.db", "store.db-wal", "store.db-shm"}


def test_a_full_disk_under_a_loaded_file_leaves_the_old_file(small_disk: Kept) -> None:
    """O-STO-03, for `load -o`: the file is replaced whole or not at all."""
    target = small_disk.store.parent / "MEMORY.md"
    target.write_bytes(b"old\n")
    large = os.urandom(200_000)
    other = {"XDG_DATA_HOME": str(small_disk.home / "roomy")}
    assert small_disk.run("init", env=other).code == 0
    assert small_disk.run("save", "large", "-", input=large * 3, env=other).code == 0
    refused(small_disk.run("load", "large", "-o", target, env=other), 1, str(target))
    assert target.read_bytes() == b"old\n"
    assert not [path for path in target.parent.iterdir() if "tmp" in path.name]


HOLD = """
import sys, time, apsw
connection = apsw.Connection(sys.argv[1])
connection.execute("BEGIN IMMEDIATE")
connection.execute("INSERT OR REPLACE INTO op VALUES (0, 'held', 0)")
print("held", flush=True)
time.sleep(float(sys.argv[2]))
connection.execute("ROLLBACK")
"""


def hold(kept: Kept, seconds: float) -> subprocess.Popen[bytes]:
    """Another process that holds a write transaction on the store."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, kept.store, str(seconds)], stdout=subprocess.PIPE, env=environment()
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    return process


def test_a_lock_held_for_three_seconds_is_waited_for(kept: Kept) -> None:
    """O-STO-04."""
    process = hold(kept, 3)
    began = time.monotonic()
    ran = kept.run("save", "k", input=b"x")
    assert ran.code == 0, ran.err
    assert time.monotonic() - began > 1
    process.communicate(timeout=10)
    assert kept.load("k") == b"x"


@pytest.mark.slow
def test_a_lock_held_for_long_is_said_and_reads_go_on(kept: Kept) -> None:
    """O-STO-04: never a reply that says saved."""
    process = hold(kept, 60)
    try:
        writer = start("save", "k", kept.file("x", b"x"), "--json", cwd=kept.work)
        time.sleep(0.5)
        assert kept.run("load", "MEMORY.md").stdout == FIRST
        assert kept.run("verify", "MEMORY.md").code == 0
        assert kept.run("list").code == 0
        ran = ended(writer)
    finally:
        process.kill()
        process.communicate()
    assert ran.code == 1
    assert said(ran)["slug"] == "busy"
    assert "try again" in ran.err
    refused(kept.run("load", "k"), 3)


def test_a_long_job_does_not_write_its_old_snapshot_back(kept: Kept) -> None:
    """O-STO-05: an edit reads, pauses, and writes; meanwhile one key is saved, one erased, and the edited one changed."""
    kept.save("L", b"to be erased\n")
    command = " ".join(f"'{word}'" for word in indelible_command())
    editor = kept.work / "ed"
    editor.write_text(
        f'#!/bin/sh\nexec >&2\necho tidy > "$1"\necho k | {command} save K\n{command} erase L --yes\necho other | {command} save MEMORY.md\n',
        encoding="utf-8",
    )
    editor.chmod(0o755)
    refused(kept.run("edit", "MEMORY.md", "--editor", str(editor)), 5)
    assert kept.load("K") == b"k\n"
    refused(kept.run("load", "L"), 3)
    assert kept.load("MEMORY.md") == b"other\n"


@pytest.mark.parametrize("sig", ["KILL", "TERM", "INT"])
def test_a_save_that_is_ended_is_there_whole_or_not_at_all(kept: Kept, sig: str) -> None:
    import signal

    content = os.urandom(3_000_000)
    source = kept.file("source", content)
    for delay in (0.02, 0.08, 0.15):
        process = start("save", "k", source, cwd=kept.work)
        time.sleep(delay)
        process.send_signal(getattr(signal, f"SIG{sig}"))
        ran = ended(process)
        verified = kept.run("verify", "k", source)
        assert verified.code in (0, 3), verified
        if ran.code == 0:
            assert verified.code == 0, "acknowledged, and lost"
    assert kept.load("MEMORY.md") == FIRST
    assert kept.run("audit").code == 0
    kept.save("k", b"after\n")
