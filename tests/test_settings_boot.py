"""Settings of boot: where the state directory is, under which name its slots are sealed, and what a clone may not say."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from indelible import settings
from indelible.errors import StoreError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

posix = pytest.mark.skipif(os.name != "posix", reason="links")


@pytest.fixture
def work(home: Path) -> Path:
    return home / "work"


def repository(folder: Path, config: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    git("init", "-q", cwd=folder)
    git("commit", "-q", "--allow-empty", "-m", "first", cwd=folder)
    (folder / ".indelible").mkdir()
    (folder / ".indelible" / "config.toml").write_text(config, encoding="utf-8")
    return folder


def git(*args: str, cwd: Path) -> None:
    subprocess.run(["git", *args], cwd=cwd, check=True, capture_output=True)


def test_without_any_setting_the_state_directory_is_the_repositorys(work: Path) -> None:
    boot = settings.load(repository(work)).boot
    assert boot.directory == str(work / ".indelible" / "state")
    assert (boot.namespace, boot.budget, boot.memories, boot.briefing_first) == (
        "state",
        1_800,
        ("MEMORY.md",),
        "writes",
    )


def test_outside_of_a_repository_there_is_no_state_directory(work: Path) -> None:
    assert settings.load(work).boot.directory is None


def test_a_worktree_has_a_state_directory_and_a_namespace_of_its_own(work: Path) -> None:
    repository(work / "app")
    git("worktree", "add", "-q", "-b", "one", str(work / "ticket one"), cwd=work / "app")
    found = settings.load(work / "ticket one")
    assert found.store == str(work / "app" / ".indelible" / "store.db")
    assert found.boot.directory == str(work / "ticket one" / ".indelible" / "state")
    assert found.boot.namespace == "state/worktree/ticket-one"


def test_a_worktree_that_was_moved_keeps_its_namespace(work: Path) -> None:
    repository(work / "app")
    git("worktree", "add", "-q", str(work / "one"), cwd=work / "app")
    git("worktree", "move", str(work / "one"), str(work / "two"), cwd=work / "app")
    assert settings.load(work / "two").boot.namespace == "state/worktree/one"


def test_repositories_that_share_a_store_do_not_share_their_slots(work: Path) -> None:
    names = {
        settings.load(repository(work / name), {**os.environ, "INDELIBLE_STORE": str(work / "s.db")}).boot.namespace
        for name in ("app", "site")
    }
    assert len(names) == 2
    assert all(name.startswith(("state/at/app-", "state/at/site-")) for name in names)


def test_a_name_in_the_settings_is_the_same_on_every_machine(work: Path) -> None:
    config = '[state]\nname = "app"\n'
    assert settings.load(repository(work, config)).boot.namespace == "state/at/app"


def test_a_private_folder_of_the_host_may_be_named_by_the_user(work: Path, home: Path) -> None:
    environ = {**os.environ, "INDELIBLE_STATE_DIR": str(home / "brain" / "state")}
    boot = settings.load(repository(work), environ).boot
    assert boot.directory == str(home / "brain" / "state")
    assert boot.namespace.startswith("state/at/state-")


@pytest.mark.parametrize("path", ["../elsewhere", "/etc", ".", ".git/state", "a/../.."])
def test_a_settings_file_cannot_lead_the_state_directory_out_of_the_repository(path: str, work: Path) -> None:
    repository(work, f'[state]\ndirectory = "{path}"\n')
    with pytest.raises(UsageError, match="out of the repository"):
        settings.load(work)


@posix
@pytest.mark.parametrize("link", [".indelible/state", ".indelible"])
def test_a_state_directory_that_a_repository_ships_as_a_link_is_refused(link: str, work: Path, home: Path) -> None:
    (home / "elsewhere").mkdir()
    git("init", "-q", cwd=work)
    (work / link).parent.mkdir(exist_ok=True)
    (work / link).symlink_to(home / "elsewhere")
    with pytest.raises(StoreError, match="symbolic link"):
        settings.load(work)


@pytest.mark.parametrize(("config", "told"), [
    ("[boot]\nbudget = 0\n", "budget"),
    ("[boot]\nbudget = true\n", "budget"),
    ('[boot]\nbudget = "many"\n', "budget"),
    ('[boot]\nmemories = "MEMORY.md"\n', "memories"),
    ("[boot]\nmemories = [1]\n", "memories"),
    ('[boot]\nbriefing_first = "sometimes"\n', "briefing_first"),
    ("[boot]\nbudgets = 1\n", "no setting 'budgets'"),
    ("[state]\ndirectory = 1\n", "directory"),
    ('[state]\nname = "a/b"\n', "name"),
    ("boot = 1\n", "not a table"),
])  # fmt: skip
def test_a_setting_of_boot_that_is_off_is_named(config: str, told: str, work: Path) -> None:
    repository(work, config)
    with pytest.raises(UsageError, match=told):
        settings.load(work)


def test_a_clone_cannot_switch_the_guard_off_and_whoever_starts_the_program_can(work: Path) -> None:
    repository(work, '[boot]\nbriefing_first = "off"\n')
    with pytest.raises(UsageError, match="INDELIBLE_BRIEFING_FIRST"):
        settings.load(work)
    (work / ".indelible" / "config.toml").write_text('[boot]\nbriefing_first = "all"\n', encoding="utf-8")
    assert settings.load(work).boot.briefing_first == "all"
    assert settings.load(work, {**os.environ, "INDELIBLE_BRIEFING_FIRST": "off"}).boot.briefing_first == "off"
