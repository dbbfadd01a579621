"""What only Claude Code has: `/compact` as a prompt, subagents that report back, several prompts in one process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.clients.drivers.claude import SUMMARY, Claude
from tests.clients.living import GOVERNANCE, LAW, RIDER, Home
from tests.clients.model import Rule, Script
from tests.clients.seat import only_with_clients
from tests.clients.wires import Turn

if TYPE_CHECKING:
    from tests.clients.seat import Seat

only_with_clients()

TASK, MINE = "CHILD'S TASK: count the files", "the parent's own prompt"
REPORT = "\n".join(f"line {number} of the report" for number in range(40))


@pytest.fixture
def home_of(claude_code: Seat) -> Home:
    return Home(claude_code)


def driver_of(home: Home) -> Claude:
    assert isinstance(home.seat.driver, Claude)
    return home.seat.driver


def test_the_briefing_is_there_before_and_after_compact_and_the_laws_stay_as_they_are(home_of: Home) -> None:
    before, driver = home_of.governance.read_bytes(), driver_of(home_of)
    path = home_of.path(GOVERNANCE)
    script = Script(
        [
            Turn("good morning"),
            Turn(calls=(driver.read(path),)),
            Turn(calls=(driver.edit(path, f"- {LAW}", f"- {RIDER}"),)),
            Turn("DONE"),
        ],
        rules=[SUMMARY],
    )
    home_of.seat.run(script, "good morning", "/compact", "now mend the laws")
    first, *after = home_of.seat.model.conversation
    assert first.says(LAW)
    assert not first.says("THE SUMMARY")
    assert len(after) == 3
    assert all(request.says("THE SUMMARY") and request.says(LAW) and request.says(home_of.mark()) for request in after)
    assert home_of.governance.read_bytes() == before
    assert after[-1].says("indelible state amend")


def test_the_summariser_of_a_compaction_is_let_be(home_of: Home) -> None:
    long = Rule("summary", SUMMARY.says, Turn(f"<summary>{REPORT}</summary>"))
    home_of.seat.run(Script([Turn("one"), Turn("two")], rules=[long]), "good morning", "/compact", "go on")
    assert len(home_of.seat.model.by("summary")) == 1
    assert home_of.seat.model.conversation[-1].says("line 39 of the report")


def work_of_a_child(home: Home, report: str) -> None:
    driver = driver_of(home)
    rules = [
        Rule("shortened", "line 39 of the report", Turn("forty files"), lacks=MINE),
        Rule("report", "CHILD-RAN", Turn(report), lacks=MINE),
        Rule("child", TASK, Turn(calls=(driver.shell("echo CHILD''-RAN"),)), lacks=MINE),
    ]
    home.seat.run(Script([Turn(calls=(driver.agent(TASK),)), Turn("waiting"), Turn("DONE")], rules=rules), MINE)


def test_a_subagent_gets_the_laws_and_no_more(home_of: Home) -> None:
    work_of_a_child(home_of, "forty files")
    (child, *_) = home_of.seat.model.by("child")
    assert child.says(LAW)
    assert not child.says("mend parse_date, nothing else")


def test_a_report_that_is_too_long_is_sent_back_once(home_of: Home) -> None:
    work_of_a_child(home_of, REPORT)
    assert len(home_of.seat.model.by("report")) == 1
    (again,) = home_of.seat.model.by("shortened")
    assert again.says("at most 15")


def test_a_short_report_is_not_sent_back(home_of: Home) -> None:
    work_of_a_child(home_of, "forty files")
    assert not home_of.seat.model.by("shortened")
    assert len(home_of.seat.model.by("report")) == 1


def test_a_subagent_cannot_change_the_laws_either(home_of: Home) -> None:
    before, driver = home_of.governance.read_bytes(), driver_of(home_of)
    rules = [
        Rule("told", "indelible state amend", Turn("refused"), lacks=MINE),
        Rule("child", TASK, Turn(calls=(driver.shell(f"echo '{RIDER}' > {GOVERNANCE}"),)), lacks=MINE),
    ]
    home_of.seat.run(Script([Turn(calls=(driver.agent(TASK),)), Turn("waiting"), Turn("DONE")], rules=rules), MINE)
    assert len(home_of.seat.model.by("told")) == 1
    assert home_of.governance.read_bytes() == before


def test_a_continued_session_is_briefed_anew(home_of: Home) -> None:
    home_of.seat.run(Script([Turn("one")]), "good morning")
    home_of.seat.indelible(
        "state", "write", "99_next_action.md", "-",
        given="Current Target: the second one\nLast Completed Step: the first\nNext Permitted Action: rest\n- [x] all\n",
    )  # fmt: skip
    home_of.seat.run(Script([Turn("two")]), "go on", again=True)
    assert home_of.seat.model.conversation[-1].says("the second one")
