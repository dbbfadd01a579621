"""The look at the folder alone: every finding has its own slug, its meaning stands in the manual, and names of no slots are let be."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest

from indelible.state import directory
from indelible.state.directory import SLUGS, UNKNOWN, look
from indelible.state.stamps import stamps_of

if TYPE_CHECKING:
    from pathlib import Path

COPY = ".tmp-10_ticket.md-1-aa"
SEALED = {"10_ticket.md": b"# Ticket\n", "30_critic_summary.md": b"one\ntwo\n"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in SEALED.items():
        (tmp_path / name).write_bytes(content)
        (tmp_path / name).chmod(0o444)
    return tmp_path


def found(folder: Path, earlier: tuple[bytes, ...] = (), begun: tuple[str, ...] = ()) -> dict[str, str]:
    past = UNKNOWN._replace(behind=lambda _, content: content in earlier, begun=lambda _, _content: frozenset(begun))
    return {one.name: one.slug for one in look(str(folder), SEALED, past).findings}


def test_what_is_as_it_was_sealed_is_no_finding(folder: Path) -> None:
    assert found(folder) == {}


def test_equal_stamps_mean_that_nothing_was_touched(folder: Path) -> None:
    before = stamps_of(str(folder))
    assert stamps_of(str(folder)) == before
    (folder / "10_ticket.md").chmod(0o644)
    assert stamps_of(str(folder)) != before


def test_a_copy_that_waits_for_its_name_excuses_nothing_by_itself(folder: Path) -> None:
    (folder / "10_ticket.md").unlink()
    (folder / COPY).write_bytes(SEALED["10_ticket.md"])
    assert found(folder) == {"10_ticket.md": "slot-removed"}
    assert found(folder, begun=(COPY,)) == {"10_ticket.md": "slot-removed"}, "no write of ours takes a file away"


def test_a_write_that_was_noted_excuses_only_the_version_that_was_here_last(folder: Path) -> None:
    (folder / "30_critic_summary.md").chmod(0o644)
    (folder / "30_critic_summary.md").write_bytes(b"one\n")
    assert found(folder, begun=(COPY,)) == {"30_critic_summary.md": "slot-cut"}
    assert found(folder, (b"one\n",), (COPY,)) == {"30_critic_summary.md": "slot-interrupted"}
    assert found(folder, (b"one\n",)) == {"30_critic_summary.md": "slot-behind"}


def test_a_file_that_was_never_here_is_not_one_that_was_taken_away(folder: Path) -> None:
    (folder / "10_ticket.md").unlink()
    assert look(str(folder), SEALED).findings[0].slug == "slot-removed"
    seen = look(str(folder), SEALED, UNKNOWN._replace(had=lambda _: False))
    assert [one.slug for one in seen.findings] == ["slot-absent"]
    assert not any(one.is_tampering for one in seen.findings)
    assert seen.whole == ("30_critic_summary.md",)


def test_our_own_temporary_name_of_the_same_file_is_no_hard_link(folder: Path) -> None:
    os.link(folder / "10_ticket.md", folder / COPY)
    assert found(folder) == {"10_ticket.md": "slot-hard-linked"}
    assert found(folder, begun=(COPY,)) == {"10_ticket.md": "slot-interrupted"}
    os.link(folder / "10_ticket.md", folder / "other")
    assert found(folder, begun=(COPY,)) == {"10_ticket.md": "slot-hard-linked"}


def test_a_folder_that_is_none(folder: Path) -> None:
    (folder / "file").write_bytes(b"")
    assert {one.slug for one in look(str(folder / "file"), {}).findings} == {"directory-not-a-folder"}
    (folder / "link").symlink_to(folder)
    assert {one.slug for one in look(str(folder / "link"), {}).findings} == {"directory-symlink"}
    assert look(str(folder / "none"), {}).findings == ()


def test_a_pipe_in_its_place_is_not_waited_for(folder: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("no pipes with names here")
    (folder / "10_ticket.md").unlink()
    os.mkfifo(folder / "10_ticket.md")
    assert found(folder) == {"10_ticket.md": "slot-not-a-file"}


def test_every_finding_stands_in_the_manual_with_what_it_is() -> None:
    from tests.test_docs import ROOT

    page = (ROOT / "docs" / "state.md").read_text(encoding="utf-8").split("## What is found", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| `([a-z-]+)` \| ", page, re.MULTILINE)
    assert set(rows) == set(SLUGS)
    assert set(rows[-len(directory._WARNINGS) :]) == directory._WARNINGS
