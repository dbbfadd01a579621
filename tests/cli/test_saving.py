"""save, save-file and edit."""

from __future__ import annotations

import json
import os
import re
import tempfile
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from tests.cli.hands import FIRST, Kept, ended, git, refused, said, script, sha256, start

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Run


def test_a_save_says_digest_version_and_size_in_one_line(kept: Kept) -> None:
    content = "기억 하나\n".encode()
    ran = kept.run("save", "notes", "-", input=content)
    assert ran.code == 0
    assert ran.out == f"✅ saved  sha256:{sha256(content)}  notes (version 1; 6 characters, 14 bytes)\n"
    assert not ran.err
    again = said(kept.run("save", "notes", "--json", input=b"\xff\xfe"))
    assert (again["version"], again["bytes"], again["characters"]) == (2, 2, None)


@pytest.mark.parametrize("verb", ["save", "save-file"])
def test_a_file_is_saved_byte_for_byte(kept: Kept, verb: str) -> None:
    content = b"one\r\ntwo\rthree\x00\xff"
    path = kept.file("notes.bin", content)
    assert kept.run(verb, "notes", path).code == 0
    assert kept.load("notes") == content


@pytest.mark.parametrize("verb", ["save", "save-file"])
def test_standard_input_is_what_a_dash_names(kept: Kept, verb: str) -> None:
    assert kept.run(verb, "notes", "-", input=b"from a pipe").code == 0
    assert kept.load("notes") == b"from a pipe"


def test_save_without_a_store_says_how_to_make_one(run: Run) -> None:
    refused(run("save", "k", input=b"x"), 3, "indelible init")


@pytest.mark.parametrize("file", ["nowhere.md", ".", "/nowhere/at/all"])
def test_a_file_that_cannot_be_read_is_a_matter_of_usage(kept: Kept, file: str) -> None:
    refused(kept.run("save", "notes", file), 64, file)


def test_a_closed_standard_input_is_not_an_empty_memory(kept: Kept) -> None:
    """`save KEY <&-` in a cron job."""
    process = start("save", "notes", cwd=kept.work, prefix=("sh", "-c", 'exec "$@" <&-', "sh"))
    refused(ended(process), 64, "closed")
    refused(kept.run("load", "notes"), 3)


def test_a_file_that_is_too_large_is_refused_whole(kept: Kept) -> None:
    with open(kept.work / "huge", "wb") as file:
        file.truncate(64 * 1024 * 1024 + 1)
    refused(kept.run("save", "huge", "huge"), 64, "64 MiB")


def test_fifty_megabytes_come_back_as_they_were(kept: Kept) -> None:
    content = os.urandom(50_000_000)
    assert kept.save("big", content) == sha256(content)
    assert kept.load("big") == content


# Conflicts, and what is done about them.


def test_a_save_based_on_another_version_is_a_conflict_that_shows_both(kept: Kept) -> None:
    other = kept.save("MEMORY.md", b"line A\n")
    ran = kept.run("save", "MEMORY.md", "--based-on", sha256(FIRST), input=b"line B\n")
    refused(ran, 5, sha256(FIRST), other, "--force")
    assert kept.load("MEMORY.md") == b"line A\n"


def test_force_saves_over_a_newer_version_and_the_log_says_so(kept: Kept) -> None:
    kept.save("MEMORY.md", b"line A\n")
    assert (
        kept.run(
            "save", "MEMORY.md", "--based-on", sha256(FIRST), "--force", "--reason", "B knows better", input=b"B"
        ).code
        == 0
    )
    newest = said(kept.run("history", "--json", "MEMORY.md"))["entries"][0]
    assert (newest["how"], newest["reason"]) == ("forced", "B knows better")
    assert "forced" in kept.run("history", "MEMORY.md").out


@pytest.mark.parametrize("spelling", ["{}", "sha256:{}"])
def test_a_save_based_on_the_present_version_goes_through(kept: Kept, spelling: str) -> None:
    for digest in (sha256(FIRST), sha256(b"2").upper()):
        kept.save("MEMORY.md", b"2", "--based-on", spelling.format(digest))


