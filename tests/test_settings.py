"""Where things are and who speaks: precedence, repositories, links, secrets and the clock."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible import settings
from indelible.errors import AccessDenied, StoreError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from indelible.settings import Settings

SERVER = "https://memory.example.org"
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="folders by the XDG specification")
posix = pytest.mark.skipif(os.name != "posix", reason="file modes and links")
as_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture
def work(home: Path) -> Path:
    return home / "work"


def repository(folder: Path, config: str | None = None) -> Path:
    (folder / ".git").mkdir(parents=True)
    if config is not None:
        (folder / ".indelible").mkdir()
        (folder / ".indelible" / "config.toml").write_text(config, encoding="utf-8")
    return folder


def git(*args: str | Path, cwd: Path) -> None:
    subprocess.run(["git", *map(str, args)], cwd=cwd, check=True, capture_output=True)


def committed(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    git("init", "-q", cwd=folder)
    git("commit", "-q", "--allow-empty", "-m", "first", cwd=folder)
    return folder


def key_file(home: Path, agent: str, data: bytes) -> Path:
    path = home / "config" / "indelible" / "api-keys" / f"{settings.quoted(agent)}.key"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(0o600)
    return path


# Folders


@linux
@pytest.mark.parametrize("environ", [
    {"HOME": "/h"},
    {"HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s", "XDG_DATA_HOME": "/d"},
    {"HOME": "/h", "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": "relative", "XDG_DATA_HOME": "~/x"},
    {"HOME": "relative"},
    {"HOME": ""},
    {},
])  # fmt: skip
def test_folders_are_those_of_platformdirs(
    environ: dict[str, str], work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import platformdirs

    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    found = settings.load(work, environ)
    there = platformdirs.PlatformDirs("indelible", appauthor=False)
    assert found.config_dir == there.user_config_dir
    assert found.state_dir == there.user_state_dir
    assert found.data_dir == there.user_data_dir


def test_other_systems_ask_platformdirs(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import platformdirs

    monkeypatch.setattr(sys, "platform", "darwin")
    assert settings.load(work).state_dir == platformdirs.user_state_dir("indelible", appauthor=False)


def test_loading_creates_nothing(home: Path, work: Path) -> None:
    before = sorted(home.rglob("*"))
    settings.load(work)
    assert sorted(home.rglob("*")) == before


# Precedence


def test_without_any_setting_the_store_is_the_users_own(home: Path, work: Path) -> None:
    found = settings.load()
    assert found.store == str(home / "data" / "indelible" / "store.db")
    assert (found.store_from, found.agent, found.team) == ("default", "default", "local")
    assert (found.repository_top, found.pin, found.require_pin, found.key_file) == (None, None, False, None)


def test_flags_go_before_variables_before_the_file_before_defaults(work: Path) -> None:
    repository(work, 'agent = "by-file"\nstore = "by-file.db"\nteam = "by-file"\n')
    variables = {"HOME": str(work), "INDELIBLE_AGENT": "by-variable", "INDELIBLE_STORE": "by-variable.db"}
    by_file = settings.load(work, {"HOME": str(work)})
    assert (by_file.agent, by_file.team) == ("by-file", "by-file")
    assert (by_file.store, by_file.store_from) == (str(work / "by-file.db"), "repository")
    by_variable = settings.load(work, {**variables, "INDELIBLE_TEAM": "by-variable"})
    assert (by_variable.agent, by_variable.team) == ("by-variable", "by-variable")
    assert (by_variable.store, by_variable.store_from) == (str(work / "by-variable.db"), "environment")
    by_flag = settings.load(work, variables, store="by-flag.db", agent="by-flag")
    assert (by_flag.agent, by_flag.store, by_flag.store_from) == ("by-flag", str(work / "by-flag.db"), "flag")


def test_an_empty_variable_counts_as_not_set(work: Path) -> None:
    empty = {f"INDELIBLE_{name}": "" for name in ("STORE", "AGENT", "TEAM", "PIN", "REQUIRE_PIN", "KEY_FILE")}
    assert settings.load(work, {**os.environ, **empty}) == settings.load(work)


def test_an_empty_flag_is_a_usage_error(work: Path) -> None:
    with pytest.raises(UsageError, match="empty name"):
        settings.load(work, store="")
    with pytest.raises(UsageError, match="name of the agent"):
        settings.load(work, agent="")


@pytest.mark.parametrize("name", ["\ud800", "x" * 513, "메" * 171])
def test_a_name_that_is_no_text_or_too_long_is_refused(name: str, work: Path) -> None:
    with pytest.raises(UsageError, match="name of the agent"):
        settings.load(work, agent=name)


def test_the_seeds_address_is_the_store_where_ours_is_not_set(work: Path) -> None:
    seed = {**os.environ, "MEMORY_API_BASE": f"{SERVER}/"}
    found = settings.load(work, seed)
    assert (found.store, found.store_from, found.remote) == (SERVER, "environment", True)
    assert settings.load(work, {**seed, "INDELIBLE_STORE": "own.db"}).store == str(work / "own.db")
    with pytest.raises(UsageError, match="MEMORY_API_BASE"):
        settings.load(work, {**seed, "MEMORY_API_BASE": "memory.example.org"})


@pytest.mark.parametrize(
    ("text", "switched"), [("1", True), ("TRUE", True), (" on ", True), ("0", False), ("no", False)]
)
def test_requiring_a_pin_is_switched_by_the_variable(text: str, switched: bool, work: Path) -> None:
    repository(work, "require_pin = true\n")
    assert settings.load(work).require_pin
    assert settings.load(work, {**os.environ, "INDELIBLE_REQUIRE_PIN": text}).require_pin is switched


def test_a_switch_that_says_neither_is_refused_rather_than_guessed(work: Path) -> None:
    with pytest.raises(UsageError, match="INDELIBLE_REQUIRE_PIN"):
        settings.load(work, {**os.environ, "INDELIBLE_REQUIRE_PIN": "maybe"})


def test_one_store_has_one_place_however_it_is_spelt(home: Path, work: Path) -> None:
    (work / "real").mkdir()
    spellings = ["real/s.db", "./real/../real/s.db", str(work / "real" / "s.db"), "~/work/real/s.db"]
    assert {settings.load(work, store=text).store for text in spellings} == {str(work / "real" / "s.db")}


@pytest.mark.parametrize(("store", "url"), [
    ("http://127.0.0.1:8080", True), ("HTTPS://x", True), ("postgresql+psycopg://x", True),
    ("C://store.db", False), ("C:\\store.db", False), ("a/b://c", False), ("store.db", False), ("://", False),
])  # fmt: skip
def test_a_url_is_told_from_a_path(store: str, url: bool) -> None:
    assert settings.is_url(store) is url


def test_a_folder_that_is_gone_is_one_plain_sentence(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone() -> str:
        raise FileNotFoundError

    monkeypatch.setattr(os, "getcwd", gone)
    with pytest.raises(UsageError, match="no longer exists"):
        settings.load()


# The settings file


def test_tables_are_read_and_their_paths_are_those_of_the_repository(work: Path) -> None:
    repository(
        work,
        '[remotes]\n"o/url" = "https://git.example.org/r.git"\n"o/ssh" = "git@example.org:o/r.git"\n'
        '"o/path" = "../mirror"\n[agents]\nrudex = "vkey-r"\n[servers]\n"https://s/" = "vkey-s"\n',
    )
    (work / "sub").mkdir()
    found = settings.load(work / "sub")
    assert found.remotes == {
        "o/url": "https://git.example.org/r.git",
        "o/ssh": "git@example.org:o/r.git",
        "o/path": str(work.parent / "mirror"),
    }
    assert (found.agents, found.servers) == ({"rudex": "vkey-r"}, {"https://s": "vkey-s"})


@pytest.mark.parametrize("remote", ["--upload-pack=touch x", "ext::sh -c x"])
def test_a_remote_that_git_would_run_is_refused(remote: str, work: Path) -> None:
    repository(work, f'[remotes]\n"o/r" = "{remote}"\n')
    with pytest.raises(UsageError, match="o/r"):
        settings.load(work)


@pytest.mark.parametrize(("config", "told"), [
    ('agent = "a"\nteam = \n', "line 2"),
    ("a = [" * 5000, "config.toml"),
    ("agent = 5\n", "'agent' is not a text"),
    ('require_pin = "yes"\n', "'require_pin' is neither"),
    ("remotes = 5\n", r"\[remotes\]"),
    ("[agents]\na = 5\n", r"\[agents\]"),
    ("require_pins = true\n", "no setting 'require_pins'"),
    ("policy = 5\n", "'policy' is not a text"),
    ("global = 1\n", "'global' is neither"),
    ('secrets = "ignore"\n', "none of refuse, mask, allow"),
    ("[apis]\nbilling = 2\n", r"\[apis\]"),
    ("here = 5\n", r"\[here\]"),
    ('[here]\norg = ""\n', r"\[here\]"),
    ('[here]\nteam = "x"\n', r"\[here\] has no 'team'"),
])  # fmt: skip
def test_a_broken_settings_file_is_named_with_the_fault(config: str, told: str, work: Path) -> None:
    path = repository(work, config) / ".indelible" / "config.toml"
    with pytest.raises(UsageError, match=told) as caught:
        settings.load(work)
    assert str(path) in str(caught.value)


# By what memory is judged


def test_without_any_setting_memory_is_judged_by_its_anchors_and_secrets_are_refused(work: Path) -> None:
    found = settings.load(work)
    assert (found.policy, found.admits_global, found.secrets) == ("anchored", False, "refuse")
    assert (found.facts, found.apis, found.reviewers) == ({}, {}, {})


def test_what_judges_is_read_from_the_file_and_variables_win(work: Path) -> None:
    repository(
        work,
        'policy = "strict"\nsecrets = "mask"\nglobal = true\n[here]\norg = "o"\nuser = "u"\nproject = "p"\nsession = "s"\n'
        '[apis]\nbilling = "2026-11"\n"pay v2" = "2.1"\n[reviewers]\nmina = "vkey-m"\n',
    )
    found = settings.load(work)
    assert (found.policy, found.secrets, found.admits_global) == ("strict", "mask", True)
    assert found.facts == {"org": "o", "user": "u", "project": "p", "session": "s"}
    assert (found.apis, found.reviewers) == ({"billing": "2026-11", "pay v2": "2.1"}, {"mina": "vkey-m"})
    variables = {
        "POLICY": "expiry", "SECRETS": "allow", "GLOBAL": "0", "ORG": "O", "USER": "U", "PROJECT": "P", "SESSION": "S",
    }  # fmt: skip
    found = settings.load(work, {**os.environ, **{f"INDELIBLE_{name}": text for name, text in variables.items()}})
    assert (found.policy, found.secrets, found.admits_global) == ("expiry", "allow", False)
    assert found.facts == {"org": "O", "user": "U", "project": "P", "session": "S"}


def test_an_empty_variable_leaves_what_the_file_says_of_judging(work: Path) -> None:
    repository(work, 'policy = "strict"\nsecrets = "mask"\nglobal = true\n[here]\norg = "o"\n')
    empty = {f"INDELIBLE_{name}": "" for name in ("POLICY", "SECRETS", "GLOBAL", "ORG", "USER", "PROJECT", "SESSION")}
    assert settings.load(work, {**os.environ, **empty}) == settings.load(work)


@pytest.mark.parametrize(("config", "told"), [
    ('policy = "unsafe-deliver-all"\n', "INDELIBLE_POLICY"),
    ('policy = "Unsafe-Deliver-All"\n', "INDELIBLE_POLICY"),
    ('secrets = "allow"\n', "only the environment"),
])  # fmt: skip
def test_a_settings_file_may_not_let_everything_through(config: str, told: str, work: Path) -> None:
    """It comes with a clone: that would be a stranger's word."""
    path = repository(work, config) / ".indelible" / "config.toml"
    for environ in (os.environ, {**os.environ, "INDELIBLE_POLICY": "strict", "INDELIBLE_SECRETS": "refuse"}):
        with pytest.raises(UsageError, match=told) as caught:
            settings.load(work, environ)
        assert str(path) in str(caught.value)


