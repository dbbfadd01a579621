"""GNU make runs the workflow: it goes on where the work stopped, repeats nothing, skips nothing, and stops at a person."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from tests.conftest import environment, indelible_command
from tests.stepping.flows import step

if TYPE_CHECKING:
    from tests.stepping.flows import Place

MAKE = shutil.which("make")
pytestmark = pytest.mark.skipif(MAKE is None or os.name == "nt", reason="there is no GNU make here")

CHAIN = (
    step(
        "one", "inputs = ['path:a.txt']", "outputs = ['path:one.out']", run="echo one >> ran.log; sort a.txt > one.out"
    ),
    step(
        "two", "needs = ['one']", "inputs = ['path:one.out', 'path:b.txt']", run="echo two >> ran.log; test ! -e stop"
    ),
    step("three", "needs = ['two']"),
    step("apart", "inputs = ['path:c.txt']"),
)
"""Two that stand on one another, one behind them, and one that has nothing to do with them."""


def make(place: Place, *words: str) -> subprocess.CompletedProcess[str]:
    env = environment({"INDELIBLE": shlex.join(indelible_command())})
    return subprocess.run(
        ["make", "-f", "flow.mk", *words],
        cwd=place.work,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def written(place: Place, *parts: str) -> None:
    for name in "abc":
        (place.work / f"{name}.txt").write_text(f"{name}\n")
    place.seal(*parts)
    assert place.flow("makefile", "-o", "flow.mk").code == 0


def test_make_goes_on_where_it_was_stopped(place: Place) -> None:
    written(place, *CHAIN)
    (place.work / "stop").touch()
    ran = make(place, "three", "apart")
    assert ran.returncode == 2
    assert place.ran() == ["one", "two"]
    (place.work / "stop").unlink()
    ran = make(place, "three", "apart")
    assert ran.returncode == 0, ran.stderr
    assert place.ran() == ["one", "two", "two", "three", "apart"]
    assert make(place, "three", "apart").returncode == 0
    assert len(place.ran()) == 5


def test_a_changed_input_runs_exactly_what_depends_on_it(place: Place) -> None:
    written(place, *CHAIN)
    assert make(place, "three", "apart").returncode == 0
    (place.work / "ran.log").unlink()
    (place.work / "b.txt").write_text("changed\n")
    assert make(place, "three", "apart").returncode == 0
    assert place.ran() == ["two", "three"]


def test_a_file_that_was_only_touched_runs_nothing_and_an_edit_with_an_old_time_runs(place: Place) -> None:
    written(place, *CHAIN)
    assert make(place, "three", "apart").returncode == 0
    (place.work / "ran.log").unlink()
    (place.work / "a.txt").touch()
    assert make(place, "three", "apart").returncode == 0
    assert place.ran() == []
    (place.work / "c.txt").write_text("changed\n")
    os.utime(place.work / "c.txt", (1, 1))
    assert make(place, "three", "apart").returncode == 0
    assert place.ran() == ["apart"]


def test_what_was_made_the_same_again_stops_there(place: Place) -> None:
    written(place, *CHAIN)
    (place.work / "a.txt").write_text("x\ny\n")
    assert make(place, "three").returncode == 0
    (place.work / "ran.log").unlink()
    (place.work / "a.txt").write_text("y\nx\n")
    assert make(place, "three").returncode == 0
    assert place.ran() == ["one"]


def test_stamp_files_that_were_forged_or_taken_away_change_nothing(place: Place) -> None:
    written(place, *CHAIN)
    stamps = place.work / ".indelible" / "stamps"
    stamps.mkdir(exist_ok=True)
    for name in ("one", "two", "three"):
        (stamps / f"{name}.stamp").touch()
    assert make(place, "three").returncode == 0
    assert place.ran() == ["one", "two", "three"]
    for path in stamps.glob("*.stamp"):
        path.unlink()
    assert make(place, "three").returncode == 0
    assert place.ran() == ["one", "two", "three"]


def test_make_stops_at_a_person_with_the_reason(place: Place) -> None:
    written(
        place,
        step("build"),
        '[[target]]\nid = "yes"\nname = "yes"\nneeds = ["build"]\ngate = "human"\nmanual = "look"\n',
        step("ship", "needs = ['yes']"),
    )
    ran = make(place, "ship")
    assert ran.returncode == 2
    assert "Error 7" in ran.stderr
    assert "indelible approve yes" in ran.stderr
    assert place.ran() == ["build"]


def test_make_does_not_repeat_what_may_have_happened(place: Place) -> None:
    written(place, step("post", "effects = 'posts'", run="echo posted >> ran.log; kill -9 $PPID"))
    assert make(place, "post").returncode == 2
    ran = make(place, "post")
    assert ran.returncode == 2
    assert "may have happened" in ran.stderr
    assert place.ran() == ["posted"]


def test_a_makefile_of_another_workflow_or_another_folder_runs_nothing(place: Place) -> None:
    written(place, *CHAIN)
    place.seal(step("one"), step("new"))
    ran = make(place, "three")
    assert ran.returncode == 2
    assert "another workflow" in ran.stderr
    assert place.ran() == []
    assert place.flow("makefile", "-o", "flow.mk").code == 0
    below = place.work / "below"
    below.mkdir()
    shutil.copy(place.work / "flow.mk", below)
    elsewhere = subprocess.run(
        ["make", "-f", "flow.mk"], cwd=below, env=environment({"INDELIBLE": shlex.join(indelible_command())}), capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert elsewhere.returncode == 2
    assert "top of the checkout" in elsewhere.stderr


def test_an_altered_workflow_stops_make(place: Place) -> None:
    written(place, *CHAIN)
    place.workflow_file.write_text("x = 1\n")
    ran = make(place, "three")
    assert ran.returncode == 2
    assert "not the workflow that the owner sealed" in ran.stderr
    assert place.ran() == []


def test_all_of_the_default_is_a_makefile_that_make_understands(place: Place) -> None:
    assert place.flow("makefile", "-o", "flow.mk").code == 0
    ran = make(place)
    assert ran.returncode == 2
    assert "1 (ticket) is done by hand" in ran.stderr
    assert place.states()["0"] == "done"
    assert "Error 7" in ran.stderr
