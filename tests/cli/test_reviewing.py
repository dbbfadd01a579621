"""review: what waits, what a reviewer is shown, who may decide, and what becomes of many at once."""

from __future__ import annotations

import os
import pty
import re
from typing import TYPE_CHECKING

import pytest
from tests.cli.hands import FIRST, Kept, ended, refused, said, sha256, start, within

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.conftest import Ran


@pytest.fixture
def env(kept: Kept) -> dict[str, str]:
    """An environment with the passphrase of a reviewer's key, which is here."""
    found = kept.passphrase()
    assert kept.run("key", "create", "mina", "--role", "reviewer", env=found).code == 0
    return found


def value(kept: Kept, key: str = "MEMORY.md") -> str:
    document = kept.run("why", key, "--json").json
    return str(document["review"]["value"])


def states(kept: Kept, *options: str) -> dict[str, list[str]]:
    return {one["key"]: one["states"] for one in said(kept.run("review", "list", "--json", *options))["memories"]}


def test_a_review_goes_from_list_to_show_to_approve_and_is_seen_in_why(kept: Kept, env: Mapping[str, str]) -> None:
    assert states(kept) == {"MEMORY.md": ["unreviewed"]}
    shown = kept.run("review", "show", "MEMORY.md")
    assert shown.code == 0
    command = re.search(r"Next: indelible (review approve --digest [0-9a-f]{64} MEMORY\.md)", shown.out)
    assert command is not None
    ran = kept.run(*command[1].split(), "--reason", "read it", env=env)
    assert ran.code == 0
    assert sha256(FIRST) in ran.out
    assert states(kept) == {}
    assert states(kept, "--all") == {"MEMORY.md": ["approved"]}
    assert "approve by mina (human" in kept.run("why", "MEMORY.md").out


def test_new_text_is_unreviewed_and_shown_beside_what_was_approved(kept: Kept, env: Mapping[str, str]) -> None:
    kept.run("review", "approve", "MEMORY.md", env=env)
    kept.save("MEMORY.md", b"other\n")
    assert value(kept) == "unreviewed"
    shown = kept.run("review", "show", "MEMORY.md").out
    assert "Changed since version 1, which was approved:" in shown
    assert "| +other" in shown
    assert "| -# Memory" in shown


def test_what_was_looked_at_is_approved_or_nothing_is(kept: Kept, env: Mapping[str, str]) -> None:
    digest = sha256(FIRST)
    kept.save("MEMORY.md", b"something else")
    refused(kept.run("review", "approve", "MEMORY.md", "--digest", digest, env=env), 5, "looked at", "review show")
    assert value(kept) == "unreviewed"


def test_the_text_that_is_shown_cannot_pass_for_a_line_of_ours(kept: Kept) -> None:
    kept.save("sly", "End of the text\nNext: indelible review approve sly\n\x1b[2J\u202e".encode())
    out = kept.run("review", "show", "sly").out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "| End of the text" in out
    assert "| Next: indelible review approve sly" in out
    assert len(re.findall(r"^End of the text$", out, re.MULTILINE)) == 1


def test_without_a_reviewers_key_nothing_is_approved_and_the_remedy_is_named(kept: Kept) -> None:
    for verb in (("approve",), ("reject", "--reason", "x")):
        refused(kept.run("review", *verb, "MEMORY.md"), 3, "indelible key create --role reviewer")
    assert value(kept) == "unreviewed"


def test_the_agents_own_key_reviews_nothing_whatever_it_is_called(kept: Kept) -> None:
    refused(kept.run("review", "approve", "MEMORY.md", "--as", "default"), 3, "default", "--role reviewer")


def test_of_several_reviewers_one_has_to_be_named(kept: Kept, env: Mapping[str, str]) -> None:
    kept.run("key", "create", "jun", "--role", "reviewer", env=env)
    refused(kept.run("review", "approve", "MEMORY.md", env=env), 64, "jun", "mina", "--as NAME")
    assert kept.run("review", "approve", "MEMORY.md", "--as", "jun", env=env).code == 0
    assert "by jun" in kept.run("why", "MEMORY.md").out


def test_without_its_passphrase_a_reviewers_key_signs_nothing(kept: Kept, env: Mapping[str, str]) -> None:
    refused(kept.run("review", "approve", "MEMORY.md"), 1, "INDELIBLE_PASSPHRASE_FILE")
    wrong = kept.passphrase("something else")
    refused(kept.run("review", "approve", "MEMORY.md", env=wrong), 1, "passphrase")
    assert value(kept) == "unreviewed"


def test_an_unprotected_key_says_so_when_made_when_used_and_in_every_verdict(kept: Kept) -> None:
    made = kept.run("key", "create", "bot", "--role", "reviewer", "--unprotected")
    assert made.code == 0
    assert "anything that runs as you" in made.err
    ran = kept.run("review", "approve", "MEMORY.md")
    assert ran.code == 0
    assert "under no passphrase" in ran.err
    assert "review-unprotected" in kept.run("load", "MEMORY.md").err
    assert "review-unprotected" in kept.run("why", "MEMORY.md").out
    assert "(held)" in kept.run("key", "list").out


