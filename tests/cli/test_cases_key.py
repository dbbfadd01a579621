"""O-KEY: keys are data. Any character, exact match only, never a path; what looks alike is told apart."""

from __future__ import annotations

import json
import unicodedata
from typing import TYPE_CHECKING

import pytest
from tests.cli.hands import CASES, FIRST, Kept, refused, said, sha256, tree

if TYPE_CHECKING:
    from tests.conftest import Run

KEYS = json.loads((CASES / "key_list_open.json").read_text(encoding="utf-8"))
NFC, NFD = "메모", unicodedata.normalize("NFD", "메모")


def test_keys_with_signs_of_a_query_string_are_eleven_memories(kept: Kept) -> None:
    """O-KEY-01."""
    keys = KEYS["query"]
    for key in keys:
        kept.save(key, f"of {key}".encode())
    assert len(keys) == 11
    for key in keys:
        assert kept.load(key) == f"of {key}".encode()
        assert sha256(f"of {key}".encode()) in kept.run("verify", "--", key).out
    assert {item["key"] for item in said(kept.run("list", "--json"))["memories"]} == {*keys, "MEMORY.md"}
    refused(kept.run("load", "a", "--agent", "other"), 3)


@pytest.mark.parametrize("key", [key for key in KEYS["escape"] if key])
def test_a_key_is_never_a_path(kept: Kept, key: str) -> None:
    """O-KEY-02: an opaque name on every verb, and no file outside the store."""
    refused(kept.run("load", "--", key), 3)
    before = set(tree(kept.home))
    kept.save(key, b"inside\n")
    assert kept.load(key) == b"inside\n"
    for words in (("history",), ("archive",), ("unarchive",), ("proof",), ("erase", "--yes")):
        assert kept.run(*words, "--", key).code == 0
    new = {
        name
        for name in set(tree(kept.home)) - before
        if not name.startswith(("state/indelible/", "data/indelible/store.db"))
    }
    assert not new
    assert kept.load("MEMORY.md") == FIRST


def test_an_empty_key_is_refused_by_every_verb(kept: Kept) -> None:
    """O-KEY-02."""
    for words in (
        ("save",),
        ("load",),
        ("verify",),
        ("history",),
        ("archive",),
        ("unarchive",),
        ("erase", "--yes"),
        ("proof",),
        ("restore", "--version", "1"),
    ):
        refused(kept.run(*words, "", input=b"x"), 64, "1 to 512 bytes" if words[0] in ("save", "load") else "")


LONG = ["a" * 200, "a" * 255, "a" * 256, "a" * 512, "가" * 86, "가" * 170]


@pytest.mark.parametrize("key", LONG, ids=lambda key: f"{len(key)}-{key[0]}")
def test_a_long_key_is_a_key(kept: Kept, key: str) -> None:
    """O-KEY-03: to 512 bytes; two that differ in the last letter never collide."""
    twin = key[:-1] + ("b" if key[-1] == "a" else "나")
    kept.save(key, b"one")
    kept.save(twin, b"two")
    assert (kept.load(key), kept.load(twin)) == (b"one", b"two")


@pytest.mark.parametrize("key", ["a" * 513, "a" * 1000, "가" * 171, "가" * 300], ids=len)
def test_a_key_that_is_too_long_is_refused_with_the_limit(kept: Kept, key: str) -> None:
    """O-KEY-03."""
    for words in (("save",), ("load",), ("verify",)):
        refused(kept.run(*words, key, input=b"x"), 64, "512")


def test_a_deep_folder_makes_no_difference(home: object, run: Run, kept: Kept) -> None:
    """O-KEY-03: forty folders down."""
    folder = kept.work
    for number in range(40):
        folder = folder / f"folder-{number}"
    folder.mkdir(parents=True)
    assert kept.run("load", "MEMORY.md", cwd=folder).stdout == FIRST


@pytest.mark.parametrize(("one", "other"), [("Notes", "notes"), (NFC, NFD), ("straße", "strasse"), ("ﬁle", "file")])
def test_keys_that_differ_in_case_or_normal_form_are_kept_apart(kept: Kept, one: str, other: str) -> None:
    """O-KEY-04."""
    kept.save(one, b"one")
    kept.save(other, b"other")
    assert (kept.load(one), kept.load(other)) == (b"one", b"other")
    assert kept.run("erase", "--yes", one).code == 0
    assert kept.load(other) == b"other"


