"""O-OPS-01: what is printed fits the console, and no console changes an exit code."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from tests.cli.hands import FIRST, Kept, ended, said, sha256, start

CONSOLES = {
    "cp949": {"PYTHONIOENCODING": "cp949"},
    "cp1252": {"PYTHONIOENCODING": "cp1252"},
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "posix": {"LC_ALL": "C"},
    "posix-strictly": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "utf-16": {"PYTHONIOENCODING": "utf-16"},
    "strict": {"PYTHONIOENCODING": "ascii:strict"},
}


@pytest.mark.parametrize("console", CONSOLES)
def test_verify_says_the_same_on_every_console(kept: Kept, console: str) -> None:
    env = CONSOLES[console]
    good = kept.run("verify", "MEMORY.md", env=env)
    assert good.code == 0, good.stderr
    assert b"Traceback" not in good.stderr
    if console in ("cp949", "cp1252", "ascii", "strict", "posix-strictly"):
        assert good.stdout.startswith(b"[OK] verified  sha256:")
    kept.alter()
    bad = kept.run("verify", "MEMORY.md", env=env)
    assert bad.code == 2
    assert b"Traceback" not in bad.stderr
    if console in ("cp949", "cp1252", "ascii", "strict", "posix-strictly"):
        assert bad.stdout.startswith(b"[FAIL] tampering found - do not restore")


@pytest.mark.parametrize("console", CONSOLES)
def test_keys_of_any_script_are_shown_or_escaped(kept: Kept, console: str) -> None:
    kept.save("메모-🧠-ñ", b"x")
    for words in (
        ("list",),
        ("history", "메모-🧠-ñ"),
        ("audit",),
        ("doctor",),
        ("diff", "메모-🧠-ñ"),
        ("incident",),
        ("--help",),
        ("load", "nothing-메모"),
    ):
        ran = kept.run(*words, env=CONSOLES[console])
        if console == "posix-strictly" and not words[-1].isascii():
            assert ran.code == 64, "Python was told not to read the arguments as UTF-8"
        else:
            assert ran.code == (3 if words[0] == "load" else 0), ran
        assert b"Traceback" not in ran.stderr
    listed = kept.run("list", env=CONSOLES[console]).stdout
    if console == "ascii":
        assert b"\\uba54\\ubaa8-\\U0001f9e0-\\xf1" in listed


@pytest.mark.parametrize("console", ["cp949", "ascii", "posix-strictly"])
def test_the_bytes_of_a_memory_do_not_depend_on_the_console(kept: Kept, console: str) -> None:
    assert kept.run("load", "MEMORY.md", env=CONSOLES[console]).stdout == FIRST
    assert kept.run("save", "other", "-", input=FIRST, env=CONSOLES[console]).code == 0
    assert kept.load("other") == FIRST


def test_json_is_whole_on_a_console_that_cannot_show_it(kept: Kept) -> None:
    """Escapes of ours (`\\xf1`, `\\U0001f9e0`) are none that JSON has."""
    kept.save("메모-🧠", b"x")
    for env in ({"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "cp1252"}, {"PYTHONIOENCODING": "cp949"}):
        ran = kept.run("list", "--json", env=env)
        assert "메모-🧠" in [item["key"] for item in said(ran)["memories"]]
        if env["PYTHONIOENCODING"] == "cp949":
            assert said(kept.run("load", "체크섬", "--json", env=env))["exit_code"] == 3


CLOSED = {
    "stdout": 'exec "$@" >&-',
    "stderr": 'exec "$@" 2>&-',
    "both": 'exec "$@" >&- 2>&-',
    "all": 'exec "$@" <&- >&- 2>&-',
}


@pytest.mark.skipif(os.name != "posix", reason="closed as a POSIX shell closes")
@pytest.mark.parametrize("closed", CLOSED)
def test_closed_streams_change_no_exit_code(kept: Kept, closed: str) -> None:
    def code(*words: str) -> int:
        ran = ended(start(*words, cwd=kept.work, prefix=("sh", "-c", CLOSED[closed], "sh")))
        assert b"Traceback" not in ran.stderr
        return ran.code

    assert code("verify", "MEMORY.md") == 0
    assert code("verify", "--json", "MEMORY.md") == 0
    assert code("verify", "nothing") == 3
    assert code("--version") == 0
    assert code("list") == 0
    assert code("bogus") == 64
    kept.alter()
    assert code("verify", "MEMORY.md") == 2
    assert code("verify", "--", "MEMORY.md") == 2
    assert code("list") == 2
    assert code("audit") == 2


@pytest.mark.skipif(os.name != "posix", reason="closed as a POSIX shell closes")
def test_a_closed_stream_is_not_written_into_the_store(kept: Kept) -> None:
    """A file opened next gets the number 1 or 2; what is printed may not land in it."""
    ran = ended(start("save", "k", "-", cwd=kept.work, prefix=("sh", "-c", 'exec "$@" >&- 2>&-', "sh")))
    assert ran.code == 0
    assert kept.load("k") == b""
    assert kept.run("audit").code == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_a_verdict_stands_where_standard_output_is_full(kept: Kept) -> None:
    with open("/dev/full", "wb") as full:
        assert ended(start("verify", "MEMORY.md", cwd=kept.work, stdout=full, stderr=full)).code == 0
        kept.alter()
        assert ended(start("verify", "MEMORY.md", cwd=kept.work, stdout=full, stderr=full)).code == 2
        assert ended(start("verify", "--json", "MEMORY.md", cwd=kept.work, stdout=full, stderr=full)).code == 2


@pytest.mark.skipif(os.name != "posix", reason="pipes of a POSIX shell")
@pytest.mark.parametrize(
    "words", [("verify", "MEMORY.md"), ("list",), ("--json", "list"), ("audit",), ("history", "MEMORY.md"), ("doctor",)]
)
def test_a_pipe_that_nobody_reads_changes_no_exit_code(kept: Kept, words: tuple[str, ...]) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "wb") as pipe:
        ran = ended(start(*words, cwd=kept.work, stdout=pipe))
    assert ran.code == 0
    assert ran.stderr == b""


@pytest.mark.skipif(os.name != "posix", reason="no such names elsewhere")
def test_a_name_from_outside_cannot_steer_the_terminal(kept: Kept) -> None:
    """The path of a store, a file's name, a reason: nothing of it reaches the terminal as it is."""
    odd = kept.work / "a\x1b[31mb\x07"
    odd.mkdir()
    for words in (
        ("init", "--store", odd / "s.db"), ("doctor", "--store", odd / "s.db"), ("verify", "k", "--store", odd / "none.db"),
        ("verify", "MEMORY.md", odd), ("save", "k", odd / "none"), ("load", "MEMORY.md", "-o", odd / "out"), ("checkpoint", "-o", odd / "note"),
        ("adopt", odd), ("diff", "MEMORY.md", odd / "none"), ("verify", "MEMORY.md", odd / "out"), ("incident", "--store", odd / "s.db"),
    ):  # fmt: skip
        ran = kept.run(*words)
        assert b"\x1b" not in ran.stdout + ran.stderr, (words, ran)
        assert b"\x07" not in ran.stdout + ran.stderr, (words, ran)


