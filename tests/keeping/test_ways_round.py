"""Ways round a discipline. Each is refused and written down, or noticed at the next look; none is neither.

What is refused changes nothing: neither bytes nor times of any file, and the log has no more entries than before. What is
noticed is exit 2 and named, and one command puts it right.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.cli.hands import script, within
from tests.keeping.desks import CRITIC, LAW, NEXT, PLAN, STATE_OK, TICKET, Desk, lift_the_disciplines

from indelible.errors import DisciplineError, IndelibleError
from indelible.memory.deciding import Decision
from indelible.record.parts import Link

if TYPE_CHECKING:
    from collections.abc import Callable

OTHER = b"# Other\nCommit whenever you like.\n"
WRITE_ONCE = (LAW, TICKET, PLAN)


def other(desk: Desk) -> str:
    """A file with another text."""
    path = desk.home / "other.md"
    path.write_bytes(OTHER)
    return str(path)


def library(desk: Desk, job: Callable[..., object]) -> int:
    with desk.memory() as memory:
        try:
            job(memory)
        except IndelibleError as error:
            return error.exit_code
    return 0


def by_adopt(desk: Desk, name: str) -> int:
    folder = desk.work / "state"
    folder.mkdir()
    (folder / name).write_bytes(OTHER)
    code = within("adopt", str(folder))
    shutil.rmtree(folder)
    return code


def by_state_adopt(desk: Desk, name: str) -> int:
    folder = desk.home / "brought"
    folder.mkdir()
    for file, content in STATE_OK.items():
        (folder / file).write_bytes(OTHER if file == name else content)
    return within("state", "adopt", str(folder))


def by_superseding(desk: Desk, name: str) -> int:
    def job(memory: object) -> None:
        older = memory.fetch(f"state/{name}")  # type: ignore[attr-defined]
        link = Link("supersedes", older.record.id, f"key:state/{name}")
        memory.save("newer", OTHER, record=lambda _: replace(older.record, key="newer", revision=1, links=(link,)))  # type: ignore[attr-defined]
        memory.supersede(f"state/{name}", "newer")  # type: ignore[attr-defined]

    return library(desk, job)


def by_restoring(desk: Desk, name: str) -> int:
    """The first version, after the owner amended it."""
    return within("restore", f"state/{name}", "--version", "1")


def by_editor(desk: Desk, name: str) -> int:
    editor = script(desk.home / "editor", f"cp '{other(desk)}' \"$1\"")
    return within("edit", f"state/{name}", "--editor", str(editor))


REFUSED: dict[str, Callable[[Desk, str], int]] = {
    "state write": lambda desk, name: within("state", "write", name, other(desk)),
    "state append": lambda desk, name: within("state", "append", name, other(desk)),
    "save": lambda desk, name: within("save", f"state/{name}", other(desk)),
    "save --force": lambda desk, name: within("save", "--force", f"state/{name}", other(desk)),
    "save --allow-empty": lambda desk, name: within("save", "--allow-empty", "--force", f"state/{name}", other(desk)),
    "save-file": lambda desk, name: within("save-file", f"state/{name}", other(desk)),
    "edit": by_editor,
    "restore": by_restoring,
    "adopt": by_adopt,
    "state adopt": by_state_adopt,
    "archive": lambda _desk, name: within("archive", f"state/{name}"),
    "erase": lambda _desk, name: within("erase", "--yes", f"state/{name}"),
    "supersede": by_superseding,
    "a second slot of that number": lambda desk, name: within("save", f"state/{name[:3]}zz.md", other(desk)),
    "library: save": lambda desk, name: library(desk, lambda memory: memory.save(f"state/{name}", OTHER)),
    "library: save as restored": lambda desk, name: library(
        desk, lambda memory: memory.save(f"state/{name}", OTHER, how="restored")
    ),
    "library: note": lambda desk, name: library(desk, lambda memory: memory.note("archived", f"state/{name}")),
}


@pytest.mark.parametrize("way", REFUSED)
def test_a_way_round_through_a_door_is_refused_and_written_down(desk: Desk, way: str) -> None:
    if way == "restore":
        with desk.state() as state:
            for name in WRITE_ONCE:
                state.amend(name, STATE_OK[name] + b"amended\n", by=desk.owner(), reason="test")
    for name in WRITE_ONCE:
        before = (desk.file(name).read_bytes(), desk.file(name).stat().st_mtime_ns, desk.file(name).stat().st_ino)
        known = len(desk.refused())
        assert REFUSED[way](desk, name) == DisciplineError.exit_code, name
        assert len(desk.refused()) > known
        assert (
            desk.file(name).read_bytes(),
            desk.file(name).stat().st_mtime_ns,
            desk.file(name).stat().st_ino,
        ) == before
        if way == "state adopt":
            shutil.rmtree(desk.home / "brought")
    assert desk.check() == []


def test_each_attempt_is_written_down_with_the_verb_that_made_it(desk: Desk) -> None:
    for words in (("state", "write", PLAN), ("save", f"state/{PLAN}"), ("save", "--force", f"state/{PLAN}")):
        assert within(*words, other(desk)) == 6
    assert within("archive", f"state/{PLAN}") == 6
    found = [one for one in desk.said("deliveries")["deliveries"] if one["outcome"] == "refused"]
    assert [one["door"] for one in found] == ["state", "save", "save", "archive"]
    assert {one["key"] for one in found} == {f"state/{PLAN}"}
    assert all(one["reasons"][0]["slug"] == "discipline" for one in found)
    assert OTHER.decode() not in desk.run("deliveries").out


def test_no_rule_of_retention_reaches_a_slot_that_is_open(desk: Desk) -> None:
    (desk.work / ".indelible" / "retention.toml").write_text('[[content]]\nkind = "task_state"\nexpire_after = "1m"\n')
    ran = desk.run("retention", "apply", "--json")
    assert (ran.code, ran.json["erased"]) == (0, []), ran
    assert "state/" not in desk.run("retention", "show").out


def test_the_same_ways_may_replace_the_program_counter(desk: Desk) -> None:
    counter = desk.home / "counter.md"
    counter.write_text("Current Target: 4\nLast Completed Step: sorter\nNext Permitted Action: critic\n")
    for words in (("state", "write", "99"), ("save", f"state/{NEXT}"), ("save", "--force", f"state/{NEXT}")):
        counter.write_text(counter.read_text() + f"- [ ] {words}\n")
        assert within(*words, str(counter)) == 0, words
    assert desk.check() == ["slot-behind"], "a save gives no file its text: that is for `state write`"
    assert within("state", "repair") == 0
    assert desk.file(NEXT).read_bytes() == counter.read_bytes()
    assert desk.exit_of_check() == 0


def test_an_archived_slot_does_not_come_back_and_a_record_of_a_closing_is_written_once(desk: Desk) -> None:
    assert within("state", "close") == 0
    assert within("unarchive", f"state/{PLAN}") == 6
    record = desk.said("state", "list")["closed"][0]
    assert within("save", record, other(desk)) == 6
    assert within("save", "--force", record, other(desk)) == 6
    assert desk.check() == []


def test_a_record_of_a_closing_that_never_was_is_refused(desk: Desk) -> None:
    for key in ("state/closed/20260610T174356Z-DEMO-12", "state/closed/x", "state/worktree/a/closed/x"):
        for words in (("save", key), ("save", "--force", key), ("save-file", key)):
            assert within(*words, other(desk)) == 6, words
        assert library(desk, lambda memory, key=key: memory.save(key, OTHER)) == 6
    assert desk.said("state", "list")["closed"] == []
    assert within("state", "close") == 0


def test_laws_outlive_a_closing_and_what_is_written_anew_stands_in_the_log(desk: Desk) -> None:
    assert within("state", "close", "--reason", "done") == 0
    assert within("state", "write", LAW, other(desk)) == 6
    assert within("state", "write", PLAN, other(desk)) == 0
    told = desk.said("state", "history", PLAN)["events"]
    assert [one["type"] for one in told] == ["saved", "archived", "saved"]
    assert desk.said("state", "list")["closed"]
    assert desk.check() == []


# Files.


def swap(desk: Desk) -> None:
    first, second, third = desk.file(LAW), desk.file(PLAN), desk.file(".third")
    first.rename(third)
    second.rename(first)
    third.rename(second)


def symlink(desk: Desk) -> None:
    target = desk.home / "target.md"
    desk.file(PLAN).rename(target)
    desk.file(PLAN).symlink_to(target)


def recreate(desk: Desk) -> None:
    desk.file(PLAN).unlink()
    desk.file(PLAN).write_bytes(OTHER)
    desk.file(PLAN).chmod(0o444)


def folder_in_its_place(desk: Desk) -> None:
    desk.file(PLAN).unlink()
    desk.file(PLAN).mkdir()


def leave_a_sealed_copy_beside_it(desk: Desk) -> None:
    desk.file(f".tmp-{PLAN}-1-aa").write_bytes(STATE_OK[PLAN])
    desk.overwrite(PLAN, OTHER)


def roll_back(desk: Desk) -> None:
    """The text before the last append, with nothing beside it."""
    before = desk.file(CRITIC).read_bytes()
    with desk.state() as state:
        state.append(CRITIC, b"## Round 3\nblocked: slow\n")
    desk.overwrite(CRITIC, before)


def cut_the_middle(desk: Desk) -> None:
    with desk.state() as state:
        state.append(CRITIC, b"## Round 3\nblocked: slow\n")
    text = desk.file(CRITIC).read_bytes()
    desk.overwrite(CRITIC, text.replace(b"## Round 2\nignored: style nit\n", b""))


def plant(desk: Desk, name: str, content: bytes) -> None:
    """A finished copy, as a write that was cut short leaves one."""
    desk.file(f".tmp-{name}-1-aa").write_bytes(content)


def remove_beside_a_copy(desk: Desk) -> None:
    plant(desk, LAW, STATE_OK[LAW])
    desk.file(LAW).unlink()


def roll_back_beside_a_copy(desk: Desk) -> None:
    before = desk.file(CRITIC).read_bytes()
    with desk.state() as state:
        state.append(CRITIC, b"## Round 3\nblocked: slow\n")
    plant(desk, CRITIC, desk.file(CRITIC).read_bytes())
    desk.overwrite(CRITIC, before)


def undo_an_amendment_beside_a_copy(desk: Desk) -> None:
    with desk.state() as state:
        state.amend(LAW, OTHER, by=desk.owner(), reason="test")
    plant(desk, LAW, OTHER)
    desk.overwrite(LAW, STATE_OK[LAW])


NOTICED: dict[str, tuple[Callable[[Desk], object], set[str]]] = {
    "edited": (lambda desk: desk.overwrite(PLAN, OTHER), {"slot-edited"}),
    "one letter of a law": (lambda desk: desk.overwrite(LAW, STATE_OK[LAW].replace(b"Never", b"never")), {"slot-edited"}),
    "cut": (lambda desk: desk.overwrite(PLAN, STATE_OK[PLAN][:9]), {"slot-cut"}),
    "emptied": (lambda desk: desk.overwrite(PLAN, b""), {"slot-cut"}),
    "extended": (lambda desk: desk.overwrite(PLAN, STATE_OK[PLAN] + b"3. push\n"), {"slot-extended"}),
    "removed": (lambda desk: desk.file(PLAN).unlink(), {"slot-removed"}),
    "all removed": (lambda desk: shutil.rmtree(desk.folder), {"slot-removed"}),
    "a symbolic link": (symlink, {"slot-symlink"}),
    "a hard link": (lambda desk: os.link(desk.file(PLAN), desk.home / "hard"), {"slot-hard-linked"}),
    "renamed": (lambda desk: desk.file(PLAN).rename(desk.file("20_plan.md")), {"slot-renamed", "slot-unsealed"}),
    "made anew": (recreate, {"slot-edited"}),
    "a folder in its place": (folder_in_its_place, {"slot-not-a-file"}),
    "a second file of that number": (lambda desk: desk.file("20_other.md").write_bytes(OTHER), {"slot-unsealed"}),
    "a file of a free number": (lambda desk: desk.file("01_more.md").write_bytes(OTHER), {"slot-unsealed"}),
    "swapped": (swap, {"slot-edited"}),
    "edited, with a sealed copy beside it": (leave_a_sealed_copy_beside_it, {"slot-edited"}),
    "removed, with a sealed copy beside it": (remove_beside_a_copy, {"slot-removed"}),
    "an amendment undone, with a copy of it beside": (undo_an_amendment_beside_a_copy, {"slot-edited"}),
    "a hard link called like a copy of ours": (
        lambda desk: os.link(desk.file(LAW), desk.file(f".tmp-{LAW}-9-z")), {"slot-hard-linked"},
    ),
    "append-only: rolled back, with a sealed copy beside it": (roll_back_beside_a_copy, {"slot-cut"}),
    "append-only: round 2 deleted": (cut_the_middle, {"slot-edited"}),
    "append-only: a letter changed": (
        lambda desk: desk.overwrite(CRITIC, STATE_OK[CRITIC].replace(b"mutates", b"mutate")), {"slot-edited"},
    ),
    "append-only: cut": (lambda desk: desk.overwrite(CRITIC, STATE_OK[CRITIC][:20]), {"slot-cut"}),
    "append-only: rolled back": (roll_back, {"slot-cut"}),
    "append-only: added past the tool": (
        lambda desk: desk.overwrite(CRITIC, STATE_OK[CRITIC] + b"## Round 3\nall is well\n"), {"slot-extended"},
    ),
    "the program counter edited": (lambda desk: desk.overwrite(NEXT, OTHER), {"slot-edited"}),
}  # fmt: skip


@pytest.mark.parametrize("way", NOTICED)
def test_a_way_round_through_the_files_is_noticed_by_name_and_repaired(desk: Desk, way: str) -> None:
    assert desk.exit_of_check() == 0
    act, slugs = NOTICED[way]
    act(desk)
    assert set(desk.check()) == slugs
    assert desk.exit_of_check() == 2
    assert within("boot") == 2
    with desk.state() as state:
        texts = {one.slot.name: one.loaded.content for one in state.slots()}
    assert within("state", "repair") == 0
    assert desk.exit_of_check() == 0
    assert {name: desk.file(name).read_bytes() for name in texts} == texts
    assert not desk.file(PLAN).is_symlink()


@pytest.mark.parametrize("way", [way for way in NOTICED if way.startswith("append-only")])
def test_what_was_altered_is_not_papered_over_by_adding_to_it(desk: Desk, way: str) -> None:
    NOTICED[way][0](desk)
    altered, entries = desk.file(CRITIC).read_bytes(), len(desk.said("state", "history", CRITIC)["events"])
    ran = desk.tell("state", "append", CRITIC, content=b"## Round 4\n")
    assert (ran.code, desk.file(CRITIC).read_bytes()) == (2, altered)
    assert len(desk.said("state", "history", CRITIC)["events"]) == entries
    assert desk.said("state", "append", CRITIC, input=b"x")["slug"] in NOTICED[way][1]


def test_what_is_altered_is_kept_aside(desk: Desk) -> None:
    desk.overwrite(PLAN, OTHER)
    done = desk.said("state", "repair")["repaired"]
    assert [one["name"] for one in done] == [PLAN]
    assert desk.file(done[0]["aside"]).read_bytes() == OTHER


def test_a_mode_that_lets_a_law_be_written_is_worth_a_word(desk: Desk) -> None:
    desk.file(LAW).chmod(0o644)
    assert desk.check() == ["slot-writable"]
    assert desk.exit_of_check() == 0
    assert within("state", "repair") == 0
    assert desk.check() == []


# Entries signed with the agent's own key, past this program.


def sign_as_owner_would(memory: object, key: str) -> None:
    """An amendment in the agent's own name."""
    wish = Decision("amended", "amend", key, memory.signer, "human", None, "mine", None, None, "op-mine")  # type: ignore[attr-defined]
    memory._do("op-mine", lambda: memory._decide(wish), key)  # type: ignore[attr-defined]


