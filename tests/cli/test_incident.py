"""incident: what was altered, since when at the earliest, what was handed out since, and the way back in order."""

from __future__ import annotations

import os
import re
import shlex
from typing import TYPE_CHECKING

import pytest
from tests.cli.hands import FIRST, Kept, refused, said

if TYPE_CHECKING:
    from tests.conftest import Run


def test_where_nothing_is_wrong_that_is_said(kept: Kept) -> None:
    ran = kept.run("incident")
    assert (ran.code, "nothing is wrong" in ran.out) == (0, True)
    assert said(kept.run("incident", "--json")) == {
        "ok": True, "exit_code": 0, "slug": "sound", "altered": [], "since": "", "delivered": [], "steps": [], "warning": "",
    }  # fmt: skip


def test_it_names_what_was_altered_since_when_and_what_was_given_since(kept: Kept) -> None:
    kept.save("other", b"fine\n")
    assert kept.run("verify", "MEMORY.md").code == 0
    assert kept.run("load", "other").code == 0
    kept.sql("UPDATE record SET content = ? WHERE id = (SELECT min(id) FROM record)", b"evil")
    assert kept.run("load", "other").code == 0
    document = said(kept.run("incident", "--json"))
    (altered,) = document["altered"]
    assert (altered["slug"], altered["key"]) == ("altered-content", "MEMORY.md")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", altered["earliest"])
    assert document["since"] == altered["earliest"]
    assert [item["key"] for item in document["delivered"]] == ["other", "other"]
    plain = kept.run("incident").out
    assert f"not before {altered['earliest']}" in plain
    assert "Handed out since" in plain


def test_a_memory_that_this_reader_saved_was_good_at_that_time(kept: Kept) -> None:
    kept.alter()
    (altered,) = said(kept.run("incident", "--json"))["altered"]
    assert altered["earliest"], "it was in hand when it was saved"


@pytest.mark.parametrize("where", ["kept", "repo"])
def test_carrying_out_the_steps_in_order_ends_the_incident(where: str, request: pytest.FixtureRequest) -> None:
    """Whatever stands between the quotes of a step is a command that works."""
    made: Kept = request.getfixturevalue(where)
    made.save("MEMORY.md", b"second\n")
    if where == "repo":
        assert made.run("save", "MEMORY.md", "MEMORY.md").code == 0
    made.sql("UPDATE record SET content = ? WHERE id = (SELECT max(id) FROM record)", b"evil")
    document = said(made.run("incident", "--json"))
    commands = [shlex.split(step.split("; or: ")[0])[1:] for step in document["steps"] if step.startswith("indelible ")]
    assert commands[0][0] == "restore", document["steps"]
    assert commands[-1] == ["audit"]
    for words in commands:
        ran = made.run(*words)
        assert ran.code == 0, (words, ran)
    assert made.run("incident").code == 0
    assert made.load("MEMORY.md") == FIRST


def test_after_a_rollback_the_way_back_is_a_good_copy_or_the_owners_word(kept: Kept) -> None:
    old = kept.copy()
    kept.save("MEMORY.md", b"second\n")
    kept.put_back(old)
    refused(kept.run("verify", "MEMORY.md"), 2, "indelible incident")
    ran = kept.run("incident")
    assert ran.code == 2
    assert "indelible restore-store --reason" in ran.out
    assert "newest good copy" in ran.out


def test_a_store_that_is_gone_is_an_incident(kept: Kept) -> None:
    kept.remove()
    ran = kept.run("incident")
    assert ran.code == 2
    assert str(kept.store) in ran.out
    assert said(kept.run("incident", "--json"))["steps"]


def test_a_head_that_is_garbage_is_an_incident_with_a_way_back(kept: Kept) -> None:
    old = kept.copy()
    kept.sql("UPDATE log SET note = ?", b"garbage")
    ran = kept.run("incident")
    assert ran.code == 2
    assert "good copy" in ran.out
    kept.put_back(old)
    assert kept.run("incident").code == 0


def test_before_init_there_is_nothing_to_look_into(run: Run) -> None:
    refused(run("incident"), 3, "indelible init")


def test_a_store_of_a_newer_format_is_no_incident(kept: Kept) -> None:
    kept.sql("PRAGMA user_version = 99")
    ran = kept.run("incident")
    assert ran.code == 1, ran.out
    assert "Upgrade" in ran.out + ran.err


def test_with_a_lost_pin_it_does_not_say_that_all_is_well(kept: Kept) -> None:
    kept.lose_pin()
    ran = kept.run("incident")
    assert ran.code == 1, "what cannot be checked is not called tampered either"
    assert "nothing is wrong" not in ran.out
    assert "indelible pin set" in ran.out + ran.err


def test_a_key_that_holds_odd_characters_is_quoted_in_the_steps(kept: Kept) -> None:
    key = "a b; rm -rf $HOME\x1b[2J'"
    kept.save(key, b"x")
    kept.sql("UPDATE record SET content = ? WHERE id = (SELECT max(id) FROM record)", b"evil")
    ran = kept.run("incident")
    assert "\x1b" not in ran.out
    document = said(kept.run("incident", "--json"))
    step = next(step for step in document["steps"] if step.startswith("indelible ") and "MEMORY" not in step)
    assert shlex.split(step.split(", with a copy")[0])[2] == key


def test_what_its_writer_contradicts_was_not_known_to_be_good(kept: Kept) -> None:
    def verified() -> int:
        return len(said(kept.run("deliveries", "--door", "verify", "--json"))["deliveries"])

    assert kept.run("verify", "MEMORY.md").code == 0
    assert verified() == 1
    kept.save("MEMORY.md.sha256", b"0" * 64)
    for prefix in ((), ("--strict",)):
        before = verified()
        refused(kept.run("verify", "MEMORY.md", *prefix), 2)
        assert verified() == before


@pytest.mark.skipif(os.name != "posix", reason="fifos as POSIX has them")
def test_a_pipe_in_the_place_of_the_journal_holds_nothing_up(kept: Kept) -> None:
    assert kept.run("verify", "MEMORY.md").code == 0
    journals = list(kept.home.rglob("deliveries/*.db"))
    assert journals
    for journal in journals:
        journal.unlink()
        os.mkfifo(journal)
    ran = kept.run("verify", "MEMORY.md")
    assert ran.code == 0
    assert "kept as" in ran.err
