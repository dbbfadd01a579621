"""deliveries: what was used, when, and why."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from tests.cli.hands import Kept, refused, said

from indelible.deliveries import Delivery, journal_of
from indelible.store.follower import name_of

if TYPE_CHECKING:
    from tests.conftest import Run


def numbers(kept: Kept, *words: str) -> list[int]:
    found: list[dict[str, Any]] = said(kept.run("deliveries", "--json", *words))["deliveries"]
    return [one["number"] for one in found]


def journal(kept: Kept) -> Any:
    return journal_of(str(kept.home / "state" / "indelible"), name_of(str(kept.store), "default"))


def test_each_door_leaves_a_numbered_note_without_content(kept: Kept) -> None:
    assert kept.run("verify", "MEMORY.md").code == 0
    assert kept.run("load", "MEMORY.md").code == 0
    document = said(kept.run("deliveries", "--json"))
    assert document["slug"] == "deliveries"
    assert [(one["number"], one["door"], one["outcome"], one["key"], one["version"]) for one in document["deliveries"]] == [
        (1, "save", "saved", "MEMORY.md", 1), (2, "verify", "verified", "MEMORY.md", 1), (3, "load", "delivered", "MEMORY.md", 1),
    ]  # fmt: skip
    assert {one["agent"] for one in document["deliveries"]} == {"default"}
    assert "배포" not in kept.run("deliveries").out


def test_what_is_asked_for_is_shown(kept: Kept) -> None:
    kept.save("other", b"x")
    notes = journal(kept)
    notes.add(Delivery("2020-01-01T00:00:00Z", "mcp", "old"))
    notes.add(
        Delivery(
            "2026-11-30T09:00:00Z", "boot", "MEMORY.md", 1, 0, "held", reader="agent:\x1b[2J", policy="default", mode="anchored",
            reasons=(("expired", "it expired"), ("not-in-scope", "elsewhere")),
        )
    )  # fmt: skip
    assert numbers(kept) == [1, 2, 3, 4]
    assert numbers(kept, "MEMORY.md") == [1, 4]
    assert numbers(kept, "--held") == [4]
    assert numbers(kept, "--door", "save") == [1, 2]
    assert numbers(kept, "--until", "2021-01-01") == [3]
    assert 3 not in numbers(kept, "--since", "3650d")[:1]
    assert numbers(kept, "--limit", "2") == [3, 4]
    assert numbers(kept, "--after", "1", "--limit", "2") == [2, 3]
    line = kept.run("deliveries", "--held").out.splitlines()[0]
    assert line.startswith("❌ 4  2026-11-30T09:00:00Z  held  MEMORY.md (version 1)  boot to agent:\\x1b[2J  anchored")
    assert line.endswith("expired, not-in-scope")
    assert "--after 2" in kept.run("deliveries", "--after", "0", "--limit", "2").out


def test_where_nothing_was_noted_nothing_is_said_and_nothing_is_made(kept: Kept) -> None:
    kept.lose_pin()
    assert numbers(kept) == []
    assert not (kept.home / "state").exists()


@pytest.mark.parametrize(
    "words", [("--since", "yesterday"), ("--until", "2026-01-01T00:00:00"), ("--limit", "0"), ("--after", "-1")]
)
def test_what_is_no_time_or_number_is_refused(kept: Kept, words: tuple[str, ...]) -> None:
    refused(kept.run("deliveries", *words), 64)


def test_a_damaged_journal_is_said_and_listing_goes_on(kept: Kept) -> None:
    (file,) = (kept.home / "state" / "indelible" / "deliveries").glob("*.db")
    for suffix in ("-wal", "-shm"):
        file.with_name(file.name + suffix).unlink()
    file.write_bytes(b"no database\n" * 1000)
    ran = kept.run("deliveries", "--json")
    assert said(ran)["deliveries"] == []
    assert "cannot be read" in ran.err
    ran = kept.run("verify", "MEMORY.md")
    assert ran.code == 0
    assert "kept as" in ran.err
    assert numbers(kept) == [1]


@pytest.mark.parametrize(
    ("column", "value"), [("reasons", "nope"), ("review", "[1]"), ("checkpoint", "x y"), ("context", "[1,2")]
)
def test_a_delivery_that_was_altered_is_said_by_every_command_and_stops_none(
    kept: Kept, column: str, value: str
) -> None:
    assert kept.run("load", "MEMORY.md").code == 0
    with closing(apsw.Connection(journal(kept).path)) as connection:
        connection.execute(f"UPDATE delivery SET {column} = ? WHERE number = 1", (value,))
    ran = kept.run("deliveries", "--json")
    assert [one["number"] for one in said(ran)["deliveries"]] == [2]
    for each in (ran, kept.run("why", "MEMORY.md"), kept.run("incident")):
        assert each.code == 0
        assert "Delivery 1 was altered and cannot be read" in each.err
    refused(kept.run("why", "--delivery", "1"), 1, "Delivery 1 was altered", "indelible audit")
    assert kept.run("why", "--delivery", "2").code == 0


def test_of_a_store_that_is_not_there_it_says_so_as_other_verbs_do(run: Run) -> None:
    refused(run("deliveries"), 3, "There is no store", "indelible init")


def test_of_a_store_that_is_gone_what_was_noted_is_listed_still(kept: Kept) -> None:
    kept.remove()
    assert numbers(kept) == [1]


def test_the_help_names_the_doors_there_are(kept: Kept) -> None:
    shown = " ".join(kept.run("deliveries", "--help").out.split())
    assert "load, recall, similarity, verify, save, edit, state, boot, library, http, plain" in shown