def test_whoever_starts_the_program_may_let_everything_through(work: Path) -> None:
    loose = {**os.environ, "INDELIBLE_POLICY": "unsafe-deliver-all", "INDELIBLE_SECRETS": "allow"}
    found = settings.load(work, loose)
    assert (found.policy, found.secrets) == ("unsafe-deliver-all", "allow")


@pytest.mark.parametrize(("variable", "text", "told"), [
    ("INDELIBLE_SECRETS", "ignore", "none of refuse, mask, allow"), ("INDELIBLE_GLOBAL", "maybe", "INDELIBLE_GLOBAL"), ("INDELIBLE_ORG", "\udcff", "INDELIBLE_ORG"),
])  # fmt: skip
def test_a_variable_that_says_nothing_that_is_known_is_refused(variable: str, text: str, told: str, work: Path) -> None:
    with pytest.raises(UsageError, match=told):
        settings.load(work, {**os.environ, variable: text})


def test_a_settings_file_that_is_no_text_or_no_file_is_named(work: Path) -> None:
    path = repository(work, "") / ".indelible" / "config.toml"
    path.write_bytes(b"\xff\xfea\x00")
    with pytest.raises(UsageError, match="not UTF-8"):
        settings.load(work)
    path.unlink()
    path.mkdir()
    with pytest.raises(UsageError, match="not a file"):
        settings.load(work)