def test_a_listing_tells_such_keys_apart(kept: Kept) -> None:
    """O-KEY-04, O-KEY-05."""
    for key in ("Notes", "notes", NFC, NFD):
        kept.save(key, b"x")
    ran = kept.run("list")
    assert "Notes, notes" in ran.err
    assert "look alike" in ran.err
    assert "\\uba54\\ubaa8" in ran.err
    assert ran.out.count("(decomposed Unicode)") == 1


def hidden_in(text: str) -> list[str]:
    """What cannot be seen in a text of ours, whose own warning sign holds such a character."""
    bare = text.replace("⚠️", "")
    return [
        char
        for char in bare
        if (unicodedata.category(char) in ("Cf", "Cc") and char != "\n")
        or (any(char in filler for filler in FILLERS) and not char.isascii())
    ]


FILLERS = [
    "MEMORY\u3164.md",
    "MEMORY.md\ufe0f",
    "MEMORY\u034f.md",
    "MEMORY.md\u2800",
    "\u1160MEMORY.md",
    "MEMORY.md\U000e0100",
]
"""Letters, marks and symbols to Unicode, nothing to the eye: the Hangul filler, variation selectors, the empty Braille cell."""


@pytest.mark.parametrize("key", [*KEYS["lookalike"], *FILLERS], ids=ascii)
def test_a_key_that_only_looks_like_another_is_never_given_for_it(kept: Kept, key: str) -> None:
    """O-KEY-05: zero-width joiner, Cyrillic letter, right-to-left mark, non-breaking space, byte-order mark."""
    saved = kept.run("save", "--", key, "-", input=b"posing\n")
    assert saved.code == 0
    assert "⚠" in saved.err, "a warning at save"
    assert kept.load("MEMORY.md") == FIRST
    assert kept.load(key) == b"posing\n"
    listed = kept.run("list")
    shown = [line.split("  ")[0] for line in listed.out.splitlines()]
    assert len(set(shown)) == len(shown), "told apart in the lines themselves"
    for text in (listed.out, saved.out, saved.err):
        assert not hidden_in(text), "what cannot be seen is escaped"
    assert "look alike" in listed.err
    kept.sql("UPDATE record SET content = ?", b"evil")
    for words in (("audit",), ("incident",), ("list",)):
        assert not hidden_in(kept.run(*words).out), words


@pytest.mark.parametrize(
    "key",
    [
        " ",
        " a",
        "a ",
        "\t",
        "a\nb",
        "\x1b[31mred",
        "-",
        "--",
        "--json",
        "-o",
        "@file",
        "*",
        "~",
        "$HOME",
        "a\x7f",
        "🧠" * 20,
    ],
)
def test_a_key_with_any_character_works_on_every_verb(kept: Kept, key: str) -> None:
    kept.save(key, b"x")
    assert kept.load(key) == b"x"
    for words in (("verify",), ("history",), ("diff",), ("archive",), ("unarchive",), ("proof",)):
        ran = kept.run(*words, "--", key)
        assert ran.code == 0, (words, ran)
        assert "\x1b" not in ran.out
    assert [item["key"] for item in said(kept.run("list", "--json"))["memories"] if item["sha256"] == sha256(b"x")] == [
        key
    ]
    out = kept.run("list").out
    assert "\x1b" not in out
    assert "\t" not in out
    assert len(out.splitlines()) == 3, "one line for each memory"


@pytest.mark.parametrize("raw", [b"a\xff", b"\xed\xa0\x80", b"\xc3"])
def test_a_key_that_is_no_utf8_is_refused_in_words(kept: Kept, raw: bytes) -> None:
    import os

    if os.name != "posix":
        pytest.skip("arguments are bytes where the system is POSIX")
    key = os.fsdecode(raw)
    for words in (("save",), ("load",), ("verify",)):
        refused(kept.run(*words, key, input=b"x"), 64, "surrogate")
    assert said(kept.run("verify", "--json", key))["exit_code"] == 64


def test_keys_with_what_sql_and_prefixes_mean_something_to(kept: Kept) -> None:
    for key in ("a%", "a_", "a'b", 'a"b', "a\\b", "a[b]", "a*", "a;DROP TABLE record"):
        kept.save(key, key.encode())
    for key in ("a%", "a_", "a*", "a[b]"):
        assert [item["key"] for item in said(kept.run("list", "--json", key))["memories"]] == [key]