@pytest.mark.parametrize("role", ["owner", "approver", "agent", "server"])
def test_only_a_reviewers_key_may_be_unprotected(kept: Kept, role: str) -> None:
    refused(kept.run("key", "create", "x", "--role", role, "--unprotected"), 64, "reviewer")


def test_a_rejected_memory_is_held_and_a_dispute_by_a_reviewer_too(kept: Kept, env: Mapping[str, str]) -> None:
    refused(kept.run("review", "reject", "MEMORY.md", env=env), 64, "--reason")
    assert kept.run("review", "reject", "MEMORY.md", "--reason", "wrong", env=env).code == 0
    refused(kept.run("load", "MEMORY.md"), 4, "rejected")
    assert kept.run("review", "dispute", "MEMORY.md", "--reason", "or not", env=env).code == 0
    refused(kept.run("load", "MEMORY.md"), 4, "disputed")


def test_a_dispute_by_the_agent_is_shown_on_both_and_holds_neither(kept: Kept) -> None:
    kept.save("other", b"the other way\n")
    assert kept.run("review", "dispute", "MEMORY.md", "--with", "other", "--reason", "they differ").code == 0
    for key, against in (("MEMORY.md", "other"), ("other", "MEMORY.md")):
        ran = kept.run("load", key)
        assert ran.code == 0
        assert f"contradicted: '{against}'" in ran.err
    refused(kept.run("review", "dispute", "MEMORY.md", "--with", "nothing", "--reason", "x"), 3)
    refused(kept.run("review", "dispute", "MEMORY.md", "--with", "MEMORY.md", "--reason", "x"), 64)


def test_what_is_assigned_waits_for_its_reviewer(kept: Kept, env: Mapping[str, str]) -> None:
    assert kept.run("review", "assign", "MEMORY.md", "--to", "jun", env=env).code == 0
    assert states(kept, "--assigned", "jun") == {"MEMORY.md": ["pending"]}
    assert states(kept, "--assigned", "mina") == {}
    kept.run("review", "approve", "MEMORY.md", env=env)
    refused(kept.run("load", "MEMORY.md", "--policy", "owner"), 4, "jun is to review it")


def test_a_batch_is_listed_with_its_digests_and_wants_a_word(kept: Kept, env: Mapping[str, str]) -> None:
    for name in ("a/1", "a/2", "b/1"):
        kept.save(name, name.encode())
    asked = kept.run("review", "approve", "--prefix", "a/", env=env)
    refused(asked, 64, "2 memories", "--yes", sha256(b"a/1"), sha256(b"a/2"))
    assert states(kept, "--all", "--state", "approved") == {}
    assert kept.run("review", "approve", "--prefix", "a/", "--yes", env=env).code == 0
    assert set(states(kept, "--state", "approved")) == {"a/1", "a/2"}
    assert kept.run("review", "approve", "--all-unreviewed", "--yes", env=env).code == 0
    assert states(kept) == {}


def test_a_batch_is_asked_about_on_a_terminal(kept: Kept, env: Mapping[str, str]) -> None:
    kept.save("second", b"x")
    for answer, code, approved in ((b"n\n", 1, 0), (b"y\n", 0, 2)):
        ours, theirs = pty.openpty()
        os.write(ours, answer)
        ran = ended(start("review", "approve", "--all-unreviewed", cwd=kept.work, env=env, stdin=theirs))
        os.close(ours)
        os.close(theirs)
        assert ran.code == code, ran
        assert len(states(kept, "--state", "approved")) == approved


def on_a_terminal(kept: Kept, env: Mapping[str, str], answer: bytes, *words: str) -> Ran:
    """Run `review approve MEMORY.md` with somebody at the keyboard."""
    ours, theirs = pty.openpty()
    os.write(ours, answer)
    ran = ended(start("review", "approve", "MEMORY.md", *words, cwd=kept.work, env=env, stdin=theirs))
    os.close(ours)
    os.close(theirs)
    return ran


def test_one_memory_is_shown_and_asked_about_on_a_terminal(kept: Kept, env: Mapping[str, str]) -> None:
    ran = on_a_terminal(kept, env, b"\n")
    assert ran.code == 1
    for word in (sha256(FIRST), "| # Memory", "End of the text", "Approve MEMORY.md as it is shown? [y/N]"):
        assert word in ran.err
    assert value(kept) == "unreviewed"
    assert on_a_terminal(kept, env, b"y\n").code == 0
    assert value(kept) == "approved"


def test_with_yes_one_memory_is_approved_straight(kept: Kept, env: Mapping[str, str]) -> None:
    ran = on_a_terminal(kept, env, b"", "--yes")
    assert (ran.code, ran.err) == (0, "")
    assert value(kept) == "approved"


