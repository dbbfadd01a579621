"""From the ticket to its end with the workflow that is built in, and what a step of a project's own comes to."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest
from tests.cli.hands import git
from tests.keeping.desks import LAW, STATE_OK, desk_at
from tests.stepping.flows import Place, step

from indelible.state.counter import parse_counter
from indelible.workflow.default import PILLARS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Run

TICKET = b"# Ticket DEMO-12\n\nSort without changing the input\n"
PLAN = b"# Plan\n\n1. copy, then sort\n"


def to_the_plan(place: Place) -> None:
    """Ticket and approved plan."""
    assert place.flow("run", "0").code == 0
    place.write("10_ticket.md", TICKET)
    place.write("90_plan_draft.md", PLAN)
    ran = place.approve("2")
    assert ran.code == 0, ran.err


def to_the_approval(place: Place) -> None:
    """A change with a new untracked file, reviewed and approved."""
    to_the_plan(place)
    (place.work / "new.py").write_text("print(1)\n")
    assert place.flow("done", "3").code == 0
    place.review()
    ran = place.approve()
    assert ran.code == 0, ran.err


def test_a_ticket_goes_from_its_beginning_to_its_end(place: Place) -> None:
    to_the_approval(place)
    assert place.flow("next").out.startswith("Commit exactly what was approved")
    git(place.work, "add", "-A")
    git(place.work, "commit", "-q", "-m", "sorted")
    states = place.states()
    assert [states[name] for name in "0123456"] == ["done"] * 7
    assert states["7"] == "dirty"
    assert place.flow("run", "7").code == 7  # a person pushes
    assert place.flow("done", "7", "--note", "green").code == 0
    assert place.flow("done", "close").code == 0
    assert "everything" in place.flow("next").out
    assert place.tell("state", "close").code == 0
    assert place.states()["1"] == "dirty"


def test_a_last_second_edit_makes_the_approval_void_and_a_new_one_is_wanted(place: Place) -> None:
    to_the_approval(place)
    (place.work / "new.py").write_text("print(2)\n")
    states = place.states()
    assert (states["3"], states["4"], states["5"]) == ("done", "needs-critic", "waiting")
    assert set(place.reasons("5")) == {"prerequisite", "approval-void"}
    refused = place.approve()
    assert refused.code == 7
    place.review()
    assert place.states()["5"] == "needs-approval"
    assert "approval-void" in place.reasons("5")
    assert place.approve().code == 0
    assert place.states()["5"] == "done"


def test_an_approval_and_a_round_say_what_comes_next_to_whoever_wakes_up(place: Place) -> None:
    to_the_approval(place)
    assert "Next Permitted Action: Commit exactly what was approved" in place.counter()
    (place.work / "new.py").write_text("print(2)\n")
    pillars = [word for name in PILLARS for word in ("--pillar", f"{name}=ok")]
    assert place.tell("critic", "add", "--verdict", "approved", *pillars).code == 0
    assert "Wait for your human, who says 'indelible approve 5'" in place.counter()
    assert place.tell("reject", "--reason", "not so").code == 0
    assert "Next Permitted Action: Mend what the critic blocked" in place.counter()


def test_a_next_action_that_somebody_wrote_by_hand_is_left(place: Place) -> None:
    to_the_approval(place)
    by_hand = "Current Target: mine\nLast Completed Step: none\nNext Permitted Action: rest\n- [ ] all\n"
    place.write("99_next_action.md", by_hand.encode())
    place.review()
    assert place.approve().code == 0
    assert place.counter() == by_hand


def test_the_receipt_of_an_earlier_ticket_answers_for_no_later_one(place: Place) -> None:
    to_the_approval(place)
    git(place.work, "add", "-A")
    git(place.work, "commit", "-q", "-m", "sorted")
    assert place.states()["6"] == "done"
    place.tell("state", "close")
    place.write("10_ticket.md", b"# Ticket DEMO-13\n\nAnother one\n")
    place.write("90_plan_draft.md", b"# Plan\n\n1. something else\n")
    assert place.states()["2"] == "needs-approval"
    assert place.approve("2").code == 0
    states = place.states()
    assert (states["3"], states["6"], states["7"]) == ("dirty", "waiting", "waiting")


def test_a_draft_is_asked_for_until_it_is_there_and_then_one_waits(place: Place) -> None:
    place.flow("run", "0")
    place.write("10_ticket.md", TICKET)
    assert place.flow("next").out.startswith("Write the draft of a plan")
    assert "(slot:90_plan_draft.md is not there)" in place.flow("next").out
    place.write("90_plan_draft.md", PLAN)
    assert place.flow("next").out.startswith("Wait for your human, who says 'indelible approve 2'")


def test_a_step_of_our_own_needs_no_path_that_knows_us(place: Place) -> None:
    assert place.flow("run", "0", PATH="/usr/bin:/bin").code == 0
    assert place.states()["0"] == "done"


def test_a_plan_that_was_written_without_a_human_is_not_approved(place: Place) -> None:
    place.flow("run", "0")
    place.write("10_ticket.md", TICKET)
    place.write("20_plan_approved.md", PLAN)
    assert place.states()["2"] == "needs-approval"
    assert place.flow("done", "2").code == 7


def test_what_a_critic_rejected_is_not_approved(place: Place) -> None:
    to_the_plan(place)
    (place.work / "new.py").write_text("print(1)\n")
    place.review("rejected")
    assert place.states()["4"] == "failed"
    assert place.flow("done", "4").code == 7
    assert place.approve().code == 7


def test_ci_that_failed_is_triaged_and_mended_and_goes_through_the_gates_again(place: Place) -> None:
    to_the_approval(place)
    git(place.work, "add", "-A")
    git(place.work, "commit", "-q", "-m", "sorted")
    place.flow("run", "7")
    assert place.flow("done", "7", "--failed", "--note", "lint").code == 0
    assert place.flow("next", "--json").json["current"] == "7a"
    assert place.flow("done", "7b").code == 7
    assert place.flow("done", "7a").code == 0
    assert place.flow("run", "7").code == 7  # it failed, and is not pushed again as it is
    (place.work / "new.py").write_text("print(3)\n")
    states = place.states()
    assert (states["4"], states["7"], states["7a"]) == ("needs-critic", "waiting", "optional")


def test_the_next_action_is_written_in_the_same_step_and_notes_are_kept(place: Place) -> None:
    place.flow("next")
    assert parse_counter(place.counter().encode()).target == "0 (read-init-d)"
    place.write("99_next_action.md", place.counter().encode() + b"\nNote: the tests are slow here\n")
    place.flow("run", "0")
    made = parse_counter(place.counter().encode())
    assert made.target == "1 (ticket)"
    assert made.last == "0 (read-init-d)"
    assert "Note: the tests are slow here" in place.counter()
    assert place.exit_of_check() == 0
    assert place.exit_of_boot() == 0


def test_status_and_why_change_nothing(place: Place) -> None:
    before = place.said("list", "--json")
    place.flow("status")
    place.flow("why", "5")
    assert place.said("list", "--json") == before


def test_a_command_runs_once_and_again_only_when_an_input_changed(place: Place) -> None:
    place.seal(
        step("build", "inputs = ['path:a.txt']"),
        step("test", "needs = ['build']", "inputs = ['glob:*.txt']"),
        step("lint"),
    )
    assert place.flow("run", "test").code == 7
    assert [place.flow("run", name).code for name in ("build", "test", "lint")] == [0, 0, 0]
    assert (
        place.flow("run", "build").out.startswith("✅ build (build)  already done")
        or "already done" in place.flow("run", "build").out
    )
    assert place.ran() == ["build", "test", "lint"]
    (place.work / "a.txt").write_text("two\n")
    assert place.states() == {"build": "dirty", "test": "waiting", "lint": "done", "ok": "needs-approval"}
    assert place.reasons("build") == ["input-changed"]
    (place.work / "a.txt").write_text("one\n")
    os.utime(place.work / "a.txt", (0, 0))
    assert place.states()["build"] == "done", "content counts, and not time"


def test_a_command_that_fails_gives_its_exit_code_and_is_not_done(place: Place) -> None:
    place.seal(step("build", run="exit 23"), step("missing", "outputs = ['path:made.txt']"))
    ran = place.flow("run", "build")
    assert ran.code == 23
    assert place.states()["build"] == "failed"
    assert place.flow("run", "missing").code == 1
    assert place.states()["missing"] == "failed"
    (place.work / "made.txt").write_text("by hand\n")
    assert place.flow("run", "missing").code == 0


def test_a_command_that_cannot_be_started_did_nothing(place: Place) -> None:
    place.seal('[[target]]\nid = "x"\nname = "xx"\nrun = ["no-such-program-here"]\n')
    ran = place.flow("run", "x")
    assert ran.code == 1
    assert "cannot be started" in ran.err
    assert place.states()["x"] == "dirty"


def test_the_output_of_a_command_is_passed_through_and_json_stays_one_document(place: Place) -> None:
    place.seal(step("build", run="echo out; pwd; echo $INDELIBLE_FLOW_TARGET"))
    ran = place.flow("run", "build", "--json")
    assert ran.json["state"] == "done"
    assert str(place.work) in ran.err
    place.seal(step("build", run="echo out"))
    assert place.flow("run", "build").out.startswith("out\n")


def test_a_command_that_forks_runs_in_a_child_and_its_output_stays_on_the_disk(place: Place) -> None:
    place.seal(step("archaeology", "fork = true", run="seq 1 400; echo ran >> ran.log; exit 3"))
    ran = place.flow("run", "archaeology")
    assert ran.code == 3
    assert "| 400" in ran.out
    assert "| 1\n" not in ran.out
    assert len(ran.out.splitlines()) < 25
    assert place.states()["archaeology"] == "failed"
    assert "archaeology" in place.tell("forks").out


def test_two_processes_at_one_target_are_one_and_one_that_is_told(place: Place) -> None:
    place.seal(step("slow", run="echo slow >> ran.log; sleep 3"))
    both = [place.start("flow", "run", "slow") for _ in range(2)]
    codes = sorted(one.wait() for one in both)
    assert codes == [0, 5]
    assert place.ran() == ["slow"]


def test_what_runs_now_is_seen_by_others(place: Place) -> None:
    place.seal(step("slow", run="touch begun; sleep 5"), step("after", "needs = ['slow']"))
    process = place.start("flow", "run", "slow")
    while not (place.work / "begun").exists():
        assert process.poll() is None
    found = next(one for one in place.targets() if one["target"] == "slow")
    assert (found["state"], found["reasons"][0]["slug"]) == ("waiting", "running")
    process.wait()
    assert place.states()["slow"] == "done"


def test_outside_of_a_git_repository_what_needs_git_is_said_and_the_rest_works(home: Path, run: Run) -> None:
    folder = home / "plain"
    (folder / ".indelible").mkdir(parents=True)
    laws = home / "laws.md"
    laws.write_bytes(STATE_OK[LAW])
    assert run("init", "--governance", str(laws), cwd=folder).code == 0
    place = Place(run, home, folder)
    assert place.flow("run", "0").code == 0
    place.write("10_ticket.md", TICKET)
    states = place.states()
    assert states["1"] == "done"
    assert "not-known" in {one["slug"] for two in place.targets() for one in two["reasons"]} or states["3"] == "waiting"
    assert place.approve("2").code != 0


def test_before_the_first_commit_there_is_a_change_and_no_head(home: Path, run: Run) -> None:
    bare = desk_at(home, home / "work", run)
    place = Place(run, home, bare.work)
    to_the_approval(place)
    git(place.work, "add", "-A")
    git(place.work, "commit", "-q", "-m", "first")
    assert place.states()["6"] == "done"


def test_every_worktree_has_its_own_ticket_and_stamps(place: Place) -> None:
    to_the_plan(place)
    other = place.home / "other"
    git(place.work, "worktree", "add", "-q", str(other))
    second = Place(place.run, place.home, other)
    assert second.tell("state", "init").code == 0
    assert second.states()["1"] == "waiting"
    assert second.flow("run", "0").code == 0
    assert second.states()["1"] == "dirty"
    assert place.states()["2"] == "done"


def test_an_altered_slot_stops_everything(place: Place) -> None:
    to_the_plan(place)
    place.overwrite("20_plan_approved.md", b"# Plan\n\n1. something else\n")
    for words in (("status",), ("next",), ("run", "3"), ("done", "3"), ("why", "3")):
        assert place.flow(*words).code == 2


def test_words_that_are_off_are_told(place: Place) -> None:
    assert place.flow("run", "no-such").code == 3
    assert place.flow("resolve", "7").code == 64
    assert place.flow("resolve", "7", "--happened").code == 64
    assert place.flow("resolve", "7", "--happened", "--reason", "seen").code == 64
    assert place.flow("done", "1", "--note", "two\nlines").code == 64
    assert place.flow("done", "0").code == 64
    assert place.flow("makefile", "--agree", "x").code == 5


def test_without_a_state_directory_there_is_nothing_to_go_on_from(home: Path, run: Run) -> None:
    work = home / "empty"
    work.mkdir()
    subprocess.run(["git", "init", "-q", str(work)], check=True)
    ran = run("flow", "next", cwd=work)
    assert ran.code == 3
    assert "indelible" in ran.err


def test_where_no_boot_could_carry_all_of_it_the_action_is_said_all_the_same(place: Place) -> None:
    place.seal(*(step(f"step-{number}") for number in range(150)))
    assert place.flow("run", "step-0").code == 0
    assert parse_counter(place.counter().encode()).target == "step-1 (step-1)"
    assert place.exit_of_boot() == 0


@pytest.mark.skipif(os.name == "nt", reason="a shell of POSIX")
def test_targets_are_offered_to_the_shell(place: Place) -> None:
    ran = place.run(
        cwd=place.work,
        env={"_INDELIBLE_COMPLETE": "bash_complete", "COMP_WORDS": "indelible flow why app", "COMP_CWORD": "3"},
    )
    assert "approved-plan" in ran.out
    assert "approved-diff" in ran.out