def rewrite(memory: object, key: str) -> None:
    memory.save(key, OTHER)  # type: ignore[attr-defined]


def rewrite_and_restore(memory: object, key: str) -> None:
    rewrite(memory, key)
    memory.restore(key, 1)  # type: ignore[attr-defined]


def rewrite_and_amend(memory: object, key: str) -> None:
    rewrite(memory, key)
    sign_as_owner_would(memory, key)


def archive_and_save(memory: object, key: str) -> None:
    memory.archive(key)  # type: ignore[attr-defined]
    rewrite(memory, key)


def erase_and_save(memory: object, key: str) -> None:
    memory.erase(key)  # type: ignore[attr-defined]
    rewrite(memory, key)


PAST_THE_TOOL: dict[str, tuple[Callable[..., object], str]] = {
    "another text": (rewrite, "slot-rewritten"),
    "another text, and the first one again": (rewrite_and_restore, "slot-rewritten"),
    "another text, amended by the agent": (rewrite_and_amend, "slot-rewritten"),
    "archived": (lambda memory, key: memory.archive(key), "slot-withdrawn"),
    "archived, and another text": (archive_and_save, "slot-withdrawn"),
    "archived, and brought back": (lambda memory, key: (memory.archive(key), memory.unarchive(key)), "slot-rewritten"),
    "erased": (lambda memory, key: memory.erase(key), "slot-withdrawn"),
    "erased, and another text": (erase_and_save, "slot-withdrawn"),
    "a second slot of its number": (lambda memory, key: memory.save(f"{key[:-3]}-2.md", OTHER), "slot-doubled"),
}  # fmt: skip


