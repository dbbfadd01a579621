"""What only Gemini has: it compresses within a turn, and tells its hooks nothing; what shows it is the next request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.clients.drivers.gemini import NEARLY_FULL, SUMMARY, Gemini
from tests.clients.living import LAW, RIDER, Home
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


def test_an_editor_that_drives_it_gets_the_briefing_too(gemini: Seat) -> None:
    home, driver = Home(gemini), gemini.driver
    assert isinstance(driver, Gemini)
    gemini.model.follow(Script([Turn("ONE"), Turn("TWO")]))
    driver.serve_an_editor(gemini.clients, gemini.box, gemini.model, "good morning", "go on")
    assert all(request.says(LAW) and request.says(home.mark()) for request in gemini.model.conversation)


def test_what_an_editor_lets_it_write_is_found_at_the_next_boot(gemini: Seat) -> None:
    """Driven by an editor, Gemini asks no hook about its tools: the laws can be written over, and are not believed then."""
    home, driver = Home(gemini), gemini.driver
    assert isinstance(driver, Gemini)
    home.governance.chmod(0o644)  # the test may run as root, whom the mode does not stop either
    gemini.model.follow(Script([Turn(calls=(driver.write(str(home.governance), RIDER),)), Turn("DONE")]))
    driver.serve_an_editor(gemini.clients, gemini.box, gemini.model, "good morning")
    assert home.governance.read_text(encoding="utf-8") == RIDER
    assert "slot-edited" in str(home.boot(code=2))
