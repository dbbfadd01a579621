"""archive, unarchive, restore --version and erase."""

from __future__ import annotations

import pytest
from tests.cli.hands import FIRST, SIDES, Kept, refused, said, sha256


def test_archive_puts_a_memory_away_and_unarchive_brings_it_back(kept: Kept) -> None:
    ran = kept.run("archive", "MEMORY.md", "--reason", "stale")
    assert (ran.code, ran.out) == (0, "✅ archived  MEMORY.md (version 1, entry 1)\n")
    refused(kept.run("load", "MEMORY.md"), 4, "indelible unarchive MEMORY.md")
    assert kept.run("unarchive", "MEMORY.md").code == 0
    assert kept.load("MEMORY.md") == FIRST


def test_saving_an_archived_memory_makes_it_active_again(kept: Kept) -> None:
    assert kept.run("archive", "MEMORY.md").code == 0
    kept.save("MEMORY.md", b"again\n")
    assert kept.load("MEMORY.md") == b"again\n"


@pytest.mark.parametrize("verb", ["archive", "unarchive", "erase"])
def test_what_is_not_there_cannot_be_changed(kept: Kept, verb: str) -> None:
    words = ("--yes",) if verb == "erase" else ()
    refused(kept.run(verb, *words, "nothing"), 3, "nothing")
    assert said(kept.run(verb, *words, "nothing", "--json"))["slug"] == "not-found"


@pytest.mark.parametrize("verb", ["archive", "unarchive", "erase"])
def test_a_repeated_change_is_made_once(kept: Kept, verb: str) -> None:
    words = (verb, "MEMORY.md", "--op-id", "job-1", "--json", *(("--yes",) if verb == "erase" else ()))
    first, again = said(kept.run(*words)), said(kept.run(*words))
    assert (first["repeated"], again["repeated"]) == (False, True)
    assert first["seq"] == again["seq"]


def test_restore_makes_an_older_version_the_newest(kept: Kept) -> None:
    kept.save("MEMORY.md", b"second\n")
    ran = kept.run("restore", "MEMORY.md", "--version", "1", "--reason", "second was wrong")
    assert (ran.code, ran.out) == (0, "✅ restored  MEMORY.md (version 3, entry 2): version 1 again\n")
    assert kept.load("MEMORY.md") == FIRST
    newest = said(kept.run("history", "MEMORY.md", "--json"))["entries"][0]
    assert (newest["how"], newest["reason"]) == ("restored", "second was wrong")
    assert said(kept.run("restore", "MEMORY.md", "--version", "2", "--json"))["sha256"] == sha256(b"second\n")


def test_restore_needs_to_be_told_from_what(kept: Kept) -> None:
    for words in ((), ("--version", "1", "--from-git")):
        refused(kept.run("restore", "MEMORY.md", *words), 64, "--version N", "--from-git")
    refused(kept.run("restore", "MEMORY.md", "--version", "7"), 3, "the latest is 1")
    refused(kept.run("restore", "nothing", "--version", "1"), 3)


def test_a_good_version_replaces_an_altered_one(kept: Kept) -> None:
    kept.save("MEMORY.md", b"second\n")
    kept.sql("UPDATE record SET content = ? WHERE id = (SELECT max(id) FROM record)", b"evil")
    refused(kept.run("load", "MEMORY.md"), 2)
    assert kept.run("restore", "MEMORY.md", "--version", "1").code == 0
    assert kept.load("MEMORY.md") == FIRST


def test_an_altered_version_is_not_restored(kept: Kept) -> None:
    kept.save("MEMORY.md", b"second\n")
    kept.sql("UPDATE record SET content = ? WHERE id = (SELECT min(id) FROM record)", b"evil")
    refused(kept.run("restore", "MEMORY.md", "--version", "1"), 2)
    assert kept.load("MEMORY.md") == b"second\n"


def test_erase_takes_every_byte_of_every_version_away_and_the_proofs_stand(kept: Kept) -> None:
    secret = b"mark" + b"Zq9" * 20
    kept.save("MEMORY.md", secret)
    kept.save("MEMORY.md", b"harmless\n")
    ran = kept.run("erase", "MEMORY.md", "--yes", "--reason", "a key was in it")
    assert ran.code == 0, ran.err
    for side in SIDES:
        path = kept.store.with_name(kept.store.name + side)
        if path.exists():
            assert secret not in path.read_bytes(), side
    refused(kept.run("load", "MEMORY.md"), 3, "erased")
    assert kept.run("audit").code == 0
    assert kept.run("list").code == 0
    assert said(kept.run("history", "MEMORY.md", "--json"))["entries"][0]["reason"] == "a key was in it"


def test_an_erased_key_can_be_used_again(kept: Kept) -> None:
    assert kept.run("erase", "MEMORY.md", "--yes").code == 0
    refused(kept.run("erase", "MEMORY.md", "--yes"), 3)
    kept.save("MEMORY.md", b"new life\n")
    assert kept.load("MEMORY.md") == b"new life\n"


def test_erase_asks_nobody_where_nobody_is(kept: Kept) -> None:
    refused(kept.run("erase", "MEMORY.md", input=b"y\n"), 64, "--yes")
    assert said(kept.run("erase", "MEMORY.md", "--json"))["slug"] == "usage"
    assert kept.load("MEMORY.md") == FIRST


@pytest.mark.parametrize("verb", ["archive", "unarchive", "restore", "erase", "save"])
def test_nothing_is_built_upon_a_store_that_was_altered(kept: Kept, verb: str) -> None:
    old = kept.copy()
    kept.save("MEMORY.md", b"second\n")
    kept.put_back(old)
    words = {"restore": ("--version", "1"), "erase": ("--yes",)}.get(verb, ())
    refused(kept.run(verb, "MEMORY.md", *words, input=b"x"), 2, "already accepted")