def test_a_settings_file_of_a_windows_editor_is_read(work: Path) -> None:
    path = repository(work, "") / ".indelible" / "config.toml"
    path.write_bytes(b'\xef\xbb\xbfagent = "eros"\r\n')
    assert settings.load(work).agent == "eros"


def test_a_repository_may_not_have_a_store_made_outside_of_it(home: Path, work: Path) -> None:
    repository(work, 'store = "../outside/store.db"\n')
    with pytest.raises(StoreError, match="outside"):
        settings.load(work)
    (home / "outside").mkdir()
    (home / "outside" / "store.db").touch()
    assert settings.load(work).store == str(home / "outside" / "store.db")


def test_a_repository_may_not_have_its_store_in_gits_folder(work: Path) -> None:
    repository(work, 'store = ".git/hooks/pre-commit"\n')
    with pytest.raises(StoreError, match="git's own"):
        settings.load(work)


# The repository


def test_the_store_of_a_repository_is_at_its_top_from_every_folder_in_it(work: Path) -> None:
    repository(work)
    deep = work / "a" / "b"
    deep.mkdir(parents=True)
    found = settings.load(deep)
    assert (found.repository_top, found.store) == (str(work), str(work / ".indelible" / "store.db"))


def test_a_folder_that_was_initialised_outside_git_is_found_from_below(home: Path, work: Path) -> None:
    (work / ".indelible").mkdir()
    (work / "below").mkdir()
    assert settings.load(work / "below").repository_top == str(work)


