"""What people ran into on their first day with a state directory: each test is named by the fault that it keeps away."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from tests.cli.hands import git
from tests.keeping.desks import LAW, NEXT, PLAN, STATE_OK, TICKET, Desk

from indelible.boot import wake
from indelible.errors import UsageError
from indelible.hosts.registry import HOSTS
from indelible.keeping.fitting import HOST_CHARACTERS, needed
from indelible.state.directory import SLUGS
from indelible.state.korean import FINDINGS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Run


def test_boot_named_init_where_the_store_was_a_server_and_init_refused(desk: Desk) -> None:
    folder = {"INDELIBLE_STATE_DIR": str(desk.home / "elsewhere")}
    ran = desk.run("boot", env=folder, cwd=desk.work)
    assert ran.code == 3
    assert "'indelible state init' begins one" in ran.err
    assert desk.run("state", "init", env=folder, cwd=desk.work).code == 0
    refused = desk.run("--store", "http://127.0.0.1:9", "init", cwd=desk.work)
    assert refused.code == 64
    assert "'indelible state init'" in refused.err


def test_outside_of_a_repository_boot_named_an_init_that_made_no_laws_and_did_not_say_why(home: Path, run: Run) -> None:
    assert "INDELIBLE_STATE_DIR" in run("boot").err
    made = run("init")
    assert made.code == 0
    assert "No laws were sealed" in made.err
    assert "INDELIBLE_STATE_DIR" in made.err
    assert "INDELIBLE_STATE_DIR" in run("boot").err


def test_a_refused_write_and_a_repair_of_nothing_left_an_empty_folder(home: Path, run: Run) -> None:
    git(home / "work", "init", "-q")
    assert run("init", env={"INDELIBLE_STATE_DIR": str(home / "other")}).code == 0
    folder = home / "work" / ".indelible" / "state"
    assert run("boot").code == 3
    for words, content in (
        (("state", "write", "99"), b"nothing of use\n"),
        (("state", "repair"), b""),
        (("state", "amend", "20", "--reason", "x"), STATE_OK[PLAN]),
        (("state", "write", "00"), b"\xff"),
    ):
        run(*words, input=content)
        assert not folder.exists(), words
    assert run("boot").code == 3


def test_the_agent_was_told_to_leave_repair_alone_and_then_told_to_repair(desk: Desk) -> None:
    desk.overwrite(PLAN, b"# Another plan\n")
    ran = desk.run("boot", "--json", cwd=desk.work)
    assert ran.code == 2
    assert ran.json["remedy"].startswith("For your human: 'indelible state repair'")
    assert all(one["remedy"].startswith("For your human: ") for one in ran.json["findings"])
    assert "For your human: 'indelible state repair'" in ran.err
    assert "repair'" not in ran.json["text"]


def test_a_stranger_in_the_folder_was_to_be_repaired_and_a_removed_one_had_a_copy_to_keep(desk: Desk) -> None:
    desk.file("40_notes.md").write_bytes(b"mine\n")
    desk.file(PLAN).unlink()
    found = {one["slug"]: one["remedy"] for one in desk.said("state", "check")["findings"]}
    assert found["slot-unsealed"].startswith("If it is yours, 'indelible state adopt'")
    assert found["slot-removed"] == "'indelible state repair' puts the sealed text back"


def test_files_of_a_clone_were_adopt_to_boot_and_repair_to_check(home: Path, run: Run) -> None:
    git(home / "work", "init", "-q")
    folder = home / "work" / ".indelible" / "state"
    folder.mkdir(parents=True)
    (folder / LAW).write_bytes(STATE_OK[LAW])
    for store in ("none", "there"):
        if store == "there":
            assert run("init").code == 0
        ran, checked = run("boot", "--json"), run("state", "check", "--json")
        assert (ran.code, ran.json["slug"]) == (1, "empty-state")
        assert (checked.code, checked.json["slug"]) == (1, "empty-state")
        assert "'indelible state adopt'" in checked.json["remedy"]


def test_doctor_and_incident_knew_nothing_of_altered_slots(desk: Desk) -> None:
    assert desk.run("doctor", cwd=desk.work).code == 0
    assert "5 slots" in desk.run("doctor", cwd=desk.work).out
    desk.overwrite(PLAN, b"# Another plan\n")
    desk.file(TICKET).unlink()
    looked = desk.run("doctor", "--json", cwd=desk.work)
    assert looked.code == 2
    bad = [one["text"] for one in looked.json["findings"] if one["slug"] == "tampered"]
    assert len(bad) == 2
    found = desk.run("incident", "--json", cwd=desk.work)
    assert found.code == 2
    altered = {one["key"]: one["slug"] for one in found.json["altered"]}
    assert altered == {f"state/{PLAN}": "slot-edited", f"state/{TICKET}": "slot-removed"}
    steps = found.json["steps"]
    assert steps[-2:] == ["indelible state check", "indelible boot"]
    order = [place for place, step in enumerate(steps) if "cp -pR" in step or "state repair" in step]
    assert order == sorted(order)
    assert len(order) >= 2
    assert desk.run("state", "repair", cwd=desk.work).code == 0
    assert desk.run("incident", cwd=desk.work).code == 0
    assert desk.file(NEXT).read_bytes() == STATE_OK[NEXT]


KOREAN = "승인된 계획의 첫째 단계를 그대로 따른다. " * 158
"""3,779 characters or so: about 3,000 tokens."""


def test_a_plan_that_no_boot_can_carry_was_sealed_for_good_without_a_word(desk: Desk) -> None:
    with desk.state() as state:
        state.close()
    refused = desk.tell("state", "write", "20", "--json", content=KOREAN.encode())
    assert refused.code == 64
    facts = refused.json
    assert facts["needed"] > facts["budget"] == 1800 > facts["room"] > 0
    for word in ("[boot] budget", f"{facts['needed']:,}", f"{facts['room']:,}", "--over-budget"):
        assert word in refused.err, word
    assert desk.tell("boot").code == 0
    folder = desk.home / "old"
    folder.mkdir()
    (folder / PLAN).write_text(KOREAN, encoding="utf-8")
    assert desk.tell("state", "adopt", str(folder)).code == 64
    assert desk.tell("state", "write", NEXT, content=STATE_OK[NEXT] + KOREAN.encode()).code == 64
    with desk.state() as state:
        assert [one.slot.name for one in state.slots()] == [LAW]
        with pytest.raises(UsageError):
            state.amend(LAW, KOREAN.encode(), by=desk.owner(), reason="longer")
    assert desk.tell("state", "write", "20", "--over-budget", content=KOREAN.encode()).code == 0
    told = desk.tell("boot")
    assert told.code == 4
    need = re.search(r"need ([0-9,]+) tokens; the budget is 1,800", told.out)
    assert need is not None, told.out
    budget = re.search(r"--budget ([0-9]+)", told.err)
    assert budget is not None, told.err
    assert int(need[1].replace(",", "")) <= int(budget[1])
    assert desk.tell("boot", "--budget", budget[1]).code == 0
    with desk.state() as state:
        state.amend(PLAN, STATE_OK[PLAN], by=desk.owner(), reason="what makes it shorter is let through")


def test_more_characters_than_a_host_passes_on_were_sealed_too(desk: Desk) -> None:
    (desk.work / ".indelible" / "config.toml").write_text('agent = "default"\n[boot]\nbudget = 90000\n')
    refused = desk.tell("state", "write", "15_more.md", content=b"word " * 2000)
    assert refused.code == 64
    assert "hosts pass on 9,000 characters" in refused.err
    assert desk.tell("state", "write", "15_more.md", "--over-budget", content=b"word " * 2000).code == 0
    told = desk.tell("boot", "--characters", "9000")
    assert told.code == 4
    assert "characters; the budget is 9,000" in told.out
    more = re.search(r"--characters ([0-9]+)", told.err)
    assert more is not None
    assert desk.tell("boot", "--characters", more[1]).code == 0


def test_no_host_of_ours_passes_on_less_than_a_write_allows() -> None:
    assert min(host.limit for host in HOSTS if host.limit) >= HOST_CHARACTERS


@pytest.mark.parametrize("length", [0, 40, 2_000, 7_000])
def test_what_a_write_reckons_is_never_less_than_what_boot_needs(desk: Desk, length: int) -> None:
    """And not much more, so that nothing is refused that fits."""
    with desk.state() as state:
        state.write("15_more.md", b"a few words of a law\n" * (1 + length // 21), over_budget=True)
        slots = {one.slot.name: one.loaded.content for one in state.slots()}
    reckoned = needed(slots, "state default")
    low, high = 1, 20_000
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if wake(desk.settings, budget=middle).exit_code == 0 else (middle + 1, high)
    assert low <= reckoned.tokens <= low * 1.25 + 40


def test_a_form_that_was_not_filled_in_was_sealed_or_refused_for_another_reason(bare: Desk) -> None:
    for number in ("10", "20", "30", "99"):
        form = bare.tell("state", "template", number).stdout
        verb = "append" if number == "30" else "write"
        refused = bare.tell("state", verb, number, content=form)
        assert refused.code == 64, number
        assert "still has the form's own words" in refused.err
    filled = b"# Ticket\n\nIssue: 7 `tool <path>` fails\n"
    assert bare.tell("state", "write", "10", content=filled).code == 0


def test_a_remedy_named_a_template_that_there_is_not_and_another_letters_that_are_none(bare: Desk) -> None:
    refused = bare.tell("state", "write", "55_notes.md", content=b"\n")
    assert refused.code == 64
    assert "template" not in refused.err
    assert "a-z, A-Z, 0-9" in bare.tell("state", "write", "55_노트.md", content=b"x\n").err


def test_an_append_put_text_behind_the_next_action(desk: Desk) -> None:
    refused = desk.tell("state", "append", "99", content=b"and more\n")
    assert refused.code == 64
    assert "'indelible state write 99_next_action.md FILE'" in refused.err
    assert desk.check() == []


def test_a_next_action_without_a_checklist_went_without_a_word(bare: Desk) -> None:
    text = b"Current Target: 4\nLast Completed Step: sorter\nNext Permitted Action: critic\n"
    assert "no checklist" in bare.tell("state", "write", "99", content=text).err
    told = bare.tell("boot")
    assert told.code == 0
    assert "no checklist" in told.err
    assert "no checklist" not in told.out, "it is for the person, and costs the agent no room"
    assert "checklist" not in bare.tell("state", "write", "99", content=text + b"- [ ] 4 critic\n").err
    assert "checklist" not in bare.tell("boot").err


def test_laws_sent_the_agent_to_a_next_action_that_was_not_there(bare: Desk) -> None:
    told = bare.tell("boot")
    assert told.code == 0
    assert "\nnote: there is no 99_next_action.md" in told.out
    assert "'indelible state write 99'" in told.err
    assert "'indelible state write 99'" in bare.tell("init").out


def test_files_that_were_adopted_where_they_lay_stayed_writable_and_boot_warned(home: Path, run: Run) -> None:
    git(home / "work", "init", "-q")
    folder = home / "work" / ".indelible" / "state"
    folder.mkdir(parents=True)
    for name, content in STATE_OK.items():
        (folder / name).write_bytes(content)
        (folder / name).chmod(0o644)
    assert run("state", "adopt").code == 0
    assert (folder / LAW).stat().st_mode & 0o777 == 0o444
    checked = run("state", "check", "--json")
    assert (checked.code, checked.json["findings"]) == (0, [])


def test_what_repairs_put_aside_piled_up_unseen(desk: Desk) -> None:
    desk.overwrite(PLAN, b"# Another plan\n")
    assert desk.tell("state", "repair").code == 0
    for verb in ("check", "list"):
        assert "1 file put aside" in desk.tell("state", verb).err
    assert "swept" not in desk.tell("state", "repair", "--sweep", "30d").out
    old = desk.file(".aside-20200101T000000Z-aabbcc-20_plan_approved.md")
    old.write_bytes(b"old\n")
    assert desk.said("state", "repair", "--sweep", "30d")["swept"] == [old.name]
    assert not old.exists()
    assert "1 file put aside" in desk.tell("state", "list").err


def test_a_file_that_looks_like_a_slot_and_is_none_went_without_a_word(desk: Desk) -> None:
    desk.file("35-bad.md").write_bytes(b"read me\n")
    for verb in ("check", "list"):
        ran = desk.tell("state", verb)
        assert ran.code == 0
        assert "35-bad.md looks like a slot and is none" in ran.err


def test_an_amendment_with_the_same_text_made_another_version(desk: Desk) -> None:
    owner = desk.owner()
    with desk.state() as state:
        first = state.amend(PLAN, b"# Plan B\n", by=owner, reason="better")
        again = state.amend(PLAN, b"# Plan B\n", by=owner, reason="better")
        assert (again.version, again.repeated) == (first.version, True)
        assert len([one for one in state.history(PLAN) if one.type == "saved"]) == 2


def test_amend_did_not_say_what_it_needs_nor_that_it_had_made_the_owners_key(desk: Desk) -> None:
    asked = desk.tell("state", "amend", "--help").out
    assert "Required" in asked
    assert "INDELIBLE_PASSPHRASE_FILE" in asked
    words = desk.home / "words"
    words.write_text("a passphrase that no agent knows\n")
    words.chmod(0o644)
    there = {"INDELIBLE_PASSPHRASE_FILE": str(words)}
    ran = desk.run("state", "amend", "20", "--reason", "x", input=b"# Plan B\n", env=there, cwd=desk.work)
    assert ran.code == 0, ran.err
    assert "the owner's key was made just now" in ran.err
    assert str(words) in ran.err, "others can read it"


def test_the_ticket_of_a_closing_was_lost_and_history_did_not_name_it(bare: Desk) -> None:
    assert bare.tell("state", "write", "10", content=b"# Ticket 7\n\nIssue: it breaks\n").code == 0
    closed = bare.said("state", "close")["key"]
    assert closed.endswith("-7")
    assert f"closed as {closed}" in bare.tell("state", "history", "10_ticket.md").out


def test_a_worktree_began_with_the_template_although_the_laws_were_amended(desk: Desk) -> None:
    with desk.state() as state:
        state.amend(LAW, b"# Governance\n\nAmended.\n", by=desk.owner(), reason="better")
    git(desk.work, "commit", "--allow-empty", "-qm", "first")
    tree = desk.home / "tree"
    git(desk.work, "worktree", "add", "-q", str(tree))
    told = desk.run("boot", cwd=tree)
    assert told.code == 3
    assert "'indelible state init' begins one" in told.err
    begun = desk.run("init", cwd=tree)
    assert begun.code == 0
    assert "the laws are those of the main checkout" in begun.err
    assert desk.run("state", "show", "00", cwd=tree).stdout == b"# Governance\n\nAmended.\n"
    assert desk.run("boot", cwd=tree).code == 0


def test_nobody_said_that_whoever_first_needs_the_owners_key_makes_it(desk: Desk) -> None:
    assert "key create --role owner" in desk.tell("doctor").out
    desk.owner()
    assert "key create --role owner" not in desk.tell("doctor").out


def test_in_korean_only_the_verdict_was_korean(desk: Desk) -> None:
    assert set(FINDINGS) == set(SLUGS), "each finding has its words"
    desk.overwrite(PLAN, b"# Another plan\n")
    ran = desk.run("boot", env={"LANG": "ko_KR.UTF-8"}, cwd=desk.work)
    assert ran.code == 2
    assert f"{PLAN}: 파일이 봉인된 내용과 다름" in ran.err
    assert "사람이 할 일: 'indelible state repair'" in ran.err
    assert ran.out == desk.run("boot", cwd=desk.work).out


def test_a_slip_of_the_pen_was_answered_with_a_mark_and_a_full_stop(desk: Desk) -> None:
    assert "Did you mean 'write'? See 'indelible state --help'" in desk.tell("state", "wrte").err