@pytest.mark.parametrize("name", [LAW, PLAN])
@pytest.mark.parametrize("way", PAST_THE_TOOL)
def test_what_the_agents_key_signs_past_the_program_is_noticed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, way: str, name: str
) -> None:
    act, slug = PAST_THE_TOOL[way]
    with monkeypatch.context() as patch:
        lift_the_disciplines(patch)
        with desk.memory() as memory:
            act(memory, f"state/{name}")
    with desk.state() as state:
        found = state.check()
        # Whoever did that writes the file to fit.
        for one in found.slots:
            if one.slot.name == name:
                desk.overwrite(name, one.loaded.content)
    assert slug in desk.check()
    assert desk.exit_of_check() == 2
    assert desk.exit_of_check() == 2, "once more: an unlawful chain is not remembered as a lawful one"
    assert within("audit") == 2, "the second reading sees it too"
    assert within("state", "repair") == 2, "no copy puts that right"


def test_an_append_only_slot_that_does_not_continue_is_noticed_and_one_that_does_is_not(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with desk.memory() as memory:
        memory.save(f"state/{CRITIC}", STATE_OK[CRITIC] + b"## Round 3\n")
    assert within("state", "repair") == 0
    assert desk.check() == []
    with monkeypatch.context() as patch:
        lift_the_disciplines(patch)
        with desk.memory() as memory:
            memory.save(f"state/{CRITIC}", b"## Round 1\nall is well\n")
            memory.save(f"state/{CRITIC}", b"## Round 1\nall is well\n## Round 2\n")
    assert "slot-rewritten" in desk.check()
    assert within("audit") == 2


def test_the_owner_ends_such_an_alarm_by_amending(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        lift_the_disciplines(patch)
        with desk.memory() as memory:
            rewrite(memory, f"state/{LAW}")
    with desk.state() as state:
        state.amend(LAW, STATE_OK[LAW], by=desk.owner(), reason="the law as it was")
    assert desk.check() == []
    assert within("audit") == 0


def test_an_owner_who_is_not_known_here_stands_behind_nothing(desk: Desk) -> None:
    with desk.state() as state:
        state.amend(LAW, OTHER, by=desk.owner(), reason="test")
    assert desk.check() == []
    for path in (desk.home / "config" / "indelible" / "keys").glob("*owner*"):
        path.unlink()
    for path in (desk.home / "state").rglob("*.slots"):
        path.unlink()
    assert desk.check() == ["slot-rewritten"]
    assert within("audit") == 2


def test_a_judgement_of_a_slot_is_no_way_round(desk: Desk) -> None:
    with desk.memory() as memory:
        memory.review(f"state/{PLAN}", "dispute", by=memory.signer, method="process", reason="doubtful")
    assert desk.check() == []
    assert within("audit") == 0
