"""doctor --scope, and what save --scope fills in."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from tests.cli.hands import Kept, git, refused, said, script

from indelible.gate.place import GitPlace
from indelible.gate.scope import in_scope
from indelible.record import Scope
from indelible.settings import load

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Run

REPO = "git.example.org/team/notes"


def scope_of(kept: Kept, key: str) -> dict[str, object]:
    """The scope of the newest version of a memory, as it was sealed."""
    bodies = [json.loads(row[0]) for row in kept.sql("SELECT body FROM record ORDER BY id")]
    scope: dict[str, object] = next(body["scope"] for body in reversed(bodies) if body["key"] == key)
    return scope


def applies(scope: dict[str, object], folder: Path) -> bool:
    """Whether a sealed scope is that of a folder."""
    settings, paths = load(folder), scope.get("paths") or ()
    assert isinstance(paths, list | tuple)
    sealed = Scope(**{**scope, "paths": tuple(paths)})  # type: ignore[arg-type]
    place = GitPlace(str(folder), os.environ)
    return in_scope(sealed, reader=settings.agent, place=place, facts=settings.facts, admits_global=False) is None


# doctor --scope


def test_the_doctor_says_which_scope_a_folder_has_and_by_which_rule(repo: Kept) -> None:
    ran = repo.run("doctor", "--scope")
    assert ran.code == 0
    for words in (f"repo:{REPO}", "remote 'origin'", "every clone", "worktrees share", "branch main", git(repo.work, "rev-parse", "HEAD"),
                  "reader default", "org team", "not admitted", "policy anchored"):  # fmt: skip
        assert words in ran.out, words
    told = said(repo.run("doctor", "--scope", "--json"))
    assert (told["slug"], told["scope"], told["repo"], told["remote"]) == ("scope", f"repo:{REPO}", REPO, "origin")
    assert (told["branch"], told["revision"]) == ("main", git(repo.work, "rev-parse", "HEAD"))
    assert (told["top"], told["reader"], told["facts"]) == (str(repo.work), "default", {"org": "team"})
    assert (told["global"], told["policy"], told["problem"]) == (False, "anchored", None)
    assert told["rule"] in ran.out


def test_the_doctor_says_what_the_settings_state(repo: Kept) -> None:
    config = repo.work / ".indelible" / "config.toml"
    config.write_text('agent = "eros"\nglobal = true\n[here]\norg = "ours"\nproject = "p"\n', encoding="utf-8")
    told = said(repo.run("doctor", "--scope", "--json", env={"INDELIBLE_SESSION": "s-1"}))
    assert told["facts"] == {"org": "ours", "project": "p", "session": "s-1"}
    assert (told["reader"], told["global"]) == ("eros", True)


def test_the_doctor_tells_two_folders_of_one_name_apart(home: Path, run: Run) -> None:
    """O-GATE-03."""
    told = []
    for folder in ("w/one/app", "w/two/app", "w/a-b/c", "w/a/b-c"):
        (home / folder).mkdir(parents=True)
        git(home / folder, "init", "-q")
        told.append(said(run("doctor", "--scope", "--json", cwd=home / folder)))
    assert len({one["scope"] for one in told}) == 4
    assert all("this folder's alone" in one["rule"] for one in told)
    for folder in ("w/one/app", "w/two/app"):
        git(home / folder, "remote", "add", "origin", "git@git.example.org:team/notes")
    shared = {
        said(run("doctor", "--scope", "--json", cwd=home / folder))["scope"] for folder in ("w/one/app", "w/two/app")
    }
    assert shared == {f"repo:{REPO}"}


def test_the_doctor_shows_no_credentials_of_a_remote(repo: Kept) -> None:
    git(repo.work, "remote", "set-url", "origin", "https://me:s3cret@git.example.org/team/notes.git")
    for words in (("doctor", "--scope"), ("doctor", "--scope", "--json")):
        ran = repo.run(*words)
        assert REPO in ran.out
        assert "s3cret" not in ran.out + ran.err


def test_outside_of_a_repository_the_scope_is_the_agents(home: Path, run: Run) -> None:
    told = said(run("doctor", "--scope", "--json", "--agent", "eros"))
    assert (told["scope"], told["repo"], told["branch"]) == ("agent:eros", None, None)


@pytest.mark.skipif(os.name != "posix", reason="a shell script stands in for git")
@pytest.mark.parametrize("fault", ["index", "missing", "nonsense"])
def test_the_doctor_says_that_git_cannot_tell_and_leaves_with_1(repo: Kept, fault: str) -> None:
    env = {}
    if fault == "index":
        (repo.work / ".git" / "index").write_bytes(b"garbage")
    else:
        (repo.home / "bin").mkdir()
        if fault == "nonsense":
            script(repo.home / "bin" / "git", "exit 0")
        env = {"PATH": str(repo.home / "bin")}
    told = said(repo.run("doctor", "--scope", "--json", env=env))
    assert (told["exit_code"], told["scope"], told["repo"]) == (1, None, None)
    assert told["problem"]["slug"] == ("git-missing" if fault == "missing" else "git-failed")
    ran = repo.run("doctor", "--scope", env=env)
    assert ran.code == 1
    assert told["problem"]["remedy"] in ran.out


# save --scope


@pytest.mark.parametrize(("option", "scope"), [
    ("repo", {"level": "repo", "repo": REPO}),
    ("repo:https://me:s3cret@GIT.example.org/o/R.git", {"level": "repo", "repo": "git.example.org/o/R"}),
    ("repo:team/notes", {"level": "repo", "repo": REPO}),
    ("branch:feat/X", {"level": "branch", "branch": "feat/X", "repo": REPO}),
    ("path:src/**", {"level": "path", "paths": ["src/**"], "repo": REPO}),
    ("agent", {"level": "agent", "agent": "default"}),
    ("org", {"level": "org", "org": "team"}),
    ("global", {"level": "global"}),
])  # fmt: skip
def test_a_save_fills_in_where_it_is_made(repo: Kept, option: str, scope: dict[str, object]) -> None:
    repo.save("rule", b"x", "--scope", option)
    assert scope_of(repo, "rule") == scope


@pytest.mark.parametrize("option", ["repo", "branch:main", "path:src", "project", "session"])
def test_a_scope_that_nothing_here_names_is_refused_with_a_remedy(kept: Kept, option: str) -> None:
    refused(kept.run("save", "rule", "--scope", option, input=b"x"), 64, "not known", "which")
    refused(kept.run("load", "rule"), 3)


def test_an_address_that_may_hold_a_password_is_not_repeated(repo: Kept) -> None:
    err = refused(
        repo.run("save", "rule", "--scope", "repo:https://me:s3/cret@h/o/r", input=b"x"), 64, "names no repository"
    )
    assert "cret" not in err


def test_a_scope_that_the_first_commit_will_change_is_saved_with_a_warning(home: Path, run: Run) -> None:
    git(home / "work", "init", "-q")
    assert run("init").code == 0
    ran = run("save", "rule", "--scope", "repo", input=b"x")
    assert (ran.code, "first commit" in ran.err) == (0, True)
    git(home / "work", "commit", "-q", "--allow-empty", "-m", "first")
    ran = run("save", "rule", "--scope", "repo", input=b"x")
    assert (ran.code, "first commit" in ran.err) == (0, False)


def test_what_is_saved_in_a_worktree_is_of_the_same_repository_in_the_main_checkout(repo: Kept) -> None:
    wt = repo.home / "wt"
    git(repo.work, "worktree", "add", "-q", str(wt))
    for key, option, folder in (("both", "repo", wt), ("here", "branch:main", wt), ("there", "branch:wt", repo.work)):
        assert repo.run("save", key, "--scope", option, input=b"x", cwd=folder).code == 0
    both, here, there = (scope_of(repo, key) for key in ("both", "here", "there"))
    assert [applies(scope, repo.work) for scope in (both, here, there)] == [True, True, False]
    assert [applies(scope, wt) for scope in (both, here, there)] == [True, False, True]
    git(repo.work, "worktree", "remove", "--force", str(wt))
    assert repo.load("both") == b"x"
    assert applies(both, repo.work)


def test_what_is_saved_before_there_is_a_remote_applies_after_it(repo: Kept) -> None:
    git(repo.work, "remote", "remove", "origin")
    repo.save("rule", b"x", "--scope", "repo")
    scope = scope_of(repo, "rule")
    assert str(scope["repo"]).startswith("root:")
    git(repo.work, "remote", "add", "origin", "https://git.example.org/team/notes.git")
    assert applies(scope, repo.work)
