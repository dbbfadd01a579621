"""What only Copilot has: it summarises in the background, and tells its hooks nothing when it is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.clients.living import LAW, Home, compacted
from tests.clients.model import Script
from tests.clients.seat import only_with_clients
from tests.clients.wires import Turn

if TYPE_CHECKING:
    from tests.clients.seat import Seat

only_with_clients()


def test_the_next_prompt_after_a_compaction_brings_the_briefing(copilot: Seat) -> None:
    home = Home(copilot)
    compacted(home)
    copilot.run(Script([Turn("DONE")]), "what now?", again=True)
    (first,) = copilot.model.conversation
    assert first.says("THE SUMMARY")
    assert first.says(LAW)
    assert first.says(home.mark())