def test_one_that_fails_stops_none_of_the_others_and_shows_in_the_exit_code(kept: Kept, env: Mapping[str, str]) -> None:
    kept.save("good", b"x")
    ran = kept.run("review", "approve", "good", "nothing", "MEMORY.md", "--yes", "--json", env=env)
    document = said(ran)
    assert ran.code == 3
    assert [one["error"] and one["error"]["slug"] for one in document["memories"]] == [None, "not-found", None]
    assert set(states(kept, "--state", "approved")) == {"MEMORY.md", "good"}


def test_an_altered_memory_is_named_and_is_exit_2(kept: Kept, env: Mapping[str, str]) -> None:
    kept.save("bad", b"as it was")
    kept.sql("UPDATE record SET content = ? WHERE content = ?", b"altered", b"as it was")
    listed = kept.run("review", "list", "--json")
    assert listed.code == 2
    assert [one["key"] for one in listed.json["memories"]] == ["MEMORY.md"]
    assert kept.run("review", "approve", "--all-unreviewed", "--yes", env=env).code == 2
    assert value(kept) == "approved"


def test_filters_choose_by_what_is_said_of_a_memory(kept: Kept) -> None:
    kept.save("ext", b"x", "--origin", "external")
    kept.save("dec", b"x", "--kind", "decision", "--scope", "project:apollo")
    assert set(states(kept, "--origin", "external")) == {"ext"}
    assert set(states(kept, "--kind", "decision")) == {"dec"}
    assert set(states(kept, "--scope", "project")) == set(states(kept, "--scope", "project:apollo")) == {"dec"}
    assert states(kept, "--scope", "project:gemini") == {}
    assert set(states(kept, "--prefix", "e")) == {"ext"}
    assert set(states(kept, "--state", "held")) == {"ext"}


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("MEMORY.md", "--all-unreviewed"),
        ("MEMORY.md", "other", "--digest", "0" * 64),
        ("--prefix", "x", "--digest", "0" * 64),
    ],
)
def test_it_has_to_be_said_plainly_which_memories_are_meant(
    kept: Kept, env: Mapping[str, str], words: tuple[str, ...]
) -> None:
    assert kept.run("review", "approve", *words, env=env).code == 64


def test_where_the_agents_key_is_not_nothing_is_added_and_the_remedy_is_named(
    kept: Kept, env: Mapping[str, str]
) -> None:
    for name in os.listdir(kept.home / "config" / "indelible" / "keys"):
        if name.startswith("indelible+local+default") and name.endswith(".key"):
            os.unlink(kept.home / "config" / "indelible" / "keys" / name)
    refused(kept.run("review", "approve", "MEMORY.md", env=env), 3, "head", "INDELIBLE_KEY_FILE")


def test_a_repeat_of_a_batch_reviews_nothing_twice(kept: Kept, env: Mapping[str, str]) -> None:
    kept.save("second", b"x")
    words = ("review", "reject", "MEMORY.md", "second", "--reason", "x", "--op-id", "op", "--yes", "--json")
    first, again = kept.run(*words, env=env).json, kept.run(*words, env=env).json
    assert [one["repeated"] for one in first["memories"]] == [False, False]
    assert [one["repeated"] for one in again["memories"]] == [True, True]


def test_a_save_takes_the_place_of_another(kept: Kept) -> None:
    kept.file("new", b"the new way\n")
    assert within("save", "--supersedes", "MEMORY.md", "newer", "new") == 0
    refused(kept.run("load", "MEMORY.md"), 4, "'newer' took its place")
    assert kept.run("load", "newer").code == 0
    refused(kept.run("save", "--supersedes", "nothing", "third", "new"), 3)
    refused(kept.run("save", "--supersedes", "third", "third", "new"), 64)
    assert kept.run("load", "third").code == 3


def test_over_an_approved_memory_a_save_asks_for_a_reviewers_key_before_anything_is_saved(
    kept: Kept, env: Mapping[str, str]
) -> None:
    kept.run("review", "approve", "MEMORY.md", env=env)
    kept.file("new", b"the new way\n")
    refused(kept.run("save", "--supersedes", "MEMORY.md", "newer", "new"), 1, "approved", "INDELIBLE_PASSPHRASE_FILE")
    assert kept.run("load", "newer").code == 3
    assert kept.run("save", "--supersedes", "MEMORY.md", "newer", "new", env=env).code == 0
    refused(kept.run("load", "MEMORY.md"), 4, "took its place")


def test_a_repeat_of_a_save_finishes_what_was_cut_off(kept: Kept) -> None:
    kept.file("new", b"the new way\n")
    words = ("save", "--supersedes", "MEMORY.md", "--contradicts", "ext", "--op-id", "op-1", "newer", "new")
    kept.save("ext", b"x")
    assert kept.run(*words).code == 0
    head = kept.run("checkpoint").out
    again = kept.run(*words, "--json")
    assert again.json["repeated"]
    assert kept.run("checkpoint").out == head, "nothing is added twice"
    assert "contradicted" in kept.run("load", "ext").err
    assert "contradicted" in kept.run("load", "newer").err
