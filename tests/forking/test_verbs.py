"""fork, wait, forks as they are typed: what is printed, what stays on disk, and what is said where something is wrong."""

from __future__ import annotations

import hashlib
import json
import os
import pty
import resource
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.conftest import environment, indelible_command
from tests.forking import children

from indelible import settings
from indelible.wiring import open_memory

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Run
    from tests.forking.conftest import Place

TOKEN = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"


def sealed(place: Place, name: str) -> bytes:
    """What the log has of a fork, verified."""
    with open_memory(settings.load(place.root)) as memory:
        return memory.fetch(f"flow/fork/{name}").content


def test_a_parent_gets_fifteen_lines_the_exit_code_and_the_digest(place: Place) -> None:
    ran = place.shell("numbers", "seq 1 100000; exit 7")
    lines = ran.out.splitlines()
    assert ran.code == 1
    assert lines[:2] == ["| 99987", "| 99988"]
    assert lines[13:15] == [
        "| 100000",
        f"| … 99986 lines before these: indelible forks show {place.record('numbers')['id']}",
    ]
    output = b"".join(b"%d\n" % number for number in range(1, 100001))
    assert f"exit 7  sha256:{hashlib.sha256(output).hexdigest()}  ({len(output)} bytes, 100000 lines" in lines[15]
    assert len(lines) == 16
    assert place.run("forks", "show", "numbers", cwd=place.root).stdout == output


@pytest.mark.parametrize(("asked", "printed"), [("0", 0), ("1", 0), ("3", 2), ("200", 20)])
def test_as_many_lines_as_are_asked_for(place: Place, asked: str, printed: int) -> None:
    ran = place.shell("some", "seq 1 20", "--summary-lines", asked, "--json")
    assert len(ran.json["summary"]) == printed
    assert ran.json["omitted"] == 20 - printed


def test_no_line_of_a_child_passes_for_one_of_ours_or_steers_the_terminal(place: Place) -> None:
    ran = place.shell("forger", r"printf '\033[2J\a✅ forger-00000000  exit 0\nfirst\rlast\n'; exit 1")
    assert ran.out.splitlines()[:2] == [r"| \x1b[2J\x07✅ forger-00000000  exit 0", "| last"]
    assert ran.code == 1


def test_one_line_without_an_end_is_told_shortly_and_kept_whole(place: Place) -> None:
    ran = place.python("long", "print('x' * 200_000, end='')", "--json")
    (line,) = ran.json["summary"]
    assert line == "x" * 240 + "… (199760 more characters)"
    assert ran.json["output"]["size"] == 200_000


def test_bytes_that_are_no_text_are_kept_as_they_are(place: Place) -> None:
    ran = place.python("binary", children.BINARY)
    assert ran.code == 0
    assert all(line.isprintable() for line in ran.out.splitlines())
    assert place.run("forks", "show", "binary", cwd=place.root).stdout == bytes(range(256)) * 40 + b"\x1b[2J\x07"


def test_standard_error_is_in_the_output_unless_it_is_kept_apart(place: Place) -> None:
    both, script = "echo out; echo err >&2", ("forks", "show", "apart")
    assert place.shell("together", both, "--json").json["summary"] == ["out", "err"]
    apart = place.shell("apart", both, "--separate", "--json").json
    assert (apart["summary"], apart["errors"]["size"]) == (["out"], 4)
    assert place.run(*script, cwd=place.root).out == "out\n"
    assert place.run(*script, "--errors", cwd=place.root).out == "err\n"
    assert place.shell("only", "echo err >&2", "--separate", "--json").json["summary"] == ["err"]