def test_based_on_nothing_means_that_there_must_be_nothing(kept: Kept) -> None:
    kept.save("new", b"1", "--based-on", "")
    refused(kept.run("save", "new", "--based-on", "", input=b"2"), 5)


@pytest.mark.parametrize("digest", ["zz", "sha256:", sha256(FIRST)[:-1], "sha1:" + "0" * 40, "latest"])
def test_a_base_that_is_no_digest_is_a_matter_of_usage_not_a_conflict(kept: Kept, digest: str) -> None:
    ran = kept.run("save", "MEMORY.md", "--based-on", digest, input=b"x")
    if digest == "sha256:":
        refused(ran, 5)
    else:
        refused(ran, 64, "SHA-256")


def test_nothing_over_something_needs_to_be_said(kept: Kept) -> None:
    refused(kept.run("save", "MEMORY.md", input=b""), 6, "--allow-empty")
    assert kept.load("MEMORY.md") == FIRST
    kept.save("MEMORY.md", b"", "--allow-empty")
    assert kept.load("MEMORY.md") == b""


# Operation ids.


def test_a_repeated_operation_makes_one_version(kept: Kept) -> None:
    first = said(kept.run("save", "k", "--op-id", "job-17", "--json", input=b"x"))
    again = said(kept.run("save", "k", "--op-id", "job-17", "--json", input=b"x"))
    assert (first["repeated"], again["repeated"]) == (False, True)
    assert first["seq"] == again["seq"]
    assert "already saved" in kept.run("save", "k", "--op-id", "job-17", input=b"x").out
    refused(kept.run("save", "k", "--op-id", "job-17", input=b"y"), 5, "job-17")
    refused(kept.run("archive", "k", "--op-id", "job-17"), 5, "job-17")


@pytest.mark.parametrize("verb", ["save", "archive", "unarchive", "erase"])
def test_an_empty_operation_id_is_refused(kept: Kept, verb: str) -> None:
    """As a shell variable gives it that was not set: silently taken for none, every retry would be a version."""
    refused(kept.run(verb, "MEMORY.md", "--op-id", ""), 64, "--op-id")


# What a memory is said to be.


def body_of(kept: Kept, key: str) -> dict[str, object]:
    rows = kept.sql("SELECT body FROM record ORDER BY id")
    bodies = [json.loads(row[0]) for row in rows]
    return next(body for body in reversed(bodies) if body["key"] == key)


def test_options_go_into_the_record(kept: Kept) -> None:
    kept.save(
        "rule", b"x", "--kind", "decision", "--title", "제목", "--tag", "a", "--tag", "b", "--scope", "repo:github.com/o/r",
        "--authority", "instruction", "--origin", "user", "--expires", "2099-01-01", "--review-by", "2098-01-01T09:00:00+09:00",
        "--valid-from", "2020-01-01", "--valid-until", "2097-01-01T00:00:00Z",
    )  # fmt: skip
    text = json.dumps(body_of(kept, "rule"), ensure_ascii=False)
    for word in (
        "decision",
        "제목",
        "github.com/o/r",
        "instruction",
        '"user"',
        "2099-01-01T00:00:00Z",
        "2098-01-01T00:00:00Z",
        "2097-01-01T00:00:00Z",
    ):
        assert word in text, (word, text)


def test_what_was_said_of_a_memory_stays_when_it_is_saved_again(kept: Kept) -> None:
    kept.save("rule", b"x", "--title", "the title", "--kind", "decision")
    kept.save("rule", b"y")
    assert "the title" in json.dumps(body_of(kept, "rule"))


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--kind", "mood"), ("--scope", "galaxy"), ("--scope", "path:"), ("--scope", "branch"), ("--authority", "law"), ("--origin", "nobody"),
        ("--expires", "soon"), ("--expires", "2026-13-01"), ("--expires", "2026-01-01T00:00:00"), ("--review-by", "9999999d"),
        ("--valid-from", ""), ("--valid-until", "1d2h"),
    ],
)  # fmt: skip
def test_a_value_that_an_option_cannot_take_is_named(kept: Kept, option: str, value: str) -> None:
    err = refused(kept.run("save", "rule", option, value, input=b"x"), 64)
    assert value in err
    refused(kept.run("load", "rule"), 3)


