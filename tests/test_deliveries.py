"""The journal of deliveries: numbers that stay, nothing that holds anything up, nothing that is said of content."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import environment

from indelible.deliveries import Delivery, Journal, Reviewed, journal_of, outcome_of
from indelible.deliveries.row import from_row, to_row
from indelible.errors import Unchecked

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

AT = "2026-11-30T09:00:00Z"
HEX = "ab" * 32
FULL = Delivery(
    AT, "mcp", "MEMORY.md", 3, 17, "delivered", "eros", "agent:eros", "urn:uuid:0193", HEX, "cd" * 32, "ef" * 32, "anchored",
    "default", '{"branch":"main"}', (("in-scope", "it is"),), (("unreviewed", "nobody looked"),),
    Reviewed("approve", "human:ada", AT), (18, "12" * 32), "reference",
)  # fmt: skip
ADDING = """
import sys
from indelible.deliveries import Delivery, journal_of
journal = journal_of(sys.argv[1], "log")
print("ready", flush=True)
for n in range(int(sys.argv[3])):
    print(journal.add(Delivery("2026-11-30T09:00:00Z", "load", f"{sys.argv[2]}-{n}")), flush=True)
"""


@dataclass
class Kept:
    """A state folder with the journal of one log."""

    state: str

    @property
    def journal(self) -> Journal:
        return journal_of(self.state, "log")

    @property
    def path(self) -> str:
        return self.journal.path

    def sql(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with closing(apsw.Connection(self.path)) as connection:
            return connection.execute(statement, values).fetchall()

    def raw(self) -> bytes:
        """Every byte of every file of the journal."""
        found = b""
        for suffix in ("", "-wal", "-shm"):
            if os.path.exists(self.path + suffix):
                with open(self.path + suffix, "rb") as file:
                    found += file.read()
        return found

    def start(self, name: str, count: int) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", ADDING, self.state, name, str(count)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, env=environment())


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(str(tmp_path / "state"))


def add(journal: Journal, *keys: str, at: str = AT) -> list[int | None]:
    return [journal.add(Delivery(at, "load", key)) for key in keys]


# What is kept.


def test_a_delivery_comes_back_as_it_was_with_its_number(kept: Kept) -> None:
    journal = kept.journal
    assert journal.add(FULL) == 1
    assert journal.get(1) == FULL._replace(number=1)
    assert journal.get(2) is None
    assert journal.warning == ""
    assert FULL.as_dict()["checkpoint"] == {"size": 18, "root": "12" * 32}
    assert json.loads(json.dumps(FULL.as_dict()))["reasons"] == [{"slug": "in-scope", "message": "it is"}]


text = st.text(st.characters(codec="utf-8"), max_size=20)
pairs = st.lists(st.tuples(text, text), max_size=3).map(tuple)
digests = st.binary(min_size=32, max_size=32).filter(any).map(bytes.hex)


@given(
    st.builds(
        Delivery,
        text,
        text,
        text,
        st.integers(0, 2**40),
        st.integers(0, 2**40),
        text,
        text,
        text,
        text,
        digests,
        digests,
        st.none() | digests,
        text,
        text,
        st.just("{}"),
        pairs,
        pairs,
        st.none() | st.builds(Reviewed, text, text, text),
        st.none() | st.tuples(st.integers(0, 2**40), digests),
        st.none() | text,
    )
)
def test_every_delivery_goes_into_a_row_and_out_again(one: Delivery) -> None:
    assert from_row((7, *to_row(one))) == one._replace(number=7)


def test_the_file_is_made_at_the_first_delivery_and_is_nobody_elses(kept: Kept) -> None:
    journal = kept.journal
    assert list(journal.read()) == []
    assert not os.path.exists(kept.state)
    add(journal, "a")
    assert os.stat(kept.path).st_mode & 0o777 == 0o600
    assert os.stat(os.path.dirname(kept.path)).st_mode & 0o777 == 0o700


def test_what_is_asked_for_is_what_is_read(kept: Kept) -> None:
    journal = kept.journal
    for number in range(2500):
        journal.add(
            Delivery(f"2026-11-{1 + number // 100:02}T00:00:00Z", "load" if number % 2 else "verify", f"k{number % 5}")
        )
    journal.add(Delivery(AT, "boot", "k1", outcome="held", id="urn:x"))
    assert [one.number for one in journal.read()] == list(range(1, 2502))
    assert [one.number for one in journal.read(after=2499)] == [2500, 2501]
    assert [one.number for one in journal.read(limit=1001)] == list(range(1, 1002))
    assert [one.number for one in journal.read(last=3)] == [2499, 2500, 2501]
    assert [one.number for one in journal.read(key="k2", last=2)] == [2493, 2498]
    assert [one.number for one in journal.read(key="none", last=2)] == []
    assert {one.key for one in journal.read(key="k3")} == {"k3"}
    assert [one.number for one in journal.read(outcome="held")] == [2501]
    assert [one.number for one in journal.read(id="urn:x")] == [2501]
    assert [one.number for one in journal.read(door="boot")] == [2501]
    days = {one.at[:10] for one in journal.read(since="2026-11-03T00:00:00Z", until="2026-11-05T00:00:00Z")}
    assert days == {"2026-11-03", "2026-11-04"}


def test_a_door_alone_tells_the_outcome() -> None:
    assert [outcome_of(door) for door in ("verify", "save", "load", "mcp")] == [
        "verified",
        "saved",
        "delivered",
        "delivered",
    ]


# Rows that somebody altered.

ALTERED = (
    ("reasons", "nope"), ("reasons", '["ab"]'), ("reasons", '[["a", 1]]'), ("notes", "{}"), ("review", "[1]"), ("review", "{}"),
    ("review", "[" * 100_000), ("checkpoint", "x y"), ("checkpoint", ""), ("checkpoint", "3"), ("context", "[1,2"), ("context", "[]"),
    ("context", '{"a": "\\ud800"}'), ("context", ""),
)  # fmt: skip


@pytest.mark.parametrize(("column", "value"), ALTERED)
def test_a_row_that_was_altered_is_passed_over_and_said(kept: Kept, column: str, value: str) -> None:
    journal = kept.journal
    for _ in range(3):
        journal.add(FULL)
    kept.sql(f"UPDATE delivery SET {column} = ? WHERE number = 2", value)
    assert [one.number for one in journal.read()] == [1, 3]
    assert journal.warning == "Delivery 2 was altered and cannot be read"
    with pytest.raises(Unchecked, match="Delivery 2 was altered"):
        journal.get(2)
    assert journal.get(3) == FULL._replace(number=3)


def test_a_text_that_is_none_hides_no_other_row(kept: Kept) -> None:
    journal = kept.journal
    for _ in range(4):
        journal.add(FULL)
    kept.sql("UPDATE delivery SET door = CAST(x'ff' AS TEXT) WHERE number IN (2, 3)")
    assert [one.number for one in journal.read()] == [1, 4]
    assert journal.warning == "Deliveries 2, 3 were altered and cannot be read"
    with pytest.raises(Unchecked):
        journal.get(2)


def test_a_file_with_columns_of_other_types_is_passed_over_row_by_row(kept: Kept) -> None:
    journal = kept.journal
    journal.add(FULL)
    kept.sql("CREATE TABLE other AS SELECT * FROM delivery")
    kept.sql("DROP TABLE delivery")
    kept.sql("ALTER TABLE other RENAME TO delivery")
    for number in range(2, 12):
        kept.sql("INSERT INTO delivery(number, at, leaf) VALUES (?, 7, 'text')", number)
    assert [one.number for one in journal.read()] == [1]
    assert journal.warning == "Deliveries 2, 3, 4, 5, 6 and 5 more were altered and cannot be read"


def test_a_page_is_full_though_a_row_in_it_was_altered(kept: Kept) -> None:
    journal = kept.journal
    add(journal, *"abcd")
    kept.sql("UPDATE delivery SET notes = '' WHERE number = 2")
    assert [one.key for one in journal.read(limit=2)] == ["a", "c"]


# Erasure and retention.


def test_an_erased_memorys_digests_are_in_no_byte_of_the_journal_and_all_else_stays(kept: Kept) -> None:
    journal = kept.journal
    for number in range(300):
        digest = f"{number % 3:02x}" * 32
        journal.add(FULL._replace(key=f"k{number % 3}", sha256=digest))
    assert bytes.fromhex("01" * 32) in kept.raw()
    assert journal.forget_digests("k1") == 100
    assert bytes.fromhex("01" * 32) not in kept.raw()
    assert os.path.getsize(kept.path + "-wal") == 0
    assert {one.sha256 for one in journal.read(key="k1")} == {None}
    assert {one.commitment for one in journal.read(key="k1")} == {"cd" * 32}
    assert {one.sha256 for one in journal.read(key="k2")} == {"02" * 32}
    assert [one.number for one in journal.read()] == list(range(1, 301))


def test_digests_that_cannot_be_taken_away_because_somebody_reads_are_said(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("indelible.deliveries.journal.BUSY_MS", 50)
    journal = kept.journal
    journal.add(FULL)
    with closing(apsw.Connection(kept.path)) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM delivery").fetchall()
        with pytest.raises(apsw.BusyError):
            journal.forget_digests("MEMORY.md")


def test_pruning_drops_what_is_old_from_every_byte_and_gives_no_number_again(kept: Kept) -> None:
    journal = kept.journal
    for number in range(400):
        journal.add(
            FULL._replace(
                at="2026-01-01T00:00:00Z" if number % 2 else AT, key=f"{'old' if number % 2 else 'new'}-{number}"
            )
        )
    assert journal.prune("2026-06-01T00:00:00Z") == 200
    assert b"old-" not in kept.raw()
    assert [one.number for one in journal.read()] == list(range(1, 401, 2))
    assert journal.prune("2027-01-01T00:00:00Z") == 200
    assert add(journal, "next") == [401]
    assert journal.prune("2020-01-01T00:00:00Z") == 0


def test_where_there_is_no_journal_nothing_is_made_for_an_erasure(kept: Kept) -> None:
    assert (kept.journal.forget_digests("k"), kept.journal.prune(AT)) == (0, 0)
    assert not os.path.exists(kept.state)


# Earlier versions.


def test_the_lines_of_earlier_versions_are_carried_over_once(kept: Kept) -> None:
    folder = os.path.dirname(kept.path)
    os.makedirs(folder)
    lines = [[AT, "verify", "a", 1, 4], [AT, "load", "나", 2, 5], [AT, "save", "c", 1, 6]]
    with open(os.path.join(folder, "log.jsonl.1"), "w", encoding="ascii") as file:
        file.write(json.dumps(lines[0]) + "\n")
    with open(os.path.join(folder, "log.jsonl"), "w", encoding="ascii") as file:
        file.write("".join(json.dumps(line) + "\n" for line in lines[1:]))
        file.write('\n[]\n["\\ud800", "load", "x", 1, 1]\n["a", "b", "c", 1e999, 1]\n["2026-11-30T09:00:00Z","lo')
    journal = kept.journal
    assert add(journal, "new") == [4]
    assert [(one.number, one.door, one.key, one.version, one.seq, one.outcome) for one in journal.read()] == [
        (1, "verify", "a", 1, 4, "verified"), (2, "load", "나", 2, 5, "delivered"), (3, "save", "c", 1, 6, "saved"),
        (4, "load", "new", 0, 0, "delivered"),
    ]  # fmt: skip
    assert sorted(os.listdir(folder))[-2:] == ["log.jsonl.1.carried", "log.jsonl.carried"]


# What must hold nothing up.


def _folder(path: str) -> None:
    os.unlink(path)
    os.mkdir(path)


def _link(path: str) -> None:
    os.rename(path, path + ".elsewhere")
    os.symlink(path + ".elsewhere", path)


def _pipe(path: str) -> None:
    os.unlink(path)
    os.mkfifo(path)


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _write(path: str, data: bytes) -> None:
    for suffix in ("-wal", "-shm"):
        if os.path.exists(path + suffix):
            os.unlink(path + suffix)
    with open(path, "wb") as file:
        file.write(data)


def _foreign(path: str, application: int = 7) -> None:
    _write(path, b"")
    os.unlink(path)
    with closing(apsw.Connection(path)) as connection:
        connection.execute(f"CREATE TABLE other (x); PRAGMA application_id = {application}")


DAMAGE: dict[str, Callable[[str], None]] = {
    "no database": lambda path: _write(path, b"not a database at all\n" * 100),
    "empty": lambda path: _write(path, b""),
    "cut": lambda path: _write(path, _read(path)[:5000]),
    "somebody else's": _foreign,
    "another table": lambda path: _foreign(path, 0x494E4401),
    "a folder": _folder,
    "a link": _link,
    "a pipe": _pipe,
}


@pytest.mark.skipif(os.name != "posix", reason="pipes and links as POSIX has them")
@pytest.mark.parametrize("damage", DAMAGE)
def test_what_is_no_journal_is_kept_aside_and_said(kept: Kept, damage: str) -> None:
    journal = kept.journal
    add(journal, *(f"k{n}" for n in range(100)))
    journal.prune("2000-01-01T00:00:00Z")
    journal.close()
    with closing(apsw.Connection(kept.path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    DAMAGE[damage](kept.path)
    late = kept.journal
    number = late.add(FULL)
    assert number is not None
    assert "kept as" in late.warning
    assert os.path.lexists(kept.path + ".damaged")
    assert late.get(number) == FULL._replace(number=number)
    again = kept.journal
    assert again.add(FULL) == number + 1
    assert again.warning == ""


def test_no_number_is_given_again_after_damage_that_left_the_last_one_readable(kept: Kept) -> None:
    journal = kept.journal
    add(journal, "a", "b", "c")
    journal.close()
    kept.sql("DROP TABLE delivery")
    kept.sql("INSERT INTO sqlite_sequence(name, seq) VALUES ('delivery', 3)")
    assert add(kept.journal, "d") == [4]


def test_a_second_damaged_journal_takes_nothing_from_the_first(kept: Kept) -> None:
    for content in (b"first", b"second"):
        add(kept.journal, "a")
        _write(kept.path, content * 1000)
    add(kept.journal, "a")
    assert _read(kept.path + ".damaged")[:5] == b"first"
    assert _read(kept.path + ".damaged2")[:6] == b"second"


def test_a_journal_of_a_newer_version_is_left_alone(kept: Kept) -> None:
    add(kept.journal, "a")
    kept.sql("PRAGMA application_id = 0x494E4402")
    journal = kept.journal
    assert add(journal, "b") == [None]
    assert "newer" in journal.warning
    assert not os.path.exists(kept.path + ".damaged")


def test_a_state_folder_that_cannot_be_made_is_a_warning(kept: Kept) -> None:
    with open(kept.state, "w", encoding="ascii") as file:
        file.write("in the way")
    journal = kept.journal
    assert add(journal, "a") == [None]
    assert "not noted" in journal.warning
    assert list(kept.journal.read()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="mounts as Linux has them")
def test_a_read_only_state_folder_is_a_warning_and_what_was_noted_can_be_read(kept: Kept) -> None:
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    os.makedirs(kept.state)
    done = subprocess.run(["mount", "-t", "tmpfs", "tmpfs", kept.state], check=False, capture_output=True)
    if done.returncode:
        pytest.skip("no tmpfs can be mounted here")
    try:
        journal = kept.journal
        add(journal, "a", "b")
        journal.close()
        subprocess.run(["mount", "-o", "remount,ro", kept.state], check=True)
        late = kept.journal
        assert add(late, "c") == [None]
        assert "not noted" in late.warning
        assert [one.key for one in kept.journal.read()] == ["a", "b"]
    finally:
        subprocess.run(["umount", "-l", kept.state], check=False)


@pytest.mark.skipif(sys.platform != "linux", reason="mounts as Linux has them")
def test_a_full_disk_is_a_warning(kept: Kept) -> None:
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    os.makedirs(kept.state)
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", kept.state], check=False, capture_output=True
    )
    if done.returncode:
        pytest.skip("no tmpfs can be mounted here")
    try:
        journal = kept.journal
        numbers = [journal.add(FULL._replace(context=json.dumps({"x": "y" * 2000}))) for _ in range(200)]
        assert numbers[0] == 1
        assert None in numbers
        assert "not noted" in journal.warning
        kept_numbers = [number for number in numbers if number is not None]
        assert [one.number for one in kept.journal.read()] == kept_numbers
        journal.close()
    finally:
        subprocess.run(["umount", "-l", kept.state], check=False)


def test_what_cannot_be_text_is_not_noted_and_raises_nothing(kept: Kept) -> None:
    journal = kept.journal
    assert journal.add(Delivery(AT, "load", "half \ud800")) is None
    assert journal.add(FULL._replace(leaf="no hex")) is None
    assert journal.add(FULL._replace(version=2**70)) is None
    assert add(journal, "a") == [1]


def test_a_writer_that_never_ends_holds_nobody_up(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indelible.deliveries.journal.BUSY_MS", 100)
    add(kept.journal, "a")
    with closing(apsw.Connection(kept.path)) as other:
        other.execute("BEGIN IMMEDIATE")
        journal, begun = kept.journal, time.monotonic()
        assert add(journal, "b") == [None]
        assert time.monotonic() - begun < 2
        assert "another process" in journal.warning


def test_a_file_that_was_taken_away_under_a_long_lived_process_is_made_again(kept: Kept) -> None:
    journal = kept.journal
    add(journal, "a")
    for suffix in ("", "-wal", "-shm"):
        os.unlink(kept.path + suffix)
    assert add(journal, "b") == [1]
    assert [one.key for one in kept.journal.read()] == ["b"]


# Several processes.


def test_two_processes_number_each_delivery_once(kept: Kept) -> None:
    both = [kept.start(name, 500) for name in ("one", "two")]
    numbers = [[int(line) for line in process.communicate(timeout=120)[0].splitlines()[1:]] for process in both]
    assert [len(found) for found in numbers] == [500, 500]
    assert sorted(numbers[0] + numbers[1]) == list(range(1, 1001))
    read = {one.number: one.key for one in kept.journal.read()}
    assert [read[number] for number in numbers[0]] == [f"one-{n}" for n in range(500)]
    assert [read[number] for number in numbers[1]] == [f"two-{n}" for n in range(500)]


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL as POSIX has it")
def test_what_had_its_number_before_a_kill_is_there_after_it(kept: Kept) -> None:
    for wait in (0.02, 0.05, 0.1):
        process = kept.start("killed", 100_000)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        # A line that the kill cut short was not heard.
        heard = [
            int(line) for line in process.communicate(timeout=60)[0].splitlines(keepends=True) if line.endswith(b"\n")
        ]
        assert set(heard) <= {one.number for one in kept.journal.read()}
    late = kept.journal
    last = max(one.number for one in late.read())
    assert add(late, "after") == [last + 1]
    assert late.warning == ""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork as POSIX has it")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_adds_through_a_connection_of_its_own(kept: Kept) -> None:
    journal = kept.journal
    add(journal, "parent")
    context = multiprocessing.get_context("fork")
    child = context.Process(target=add, args=(journal, "child", "child"))
    child.start()
    child.join(60)
    add(journal, "parent")
    journal.close()
    assert sorted(one.key for one in kept.journal.read()) == ["child", "child", "parent", "parent"]


def test_one_shot_commands_do_not_let_the_wal_grow(kept: Kept) -> None:
    for _ in range(400):
        journal = kept.journal
        journal.add(FULL)
        journal.close()
    assert os.path.getsize(kept.path + "-wal") < 700_000
    assert sum(1 for _ in kept.journal.read()) == 400