def test_what_is_said_goes_to_the_right_stream(kept: Kept) -> None:
    good = kept.run("load", "MEMORY.md")
    assert good.err.split() == ["⚠️", "unreviewed"]
    missing = kept.run("load", "nothing")
    assert missing.stdout == b""
    kept.be_new()
    first = kept.run("verify", "MEMORY.md")
    assert "rollback" not in first.out
    assert "rollback" in first.err


@pytest.mark.skipif(sys.platform != "linux", reason="needs a pseudo terminal")
def test_long_work_shows_its_progress_on_a_terminal_only(kept: Kept) -> None:
    for number in range(3):
        kept.save(f"k{number}", b"x")
    piped = kept.run("audit")
    assert piped.stderr == b""
    leader, follower = os.openpty()
    process = start("audit", cwd=kept.work, stderr=follower, env={"TERM": "xterm"})
    os.close(follower)
    out, _ = process.communicate(timeout=60)
    drawn = b""
    while True:
        try:
            chunk = os.read(leader, 65536)
        except OSError:
            break
        if not chunk:
            break
        drawn += chunk
    os.close(leader)
    assert process.returncode == 0
    assert b"Auditing" in drawn
    assert "✅ default" in out.decode()


def test_the_digest_is_that_of_sha256sum(kept: Kept) -> None:
    path = kept.file("MEMORY.md", FIRST)
    try:
        done = subprocess.run(["sha256sum", path], capture_output=True, check=True, text=True)
    except FileNotFoundError:
        pytest.skip("there is no sha256sum here")
    assert done.stdout.split()[0] == sha256(FIRST)
    assert f"sha256:{done.stdout.split()[0]}" in kept.run("verify", "MEMORY.md").out