def test_a_span_counts_from_now(kept: Kept) -> None:
    kept.save("rule", b"x", "--expires", "2h")
    validity = body_of(kept, "rule")["validity"]
    assert isinstance(validity, dict)
    left = datetime.fromisoformat(validity["expires_at"]) - datetime.now(UTC)
    assert timedelta(hours=1, minutes=58) < left <= timedelta(hours=2)


def test_an_expiry_that_is_past_is_taken_with_a_warning(kept: Kept) -> None:
    ran = kept.run("save", "rule", "--expires", "2020-01-01", input=b"x")
    assert ran.code == 0
    assert "it expired at 2020-01-01T00:00:00Z" in ran.err
    refused(kept.run("load", "rule"), 4, "expired", "2020-01-01")


# The seeds' spellings.


def test_the_embedded_form_is_the_seeds_json(repo: Kept) -> None:
    assert repo.run("save", "MEMORY.md", "MEMORY.md", "--embed").code == 0
    value = json.loads(repo.load("MEMORY.md"))
    assert list(value) == ["text", "checksum", "saved_at", "source", "branch"]
    assert value["text"].encode() == FIRST
    assert value["checksum"] == f"sha256:{sha256(FIRST)}"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", value["saved_at"])
    assert (value["source"], value["branch"]) == ("team/notes/MEMORY.md", "main")


def test_only_text_can_be_embedded(kept: Kept) -> None:
    refused(kept.run("save", "k", "--embed", input=b"abc\xff"), 64, "UTF-8", "without --embed")


def test_the_day_of_a_dated_key_can_be_told(kept: Kept) -> None:
    kept.file("MEMORY.md", FIRST)
    for day in ("2026-06-10", "20260610"):
        ran = kept.run("save", "MEMORY.md", "MEMORY.md", "--dated", "--day", day, "--json")
        assert said(ran)["key"] == "MEMORY_MD_20260610"
    for words in (("--dated", "--day", "2026-02-30"), ("--day", "2026-06-10"), ("--dated", "--day", "yesterday")):
        refused(kept.run("save", "MEMORY.md", "MEMORY.md", *words), 64)


@pytest.mark.parametrize("verb", ["save", "save-file"])
def test_a_dated_key_has_the_day_in_utc(kept: Kept, verb: str) -> None:
    kept.file("MEMORY.md", FIRST)
    before = datetime.now(UTC)
    key = said(kept.run(verb, "MEMORY.md", "MEMORY.md", "--dated", "--json", env={"TZ": "Pacific/Kiritimati"}))["key"]
    assert key in {f"MEMORY_MD_{day:%Y%m%d}" for day in (before, datetime.now(UTC))}
    assert kept.load(key) == FIRST


# edit


def test_edit_saves_what_the_editor_left(kept: Kept) -> None:
    editor = script(kept.work / "ed", 'echo added >> "$1"; case "$1" in *.md) ;; *) exit 3 ;; esac')
    ran = kept.run("edit", "MEMORY.md", "--reason", "one more", env={"EDITOR": str(editor)})
    assert ran.code == 0, ran.err
    assert kept.load("MEMORY.md") == FIRST + b"added\n"
    assert said(kept.run("history", "--json", "MEMORY.md"))["entries"][0]["reason"] == "one more"
    assert not left_behind()


def left_behind() -> list[str]:
    return [
        name
        for name in os.listdir(tempfile.gettempdir())
        if name.startswith("indelible-") and name.endswith((".md", ".txt"))
    ]


@pytest.fixture(autouse=True)
def own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)


def test_edit_makes_a_new_memory_too(kept: Kept) -> None:
    editor = script(kept.work / "ed", 'echo new > "$1"')
    assert kept.run("edit", "fresh", "--editor", str(editor)).code == 0
    assert kept.load("fresh") == b"new\n"


