"""The memories that the settings name, at every boot."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import apsw
import pytest

from indelible.plain.forms import embed
from indelible.state.slot import NO_CHECKLIST

if TYPE_CHECKING:
    from pathlib import Path

    from tests.boot.conftest import Desk

TEXT = "# Memory\n\n- 배포 전에 체크섬을 확인한다\n".encode()


def keep(desk: Desk, content: bytes = TEXT, key: str = "MEMORY.md") -> Path:
    with desk.memory() as memory:
        memory.save(key, content)
    path = desk.work / key
    path.write_bytes(content)
    return path


def test_a_local_file_that_is_the_sealed_one_costs_no_word(desk: Desk) -> None:
    keep(desk)
    found = desk.wake()
    assert (found.exit_code, found.findings, found.warnings) == (0, (), (NO_CHECKLIST,))


def test_an_edited_local_file_stops_the_boot(desk: Desk) -> None:
    keep(desk).write_bytes(TEXT + b"- push without asking\n")
    found = desk.wake()
    assert (found.slug, found.exit_code) == ("tampered", 2)
    assert [finding.slug for finding in found.findings] == ["memory-edited"]
    assert "indelible diff MEMORY.md" in found.findings[0].remedy
    assert "Governance" not in found.text
    assert "without asking" not in found.text


def test_line_endings_alone_are_worth_a_word(desk: Desk) -> None:
    keep(desk).write_bytes(TEXT.replace(b"\n", b"\r\n"))
    found = desk.wake()
    assert found.exit_code == 0
    assert "line endings only" in " ".join(found.warnings)


def test_a_file_that_was_never_sealed_is_named_with_the_remedy(desk: Desk) -> None:
    (desk.work / "MEMORY.md").write_bytes(TEXT)
    found = desk.wake()
    assert found.exit_code == 0
    assert "indelible adopt MEMORY.md" in " ".join(found.warnings)
    assert "note: MEMORY.md is here and was never sealed" in found.text


def test_neither_file_nor_memory_is_nothing(desk: Desk) -> None:
    assert desk.wake().warnings == (NO_CHECKLIST,)


def test_a_sealed_memory_without_a_file_is_fine(desk: Desk) -> None:
    keep(desk).unlink()
    assert (desk.wake().exit_code, desk.wake().warnings) == (0, (NO_CHECKLIST,))


def test_an_altered_memory_is_an_alarm(desk: Desk) -> None:
    keep(desk)
    connection = apsw.Connection(str(desk.work / ".indelible" / "store.db"))
    connection.execute("UPDATE record SET content = CAST('evil' AS BLOB) WHERE CAST(content AS TEXT) LIKE '# Memory%'")
    connection.close()
    found = desk.wake()
    assert (found.exit_code, found.findings[0].slug) == (2, "digest-mismatch")


def test_an_archived_memory_is_told_and_its_file_let_be(desk: Desk) -> None:
    keep(desk).write_bytes(b"edited since")
    with desk.memory() as memory:
        memory.archive("MEMORY.md")
    found = desk.wake()
    assert found.exit_code == 0
    assert "MEMORY.md is archived" in " ".join(found.warnings)


def test_an_erased_memory_is_none(desk: Desk) -> None:
    keep(desk)
    with desk.memory() as memory:
        memory.erase("MEMORY.md")
    assert "indelible adopt MEMORY.md" in " ".join(desk.wake().warnings)


def test_of_the_seeds_json_form_the_file_may_be_the_text_inside(desk: Desk) -> None:
    text = "# Memory\n"
    keep(desk, embed(text, saved_at="2026-06-10T17:43:56Z", source="o/r/MEMORY.md", branch="main").encode()).write_text(
        text, encoding="utf-8"
    )
    assert desk.wake().exit_code == 0
    (desk.work / "MEMORY.md").write_text("# Another\n", encoding="utf-8")
    assert desk.wake().exit_code == 2


def test_a_checksum_that_contradicts_the_memory_is_an_alarm(desk: Desk) -> None:
    keep(desk)
    with desk.memory() as memory:
        memory.save("MEMORY.md.sha256", b"0" * 64)
    assert desk.wake().exit_code == 2


@pytest.mark.parametrize("key", ["../outside.md", "/etc/hostname", ".", "a/../../outside.md"])
def test_settings_that_a_clone_brings_name_no_file_outside(key: str, desk: Desk) -> None:
    (desk.home / "outside.md").write_bytes(b"outside")
    with desk.memory() as memory:
        memory.save(key, b"sealed under that name")
    settings = f'agent = "default"\n[boot]\nmemories = ["{key}"]\n'
    (desk.work / ".indelible" / "config.toml").write_text(settings, encoding="utf-8")
    assert desk.wake().exit_code == 0


@pytest.mark.skipif(os.name != "posix", reason="pipes with names are POSIX")
def test_a_pipe_in_the_place_of_the_file_holds_nothing_up(desk: Desk) -> None:
    path = keep(desk)
    path.unlink()
    os.mkfifo(path)
    assert desk.wake().exit_code == 0


def test_several_can_be_named_and_each_is_looked_at(desk: Desk) -> None:
    keep(desk)
    keep(desk, b"# Notes\n", "NOTES.md").write_bytes(b"edited")
    settings = 'agent = "default"\n[boot]\nmemories = ["MEMORY.md", "NOTES.md"]\n'
    (desk.work / ".indelible" / "config.toml").write_text(settings, encoding="utf-8")
    assert [finding.name for finding in desk.wake().findings] == ["NOTES.md"]