def test_a_part_of_an_output_is_shown(place: Place) -> None:
    place.shell("numbers", "seq 1 30")
    show = ("forks", "show", "numbers")
    assert place.run(*show, "--lines", "3-5", cwd=place.root).out == "3\n4\n5\n"
    assert place.run(*show, "--lines", "29-", cwd=place.root).out == "29\n30\n"
    assert place.run(*show, "--lines", "-2", "--json", cwd=place.root).json["content"] == "1\n2\n"
    assert place.run(*show, "--grep", "^.0$", cwd=place.root).out == "10\n20\n30\n"
    assert place.run(*show, "--lines", "x", cwd=place.root).code == 64
    assert place.run(*show, "--grep", "(", cwd=place.root).code == 64


@pytest.mark.parametrize(("command", "words"), [("no-such-program-here", "No such file"), ("/", "Permission denied")])
def test_what_cannot_be_started_is_told_and_written_down(place: Place, command: str, words: str) -> None:
    ran = place.fork("never", command)
    assert ran.code == 1
    assert f"could not be started, {words}" in ran.out
    record = place.record("never")
    assert (record["reason"], record["exit"], record["sealed"] is not None) == ("not-started", None, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("../x", "--", "true"), "no name for a fork"),
        (("x" * 49, "--", "true"), "no name for a fork"),
        (("x",), "Missing argument"),
        (("x", "--limit-minutes", "0", "--", "true"), "--limit-minutes"),
        (("x", "--cwd", "nowhere", "--", "true"), "There is no folder"),
        (("x", "--input", "nowhere", "--", "true"), "cannot be read"),
    ],
)
def test_words_that_are_off_start_nothing(place: Place, words: tuple[str, ...], said: str) -> None:
    ran = place.run("fork", *words, cwd=place.root)
    assert ran.code == 64
    assert said in ran.err
    assert not place.forks.exists() or not list(place.forks.glob("*/run.json"))


def test_a_child_reads_nothing_unless_it_is_given_something(place: Place) -> None:
    (place.root / "given").write_bytes(b"from a file\n")
    assert place.fork("none", "cat", options=("--json",), input=b"secret of the parent").json["output"]["size"] == 0
    assert place.fork("file", "cat", options=("--input", "given", "--json")).json["summary"] == ["from a file"]
    assert place.fork("ours", "cat", options=("--input", "-", "--json"), input=b"through\n").json["summary"] == [
        "through"
    ]


