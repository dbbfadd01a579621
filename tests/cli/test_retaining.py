"""retention show, retention apply."""

from __future__ import annotations

import os

import pytest
from tests.cli.hands import FIRST, Kept, refused, said

from indelible.deliveries import Delivery, journal_of
from indelible.store.follower import name_of

DAY = "2020-01-01T00:00:00Z"
RULES = '[[content]]\nkind = "observation"\nexpire_after = "30d"\n[[content]]\nscope = "repo"\nexpire_after = "1w"\n[audit]\nkeep = "365d"\n'


@pytest.fixture
def old(repo: Kept, monkeypatch: pytest.MonkeyPatch) -> Kept:
    """MEMORY.md is of today; two observations and a fact were saved years ago."""
    with monkeypatch.context() as patch:
        patch.setattr("indelible.settings.now", lambda: DAY)
        patch.setattr("indelible.wiring.now", lambda: DAY)
        repo.save("seen-1", b"the build was red at noon, said the log\n", "--kind", "observation")
        repo.save("seen-2", b"the build was green at night, said the log\n", "--kind", "observation")
        repo.save("fact", b"water is wet\n")
    (repo.work / ".indelible" / "retention.toml").write_text(RULES, encoding="utf-8")
    return repo


def raw(kept: Kept) -> bytes:
    wal = kept.store.with_name(kept.store.name + "-wal")
    return kept.store.read_bytes() + (wal.read_bytes() if wal.exists() else b"")


def test_show_says_each_rule_and_what_is_past(old: Kept) -> None:
    document = said(old.run("retention", "show", "--json"))
    assert document["rules"] == ["kind observation, expire_after 30d", "scope repo, expire_after 1w"]
    assert [one["key"] for one in document["past"]] == ["seen-1", "seen-2"]
    assert document["past"][0]["past"] == "2020-01-31T00:00:00Z"
    plain = old.run("retention", "show").out
    assert "kind observation, expire_after 30d: 2 memories, 2 past" in plain
    assert "deliveries are kept for 365d" in plain


def test_a_dry_run_erases_nothing(old: Kept) -> None:
    before = raw(old)
    document = said(old.run("retention", "apply", "--dry-run", "--json"))
    assert ([one["key"] for one in document["erased"]], document["dry_run"]) == (["seen-1", "seen-2"], True)
    assert raw(old) == before


def test_apply_erases_what_is_past_with_its_reason_and_drops_old_deliveries(old: Kept) -> None:
    state, name = str(old.home / "state" / "indelible"), name_of(str(old.store), "default")
    journal_of(state, name).add(Delivery(DAY, "load", "seen-1"))
    document = said(old.run("retention", "apply", "--json"))
    assert (document["slug"], [one["key"] for one in document["erased"]]) == ("applied", ["seen-1", "seen-2"])
    assert document["deliveries_dropped"] >= 1
    assert b"said the log" not in raw(old)
    assert {one.at[:4] for one in journal_of(state, name).read()} != {"2020"}
    entry = said(old.run("history", "seen-1", "--json"))["entries"][0]
    assert (entry["type"], entry["reason"]) == ("erased", "retention: kind observation, expire_after 30d")
    assert old.load("fact") == b"water is wet\n"
    assert old.load("MEMORY.md") == FIRST
    assert said(old.run("retention", "apply", "--json"))["erased"] == []
    assert old.run("audit").code == 0


def test_an_archived_memory_is_past_its_time_as_well(old: Kept) -> None:
    assert old.run("archive", "seen-1").code == 0
    assert [one["key"] for one in said(old.run("retention", "apply", "--json"))["erased"]] == ["seen-1", "seen-2"]


def test_a_newer_save_counts(old: Kept) -> None:
    old.save("seen-1", b"and again today\n", "--kind", "observation")
    assert [one["key"] for one in said(old.run("retention", "apply", "--json"))["erased"]] == ["seen-2"]


def test_the_command_for_what_is_past_saves_it_again(old: Kept) -> None:
    held = said(old.run("held", "--json"))["held"]
    again = "indelible load --policy unsafe-deliver-all {0} | indelible save {0} -"
    assert {one["key"]: one["command"] for one in held} == {key: again.format(key) for key in ("seen-1", "seen-2")}
    loaded = old.run("load", "--policy", "unsafe-deliver-all", "seen-1")
    assert old.run("save", "seen-1", "-", input=loaded.stdout).code == 0
    assert [one["key"] for one in said(old.run("held", "--json"))["held"]] == ["seen-2"]


def test_one_bad_memory_holds_up_no_other(old: Kept) -> None:
    old.sql("UPDATE record SET content = ? WHERE CAST(content AS TEXT) LIKE '%noon%'", b"evil")
    document = said(old.run("retention", "apply", "--json"))
    assert (document["slug"], document["exit_code"]) == ("tampered", 2)
    assert [one["key"] for one in document["erased"]] == ["seen-2"]
    assert [one["slug"] for one in document["findings"]] == ["digest-mismatch"]


@pytest.mark.parametrize("verb", ["show", "apply"])
def test_without_a_file_of_rules_nothing_is_erased_and_it_is_said_where_they_would_stand(kept: Kept, verb: str) -> None:
    ran = kept.run("retention", verb)
    assert (ran.code, ran.out.count("\n"), ran.err) == (0, 1, "")
    assert "no retention rules" in ran.out
    assert ".indelible/retention.toml" in ran.out
    document = said(kept.run("retention", verb, "--json"))
    assert (document["slug"], document["file"]) == ("no-rules", None)
    assert kept.load("MEMORY.md") == FIRST


@pytest.mark.parametrize("verb", ["show", "apply"])
def test_rules_that_are_off_are_named_and_erase_nothing(old: Kept, verb: str) -> None:
    file = old.work / ".indelible" / "retention.toml"
    file.write_text(RULES + "[extra]\n", encoding="utf-8")
    refused(old.run("retention", verb), 64, str(file), "'extra'")
    file.write_bytes(b"\xff\xfe")
    refused(old.run("retention", verb), 64, str(file))
    assert b"said the log" in raw(old)


@pytest.mark.skipif(os.name != "posix", reason="links as POSIX has them")
def test_rules_behind_a_link_are_refused(old: Kept) -> None:
    file = old.work / ".indelible" / "retention.toml"
    elsewhere = old.home / "rules.toml"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)
    refused(old.run("retention", "apply"), 1, str(file), "link")
    assert b"said the log" in raw(old)
