"""Before a compaction: one snapshot for each state, and never an answer that holds anything up."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hosts.conftest import Project


def snapshots(project: Project) -> list[Path]:
    return sorted((project.home / "state" / "indelible" / "snapshots").glob("*/*.json"))


def compact(project: Project) -> None:
    assert project.event("PreCompact", trigger="auto", custom_instructions=None).out == ""


def test_the_same_state_is_noted_once(project: Project) -> None:
    project.start()
    compact(project)
    compact(project)
    project.start(source="compact")
    compact(project)
    assert len(snapshots(project)) == 1


def test_a_snapshot_tells_each_slot_and_what_was_next(project: Project) -> None:
    project.start()
    compact(project)
    noted = json.loads(snapshots(project)[0].read_text())
    assert [slot["name"][:2] for slot in noted["slots"]] == ["00", "10", "20", "30", "99"]
    sealed = json.loads(project.indelible("--json", "state", "show", "00").stdout)
    assert noted["slots"][0]["sha256"] == sealed["sha256"]
    assert "Current target" in noted["next"]
    assert noted["why"] == "auto"


def test_another_state_is_noted_anew(project: Project) -> None:
    project.start()
    compact(project)
    assert project.indelible("state", "append", "30", "-", stdin=b"## Round 3\n").returncode == 0
    compact(project)
    assert len(snapshots(project)) == 2


def test_a_snapshot_that_cannot_be_taken_holds_nothing_up(project: Project) -> None:
    project.start()
    folder = project.home / "state" / "indelible" / "snapshots"
    folder.write_text("in the way")
    answer = project.event("PreCompact", trigger="auto")
    assert answer.code == 0
    assert "no snapshot" in answer.value["systemMessage"]


def test_only_the_newest_are_kept(project: Project) -> None:
    project.start()
    compact(project)
    folder = snapshots(project)[0].parent
    for number in range(40):
        (folder / f"{number:064x}.json").write_text("{}")
    assert project.indelible("state", "append", "30", "-", stdin=b"## Round 3\n").returncode == 0
    compact(project)
    assert len(snapshots(project)) == 32
