"""erase --verify: the raw bytes of every file are searched for what was erased, and it is said file by file."""

from __future__ import annotations

import os
import random
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from tests.cli.hands import FIRST, Kept, ended, refused, said, sha256, start

from indelible.deliveries import Delivery, journal_of
from indelible.plain.receipts import SAVED, Receipts
from indelible.seal.digest import Digest
from indelible.sourcebook import NOWHERE, Booked, book_of
from indelible.store.follower import name_of

if TYPE_CHECKING:
    from pathlib import Path

SECRET = b"# Deploy\n\nThe password of the staging database is rhododendron-7741, and nobody knows.\n"


def everything(home: Path) -> bytes:
    """Every byte below the scratch home but the working folder's own files."""
    found = b""
    for parent, _, files in os.walk(home):
        if os.path.basename(parent) != "work":
            for name in files:
                with open(os.path.join(parent, name), "rb") as file:
                    found += file.read()
    return found


def erase(kept: Kept, key: str, *words: str) -> dict[str, Any]:
    return said(kept.run("erase", key, "--verify", "--yes", "--json", *words))


def test_what_is_erased_is_looked_for_in_every_file_and_is_in_none(kept: Kept) -> None:
    kept.save("secret", SECRET, "--title", "Where the staging database is")
    kept.save("secret", SECRET + b"Changed since.\n")
    assert kept.run("load", "secret").code == 0
    document = erase(kept, "secret", "--reason", "asked for")
    assert (document["slug"], document["verified"], document["versions_looked_for"]) == ("erased", True, 2)
    names = {os.path.basename(one["file"]) for one in document["files"]}
    assert {"store.db", "store.db-wal", "store.db-shm"} <= names
    assert {one["found"] for one in document["files"]} == {0}
    folders = {os.path.basename(os.path.dirname(one["file"])) for one in document["files"]}
    assert {"followers", "deliveries", "sources", "keys", "known"} <= folders
    data = everything(kept.home)
    for trace in (b"rhododendron", b"staging database", sha256(SECRET).encode(), bytes.fromhex(sha256(SECRET))):
        assert trace not in data
    assert kept.run("audit").code == 0
    assert said(kept.run("history", "secret", "--json"))["entries"][0]["reason"] == "asked for"


def test_all_that_lies_in_a_repositorys_folder_is_searched(repo: Kept) -> None:
    repo.save("secret", SECRET)
    (repo.store.parent / "notes").mkdir()
    (repo.store.parent / "notes" / "kept.md").write_bytes(SECRET)
    (repo.work / "own.md").write_bytes(SECRET)
    document = erase(repo, "secret")
    assert [os.path.basename(one["file"]) for one in document["files"] if one["found"]] == ["kept.md"]
    assert "config.toml" in {os.path.basename(one["file"]) for one in document["files"]}


def test_people_are_told_in_one_line_what_was_searched_and_that_nothing_is_left(kept: Kept) -> None:
    kept.save("secret", SECRET)
    ran = kept.run("erase", "secret", "--verify", "--yes")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0].startswith("✅ erased  secret")
    number = len(said(kept.run("erase", "secret", "--verify", "--yes", "--json", "--text", "-", input=SECRET))["files"])
    assert lines[1:] == [
        f"✅ searched {number} files of store, state, settings, keys and what 'edit' left for 1 version: nothing of it left"
    ]
    assert b"rhododendron" not in ran.stdout + ran.stderr


def test_the_digest_of_its_text_goes_out_of_deliveries_receipts_and_the_book_of_sources(kept: Kept) -> None:
    kept.save("secret", SECRET)
    state, name = str(kept.home / "state" / "indelible"), name_of(str(kept.store), "default")
    digest = sha256(SECRET)
    journal = journal_of(state, name)
    number = journal.add(
        Delivery("2026-11-30T09:00:00Z", "mcp", "secret", 1, 1, sha256=digest, commitment="cd" * 32, policy="default")
    )
    assert number is not None
    journal.add(Delivery("2026-11-30T09:00:00Z", "mcp", "other", 1, 1, sha256="ef" * 32))
    receipts = Receipts(os.path.join(state, "receipts.db"), lambda: "2026-11-30T09:00:00Z")
    receipts.put(str(kept.store), "default", "secret", Digest.from_hex(digest), SAVED)
    receipts.put(str(kept.store), "default", "other", Digest.from_hex("ef" * 32), SAVED)
    book_of(state, name).add(Booked("other", 1, NOWHERE))
    assert erase(kept, "secret")["slug"] == "erased"
    given = journal.get(number)
    assert given is not None
    assert (given.sha256, given.commitment, given.policy) == (None, "cd" * 32, "default"), (
        "why it was given can still be told"
    )
    assert receipts.keys(str(kept.store), "default") == ("other",)
    assert {one.key for one in book_of(state, name).read()} == {"MEMORY.md", "other"}
    assert next(journal.read(key="other")).sha256 == "ef" * 32