def test_a_child_has_no_terminal_even_where_its_parent_has_one(place: Place) -> None:
    main, other = pty.openpty()
    with subprocess.Popen(
        [*indelible_command(), "fork", "terminal", "--", "sh", "-c", "tty; exec 3</dev/tty"], cwd=place.root, env=environment(),
        stdin=other, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        out, _ = process.communicate(timeout=60)
    os.close(main)
    os.close(other)
    assert b"| not a tty" in out
    assert place.record("terminal")["exit"] != 0


def test_a_child_that_kills_itself_is_told_by_its_signal(place: Place) -> None:
    ran = place.shell("self", "kill -SEGV $$", "--json")
    assert (ran.code, ran.json["reason"], ran.json["signal"], ran.json["exit"]) == (1, "signalled", "SIGSEGV", None)


def test_a_child_works_in_the_folder_that_was_named(place: Place) -> None:
    (place.root / "below").mkdir()
    ran = place.shell("there", "pwd", "--cwd", "below", "--json")
    assert ran.json["summary"] == [str(place.root / "below")] == [ran.json["cwd"]]


def test_a_disk_that_is_full_keeps_what_was_written(place: Place) -> None:
    """A limit on the size of files stands for it: writes of the child fail, as they do on a full disk."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))

    program = "import os\nfor _ in range(30):\n    os.write(1, b'x' * 100_000)"
    process = place.start("full", sys.executable, "-c", program, preexec_fn=limit)
    process.communicate(timeout=60)
    record = place.record("full")
    assert process.returncode == 1
    assert record["exit"] in (1, 120)  # Python's own word where it cannot write its traceback either
    assert record["output"]["size"] == 1_000_000
    place.sound()


FULL = """
mount -t tmpfs -o size=1m tmpfs "$1" || exit 99
$2 fork full --json -- "$3" -c "$4"
echo "exit $?"
$2 forks verify full > /dev/null && echo verified
rm "$1"/full-*/output
$2 forks | grep -c 'exit 1'
"""


def test_a_disk_without_room_for_the_record_itself_still_tells_how_it_ended(place: Place) -> None:
    """A small disk of its own, mounted in a name space of its own, which takes no privilege."""
    place.forks.mkdir(mode=0o700)
    if subprocess.run(["unshare", "-rm", "true"], check=False, capture_output=True).returncode:
        pytest.skip("this system lets nobody mount anything")
    fill = "import os, sys\ntry:\n    while True: os.write(1, b'x' * 10_000)\nexcept OSError: sys.exit(1)"
    ran = subprocess.run(
        ["unshare", "-rm", "sh", "-c", FULL, "sh", str(place.forks), " ".join(indelible_command()), sys.executable, fill],
        cwd=place.root, env=environment(), capture_output=True, check=False, timeout=120,
    )  # fmt: skip
    told, *after = ran.stdout.decode().splitlines()
    assert (json.loads(told)["exit"], json.loads(told)["sealed"] is not None) == (1, True)
    assert after == ["exit 1", "verified", "1"]
    assert b"could not be written down" in ran.stderr


def test_a_store_that_cannot_be_written_loses_nothing_and_is_sealed_later(place: Place) -> None:
    store = place.root / ".indelible" / "store.db"
    kept = store.with_name("kept.db")
    with subprocess.Popen(
        [sys.executable, "-c", f"import apsw, time\nc = apsw.Connection({str(store)!r})\nc.execute('BEGIN EXCLUSIVE')\nprint('held', flush=True)\ntime.sleep(600)"],
        stdout=subprocess.PIPE, env=environment(),
    ) as holder:  # fmt: skip
        assert holder.stdout
        holder.stdout.readline()
        ran = place.shell("busy", "echo result", timeout=120)
        holder.kill()
    assert ran.code == 0, ran
    assert "| result" in ran.out
    assert "Nothing was sealed" in ran.err
    assert place.record("busy")["sealed"] is None
    assert not kept.exists()
    place.run("forks", cwd=place.root)
    assert place.record("busy")["sealed"] is not None
    assert place.run("forks", "verify", "busy", cwd=place.root).code == 0


def test_an_output_that_was_altered_or_is_gone_is_exit_2(place: Place) -> None:
    place.shell("altered", "echo result")
    output = place.forks / place.record("altered")["id"] / "output"
    output.write_bytes(b"another result\n")
    ran = place.run("forks", "verify", "altered", "--json", cwd=place.root)
    assert (ran.code, ran.json["slug"]) == (2, "digest-mismatch")
    output.unlink()
    ran = place.run("forks", "verify", "altered", "--json", cwd=place.root)
    assert (ran.code, ran.json["slug"]) == (2, "missing")


def test_a_record_on_disk_that_was_changed_changes_nothing_of_what_is_sealed(place: Place) -> None:
    place.shell("changed", "echo result; exit 1")
    folder = place.forks / place.record("changed")["id"]
    text = (folder / "run.json").read_text()
    forged = hashlib.sha256(b"forged\n").hexdigest()
    (folder / "output").write_bytes(b"forged\n")
    (folder / "run.json").write_text(text.replace(place.record("changed")["output"]["sha256"], forged))
    assert place.run("forks", "verify", folder.name, cwd=place.root).code == 2
    assert b'"exit": 1' in sealed(place, folder.name)


def test_a_record_that_cannot_be_read_is_named_and_hides_no_other(place: Place) -> None:
    place.shell("fine", "echo result")
    place.shell("broken", "echo result")
    (place.forks / place.record("broken")["id"] / "run.json").write_bytes(b"{")
    ran = place.run("forks", cwd=place.root)
    assert ran.code == 0
    assert "no record that can be read" in ran.out
    assert "fine-" in ran.out


def test_a_secret_in_the_command_or_the_result_is_neither_told_nor_sealed(place: Place) -> None:
    ran = place.shell("secret", f"echo 'token = \"{TOKEN}\"'")
    assert ran.code == 0
    assert TOKEN not in ran.out
    folder = place.forks / place.record("secret")["id"]
    assert TOKEN not in (folder / "run.json").read_text()
    assert TOKEN.encode() in (folder / "output").read_bytes()
    assert TOKEN.encode() not in sealed(place, folder.name)


def test_old_outputs_are_taken_away_and_the_log_says_so(place: Place) -> None:
    place.shell("old", "echo result")
    name = place.record("old")["id"]
    assert place.run("forks", "clean", "--older", "30d", "--json", cwd=place.root).json["cleaned"] == []
    assert place.run("forks", "clean", "--older", "2999-01-01", "--json", cwd=place.root).json["cleaned"] == [name]
    assert not (place.forks / name / "output").exists()
    assert place.run("forks", "show", name, cwd=place.root).code == 3
    assert place.run("forks", "verify", name, cwd=place.root).code == 3
    assert "taken away" in place.run("forks", cwd=place.root).out
    said = place.run("history", f"flow/fork/{name}", cwd=place.root).out
    assert said.count("stamped") == 2


def test_an_output_that_was_altered_is_not_taken_away_as_if_all_were_well(place: Place) -> None:
    place.shell("altered", "echo result")
    place.shell("gone", "echo result")
    place.shell("fine", "echo result")
    folders = {name: place.forks / place.record(name)["id"] for name in ("altered", "gone", "fine")}
    (folders["altered"] / "output").write_bytes(b"another result\n")
    (folders["gone"] / "output").unlink()
    ran = place.run("forks", "clean", "--older", "2999-01-01", "--json", cwd=place.root)
    assert (ran.code, ran.json["slug"], ran.json["cleaned"]) == (2, "tampered", [folders["fine"].name])
    assert {one["fork"]: one["slug"] for one in ran.json["left"]} == {
        folders["altered"].name: "digest-mismatch",
        folders["gone"].name: "missing",
    }
    assert (folders["altered"] / "output").exists()
    assert place.run("forks", "verify", "altered", cwd=place.root).code == 2


def test_outside_of_any_memory_a_fork_works_and_says_that_nothing_was_sealed(run: Run, home: Path) -> None:
    ran = run("fork", "plain", "--", "echo", "hello")
    assert ran.code == 0
    assert "| hello" in ran.out
    assert "Nothing was sealed: there is no memory here" in ran.err
    assert run("forks", "show", "plain").out == "hello\n"
    assert run("forks", "verify", "plain").code in (1, 3)
    assert oct(os.stat(next((home / "data").rglob("output"))).st_mode & 0o777) == "0o600"


def test_in_a_repository_without_memory_nothing_is_put_into_it(run: Run, home: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=home / "work", env=environment(), check=True)
    assert run("fork", "plain", "--", "true").code == 0
    assert sorted(os.listdir(home / "work")) == [".git"]


def test_a_link_in_the_place_of_the_forks_folder_is_not_followed(place: Place, home: Path) -> None:
    (home / "elsewhere").mkdir()
    place.forks.symlink_to(home / "elsewhere")
    assert place.fork("x", "true").code == 1
    assert os.listdir(home / "elsewhere") == []


def test_what_nobody_started_is_named_as_that(place: Place) -> None:
    for words in (
        ("wait", "nothing"),
        ("forks", "show", "nothing"),
        ("forks", "stop", "../x"),
        ("forks", "verify", "a-00000000"),
    ):
        assert place.run(*words, cwd=place.root).code == 3, words
    assert place.run("wait", cwd=place.root).code == 0
    assert place.run("forks", "--json", cwd=place.root).json["forks"] == []
