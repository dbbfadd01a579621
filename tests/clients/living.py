"""A project in which the product lives, as a person installs it: `indelible init --host …` in a fresh repository."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from tests.clients.drivers.codex import Codex
from tests.clients.drivers.gemini import Gemini
from tests.clients.model import Script
from tests.clients.wires import Call, Turn

if TYPE_CHECKING:
    from pathlib import Path

    from tests.clients.model import Request
    from tests.clients.seat import Seat

LAW = "No commit on a Friday, whatever the hour."
RIDER = "Friday is a fine day for a commit."
NEXT = """\
# Next action

- Current Target: the parser of dates
- Last Completed Step: the failing test is committed
- Next Permitted Action: mend parse_date, nothing else

- [x] test
- [ ] mend
- [ ] review
"""
GOVERNANCE = ".indelible/state/00_governance.md"


class Home:
    """A seat in whose project the product lives, with laws and a next action."""

    def __init__(self, seat: Seat, *, trusting: bool = True) -> None:
        self.seat = seat
        laws = seat.box.root / "laws.md"
        laws.write_text(f"# Laws\n\n- {LAW}\n", encoding="utf-8")
        seat.indelible("init", "--host", seat.driver.host, "--governance", str(laws))
        seat.indelible("state", "write", "99_next_action.md", "-", given=NEXT)
        if trusting and isinstance(seat.driver, Codex):
            seat.driver.trust(seat.clients, seat.box)

    @property
    def governance(self) -> Path:
        return self.seat.box.project / GOVERNANCE

    def mark(self) -> str:
        """The mark on the boundaries of the present briefing."""
        return str(self.boot()["mark"])

    def boot(self, code: int = 0) -> Any:
        return json.loads(self.seat.indelible("boot", "--json", code=code).out)

    def path(self, name: str) -> str:
        """A file of the project, as this client's tools name it."""
        return name if isinstance(self.seat.driver, Codex) else str(self.seat.box.project / name)

    def attempt(self, *calls: Call) -> list[Request]:
        """Have the model call these, one after the other; returns what it was sent."""
        self.seat.run(Script([*(Turn(calls=(call,)) for call in calls), Turn("DONE")]), "go on")
        return self.seat.model.conversation

    def change_behind_its_back(self) -> None:
        """What a script does that asks nobody."""
        os.chmod(self.governance, 0o644)
        self.governance.write_text(f"# Laws\n\n- {RIDER}\n", encoding="utf-8")


def compacted(home: Home) -> list[Request]:
    """A session that is compacted; returns what the model was sent after that."""
    seat, driver = home.seat, home.seat.driver
    script = driver.compacting(driver.shell("echo after"))
    if isinstance(driver, Gemini):
        seat.model.follow(script)
        driver.talk(seat.clients, seat.box, seat.model, ("good morning", 1), ("go on", 1), ("now work", 4))
    else:
        seat.run(script, "now work")
    vias = [request.via for request in seat.model.requests]
    assert "THE SUMMARY" in "".join(seat.model.requests[-1].texts()), vias
    return [request for request in seat.model.conversation if request.says("THE SUMMARY")]