def test_a_digest_can_be_forgotten_without_a_search_too(kept: Kept) -> None:
    kept.save("secret", SECRET)
    state, name = str(kept.home / "state" / "indelible"), name_of(str(kept.store), "default")
    journal_of(state, name).add(Delivery("2026-11-30T09:00:00Z", "mcp", "secret", sha256=sha256(SECRET)))
    assert kept.run("erase", "secret", "--yes").code == 0
    assert bytes.fromhex(sha256(SECRET)) not in everything(kept.home)


def test_a_text_that_another_memory_holds_is_told_apart_and_that_memory_is_named(kept: Kept) -> None:
    kept.save("secret", SECRET)
    kept.save("copy\x1b[2J", SECRET + b"and a little more\n")
    document = erase(kept, "secret")
    assert document["slug"] == "erased"
    assert document["also_in"] == [{"agent": "default", "key": "copy\x1b[2J", "version": 1}]
    (store,) = [one for one in document["files"] if one["file"].endswith("store.db")]
    assert (store["found"], store["explained"] > 0) == (0, True)
    ran = kept.run("erase", "copy\x1b[2J", "--verify", "--yes")
    assert ran.code == 0
    assert b"\x1b" not in ran.stdout
    assert b"rhododendron" not in everything(kept.home)


def test_a_memory_of_another_agent_that_holds_the_text_is_named(kept: Kept) -> None:
    kept.save("secret", SECRET)
    source = kept.file("copy", SECRET)
    assert kept.run("--agent", "rudex", "save", "theirs", source).code == 0
    assert erase(kept, "secret")["also_in"] == [{"agent": "rudex", "key": "theirs", "version": 1}]


def test_a_row_that_claims_to_hold_it_rightly_and_is_not_what_was_sealed_explains_nothing(kept: Kept) -> None:
    kept.save("secret", SECRET)
    kept.save("other", b"something else altogether, sealed\n")
    kept.sql("UPDATE record SET content = ? WHERE id = (SELECT max(id) FROM record)", SECRET)
    document = erase(kept, "secret")
    assert (document["slug"], document["also_in"]) == ("remains", [])


@pytest.mark.parametrize(
    "where",
    ["state/indelible/stray", "data/indelible/store.db.format0.bak", "config/indelible/stray", "data/indelible/x/y"],
)
def test_a_copy_that_lies_about_is_named_with_its_place(kept: Kept, where: str) -> None:
    kept.save("secret", SECRET)
    stray = kept.home / where
    stray.parent.mkdir(parents=True, exist_ok=True)
    stray.write_bytes(bytes(5000) + SECRET[10:70] + bytes(100))
    ran = kept.run("erase", "secret", "--verify", "--yes")
    assert ran.code == 1
    (line,) = [line for line in ran.out.splitlines() if line.startswith("❌") and str(stray) in line]
    assert "1 found" in line
    assert "at byte 5,0" in line
    assert "--verify --text FILE" in ran.out
    stray.unlink()
    text = kept.file("text", SECRET)
    assert said(kept.run("erase", "secret", "--verify", "--text", text, "--json"))["slug"] == "erased"


def test_what_edit_kept_of_it_is_found(kept: Kept, tmp_path: Path) -> None:
    kept.save("secret", SECRET)
    folder = tmp_path / "tmp"
    folder.mkdir()
    (folder / "indelible-x.md").write_bytes(SECRET)
    (folder / "somebody-elses.md").write_bytes(SECRET)
    ran = kept.run("erase", "secret", "--verify", "--yes", env={"TMPDIR": str(folder)})
    assert ran.code == 1
    assert "indelible-x.md" in ran.out
    assert "somebody" not in ran.out


def test_a_digest_under_another_place_is_found(kept: Kept) -> None:
    """A delivery that a server on this machine noted, say: it is another journal than this command's own."""
    kept.save("secret", SECRET)
    journal_of(str(kept.home / "state" / "indelible"), "elsewhere").add(
        Delivery("2026-11-30T09:00:00Z", "http", "secret", sha256=sha256(SECRET))
    )
    document = erase(kept, "secret")
    assert document["slug"] == "remains"
    assert "elsewhere.db" in "".join(one["file"] for one in document["files"] if one["found"])