def test_vendored_code_with_settings_of_its_own_does_not_take_over_the_repository(work: Path) -> None:
    repository(work, 'agent = "ours"\n')
    (work / "vendor" / ".indelible").mkdir(parents=True)
    (work / "vendor" / ".indelible" / "config.toml").write_text('agent = "theirs"\n', encoding="utf-8")
    assert settings.load(work / "vendor").agent == "ours"


def test_the_search_stops_at_gits_ceiling(home: Path, work: Path) -> None:
    repository(home / "x")
    below = home / "x" / "y" / "z"
    below.mkdir(parents=True)
    assert settings.load(below).repository_top == str(home / "x")
    assert settings.load(below, {**os.environ, "GIT_CEILING_DIRECTORIES": str(home / "x")}).repository_top is None


def test_worktrees_share_the_store_and_the_settings_of_the_main_repository(home: Path, work: Path) -> None:
    committed(work)
    git("worktree", "add", "-q", home / "wt", cwd=work)
    (work / ".indelible").mkdir()
    (work / ".indelible" / "config.toml").write_text('agent = "main"\n', encoding="utf-8")
    found = settings.load(home / "wt")
    assert (found.repository_top, found.agent) == (str(work), "main")


def test_settings_that_only_the_worktree_has_checked_out_hold_there(home: Path, work: Path) -> None:
    committed(work)
    git("worktree", "add", "-q", home / "wt", cwd=work)
    (home / "wt" / ".indelible").mkdir()
    (home / "wt" / ".indelible" / "config.toml").write_text('agent = "branch"\n', encoding="utf-8")
    found = settings.load(home / "wt")
    assert (found.repository_top, found.agent) == (str(work), "branch")


