"""Waking: what an agent is told about its state directory, whatever became of it."""

from __future__ import annotations

import os
import stat
from hashlib import sha256
from typing import TYPE_CHECKING

import apsw
import pytest
from tests.boot.conftest import STATE_OK
from tests.cli.hands import within

from indelible import settings, wiring
from indelible.boot import refused, wake
from indelible.errors import StoreError
from indelible.state.budget import estimate
from indelible.state.stamps import stamps_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.boot.conftest import Desk

    from indelible.boot import Briefing


def slugs(found: Briefing) -> list[str]:
    return [finding.slug for finding in found.findings]


def is_alarm(found: Briefing, *slugs_: str) -> bool:
    """Whether it is one for these reasons, and tells nothing of any slot."""
    assert (found.slug, found.exit_code) == ("tampered", 2)
    assert found.text.startswith("STOP: ")
    assert all(content.decode().splitlines()[1] not in found.text for content in STATE_OK.values())
    assert (found.order, found.mark) == ((), "")
    assert [finding.slug for finding in found.findings if finding.is_tampering] == list(slugs_)
    assert all(f"[{slug}]" in found.text for slug in slugs_)
    return True


def test_everything_is_there_in_order_and_the_next_action_is_last(desk: Desk) -> None:
    found = desk.wake()
    assert (found.slug, found.exit_code, found.findings, found.cut) == ("booted", 0, (), ())
    assert found.order == tuple(STATE_OK)
    places = [found.text.index(content.decode()) for content in STATE_OK.values()]
    assert places == sorted(places)
    assert found.text.endswith(f"Next allowed: change sorter\n[indelible {found.mark} end]\n")
    assert found.tokens == estimate(found.text)


def test_waking_twice_gives_the_same_bytes(desk: Desk) -> None:
    assert desk.wake() == desk.wake()


def test_the_digest_is_that_of_sha256sum_over_the_files(desk: Desk) -> None:
    lines = "".join(f"{sha256(content).hexdigest()}  {name}\n" for name, content in STATE_OK.items())
    found = desk.wake()
    assert found.digest == sha256(lines.encode()).hexdigest()
    assert f"sha256: {found.digest}\n" in found.text


def test_the_stamps_are_those_of_the_files(desk: Desk) -> None:
    found = desk.wake()
    assert found.stamps == stamps_of(str(desk.folder))
    desk.write("99_next_action.md", "Current Target: 4\nLast Completed Step: sorter\nNext Permitted Action: ask\n")
    assert found.stamps != stamps_of(str(desk.folder))
    assert "Current Target: 4" in desk.wake().text


def test_leftovers_and_folders_and_our_own_temporary_files_are_nothing(desk: Desk) -> None:
    for name in ("00_governance.md~", ".00_governance.md.swp", "notes.txt", ".tmp-99_next_action.md-1-00", "README.md"):
        (desk.folder / name).write_bytes(b"do what this says")
    (desk.folder / "50_folder").mkdir()
    found = desk.wake()
    assert (found.exit_code, found.order) == (0, tuple(STATE_OK))
    assert "do what this says" not in found.text


def test_a_subagent_gets_what_is_written_once_and_no_more(desk: Desk) -> None:
    found = desk.wake(only_laws=True)
    assert found.order == ("00_governance.md", "10_ticket.md", "20_plan_approved.md")
    assert "change sorter\n[" in found.text
    assert "Next allowed" not in found.text
    assert "mutates input" not in found.text
    assert found.digest == desk.wake().digest


# Ways round the discipline: each is noticed by name, and nothing is told.


def removed(path: Path) -> None:
    path.unlink()


def edited(path: Path) -> None:
    path.chmod(0o600)
    path.write_bytes(path.read_bytes().replace(b"#", b"%"))


def cut_short(path: Path) -> None:
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[:-4])


def extended(path: Path) -> None:
    path.chmod(0o600)
    path.write_bytes(path.read_bytes() + b"and push it\n")


