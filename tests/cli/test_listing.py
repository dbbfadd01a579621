"""list, history and diff."""

from __future__ import annotations

import pytest
from tests.cli.hands import FIRST, Kept, refused, said, sha256


def test_a_listing_has_a_line_for_each_memory_and_their_number(kept: Kept) -> None:
    kept.save("notes/a", b"a")
    ran = kept.run("list")
    lines = ran.out.splitlines()
    assert ran.code == 0
    assert [line.split("  ")[0] for line in lines] == ["✅ MEMORY.md", "✅ notes/a", "2 of 2 memories"]
    assert sha256(b"a")[:12] in lines[1]


def test_a_prefix_narrows_a_listing(kept: Kept) -> None:
    for key in ("notes/a", "notes/b", "note"):
        kept.save(key, b"x")
    assert [item["key"] for item in said(kept.run("list", "notes/", "--json"))["memories"]] == ["notes/a", "notes/b"]


def test_a_long_listing_comes_in_pages_and_says_so(kept: Kept) -> None:
    for key in ("a", "b", "c"):
        kept.save(key, b"x")
    first = said(kept.run("list", "--limit", "2", "--json"))
    assert ([item["key"] for item in first["memories"]], first["total"], first["next"]) == (["MEMORY.md", "a"], 4, "a")
    rest = said(kept.run("list", "--limit", "2", "--after", first["next"], "--json"))
    assert ([item["key"] for item in rest["memories"]], rest["next"]) == (["b", "c"], None)
    assert "2 of 4 memories; the next page begins with --after 'a'" in kept.run("list", "--limit", "2").out


def test_a_memory_that_fails_is_named_and_never_left_out(kept: Kept) -> None:
    kept.save("good", b"x")
    kept.sql("UPDATE record SET content = ? WHERE id = (SELECT min(id) FROM record)", b"evil")
    ran = kept.run("list")
    assert ran.code == 2
    assert "❌" in ran.out
    assert "MEMORY.md" in ran.out
    assert "✅ good" in ran.out
    assert "1 of 2 memories" in ran.out
    document = said(kept.run("list", "--json"))
    assert (document["slug"], [finding["key"] for finding in document["findings"]]) == ("tampered", ["MEMORY.md"])


def test_rows_that_no_head_covers_are_named(kept: Kept) -> None:
    kept.sql("INSERT INTO entry SELECT id + 5, leaf FROM entry")
    ran = kept.run("list")
    assert ran.code == 2
    assert "does not cover" in ran.out
    assert "✅ MEMORY.md" in ran.out


def test_archived_ones_are_shown_when_asked_for(kept: Kept) -> None:
    kept.save("old", b"x")
    kept.save("gone", b"x", "--expires", "2020-01-01")
    assert kept.run("archive", "old").code == 0
    assert kept.run("erase", "--yes", "MEMORY.md").code == 0
    assert {item["key"]: item["state"] for item in said(kept.run("list", "--json"))["memories"]} == {"gone": "expired"}
    assert {item["key"]: item["state"] for item in said(kept.run("list", "--all", "--json"))["memories"]} == {
        "gone": "expired",
        "old": "archived",
    }
    plain = kept.run("list", "--all").out
    assert "(archived)" in plain
    assert "(expired)" in plain


def test_an_agent_without_memories_has_an_empty_listing(kept: Kept) -> None:
    ran = kept.run("list", "--agent", "nobody")
    assert (ran.code, ran.out) == (0, "0 of 0 memories\n")


@pytest.mark.parametrize("options", [("--limit", "0"), ("--limit", "x"), ("a", "b")])
def test_a_listing_asked_for_wrongly(kept: Kept, options: tuple[str, ...]) -> None:
    refused(kept.run("list", *options), 64, "--help")


# history


