"""One ticket from its draft to its commit in a real client, with a compaction in the middle, and a person who approves outside of it.

The model does what an eager agent does: it commits before anybody looked, tries to approve itself, and edits after the yes.
What it is sent and what git has afterwards is what is asserted.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from typing import TYPE_CHECKING

import pytest
from tests.clients.drivers import claude, codex
from tests.clients.living import LAW, Home
from tests.clients.model import Script
from tests.clients.seat import only_with_clients
from tests.clients.wires import Turn

if TYPE_CHECKING:
    from tests.clients.model import Request
    from tests.clients.seat import Seat
    from tests.clients.wires import Call

only_with_clients()

OURS = shutil.which("indelible", path=os.path.dirname(sys.executable)) or ""
TICKET = "# Ticket 7\\n\\nThe total is rounded to cents.\\n"
PLAN = "# Plan\\n\\n1. rounding.py: half up, by Decimal\\n"
ROUND = "## Round 1: approved\\nBy: critic\\nPillars: correctness ok, architecture ok, tests ok, security ok, performance ok, readability ok\\n"
CODE = "from decimal import ROUND_HALF_UP, Decimal\n\n\ndef cents(value):\n    return Decimal(value).quantize(Decimal('0.01'), ROUND_HALF_UP)\n"
COMMIT = "git add -A && git commit -m 'Round the total'"
REVIEW = f"printf '{ROUND}' | {OURS} critic add -"
WAITING = "Wait for your human, who says 'indelible approve 5'"


class Work:
    """A ticket in one client: what the agent is to do, session by session, and what the person does between."""

    def __init__(self, seat: Seat) -> None:
        self.home, self.box, self.driver = Home(seat), seat.box, seat.driver
        self.secret = self.box.root / "phrase"
        self.secret.write_text("a phrase that no agent knows\n", encoding="utf-8")
        self.secret.chmod(0o600)
        self.box.git("add", "-A")
        self.box.git("commit", "-q", "-m", "what the product installed")
        self.person("key", "create", "--role", "approver", "mina")
        self.person("hooks", "install", "--git")

    def person(self, *args: str) -> str:
        """What the person types on a terminal of their own: the client's processes do not see the passphrase."""
        ended = self.box.run([OURS, *args], {"INDELIBLE_PASSPHRASE_FILE": str(self.secret)})
        assert ended.code == 0, ended
        return ended.out

    def agent(self, *calls: Call, again: bool = True) -> list[Request]:
        """A session in which the model calls these; gives the requests: behind call N stands request N + 1."""
        turns = [Turn(calls=(call,)) for call in calls]
        self.home.seat.run(Script([*turns, Turn("DONE")], rules=[claude.SUMMARY]), "go on", again=again)
        requests = self.home.seat.model.conversation
        assert len(requests) == len(calls) + 1, [one.via for one in self.home.seat.model.requests]
        return requests

    def compacted(self, *calls: Call) -> tuple[list[Request], Request]:
        """The same, and then the session is compacted; the request after that, too."""
        if isinstance(self.driver, codex.Codex):
            *turns, last = (Turn(calls=(call,)) for call in calls)
            script = Script([*turns, last._replace(used=codex.LIMIT + 10_000), Turn("DONE")], rules=[codex.SUMMARY])
            self.home.seat.run(script, "go on", again=True)
            *before, after = self.home.seat.model.conversation
        else:
            before = self.agent(*calls)
            self.home.seat.run(Script([Turn("DONE")], rules=[claude.SUMMARY]), "/compact", "and now?", again=True)
            (after,) = self.home.seat.model.conversation
        assert len(self.home.seat.model.by("summary")) == 1
        assert after.says("THE SUMMARY")
        return before, after

    def head(self) -> str:
        return self.box.git("rev-parse", "HEAD").strip()

    def states(self) -> dict[str, str]:
        return {one["target"]: one["state"] for one in json.loads(self.person("flow", "status", "--json"))["targets"]}


@pytest.fixture(params=["claude_code", "codex"])
def work(request: pytest.FixtureRequest) -> Work:
    return Work(request.getfixturevalue(request.param))


def test_a_ticket_goes_from_its_draft_to_its_commit_across_a_compaction(work: Work) -> None:
    shell, before = work.driver.shell, work.head()
    *_, last = work.agent(
        shell(f"{OURS} flow run 0"), shell(f"printf '{TICKET}' | {OURS} state write 10"),
        shell(f"printf '{PLAN}' | {OURS} state write 90_plan_draft.md"), shell(f"{OURS} flow next"), again=False,
    )  # fmt: skip
    assert last.says("Wait for your human, who says 'indelible approve 2'")
    work.person("approve", "2", "--yes")

    requests, after = work.compacted(
        work.driver.write(work.home.path("rounding.py"), CODE), shell(COMMIT), shell(REVIEW),
        shell(f"{OURS} approve --yes"), shell(f"{OURS} flow next"),
    )  # fmt: skip
    assert requests[2].says("needs the approval of this very change")
    assert requests[2].says("Nobody approved this change")
    assert work.head() == before
    assert "?? rounding.py" in work.box.git("status", "--short")
    assert requests[4].says("approve': that is your human's to do: ask for it.")
    assert work.states()["5"] == "needs-approval"
    assert after.says(LAW)
    assert after.says(
        f"Next Permitted Action: Have your human look at this very change, and alter nothing meanwhile. {WAITING}"
    )
    assert after.says("1. rounding.py: half up, by Decimal")
    shown = work.person("approve", "--yes")
    assert "(untracked)" in shown

    *_, told, why, _ = work.agent(
        shell("echo 'RATE = 1.1' >> rounding.py"), shell(COMMIT), shell(f"{OURS} flow why 5"), shell(REVIEW)
    )
    assert told.says("the tree that was approved is")
    assert why.says("approval-void")
    assert work.head() == before
    work.person("approve", "--yes")

    work.agent(shell(COMMIT))
    assert work.box.git("rev-parse", "HEAD~1").strip() == before
    assert work.box.git("show", "HEAD:rounding.py") == f"{CODE}RATE = 1.1\n"
    assert "\nIndelible-Receipt: aW5kZWxpYmxlL3JlY2VpcHQvdjEK" in work.box.git("log", "-1", "--format=%B")
    assert {name: state for name, state in work.states().items() if name in "0123456"} == dict.fromkeys(
        "0123456", "done"
    )
    assert "approved by indelible-approver/mina" in work.person("flow", "check", "--range", f"{before}..HEAD")