def test_an_edit_that_changes_nothing_saves_nothing(kept: Kept) -> None:
    ran = kept.run("edit", "MEMORY.md", "--editor", "true")
    assert (ran.code, "Nothing changed" in ran.out) == (0, True)
    document = said(kept.run("edit", "MEMORY.md", "--editor", "true", "--json"))
    assert (document["slug"], document["sha256"]) == ("unchanged", sha256(FIRST))
    assert len(said(kept.run("history", "--json", "MEMORY.md"))["entries"]) == 1
    assert kept.run("edit", "fresh", "--editor", "true").code == 0
    refused(kept.run("load", "fresh"), 3)
    assert not left_behind()


def test_an_edit_beside_another_save_is_a_conflict_and_keeps_the_text(kept: Kept) -> None:
    save = f'echo theirs | "{start_of()}" save MEMORY.md >&2'
    editor = script(kept.work / "ed", f'echo mine >> "$1"; {save}')
    err = refused(kept.run("edit", "MEMORY.md", "--editor", str(editor)), 5, sha256(FIRST), sha256(b"theirs\n"))
    kept_in = re.search(r"kept in (\S+?)\.? ", err)
    assert kept_in is not None
    with open(kept_in[1], "rb") as file:
        assert file.read() == FIRST + b"mine\n"
    assert kept.load("MEMORY.md") == b"theirs\n"


def start_of() -> str:
    from tests.conftest import indelible_command

    return '" "'.join(indelible_command())


def test_a_failing_editor_saves_nothing_and_keeps_what_was_typed(kept: Kept) -> None:
    refused(kept.run("edit", "MEMORY.md", "--editor", "false"), 1, "exit code 1")
    assert not left_behind(), "an unchanged text needs no copy"
    editor = script(kept.work / "ed", 'echo typed >> "$1"; exit 3')
    err = refused(kept.run("edit", "MEMORY.md", "--editor", str(editor)), 1, "exit code 3")
    assert left_behind()[0] in err
    assert kept.load("MEMORY.md") == FIRST


@pytest.mark.parametrize("editor", ["/no/such/editor", "'", " ", None])
def test_an_editor_that_cannot_be_started_is_named(kept: Kept, editor: str | None) -> None:
    """Without any, and without a terminal for vi, nothing is started that would wait for ever."""
    refused(kept.run("edit", "MEMORY.md", env={"EDITOR": editor}), 64, "--editor")
    assert not left_behind()


def test_what_an_editor_prints_is_not_mixed_into_the_json(kept: Kept) -> None:
    editor = script(kept.work / "ed", 'echo chatter; echo more >> "$1"')
    assert said(kept.run("edit", "MEMORY.md", "--editor", str(editor), "--json"))["version"] == 2


def test_visual_goes_before_editor(kept: Kept) -> None:
    editor = script(kept.work / "ed", 'echo visual > "$1"')
    assert kept.run("edit", "MEMORY.md", env={"EDITOR": "false", "VISUAL": f"{editor}  "}).code == 0
    assert kept.load("MEMORY.md") == b"visual\n"


def test_an_edited_memory_no_longer_comes_from_its_file_in_git(repo: Kept) -> None:
    editor = script(repo.work / "ed", 'echo edited > "$1"')
    assert repo.run("edit", "MEMORY.md", "--editor", str(editor)).code == 0
    ran = repo.run("restore", "MEMORY.md", "--from-git")
    assert ran.code == 0
    assert "version 1 was saved from" in ran.err, "that this is older than the edit is said"
    assert repo.load("MEMORY.md") == FIRST


def test_a_tampered_memory_is_not_opened_in_an_editor(kept: Kept) -> None:
    kept.alter()
    editor = script(kept.work / "ed", f'cp "$1" {kept.work}/seen')
    refused(kept.run("edit", "MEMORY.md", "--editor", str(editor)), 2)
    assert not (kept.work / "seen").exists()


def test_a_save_records_where_in_git_its_file_is(repo: Kept) -> None:
    assert git(repo.work, "branch", "--show-current") == "main"
    assert "team/notes/MEMORY.md" in json.dumps(body_of(repo, "MEMORY.md"))
