"""What only Gemini has: it compresses within a turn, and tells its hooks nothing; what shows it is the next request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.clients.drivers.gemini import NEARLY_FULL, SUMMARY, Gemini
from tests.clients.living import LAW, Home
from tests.clients.model import Script
from tests.clients.seat import only_with_clients
from tests.clients.wires import Turn

if TYPE_CHECKING:
    from tests.clients.seat import Seat

only_with_clients()


def test_a_compression_between_two_prompts_is_made_good_by_the_second_one(gemini: Seat) -> None:
    home, driver = Home(gemini), gemini.driver
    assert isinstance(driver, Gemini)
    turns = [
        Turn("ONE"),
        Turn("TWO", used=NEARLY_FULL),
        Turn(calls=(driver.shell("echo three"),)),
        Turn("THREE"),
        Turn("FOUR"),
    ]
    gemini.model.follow(Script(turns, rules=[SUMMARY]))
    driver.talk(
        gemini.clients, gemini.box, gemini.model, ("good morning", 1), ("go on", 1), ("and on", 2), ("and on", 1)
    )
    *_, last = gemini.model.conversation
    assert last.says("THE SUMMARY")
    assert last.says(LAW)
    assert last.says(home.mark())


def test_the_briefing_is_not_given_again_while_it_is_still_there(gemini: Seat) -> None:
    home, driver = Home(gemini), gemini.driver
    assert isinstance(driver, Gemini)
    gemini.model.follow(Script([Turn("ONE"), Turn(calls=(driver.shell("echo two"),)), Turn("TWO"), Turn("THREE")]))
    driver.talk(gemini.clients, gemini.box, gemini.model, ("good morning", 1), ("go on", 2), ("and on", 1))
    *_, last = gemini.model.conversation
    assert sum(text.count(LAW) for text in last.texts()) == 1, home.mark()