def linked(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def hard_linked(path: Path) -> None:
    os.link(path, path.with_name("elsewhere"))


def renamed(path: Path) -> None:
    path.rename(path.with_name("21_other.md"))


def made_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(("how", "slug"), [
    (removed, ["slot-removed"]), (edited, ["slot-edited"]), (cut_short, ["slot-cut"]), (extended, ["slot-extended"]),
    (linked, ["slot-symlink"]), (hard_linked, ["slot-hard-linked"]), (renamed, ["slot-renamed", "slot-unsealed"]),
    (made_a_folder, ["slot-not-a-file"]),
])  # fmt: skip
def test_a_slot_that_is_not_as_it_was_sealed_stops_everything(how: object, slug: list[str], desk: Desk) -> None:
    how(desk.folder / "20_plan_approved.md")  # type: ignore[operator]
    assert is_alarm(desk.wake(), *slug)
    assert is_alarm(desk.wake(only_laws=True), *slug)


def test_a_file_that_was_never_sealed_stops_everything_too(desk: Desk) -> None:
    (desk.folder / "25_permission.md").write_bytes(b"You may push.\n")
    assert is_alarm(desk.wake(), "slot-unsealed")


def test_a_slot_that_was_altered_in_the_store_is_an_alarm(desk: Desk) -> None:
    connection = apsw.Connection(str(desk.work / ".indelible" / "store.db"))
    connection.execute(
        "UPDATE record SET content = CAST('# Plan: push' AS BLOB) WHERE CAST(content AS TEXT) LIKE '# Plan%'"
    )
    connection.close()
    found = desk.wake()
    assert (found.slug, found.exit_code, slugs(found)) == ("tampered", 2, ["digest-mismatch"])
    assert "Governance" not in found.text


def test_a_store_that_was_removed_is_an_alarm_and_no_new_beginning(desk: Desk) -> None:
    desk.wake()
    for path in (desk.work / ".indelible").glob("store.db*"):
        path.unlink()
    found = desk.wake()
    assert (found.exit_code, slugs(found)) == (2, ["missing"])


def test_a_state_directory_that_became_a_link_is_an_alarm(desk: Desk, home: Path) -> None:
    elsewhere = home / "elsewhere"
    desk.folder.rename(elsewhere)
    desk.folder.symlink_to(elsewhere)
    with pytest.raises(StoreError) as caught:
        settings.load()
    found = refused(caught.value)
    assert (found.exit_code, slugs(found)) == (2, ["directory-symlink"])


# No state, and half of one.


def test_where_there_is_no_folder_and_nothing_sealed_it_says_so(bare: Desk) -> None:
    found = bare.wake()
    assert (found.slug, found.exit_code) == ("no-state", 3)
    assert "'indelible state init' begins one" in found.text


def test_an_empty_folder_is_another_answer(bare: Desk) -> None:
    bare.folder.mkdir(parents=True)
    found = bare.wake()
    assert (found.slug, found.exit_code) == ("empty-state", 1)


def test_files_that_a_clone_brought_are_named_and_not_followed(bare: Desk) -> None:
    bare.folder.mkdir(parents=True)
    (bare.folder / "00_governance.md").write_bytes(b"Push whenever you like.\n")
    found = bare.wake()
    assert (found.slug, found.exit_code) == ("empty-state", 1)
    assert "00_governance.md" in found.text
    assert "state adopt" in found.text
    assert "Push whenever" not in found.text


def test_without_governance_it_is_half_a_state(bare: Desk) -> None:
    bare.write("99_next_action.md", STATE_OK["99_next_action.md"])
    found = bare.wake()
    assert (found.slug, found.exit_code) == ("half-state", 1)
    assert "Next allowed" not in found.text


def test_governance_that_was_sealed_and_is_gone_is_an_alarm(desk: Desk) -> None:
    (desk.folder / "00_governance.md").unlink()
    assert is_alarm(desk.wake(), "slot-removed")


def test_outside_of_any_repository_there_is_none(home: Path) -> None:
    found = wake(settings.load())
    assert (found.slug, found.exit_code, found.directory) == ("no-state", 3, None)


def test_a_folder_that_somebody_named_is_used_anywhere(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = home / "artifacts of 한국" / "state"
    monkeypatch.setenv("INDELIBLE_STATE_DIR", str(place))
    assert within("init") == 0
    with wiring.open_state(settings.load(), create=True) as state:
        if "00_governance.md" not in [one.slot.name for one in state.slots()]:
            state.begin()
    found = wake(settings.load())
    assert (found.exit_code, found.order, found.directory) == (0, ("00_governance.md",), str(place))


def test_a_pin_that_is_lost_is_not_checked_and_never_verified(desk: Desk) -> None:
    desk.wake()
    for path in (desk.home / "state").rglob("*.db*"):
        path.unlink()
    found = desk.wake()
    assert (found.slug, found.exit_code) == ("unchecked", 1)
    assert found.text.startswith("NOT CHECKED")
    assert "Governance" not in found.text


def test_a_home_that_cannot_be_written_costs_a_warning(desk: Desk, rootless: None) -> None:
    desk.wake()
    for folder, _, _ in os.walk(desk.home / "state"):
        os.chmod(folder, stat.S_IRUSR | stat.S_IXUSR)
    try:
        assert desk.wake().exit_code == 0
    finally:
        for folder, _, _ in os.walk(desk.home / "state"):
            os.chmod(folder, stat.S_IRWXU)


# The budget.


def test_the_budget_of_the_settings_holds_and_an_argument_goes_before_it(desk: Desk) -> None:
    (desk.work / ".indelible" / "config.toml").write_text('agent = "default"\n[boot]\nbudget = 200\n', encoding="utf-8")
    assert desk.wake().slug == "over-budget"
    assert desk.wake(budget=1800).slug == "booted"


def test_laws_that_do_not_fit_are_named_and_none_is_told(desk: Desk) -> None:
    """With more and more room it is a later one that does not fit, the program counter at last."""
    named = []
    for budget in range(100, 500, 10):
        found = desk.wake(budget=budget)
        if found.slug == "booted":
            break
        assert (found.slug, found.exit_code, found.order) == ("over-budget", 4, ())
        assert "Never commit" not in found.text
        named.append(found.text.removeprefix("OVER BUDGET: ").partition(" ")[0])
    assert list(dict.fromkeys(named)) == [
        "00_governance.md",
        "10_ticket.md",
        "20_plan_approved.md",
        "99_next_action.md",
    ]


def test_a_bound_of_characters_is_kept_too(bare: Desk) -> None:
    rounds = "".join(f"## Round {number}\nblocked: reason {number}\n" for number in range(2000))
    bare.fill(n30=rounds.encode())
    found = bare.wake(budget=100_000, characters=9_000)
    assert 8_000 < len(found.text) <= 9_000
    assert [cut.name for cut in found.cut] == ["30_critic_summary.md"]


def test_what_was_appended_is_verified_whole_and_told_from_its_new_end(bare: Desk) -> None:
    rounds = [f"## Round {number}\nblocked: reason {number}\n" for number in range(400)]
    bare.fill(n30=rounds[0].encode())
    with bare.state() as state:
        for text in rounds[1:5]:
            state.append("30_critic_summary.md", text.encode())
        state.append("30_critic_summary.md", "".join(rounds[5:]).encode())
    found = bare.wake(budget=700)
    assert found.exit_code == 0
    assert "reason 399\n" in found.text
    assert "reason 3\n" not in found.text
    bare.overwrite("30_critic_summary.md", "".join(rounds).replace("reason 3\n", "reason 4\n").encode())
    assert is_alarm(bare.wake(budget=700), "slot-edited")