def test_a_submodule_has_its_own_store_and_its_worktrees_share_that(home: Path, work: Path) -> None:
    committed(home / "library")
    committed(work)
    git("-c", "protocol.file.allow=always", "submodule", "add", "-q", home / "library", "sub", cwd=work)
    assert settings.load(work / "sub").repository_top == str(work / "sub")
    git("worktree", "add", "-q", home / "sub-wt", cwd=work / "sub")
    assert settings.load(home / "sub-wt").repository_top == str(work / "sub")


def test_worktrees_of_a_bare_repository_share_one_store(home: Path, work: Path) -> None:
    committed(home / "origin")
    git("clone", "-q", "--bare", home / "origin", work / "bare.git", cwd=work)
    for name in ("one", "two"):
        git("worktree", "add", "-q", "-b", name, work / name, cwd=work / "bare.git")
    assert {settings.load(work / name).repository_top for name in ("one", "two")} == {str(work / "bare.git")}
    (work / ".git").write_text("gitdir: ./bare.git\n", encoding="utf-8")
    assert {settings.load(work / name).repository_top for name in ("one", "two", ".")} == {str(work)}


@pytest.mark.parametrize("pointer", ["", "nonsense", "gitdir: ", "gitdir: ../gone"])
def test_a_git_file_that_leads_nowhere_makes_the_folder_a_top_of_its_own(pointer: str, work: Path) -> None:
    (work / ".git").write_text(pointer, encoding="utf-8")
    assert settings.load(work).repository_top == str(work)


# Links and owners


@posix
@pytest.mark.parametrize("linked", [
    ".indelible", ".indelible/config.toml", ".indelible/store.db",
    ".indelible/store.db-wal", ".indelible/store.db-shm", ".indelible/store.db-journal",
])  # fmt: skip
@pytest.mark.parametrize("there", [True, False], ids=["existing", "dangling"])
def test_a_link_that_a_repository_ships_is_refused_and_nothing_is_made_behind_it(
    linked: str, there: bool, home: Path, work: Path
) -> None:
    link = repository(work) / linked
    target = home / ".other"
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(target)
    if there and linked == ".indelible":
        target.mkdir()
    elif there:
        target.write_text('agent = "x"\n', encoding="utf-8")
    before = sorted(home.rglob("*"))
    with pytest.raises(StoreError) as caught:
        settings.load(work)
    assert str(link) in str(caught.value)
    assert str(target) in str(caught.value)
    assert sorted(home.rglob("*")) == before


@posix
def test_a_link_into_gits_folder_or_on_the_way_to_a_named_store_is_refused(home: Path, work: Path) -> None:
    repository(work)
    (work / ".indelible").symlink_to(".git")
    with pytest.raises(StoreError, match=r"\.git"):
        settings.load(work)
    (work / ".indelible").unlink()
    (work / "memory").symlink_to(home)
    with pytest.raises(StoreError, match="memory"):
        settings.load(work, store="memory/store.db")


@posix
def test_a_link_that_stays_inside_the_repository_is_refused_too(work: Path) -> None:
    """It would make an older copy of the store a new place, which nothing is known about."""
    repository(work)
    (work / "tools" / "memory").mkdir(parents=True)
    (work / ".indelible").symlink_to("tools/memory")
    with pytest.raises(StoreError, match="symbolic link"):
        settings.load(work)


@as_root
def test_a_strangers_folder_above_is_not_obeyed(home: Path, work: Path) -> None:
    (home / ".indelible").mkdir()
    (home / ".indelible" / "config.toml").write_text('agent = "x"\n', encoding="utf-8")
    environ = {**os.environ, "GIT_CEILING_DIRECTORIES": ""}
    assert settings.load(work, environ).agent == "x"
    os.chown(home / ".indelible", 1234, 1234)
    assert settings.load(work, environ).agent == "default"


