"""Real sessions of every client. The model keeps what it is sent; so what is asserted is what a model gets to see, and what lies on
the disk afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.clients.living import GOVERNANCE, LAW, RIDER, Home, compacted
from tests.clients.seat import only_with_clients

if TYPE_CHECKING:
    from tests.clients.seat import Seat

only_with_clients()


@pytest.fixture
def home_of(seat: Seat) -> Home:
    return Home(seat)


def test_the_briefing_reaches_the_model_at_the_start(home_of: Home) -> None:
    (first, *_) = home_of.attempt(home_of.seat.driver.shell("echo hello"))
    assert first.says(LAW)
    assert first.says("mend parse_date, nothing else")
    assert first.says(home_of.mark())


def test_the_briefing_is_there_after_a_compaction(home_of: Home) -> None:
    after = compacted(home_of)
    told = [request.says(LAW) and request.says(home_of.mark()) for request in after]
    assert all(told if home_of.seat.driver.at_once else told[1:]), told
    assert told[-1]


def test_an_edit_of_the_laws_does_not_happen_and_the_model_is_told_why(home_of: Home) -> None:
    before, driver = home_of.governance.read_bytes(), home_of.seat.driver
    path = home_of.path(GOVERNANCE)
    *_, last = home_of.attempt(driver.read(path), driver.edit(path, f"- {LAW}", f"- {RIDER}"))
    assert home_of.governance.read_bytes() == before
    assert last.says("indelible state amend")


def test_the_laws_are_not_written_over_either(home_of: Home) -> None:
    before, driver = home_of.governance.read_bytes(), home_of.seat.driver
    *_, last = home_of.attempt(driver.write(home_of.path(GOVERNANCE), f"{RIDER}\n"))
    assert home_of.governance.read_bytes() == before
    assert last.says("indelible state amend")


@pytest.mark.parametrize(
    "command",
    [
        f"echo '{RIDER}' > {GOVERNANCE}",
        f"echo '{RIDER}' | tee -a {GOVERNANCE}",
        f"chmod u+w {GOVERNANCE}; sed -i s/No/A/ {GOVERNANCE}",
    ],
)
def test_a_shell_that_names_the_laws_is_not_started(home_of: Home, command: str) -> None:
    before = home_of.governance.read_bytes()
    *_, last = home_of.attempt(home_of.seat.driver.shell(command))
    assert home_of.governance.read_bytes() == before
    assert last.says("indelible state amend")


def test_the_store_is_not_written_to(home_of: Home) -> None:
    store = home_of.seat.box.project / ".indelible" / "store.db"
    before = store.read_bytes()
    *_, last = home_of.attempt(home_of.seat.driver.shell("echo gone > .indelible/store.db"))
    assert store.read_bytes() == before
    assert last.says("indelible")


def test_after_the_briefing_the_agent_works_as_ever(home_of: Home) -> None:
    driver, note = home_of.seat.driver, home_of.seat.box.project / "note.txt"
    home_of.attempt(
        driver.write(home_of.path("note.txt"), "one\n"), driver.edit(home_of.path("note.txt"), "one", "two"), driver.shell("echo 3 >> note.txt")
    )  # fmt: skip
    assert note.read_text(encoding="utf-8") == "two\n3\n"
    assert home_of.boot()["slug"] == "booted"


@pytest.mark.parametrize(
    "command",
    ["git add -A && git commit -m x", "sh -c 'git add -A; git commit -m x'", "git -c alias.zz=commit zz --allow-empty -m x"],
)  # fmt: skip
def test_a_commit_without_an_approval_does_not_happen_and_the_model_is_told_why(home_of: Home, command: str) -> None:
    box = home_of.seat.box
    (box.project / "note.txt").write_text("one\n", encoding="utf-8")
    before = box.git("for-each-ref", "--format=%(objectname)", "refs/heads")
    *_, last = home_of.attempt(home_of.seat.driver.shell(command))
    assert box.git("for-each-ref", "--format=%(objectname)", "refs/heads") == before
    assert last.says("needs the approval of this very change")
    assert last.says("indelible flow next")


def test_what_failed_before_is_not_done_again_and_the_model_is_told_why(home_of: Home) -> None:
    driver = home_of.seat.driver
    home_of.seat.indelible(
        "scar", "add", "--id", "SCAR-SORT-01", "--title", "Sorting in place", "--tried", "sort() on the list of the caller",
        "--why", "the caller lost its order", "--level", "barrier", "--path", "*.py", "--added", r"\.sort\(",
    )  # fmt: skip
    *_, last = home_of.attempt(driver.write(home_of.path("a.py"), "items.sort()\n"))
    assert not (home_of.seat.box.project / "a.py").exists()
    assert last.says("SCAR-SORT-01")
    assert last.says("the caller lost its order")


def test_an_altered_slot_is_announced_and_none_of_its_text_is_believed(home_of: Home) -> None:
    home_of.change_behind_its_back()
    driver = home_of.seat.driver
    first, *_, last = home_of.attempt(driver.write(home_of.path("note.txt"), "one\n"))
    assert first.says("00_governance.md")
    assert first.says("tell your human")
    assert not home_of.seat.model.saying(RIDER)
    assert not home_of.seat.model.saying(LAW)
    assert not (home_of.seat.box.project / "note.txt").exists()
    assert last.says("is not what was sealed")


def test_a_repaired_directory_boots_and_lets_the_agent_work_again(home_of: Home) -> None:
    home_of.change_behind_its_back()
    home_of.seat.indelible("state", "repair")
    first, *_ = home_of.attempt(home_of.seat.driver.write(home_of.path("note.txt"), "one\n"))
    assert first.says(LAW)
    assert (home_of.seat.box.project / "note.txt").exists()


def test_a_slot_altered_in_the_middle_of_a_session_is_found_at_the_next_write(home_of: Home) -> None:
    driver, box = home_of.seat.driver, home_of.seat.box
    script = box.root / "rewrite.sh"
    script.write_text(
        f"cd {box.project}/.indelible/state; chmod u+w 00_*; echo '{RIDER}' > 00_governance.md\n", encoding="utf-8"
    )
    *_, last = home_of.attempt(driver.shell(f"sh {script}"), driver.write(home_of.path("note.txt"), "one\n"))
    assert not (box.project / "note.txt").exists()
    assert last.says("is not what was sealed")


def test_without_a_briefing_nothing_is_written(home_of: Home) -> None:
    with (home_of.seat.box.project / ".indelible" / "config.toml").open("a", encoding="utf-8") as file:
        file.write("\n[boot]\nbudget = 5\n")
    assert home_of.boot(code=4)["slug"] == "over-budget"
    home_of.attempt(home_of.seat.driver.write(home_of.path("note.txt"), "one\n"))
    assert not (home_of.seat.box.project / "note.txt").exists()


def test_an_edit_of_a_sealed_memory_comes_with_the_word_to_seal_it(home_of: Home) -> None:
    """OpenCode has no word for it, and Qwen Code drops it: there the rule in the instruction file says so."""
    driver, box = home_of.seat.driver, home_of.seat.box
    (box.project / "MEMORY.md").write_text("one\n", encoding="utf-8")
    home_of.seat.indelible("save", "MEMORY.md", "MEMORY.md")
    path = home_of.path("MEMORY.md")
    *_, last = home_of.attempt(driver.read(path), driver.edit(path, "one", "two"))
    assert (box.project / "MEMORY.md").read_text(encoding="utf-8") == "two\n"
    assert last.says("Once your edit is done, seal it") or driver.host in ("opencode", "qwen")
