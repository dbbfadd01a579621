"""recall, recall --like, recall --repair and reindex, as a user runs them."""

from __future__ import annotations

import os
import random
import sqlite3
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.hands import Kept

TEXT = (
    b"The release branch is cut on Thursday at ten. The nightly tests have to pass on staging first.\n"
    b"Deploys of the billing service go through make deploy, and only after Dana has said yes.\n"
)


@pytest.fixture
def filled(kept: Kept) -> Kept:
    kept.save("release", TEXT)
    assert (
        kept.run("save", "decision", "-", "--kind", "decision", input=b"Billing moves to the second cluster").code == 0
    )
    return kept


def damaged(text: bytes = TEXT) -> bytes:
    made = bytearray(text)
    for bit in random.Random(5).sample(range(8 * len(made)), len(made)):
        made[bit // 8] ^= 1 << bit % 8
    return bytes(made)


def index_of(kept: Kept) -> Path:
    return (
        next((kept.home / "state").glob("**/*.index"))
        if (kept.home / "state").exists()
        else next(kept.home.glob("**/*.index"))
    )


@pytest.mark.parametrize("query", ["체크섬", "체크섬을", "확인", "배포 전"])
def test_korean_is_found(filled: Kept, query: str) -> None:
    """O-SRCH-01."""
    ran = filled.run("recall", query, "--json")
    assert [one["key"] for one in ran.json["delivered"]] == ["MEMORY.md"]


def test_what_a_score_is_made_of_is_said(filled: Kept) -> None:
    ran = filled.run("recall", "--explain", "billing", "deploys")
    assert ran.code == 0
    assert "release: score " in ran.err
    assert "words " in ran.err
    told = filled.run("recall", "--explain", "--json", "billing").json
    assert told["certificate"]["certainty"] == "unknown"
    assert {"words", "grams", "near", "nearness"} == set(told["delivered"][0]["channels"])


def test_a_query_is_narrowed(filled: Kept) -> None:
    def keys(*options: str) -> list[str]:
        return [one["key"] for one in filled.run("recall", "billing", "--json", *options).json["delivered"]]

    assert sorted(keys()) == ["decision", "release"]
    assert keys("--kind", "decision") == ["decision"]
    assert keys("--prefix", "rel") == ["release"]
    assert sorted(keys("--scope", "agent")) == ["decision", "release"]
    assert keys("--scope", "repo") == []
    assert keys("--until", "2001-01-01") == []
    assert sorted(keys("--since", "2001-01-01")) == ["decision", "release"]


@pytest.mark.parametrize("words", [(), ("word", "--like", "x"), ("--like", "x", "--repair", "y")])
def test_one_thing_is_looked_for(filled: Kept, words: tuple[str, ...]) -> None:
    ran = filled.run("recall", *words)
    assert (ran.code, "QUERY, or --like FILE, or --repair FILE" in ran.err) == (64, True)


def test_a_damaged_copy_is_repaired_and_what_was_there_is_kept(filled: Kept) -> None:
    file = filled.work / "notes.md"
    file.write_bytes(damaged())
    os.chmod(file, 0o640)
    like = filled.run("recall", "--like", "notes.md")
    assert (like.code, "PERFECT: the original is release (version 1); this copy differs: " in like.out) == (0, True)
    assert file.read_bytes() == damaged()
    ran = filled.run("recall", "--repair", "notes.md", "--json")
    assert (ran.code, ran.json["slug"], ran.json["kept"]) == (0, "perfect", "notes.md.damaged")
    assert file.read_bytes() == TEXT
    assert file.stat().st_mode & 0o777 == 0o640
    assert (filled.work / "notes.md.damaged").read_bytes() == damaged()
    again = filled.run("recall", "--repair", "notes.md")
    assert (again.code, "nothing was written" in again.out) == (0, True)
    assert sorted(one.name for one in filled.work.glob("notes*")) == ["notes.md", "notes.md.damaged"]


def test_nothing_is_written_where_there_is_a_doubt(filled: Kept) -> None:
    twin = TEXT.replace(b"Thursday", b"Saturday")
    filled.save("twin", twin)
    file = filled.work / "notes.md"
    for text, code, word in (
        (TEXT[TEXT.index(b"Deploys") :], 1, "AMBIGUOUS"),
        (b"whales and other matters", 3, "UNKNOWN"),
    ):
        file.write_bytes(text)
        ran = filled.run("recall", "--repair", "notes.md")
        assert (ran.code, word in ran.err) == (code, True)
        assert file.read_bytes() == text
    assert list(filled.work.glob("*.damaged")) == []


def test_an_original_that_was_altered_repairs_nothing(filled: Kept) -> None:
    file = filled.work / "notes.md"
    file.write_bytes(damaged())
    assert filled.run("recall", "--like", "notes.md").code == 0
    with sqlite3.connect(filled.store) as connection:
        connection.execute("UPDATE record SET content = CAST(replace(CAST(content AS TEXT), 'ten', 'two') AS BLOB)")
    connection.close()
    ran = filled.run("recall", "--repair", "notes.md", "--json")
    assert (ran.code, ran.json["slug"], ran.json["finding"]["slug"]) == (2, "mismatch", "digest-mismatch")
    assert file.read_bytes() == damaged()


def test_a_held_original_repairs_nothing(filled: Kept) -> None:
    assert filled.run("save", "old", "-", "--expires", "2999-01-01", input=TEXT.replace(b"Dana", b"Mina")).code == 0
    assert (
        filled.run("save", "outside", "-", "--origin", "external", input=b"Ask the oracle about the whales " * 8).code
        == 0
    )
    file = filled.work / "notes.md"
    file.write_bytes(damaged(b"Ask the oracle about the whales " * 8))
    ran = filled.run("recall", "--repair", "notes.md", "--json")
    assert (ran.code, ran.json["slug"]) == (4, "held")
    assert file.read_bytes() == damaged(b"Ask the oracle about the whales " * 8)


def test_a_link_is_not_followed(filled: Kept) -> None:
    (filled.work / "real.md").write_bytes(damaged())
    os.symlink("real.md", filled.work / "notes.md")
    ran = filled.run("recall", "--repair", "notes.md")
    assert ran.code == 64
    assert (filled.work / "real.md").read_bytes() == damaged()


def test_the_index_is_made_anew_and_held_against_the_memories(filled: Kept) -> None:
    ran = filled.run("reindex", "--json")
    assert (ran.code, ran.json["slug"], ran.json["memories"]) == (0, "reindexed", 3)
    assert filled.run("reindex", "--check", "--json").json["slug"] == "index-same"


def test_a_poisoned_index_is_noticed(filled: Kept) -> None:
    """Somebody who can write the folder puts a segment of another store there, with a catalogue that fits it."""
    assert filled.run("reindex").code == 0
    folder = index_of(filled)
    (segment,) = folder.glob("*.idx")
    with sqlite3.connect(folder / "index.db") as connection:
        connection.execute("UPDATE segment SET sha256 = ?", ("0" * 64,))
    connection.close()
    ran = filled.run("recall", "billing", "--json")
    assert ran.code == 0
    assert "The index was not as it was written" in ran.json["warnings"][0]
    assert sorted(one["key"] for one in ran.json["delivered"]) == ["decision", "release"]
    assert not segment.exists()


def test_a_tampered_memory_is_refused_on_every_way_of_recall(filled: Kept) -> None:
    """O-SRCH-05."""
    with sqlite3.connect(filled.store) as connection:
        connection.execute(
            "UPDATE record SET content = CAST(replace(CAST(content AS TEXT), 'Thursday', 'Saturday') AS BLOB)"
        )
    connection.close()
    found = filled.run("recall", "billing", "--json")
    assert (found.code, [one["slug"] for one in found.json["findings"]]) == (2, ["digest-mismatch"])
    assert [one["key"] for one in found.json["delivered"]] == ["decision"]
    assert filled.run("reindex").code == 2
    assert filled.run("recall", "--like", "-", input=TEXT).code in (2, 3)


def test_lines_are_drawn_for_what_is_stored(filled: Kept) -> None:
    few = filled.run("reindex", "--calibrate")
    assert (few.code, "too few to calibrate by" in few.err) == (64, True)
    for number in range(320):
        words = random.Random(number).sample(
            ["branch", "cut", "staging", "night", "test", "ledger", "cluster", "cache", "window", "archive"], 7
        )
        filled.save(f"note-{number}", f"{' '.join(words)} {number * number} in drawer {number}".encode())
    ran = filled.run("reindex", "--calibrate", "--json")
    assert (ran.code, set(ran.json["thresholds"])) == (0, {"bits", "turns", "grams", "covered", "gap", "flips"})
    assert filled.run("recall", "--like", "-", input=damaged()).code == 0


def test_a_pipe_is_not_waited_for_and_odd_files_are_left_alone(filled: Kept) -> None:
    os.mkfifo(filled.work / "pipe")
    for word in ("--like", "--repair"):
        assert filled.run("recall", word, "pipe").code == 64
    os.symlink("nowhere", filled.work / "link")
    assert filled.run("recall", "--repair", "link").code == 64
    assert filled.run("recall", "--repair", "-", input=damaged()).code == 64
    assert list(filled.work.glob("*.damaged")) == []
    (filled.work / "long").write_bytes(TEXT * 40)
    assert filled.run("recall", "--repair", "long").code in (1, 3, 5)
    assert (filled.work / "long").read_bytes() == TEXT * 40


def test_what_narrows_a_question_narrows_no_copy(filled: Kept) -> None:
    (filled.work / "x").write_bytes(TEXT)
    assert filled.run("recall", "--like", "x", "--tag", "q").code == 64
    assert filled.run("recall", "--like", "x", "--prefix", "zzz").code == 3
    assert filled.run("recall", "--like", "x", "--prefix", "rel").code == 0


def test_an_original_that_is_held_under_one_key_is_given_under_another(filled: Kept) -> None:
    filled.save("fresh", TEXT)
    assert filled.run("archive", "release").code == 0
    file = filled.work / "notes.md"
    file.write_bytes(damaged())
    ran = filled.run("recall", "--repair", "notes.md", "--json")
    assert (ran.code, file.read_bytes()) == (0, TEXT)


def test_words_that_are_no_utf8_are_asked_for_all_the_same(filled: Kept) -> None:
    ran = filled.run("recall", "--explain", b"\xff\xfebilling".decode("utf-8", "surrogateescape"))
    assert (ran.code, "Traceback" in ran.err) == (0, False)


def test_of_a_long_text_the_part_that_is_asked_for_is_given(filled: Kept) -> None:
    long = b"".join(b"Line %d of the ledger says nothing.\n" % number for number in range(3000))
    filled.save("long", long + b"The zebra crossing is painted on Friday.\n" + long)
    ran = filled.run("recall", "zebra", "crossing", "--limit", "1")
    assert "zebra crossing is painted" in ran.out
    assert len(ran.out) < 9_000
    assert "part: characters" in ran.out
    assert "'indelible load long' gives all" in ran.out
    assert len(filled.run("recall", "zebra", "--limit", "1", "--characters", "0").out) > 200_000