def test_a_reason_in_the_log_that_says_it_is_named(kept: Kept) -> None:
    kept.save("secret", SECRET, "--reason", SECRET.decode().splitlines()[2])
    document = erase(kept, "secret")
    assert document["slug"] == "remains"
    assert any("Entry 1 of the log" in note for note in document["notes"])


def test_with_a_reader_that_holds_the_old_state_it_is_not_called_gone(kept: Kept) -> None:
    kept.save("secret", SECRET)
    with closing(apsw.Connection(str(kept.store))) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM record").fetchall()
        ran = kept.run("erase", "secret", "--verify", "--yes", "--json")
        assert (ran.code, said(ran)["slug"]) == (1, "remains")
        assert "reading" in ran.err
        assert b"rhododendron" in everything(kept.home)
    refused(kept.run("erase", "secret", "--verify"), 1, "--text FILE")
    assert b"rhododendron" not in everything(kept.home), "what was kept back is written over all the same"


def test_what_two_processes_and_fifty_versions_left_is_gone(kept: Kept) -> None:
    source = random.Random(5)
    texts = [source.randbytes(source.choice([30, 700, 5000])) for _ in range(25)]
    for number, text in enumerate(texts):
        kept.save("secret", text)
        file = kept.file("other", text[::-1])
        assert ended(start("--agent", "rudex", "save", f"k{number % 7}", file, cwd=kept.work)).code == 0
        kept.save("secret", text[:20] + text)
    document = erase(kept, "secret")
    assert (document["slug"], document["versions_looked_for"]) == ("erased", 50)
    data = everything(kept.home)
    assert not any(text[at : at + 24] in data for text in texts for at in range(0, len(text) - 24, 24))
    assert kept.run("--agent", "rudex", "audit").code == 0


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_short_and_long_binary_content_is_gone_and_what_cannot_be_looked_for_is_said(kept: Kept, size: int) -> None:
    kept.save("secret", random.Random(size).randbytes(size))
    ran = kept.run("erase", "secret", "--verify", "--yes", "--json")
    assert (ran.code, said(ran)["slug"]) == (0, "erased")
    assert ("too short" in ran.err) is (size < 8)


def test_of_a_memory_that_was_erased_before_the_text_given_is_looked_for(kept: Kept) -> None:
    kept.save("secret", SECRET)
    assert kept.run("erase", "secret", "--yes").code == 0
    text = kept.file("text", SECRET)
    document = said(kept.run("erase", "secret", "--verify", "--text", text, "--json"))
    assert (document["slug"], "key" in document) == ("erased", False)
    assert said(kept.run("erase", "secret", "--verify", "--text", "-", "--json", input=SECRET))["slug"] == "erased"
    entries = said(kept.run("history", "secret", "--json"))["entries"]
    assert [one["type"] for one in entries] == ["erased", "saved"]
    (kept.store.parent / "left").write_bytes(SECRET)
    assert said(kept.run("erase", "secret", "--verify", "--text", text, "--json"))["slug"] == "remains"


def test_the_file_that_says_what_to_look_for_is_not_searched_itself(kept: Kept) -> None:
    kept.save("secret", SECRET)
    text = kept.store.parent / "text"
    text.write_bytes(SECRET)
    document = erase(kept, "secret", "--text", str(text))
    assert document["slug"] == "erased"


def test_usage_of_the_search_is_checked_before_anything_is_erased(kept: Kept) -> None:
    refused(kept.run("erase", "MEMORY.md", "--yes", "--text", "x"), 64, "--verify")
    refused(kept.run("erase", "MEMORY.md", "--yes", "--verify", "--text", "not-there"), 64)
    refused(kept.run("erase", "MEMORY.md", "--verify"), 64, "--yes")
    refused(kept.run("erase", "nothing", "--verify", "--yes"), 3)
    assert kept.load("MEMORY.md") == FIRST


@pytest.mark.skipif(sys.platform == "win32", reason="rights of files as POSIX has them")
def test_a_file_that_cannot_be_read_is_not_called_clean(kept: Kept, plain_user: tuple[str, ...]) -> None:
    kept.save("secret", SECRET)
    locked = kept.store.parent / "locked"
    locked.write_bytes(b"")
    locked.chmod(0)
    ran = ended(start("erase", "secret", "--verify", "--yes", "--json", cwd=kept.work, prefix=plain_user))
    assert (ran.code, said(ran)["slug"]) == (1, "unchecked")
    assert str(locked) in ran.err