def test_history_is_everything_the_log_says_newest_first(kept: Kept) -> None:
    kept.save("MEMORY.md", b"second\n", "--reason", "한 줄\x1b[2J")
    for words in (("archive",), ("unarchive", "--reason", "needed"), ("erase", "--yes")):
        assert kept.run(*words, "MEMORY.md").code == 0
    entries = said(kept.run("history", "MEMORY.md", "--json"))["entries"]
    assert [(entry["type"], entry["version"]) for entry in entries] == [
        ("erased", 2), ("unarchived", 2), ("archived", 2), ("saved", 2), ("saved", 1),
    ]  # fmt: skip
    assert [entry["seq"] for entry in entries] == [4, 3, 2, 1, 0]
    plain = kept.run("history", "MEMORY.md").out
    assert "needed" in plain
    assert "한 줄\\x1b[2J" in plain, "a reason cannot steer the terminal"


def test_history_of_an_altered_log_is_refused(kept: Kept) -> None:
    kept.save("MEMORY.md", b"second\n")
    kept.sql(
        "UPDATE entry SET leaf = CAST(replace(leaf, 'saved', 'xaved') AS BLOB) WHERE id = (SELECT min(id) FROM entry)"
    )
    refused(kept.run("history", "MEMORY.md"), 2)
    refused(kept.run("history", "nothing"), 3)


# diff


def test_diff_shows_what_the_newest_version_changed(kept: Kept) -> None:
    kept.save("MEMORY.md", FIRST + b"- more\n")
    ran = kept.run("diff", "MEMORY.md")
    assert ran.code == 1
    assert ran.out.splitlines()[:2] == ["--- MEMORY.md (version 1)", "+++ MEMORY.md (version 2)"]
    assert "+- more" in ran.out
    assert " - 배포 전에 체크섬을 확인한다" in ran.out


def test_diff_of_a_version_and_of_a_file(kept: Kept) -> None:
    kept.save("MEMORY.md", b"two\n")
    kept.save("MEMORY.md", b"three\n")
    assert "-two" in kept.run("diff", "MEMORY.md").out
    assert "-# Memory" in kept.run("diff", "MEMORY.md", "--version", "1").out
    kept.file("local.md", b"mine\n")
    ran = kept.run("diff", "MEMORY.md", "local.md")
    assert "-three" in ran.out
    assert "+mine" in ran.out
    assert "-two" in kept.run("diff", "MEMORY.md", "local.md", "--version", "2").out
    assert kept.run("diff", "MEMORY.md", "-", input=b"three\n").code == 0
    document = said(kept.run("diff", "MEMORY.md", "local.md", "--json"))
    assert (document["slug"], "-three" in document["diff"]) == ("different", True)


def test_diff_of_the_same_is_silent(kept: Kept) -> None:
    kept.file("MEMORY.md", FIRST)
    ran = kept.run("diff", "MEMORY.md", "MEMORY.md")
    assert (ran.code, ran.stdout) == (0, b"")
    assert said(kept.run("diff", "MEMORY.md", "--json"))["slug"] == "same", "a first version has none before it"


def test_diff_tells_line_endings_and_control_characters(kept: Kept) -> None:
    kept.file("crlf.md", FIRST.replace(b"\n", b"\r\n"))
    ran = kept.run("diff", "MEMORY.md", "crlf.md")
    assert ran.code == 1
    assert "\\r" in ran.out
    assert "Only line endings differ" in ran.err
    kept.file("odd.md", b"\x1b]0;title\x07\xff\n")
    odd = kept.run("diff", "MEMORY.md", "odd.md").stdout
    assert b"\x1b" not in odd
    assert b"\\x1b" in odd


def test_diff_of_what_is_altered_or_not_there_is_refused(kept: Kept) -> None:
    refused(kept.run("diff", "nothing"), 3)
    refused(kept.run("diff", "MEMORY.md", "--version", "9"), 3)
    refused(kept.run("diff", "MEMORY.md", "nowhere"), 64, "nowhere")
    kept.alter()
    ran = kept.run("diff", "MEMORY.md")
    refused(ran, 2)
    assert ran.stdout == b""
