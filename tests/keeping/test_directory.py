"""The verbs of a state directory where all is well: write, append, amend, show, history, close, adopt, protect; and in the library."""

from __future__ import annotations

import json
import os
import shutil

import pytest
from tests.cli.hands import refused, within
from tests.keeping.desks import CRITIC, LAW, NEXT, PLAN, STATE_OK, TICKET, Desk, lift_the_disciplines

import indelible
from indelible.errors import AccessDenied, BadSignature, ConflictError, NotFoundError
from indelible.state.attributes import Unsupported, protect
from indelible.state.slot import named


def test_each_file_is_the_very_bytes_that_were_sealed_with_the_mode_of_its_discipline(desk: Desk) -> None:
    modes = {LAW: 0o444, TICKET: 0o444, PLAN: 0o444, CRITIC: 0o644, NEXT: 0o644}
    for name, content in STATE_OK.items():
        assert desk.file(name).read_bytes() == content
        assert desk.file(name).stat().st_mode & 0o777 == modes[name]
        with desk.memory() as memory:
            loaded = memory.fetch(f"state/{name}")
            assert (loaded.content, loaded.record.kind) == (content, "task_state")


def test_a_write_of_what_is_sealed_changes_nothing_and_answers_as_the_first_time(desk: Desk) -> None:
    first = desk.said("state", "write", PLAN, input=STATE_OK[PLAN])
    assert (first["repeated"], first["version"]) == (True, 1)
    desk.file(PLAN).unlink()
    assert desk.tell("state", "write", PLAN, content=STATE_OK[PLAN]).code == 2, "it was removed, and repair says so"


def test_an_operation_that_is_repeated_is_done_once(desk: Desk) -> None:
    for verb, slot, text in (("append", CRITIC, b"## Round 3\n"), ("write", "40_notes.md", b"notes\n")):
        done = [desk.said("state", verb, slot, "--op-id", f"op-{verb}", input=text) for _ in range(2)]
        assert [one["repeated"] for one in done] == [False, True]
        assert done[0]["sha256"] == done[1]["sha256"]
    assert desk.file(CRITIC).read_bytes() == STATE_OK[CRITIC] + b"## Round 3\n"


def test_what_is_added_begins_on_a_line_of_its_own(bare: Desk) -> None:
    for text in (b"one", b"two", b"three\n", b"four"):
        assert bare.tell("state", "append", "30", content=text).code == 0
    assert bare.file(CRITIC).read_bytes() == b"one\ntwo\nthree\nfour"


def test_the_owner_amends_and_the_reason_stands_in_the_log(desk: Desk) -> None:
    with desk.state() as state:
        state.amend(LAW, b"# Governance\nAsk twice.\n", by=desk.owner(), reason="once was not enough")
    assert desk.file(LAW).read_bytes() == b"# Governance\nAsk twice.\n"
    assert desk.file(LAW).stat().st_mode & 0o777 == 0o444
    events = desk.said("state", "history", LAW)["events"]
    assert [(one["type"], one["version"]) for one in events] == [("amended", 2), ("saved", 2), ("saved", 1)]
    assert events[0]["reason"] == "once was not enough"
    assert desk.exit_of_check() == 0
    assert within("audit") == 0
    refused(desk.tell("state", "write", LAW, content=b"# Mine\n"), 6, LAW)


def test_nobody_but_an_owner_who_is_known_amends(desk: Desk) -> None:
    with desk.state() as state:
        with pytest.raises(BadSignature):
            state.amend(LAW, b"# Mine\n", by=state.memory.signer, reason="mine")
        with pytest.raises(NotFoundError):
            state.amend("40_notes.md", b"x\n", by=desk.owner(), reason="there is none")
    assert desk.file(LAW).read_bytes() == STATE_OK[LAW]


def test_an_amendment_asks_for_the_owners_passphrase_and_for_a_reason(desk: Desk) -> None:
    refused(desk.tell("state", "amend", LAW, content=b"# Mine\n"), 64, "--reason")
    refused(desk.tell("state", "amend", LAW, "--reason", "x", content=b"# Mine\n"), 1, "passphrase")
    path = desk.home / "passphrase"
    path.write_text("correct horse battery staple\n")
    path.chmod(0o600)
    ran = desk.run(
        "state", "amend", LAW, "--reason", "x", input=b"# Amended\n", env={"INDELIBLE_PASSPHRASE_FILE": str(path)}
    )
    assert ran.code == 0, ran.err
    assert desk.exit_of_check() == 0


