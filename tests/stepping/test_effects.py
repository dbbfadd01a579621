"""A step with effects outside of the repository: stamped before and after, and never repeated without a person's word."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

import pytest
from tests.stepping.flows import step

from indelible.memory.bound import FLOW

if TYPE_CHECKING:
    from tests.stepping.flows import Place

POST = step("post", "effects = 'posts a comment'", run="echo posted >> ran.log; touch begun; sleep 5")


def killed_in_the_middle(place: Place) -> None:
    """Begin to post, and lose the process that would have said how it ended."""
    place.seal(POST)
    process = place.start("flow", "run", "post")
    while not (place.work / "begun").exists():
        assert process.poll() is None, process.wait()
        time.sleep(0.05)
    process.kill()
    process.wait()


@pytest.mark.skipif(os.name == "nt", reason="kill -9")
def test_killed_between_the_two_stamps_it_is_not_repeated_and_the_question_is_asked(place: Place) -> None:
    killed_in_the_middle(place)
    assert place.states()["post"] == "may-have-happened"
    ran = place.flow("run", "post")
    assert ran.code == 7
    assert "Look whether it did (posts a comment)" in ran.err
    assert "indelible flow resolve post --happened" in ran.err
    assert place.ran() == ["posted"]
    place.flow("next")
    assert "may have happened" in place.counter()
    assert place.tell("boot").out.count("may have happened") == 1


@pytest.mark.skipif(os.name == "nt", reason="kill -9")
def test_a_person_says_that_it_happened_and_it_is_done(place: Place) -> None:
    killed_in_the_middle(place)
    assert place.flow("resolve", "post", "--happened", "--reason", "the comment is there").code == 0
    assert place.states()["post"] == "done"
    assert "already done" in place.flow("run", "post").out
    assert place.ran() == ["posted"]


@pytest.mark.skipif(os.name == "nt", reason="kill -9")
def test_a_person_says_that_it_did_not_and_it_may_be_done(place: Place) -> None:
    killed_in_the_middle(place)
    assert place.flow("resolve", "post", "--did-not-happen", "--reason", "no comment there").code == 0
    assert place.states()["post"] == "dirty"
    assert place.reasons("post") == ["undone"]


@pytest.mark.skipif(os.name == "nt", reason="kill -9")
def test_a_change_of_the_workflow_does_not_make_it_unhappen(place: Place) -> None:
    killed_in_the_middle(place)
    place.seal(POST.replace("sleep 30", "sleep 1"))
    assert place.states()["post"] == "may-have-happened"


@pytest.mark.skipif(os.name == "nt", reason="kill -9")
def test_a_step_without_effects_that_was_killed_is_taken_again(place: Place) -> None:
    place.seal(step("build", run="touch begun; test -e again || { touch again; kill -9 $PPID; sleep 1; }"))
    assert place.flow("run", "build").code == -signal.SIGKILL
    assert place.reasons("build") == ["interrupted"]
    assert place.flow("run", "build").code == 0


def test_one_that_failed_is_not_repeated_by_itself(place: Place) -> None:
    place.seal(step("post", "effects = 'posts a comment'", run="echo posted >> ran.log; exit 4"))
    assert place.flow("run", "post").code == 4
    ran = place.flow("run", "post")
    assert ran.code == 7
    assert "--did-not-happen" in ran.err
    assert place.ran() == ["posted"]
    assert place.flow("resolve", "post", "--did-not-happen", "--reason", "it was refused").code == 0
    assert place.flow("run", "post").code == 4


def test_by_hand_it_is_begun_and_then_said_to_be_done(place: Place) -> None:
    place.seal('[[target]]\nid = "post"\nname = "post"\nmanual = "post it"\neffects = "posts a comment"\n')
    ran = place.flow("run", "post", "--json")
    assert (ran.code, ran.json["slug"]) == (7, "by-hand")
    assert place.states()["post"] == "may-have-happened"
    assert place.flow("run", "post", "--json").json["slug"] == "may-have-happened"
    assert place.flow("done", "post").code == 0
    assert place.states()["post"] == "done"


def test_every_stamp_stands_in_the_log_with_what_it_says(place: Place) -> None:
    place.seal(step("post", "effects = 'posts a comment'"))
    place.flow("run", "post")
    with place.memory() as memory:
        key = f"{FLOW}stamp/state/post"
        assert [one.reason for one in memory.history(key) if one.type == "stamped"] == ["done", "begun"]
        assert memory.verify(key).loaded.version == 2


def test_a_stamp_is_no_memory_that_anybody_writes(place: Place) -> None:
    place.seal(step("post", "effects = 'posts a comment'"))
    ran = place.run("save", "flow/stamp/state/post", "-", input=b"{}", cwd=place.work)
    assert ran.code == 6


YES = step("post", 'effects = "posts"', 'gate = "human"')
"""A step that a person lets through each time."""


@pytest.mark.parametrize("fork", ["", "fork = true"], ids=["here", "in a child"])
def test_a_yes_to_a_command_is_for_one_run_of_it(place: Place, fork: str) -> None:
    place.seal(YES + fork)
    assert place.flow("run", "post").code == 7
    ran = place.approve("post", "--json")
    assert ran.code == 0, ran
    identity = ran.json["receipt"]
    assert place.flow("run", "post").code == 0
    assert place.states()["post"] == "done"
    said = place.run("history", f"flow/receipt/{identity}", "--json", cwd=place.work).json["entries"]
    assert "receipt-used" in [one["type"] for one in said]
    assert place.run("audit", cwd=place.work).code == 0


def test_after_a_command_that_failed_a_new_yes_is_wanted(place: Place) -> None:
    place.seal(step("post", 'effects = "posts"', 'gate = "human"', run="echo post >> ran.log; exit 1"))
    assert place.approve("post").code == 0
    assert place.flow("run", "post").code == 1
    assert place.flow("resolve", "post", "--did-not-happen", "--reason", "looked").code == 0
    assert place.states()["post"] == "needs-approval"
    ran = place.flow("run", "post")
    assert ran.code == 7
    assert "was used for" in ran.err
    assert place.approve("post").code == 0
    assert place.flow("run", "post").code == 1
    assert place.ran() == ["post", "post"]


def test_a_yes_that_a_commit_needs_is_left_for_the_commit(place: Place) -> None:
    """Where that target has a command of its own, both stand on one receipt."""
    text = (
        '[guard]\nreceipt = "both"\n'
        + step("both", 'gate = "human"', 'inputs = ["change"]')
        + '[[target]]\nid = "c"\nname = "c"\nneeds = ["both"]\noutputs = ["head"]\nmanual = "commit"\n'
    )
    place.seal(text)
    (place.work / "a.txt").write_text("two\n")
    (place.work / ".gitignore").write_text("ran.log\n")
    ran = place.approve("both", "--json")
    assert ran.code == 0, ran
    assert place.flow("run", "both").code == 0
    said = place.run("history", f"flow/receipt/{ran.json['receipt']}", "--json", cwd=place.work).json["entries"]
    assert "receipt-used" not in [one["type"] for one in said]