@posix
def test_the_folder_of_another_account_is_refused_with_what_to_do(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository(work, "")
    monkeypatch.setattr(os, "geteuid", lambda: 4321)
    if os.stat(work).st_uid == 0:
        os.chown(work / ".indelible", 1234, 1234)
    with pytest.raises(StoreError, match="another user"):
        settings.load(work)


# API keys


def served(home: Path, **variables: str) -> Settings:
    return settings.load(home / "work", {**os.environ, "INDELIBLE_STORE": SERVER, **variables})


def test_the_api_key_is_looked_for_in_the_order_that_is_documented(home: Path) -> None:
    found = served(home)
    seed_file = home / "hypercode" / "eros_memory_api.key"
    seed_file.parent.mkdir()
    seed_file.write_text("in-seed-file\n", encoding="utf-8")
    environ = {"HOME": str(home)}
    assert settings.api_key(found, "eros", environ).text == "in-seed-file"
    own = key_file(home, "eros", b"in-own-file\n")
    assert settings.api_key(found, "eros", environ) == ("in-own-file", str(own), "")
    environ["MEMORY_API_KEY_EROS"] = "in-seed-variable"
    assert settings.api_key(found, "eros", environ).text == "in-seed-variable"
    environ["INDELIBLE_API_KEY"] = "in-own-variable"
    assert settings.api_key(found, "eros", environ) == ("in-own-variable", "INDELIBLE_API_KEY", "")


@pytest.mark.parametrize(("agent", "variable"), [
    ("claude-code@laptop", "MEMORY_API_KEY_CLAUDE_CODE_LAPTOP"), ("에로스", "MEMORY_API_KEY_에로스"),
])  # fmt: skip
def test_the_seeds_variable_carries_the_agents_name(agent: str, variable: str, home: Path) -> None:
    assert settings.api_key(served(home), agent, {"HOME": str(home), variable: "k"}).source == variable


@pytest.mark.parametrize("data", [b"k3y", b"k3y\n", b"k3y\r\n", b"\xef\xbb\xbfk3y\r\n", b"  k3y \n\n"])
def test_a_key_file_is_read_whatever_an_editor_put_round_the_key(data: bytes, home: Path) -> None:
    key_file(home, "eros", data)
    assert settings.api_key(served(home), "eros").text == "k3y"


@pytest.mark.parametrize(
    "data", [b"", b" \n", b"sec ret", b"sec\nret", b"s\xc3\xa9cret", b"s\xe9cret", b"\xff\xfes\x00", b"se\x00cret"]
)
def test_a_key_file_that_holds_no_key_is_named_and_not_shown(data: bytes, home: Path) -> None:
    path = key_file(home, "eros", data)
    with pytest.raises(UsageError) as caught:
        settings.api_key(served(home), "eros")
    assert str(path) in str(caught.value)
    assert "ret" not in str(caught.value)


@posix
def test_a_key_file_that_others_can_read_is_used_with_a_warning(home: Path) -> None:
    path = key_file(home, "eros", b"k3y\n")
    path.chmod(0o644)
    found = settings.api_key(served(home), "eros")
    assert found.text == "k3y"
    assert f"chmod 600 {path}" in found.warning


def test_no_api_key_at_all_is_told_with_where_to_put_one(home: Path) -> None:
    with pytest.raises(UsageError, match="INDELIBLE_API_KEY") as caught:
        settings.api_key(served(home), "eros")
    assert settings.api_key_file(served(home), "eros") in str(caught.value)


def test_an_agents_name_cannot_walk_out_of_the_key_folder(home: Path) -> None:
    path = settings.api_key_file(served(home), "../../escape")
    assert os.path.dirname(path) == str(home / "config" / "indelible" / "api-keys")


def test_a_secret_does_not_show_itself(home: Path) -> None:
    found = settings.api_key(served(home), "eros", {"INDELIBLE_API_KEY": "k3y"})
    assert "k3y" not in f"{found} {found!r}"


def test_a_server_that_only_the_repository_names_is_sent_no_key(work: Path) -> None:
    repository(work, f'store = "{SERVER}"\n')
    environ = {**os.environ, "INDELIBLE_API_KEY": "k3y"}
    with pytest.raises(AccessDenied, match=f"export INDELIBLE_STORE={SERVER}"):
        settings.api_key(settings.load(work, environ), "eros", environ)
    chosen = settings.load(work, {**environ, "INDELIBLE_STORE": SERVER})
    assert settings.api_key(chosen, "eros", environ).text == "k3y"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
def test_a_server_on_this_machine_may_be_named_by_the_repository(host: str, work: Path) -> None:
    repository(work, f'store = "http://{host}:8080"\n')
    assert settings.api_key(settings.load(work), "eros", {"INDELIBLE_API_KEY": "k3y"}).text == "k3y"


@pytest.mark.parametrize("url", ["http://localhost@evil.example", "http://localhost.evil.example", "http://[", "x://"])
def test_an_address_that_only_looks_like_this_machine_is_sent_no_key(url: str, work: Path) -> None:
    repository(work, f'store = "{url}"\n')
    with pytest.raises((AccessDenied, UsageError)):
        settings.api_key(settings.load(work), "eros", {"INDELIBLE_API_KEY": "k3y"})


# Passphrase and pin


@pytest.mark.parametrize("data", ["열려라 참깨\n", "열려라 참깨\r\n", "\ufeff열려라 참깨", "열려라 참깨"])
def test_a_passphrase_is_the_files_one_line(data: str, home: Path) -> None:
    path = home / "phrase"
    path.write_bytes(data.encode())
    path.chmod(0o600)
    assert settings.passphrase(served(home, INDELIBLE_PASSPHRASE_FILE=str(path))) == ("열려라 참깨", str(path), "")


@pytest.mark.parametrize("data", ["", "\n", "two\nlines\n"])
def test_a_passphrase_file_without_exactly_one_line_is_refused(data: str, home: Path) -> None:
    (home / "phrase").write_bytes(data.encode())
    with pytest.raises(UsageError, match="exactly one line"):
        settings.passphrase(served(home, INDELIBLE_PASSPHRASE_FILE=str(home / "phrase")))


def test_a_pin_is_a_note_or_the_path_of_one_and_its_line_ends_are_put_right(home: Path) -> None:
    note = b"origin\n1\nAAAA\n\n\xe2\x80\x94 k AAAA\n"
    (home / "work" / "pin.txt").write_bytes(note.replace(b"\n", b"\r\n"))
    assert settings.pin_note(served(home, INDELIBLE_PIN="pin.txt")) == note
    assert settings.pin_note(served(home, INDELIBLE_PIN=note.decode().rstrip("\n"))) == note


def test_what_is_not_set_or_not_there_is_told_plainly(home: Path) -> None:
    with pytest.raises(UsageError, match="INDELIBLE_PIN is not set"):
        settings.pin_note(served(home))
    with pytest.raises(UsageError, match="INDELIBLE_PASSPHRASE_FILE is not set"):
        settings.passphrase(served(home))
    with pytest.raises(UsageError, match="gone"):
        settings.pin_note(served(home, INDELIBLE_PIN=str(home / "gone")))


# Clock and names


def test_the_clock_is_utc_in_whole_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Seoul")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", settings.now())
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", settings.today())
    monkeypatch.setattr("time.gmtime", lambda: (2026, 6, 10, 17, 43, 56, 0, 0, 0))
    assert (settings.now(), settings.today()) == ("2026-06-10T17:43:56Z", "2026-06-10")


@given(st.text())
def test_quoting_is_undone_by_any_url_decoder_and_leaves_one_plain_file_name(name: str) -> None:
    quoted = settings.quoted(name)
    assert unquote(quoted) == name
    assert re.fullmatch(r"(?:[A-Za-z0-9._@-]|%[0-9A-F]{2})*", quoted)


def test_only_a_settings_file_that_is_not_plain_costs_the_import_of_its_parser(work: Path) -> None:
    code = "import sys; from indelible import settings; settings.load(); print('tomllib' in sys.modules)"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    def loaded() -> str:
        return subprocess.run(
            [sys.executable, "-c", code], cwd=work, env=env, check=True, capture_output=True, text=True
        ).stdout

    assert loaded() == "False\n"
    repository(work, 'agent = "eros"  # a comment behind a value\n')
    assert loaded() == "True\n"
    (work / ".indelible" / "config.toml").write_text(
        '# ours\nagent = "eros"\n[agents]\n"a b" = "key"\n', encoding="utf-8"
    )
    assert loaded() == "False\n"