def test_a_ticket_that_ends_is_one_sealed_record_and_a_new_one_begins(desk: Desk) -> None:
    closed = desk.said("state", "close", "--reason", "merged")
    assert closed["slots"] == [TICKET, PLAN, CRITIC, NEXT]
    assert closed["key"].startswith("state/closed/")
    assert closed["key"].endswith("-DEMO-12"), "the ticket's name is found in slot 10"
    assert sorted(os.listdir(desk.folder)) == [LAW]
    record = json.loads(desk.run("load", closed["key"]).stdout)
    assert {one["name"]: one["content"].encode() for one in record["slots"]} == STATE_OK
    assert [one["closed"] for one in record["slots"]] == [False, True, True, True, True]
    assert desk.exit_of_check() == 0
    assert within("audit") == 0
    with desk.state() as state:
        state.write(TICKET, b"# Ticket\nDEMO-13\n")
        state.append(CRITIC, b"another round\n")
    assert desk.exit_of_check() == 0
    assert desk.file(CRITIC).read_bytes() == b"another round\n"
    assert desk.said("state", "close")["slots"] == [TICKET, CRITIC]
    refused(desk.tell("state", "close"), 3, "only laws")
    assert within("audit") == 0


def test_a_closing_that_is_repeated_is_done_once(desk: Desk) -> None:
    first = desk.said("state", "close", "--op-id", "end")
    again = desk.said("state", "close", "--op-id", "end")
    assert (again["key"], again["repeated"]) == (first["key"], True)


def test_a_ticket_is_not_closed_over_an_altered_file(desk: Desk) -> None:
    desk.overwrite(PLAN, b"# Another\n")
    assert desk.said("state", "close")["slug"] == "slot-edited"
    assert desk.file(TICKET).exists()


def test_a_file_that_a_closing_left_behind_is_told_and_taken_away(desk: Desk) -> None:
    shutil.copytree(desk.folder, desk.home / "kept")
    assert within("state", "close") == 0
    shutil.copy(desk.home / "kept" / PLAN, desk.file(PLAN))
    assert desk.check() == ["slot-closed"]
    assert desk.exit_of_check() == 0
    assert desk.tell("state", "write", PLAN, content=b"# The next plan\n").code == 0
    shutil.copy(desk.home / "kept" / TICKET, desk.file(TICKET))
    assert within("state", "repair") == 0
    assert sorted(os.listdir(desk.folder)) == [LAW, PLAN]


def test_a_slot_that_changed_meanwhile_is_not_closed(desk: Desk) -> None:
    with desk.memory() as memory:
        seq = memory.fetch(f"state/{NEXT}").seq
        memory.save(f"state/{NEXT}", STATE_OK[NEXT] + b"- [x] more\n")
        with pytest.raises(ConflictError):
            memory.close_slots("state/closed/20300101T000000Z", b"{}", {f"state/{NEXT}": seq})


def test_a_slot_is_put_away_by_a_closing_alone_even_past_the_program(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A note that names no record, or some other one's hash, is no closing."""
    with monkeypatch.context() as patch:
        lift_the_disciplines(patch)
        with desk.memory() as memory:
            record = memory.history(f"state/{TICKET}")[0].leaf.hex()
            memory.note("archived", f"state/{PLAN}", digest=record)
    assert "slot-withdrawn" in desk.check()
    assert within("audit") == 2


def test_the_library_opens_the_directory_of_the_folder(desk: Desk) -> None:
    with indelible.open_state() as state:
        assert isinstance(state, indelible.StateDirectory)
        assert [one.slot.name for one in state.slots()] == list(STATE_OK)
        assert state.show("99").content == STATE_OK[NEXT]
        state.append("30", b"## Round 3\n")
        with pytest.raises(indelible.DisciplineError) as caught:
            state.write("20", b"# Other\n")
    assert caught.value.facts["slot"] == PLAN


def test_a_secret_is_masked_in_the_file_as_in_the_log(bare: Desk) -> None:
    text = b"# Ticket\naws: AKIAIOSFODNN7EXAMPLZ\n"
    refused(bare.tell("state", "write", "10", content=text), 6, "secret")
    assert not bare.file(TICKET).exists()
    ran = bare.run("state", "write", "10", "--json", input=text, env={"INDELIBLE_SECRETS": "mask"})
    assert ran.code == 0, ran.err
    assert ran.json["masked"]
    assert b"AKIA" not in bare.file(TICKET).read_bytes()
    assert bare.exit_of_check() == 0


def test_attributes_keep_even_the_files_owner_from_it_and_are_taken_away_again(desk: Desk) -> None:
    try:
        protect(str(desk.file(LAW)), named(LAW), on=True)
        protect(str(desk.file(LAW)), named(LAW), on=False)
    except (Unsupported, AccessDenied) as error:
        pytest.skip(str(error))
    assert within("state", "protect") == 0
    try:
        with pytest.raises(OSError, match="not permitted"):
            desk.file(LAW).unlink()
        with pytest.raises(OSError, match="not permitted"):
            desk.file(CRITIC).write_bytes(b"rewritten")
        assert desk.tell("state", "append", CRITIC, content=b"## Round 3\n").code == 0
        assert desk.file(CRITIC).read_bytes() == STATE_OK[CRITIC] + b"## Round 3\n"
        assert desk.exit_of_check() == 0
    finally:
        assert within("state", "protect", "--off") == 0
    assert within("state", "close") == 0
