"""Where a reader stands, in real repositories of every shape; what git cannot say is a reason, never an exception."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from indelible.gate.place import GitPlace, GivenPlace
from indelible.gitsource.command import Git

if TYPE_CHECKING:
    from pathlib import Path

    from indelible.gate.context import Place
    from indelible.gitsource.command import Running

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="needs git")
posix = pytest.mark.skipif(os.name != "posix", reason="scripts and owners as POSIX has them")
REMOTE = "https://me:secret@GitHub.com:443/Owner/app.git"


def git(folder: Path, *words: str | Path, **env: str) -> str:
    done = subprocess.run(
        ["git", *map(str, words)], cwd=folder, env={**os.environ, **env}, capture_output=True, check=True
    )
    return done.stdout.decode().strip()


def made(folder: Path, remote: str | None = None, *, commits: int = 1) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    if remote:
        git(folder, "remote", "add", "origin", remote)
    for number in range(commits):
        (folder / "file").write_text(f"{folder} {number}\n", encoding="utf-8")
        git(folder, "add", "file")
        git(folder, "commit", "-qm", f"commit {number}")
    return folder


def at(folder: Path | str, timeout: float = 30.0, **env: str) -> GitPlace:
    return GitPlace(str(folder), {**os.environ, **env}, timeout)


def assert_unknown(place: Place, slug: str, *words: str) -> None:
    assert place.problem is not None
    assert place.problem.slug == slug
    assert place.problem.remedy
    for word in words:
        assert word in place.problem.message
    assert (place.repo, place.root, place.revision, place.branch, place.top) == (None,) * 5


# What is told.


def test_a_repository_tells_its_identity_head_branch_and_top(home: Path) -> None:
    app = made(home / "app", REMOTE)
    (app / "deep" / "er").mkdir(parents=True)
    head = git(app, "rev-parse", "HEAD")
    for place in (at(app), at(app / "deep" / "er")):
        assert place.repo == "github.com/Owner/app"
        assert (place.revision, place.root, place.branch) == (head, head, "main")
        assert (place.top, place.problem, place.remote) == (os.path.realpath(app), None, "origin")


def test_a_folder_outside_of_any_repository_is_only_a_folder(home: Path) -> None:
    place = at(home / "work")
    assert (place.repo, place.root, place.revision, place.branch, place.problem) == (None,) * 5
    assert place.top == str(home / "work")


def test_a_link_to_a_folder_is_that_folder(home: Path) -> None:
    app = made(home / "app", REMOTE)
    (home / "link").symlink_to(app, target_is_directory=True)
    assert at(home / "link").top == os.path.realpath(app)


def test_nothing_is_run_before_it_is_asked_and_nothing_twice(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app, local = made(home / "app", REMOTE), made(home / "local")
    ran: list[str] = []
    begin = Git.begin

    def counted(self: Git, folder: str, *args: str) -> Running:
        ran.append(args[0])
        return begin(self, folder, *args)

    monkeypatch.setattr(Git, "begin", counted)
    place = at(app)
    assert ran == []
    assert None not in (place.repo, place.branch, place.revision, place.top)
    assert place.problem is None
    assert ran == ["rev-parse", "config"]
    assert place.root == place.root == place.revision
    assert ran[2:] == ["rev-list"]
    ran.clear()
    place = at(local)
    assert place.repo == f"root:{place.root}"
    assert ran == ["rev-parse", "config", "rev-list"]


def test_what_a_surrounding_git_command_left_in_the_environment_does_not_lead_elsewhere(home: Path) -> None:
    app, other = made(home / "app", REMOTE), made(home / "other", "https://h/o/other")
    place = at(app, GIT_DIR=str(other / ".git"), GIT_WORK_TREE=str(other), GIT_INDEX_FILE=str(home / "gone"))
    assert (place.repo, place.top) == ("github.com/Owner/app", str(app))


def test_an_address_is_what_the_users_own_short_forms_make_of_it(home: Path) -> None:
    app = made(home / "app", "gh:Owner/app")
    git(app, "config", "--global", "url.https://token:secret@github.com/.insteadOf", "gh:")
    assert at(app).repo == "github.com/Owner/app"


# Which are the same, and which are not.


@pytest.mark.parametrize(("one", "two", "remotes"), [
    ("one/app", "two/app", ("https://git.example.org/o/one.git", "https://git.example.org/o/two.git")),
    ("one/app", "two/app", (None, None)),
    ("a-b/c", "a/b-c", (None, None)),
    ("a-b/c", "a/b-c", ("../x", "../x")),
])  # fmt: skip
@pytest.mark.parametrize("commits", [0, 1])
def test_folders_that_only_look_alike_have_identities_of_their_own(
    one: str, two: str, remotes: tuple[str | None, str | None], commits: int, home: Path
) -> None:
    """O-GATE-03."""
    places = [
        at(made(home / "w" / folder, remote, commits=commits))
        for folder, remote in zip((one, two), remotes, strict=True)
    ]
    assert None not in {place.repo for place in places}
    assert len({place.repo for place in places}) == 2


def test_two_clones_of_one_remote_share_its_identity(home: Path) -> None:
    origin = made(home / "origin")
    for name, address in (("one", origin), ("two", f"file://{origin}/"), ("three", f"{origin}/.git")):
        git(home, "clone", "-q", str(address), home / name)
    assert {at(home / name).repo for name in ("one", "two", "three")} == {f"file:{origin}"}
    for name, address in (
        ("one", REMOTE),
        ("two", "git@github.com:Owner/app"),
        ("three", "ssh://github.com/Owner/app/"),
    ):
        git(home / name, "remote", "set-url", "origin", address)
    assert {at(home / name).repo for name in ("one", "two", "three")} == {"github.com/Owner/app"}


def test_a_copy_of_a_repository_without_a_remote_has_the_same_first_commit(home: Path) -> None:
    app = made(home / "app", commits=2)
    shutil.copytree(app, home / "copy")
    assert at(app).repo == at(home / "copy").repo == f"root:{git(app, 'rev-list', '--max-parents=0', 'HEAD')}"


@pytest.mark.parametrize("remote", [REMOTE, "../relative", None])
def test_worktrees_share_the_identity_and_have_heads_of_their_own(remote: str | None, home: Path) -> None:
    app = made(home / "app", remote)
    git(app, "worktree", "add", "-q", "-b", "feat/X", home / "far" / "away" / "wt")
    place = at(home / "far" / "away" / "wt")
    assert place.repo == at(app).repo
    assert (place.branch, place.top) == ("feat/X", str(home / "far" / "away" / "wt"))


def test_a_branch_that_begins_anew_and_a_history_merged_in_leave_the_identity_as_it_is(home: Path) -> None:
    app, other = made(home / "app"), made(home / "other")
    before = at(app).repo
    git(app, "fetch", "-q", str(other), "main")
    git(
        app,
        "merge",
        "-q",
        "--allow-unrelated-histories",
        "-s",
        "ours",
        "-m",
        "in",
        "FETCH_HEAD",
        GIT_COMMITTER_DATE="2037-01-01T00:00:00Z",
    )
    assert at(app).repo == before
    git(app, "checkout", "-q", "--orphan", "pages")
    assert (at(app).repo, at(app).revision, at(app).branch) == (before, None, "pages")
    git(app, "commit", "-qm", "pages", GIT_COMMITTER_DATE="2037-01-01T00:00:00Z")
    assert at(app).repo == before


def test_a_submodule_has_an_identity_of_its_own(home: Path) -> None:
    made(home / "library", commits=2)
    app = made(home / "app", REMOTE)
    git(app, "-c", "protocol.file.allow=always", "submodule", "add", "-q", home / "library", "sub")
    inside, around = at(app / "sub"), at(app)
    assert (inside.repo, inside.top) == (f"file:{home / 'library'}", str(app / "sub"))
    assert inside.revision != around.revision


def test_a_repository_in_a_repository_is_the_inner_one(home: Path) -> None:
    app = made(home / "app", REMOTE)
    inner = made(app / "vendor" / "inner", "https://h/o/inner")
    assert at(inner).repo == "h/o/inner"


def test_a_bare_repository_and_gits_own_folder_have_no_checkout(home: Path) -> None:
    app = made(home / "app", REMOTE)
    git(home, "clone", "-q", "--bare", app, home / "bare.git")
    git(home / "bare.git", "remote", "set-url", "origin", REMOTE)
    place = at(home / "bare.git")
    assert (place.repo, place.branch, place.top) == ("github.com/Owner/app", "main", str(home / "bare.git"))
    assert place.revision == at(app).revision
    inside = at(app / ".git")
    assert (inside.repo, inside.top, inside.problem) == ("github.com/Owner/app", str(app / ".git"), None)


def test_a_bare_repository_inside_a_checkout_is_itself(home: Path) -> None:
    app = made(home / "app", REMOTE)
    git(app, "clone", "-q", "--bare", app, app / "bare.git")
    assert at(app / "bare.git").repo == f"file:{app}"


def test_a_shallow_clone_has_no_root_and_without_a_remote_only_its_folder(home: Path) -> None:
    app = made(home / "app", commits=3)
    git(home, "clone", "-q", "--depth", "1", f"file://{app}", home / "shallow")
    place = at(home / "shallow")
    assert (place.repo, place.root) == (f"file:{app}", None)
    assert place.revision == at(app).revision
    git(home / "shallow", "remote", "remove", "origin")
    digest = hashlib.sha256(os.fsencode(home / "shallow" / ".git")).hexdigest()
    assert at(home / "shallow").repo == f"folder:{digest}"


def test_before_the_first_commit_there_is_a_branch_and_no_revision(home: Path) -> None:
    app = made(home / "app", commits=0)
    place = at(app)
    assert (place.revision, place.root, place.branch, place.problem) == (None, None, "main", None)
    assert place.repo == f"folder:{hashlib.sha256(os.fsencode(app / '.git')).hexdigest()}"
    assert at(made(home / "other", REMOTE, commits=0)).repo == "github.com/Owner/app"


def test_a_detached_head_has_no_branch(home: Path) -> None:
    app = made(home / "app", REMOTE, commits=2)
    git(app, "checkout", "-q", "--detach", "HEAD~1")
    place = at(app)
    assert (place.branch, place.revision) == (None, git(app, "rev-parse", "main~1"))
    assert place.root == place.revision


def test_names_with_slashes_capitals_and_letters_of_any_script_stay_as_they_are(home: Path) -> None:
    app = made(home / "Ap p-메모", "https://GIT.example.org/Team/Sub/App-메모.git")
    git(app, "checkout", "-q", "-b", "Feat/X-메모")
    place = at(app)
    assert (place.repo, place.branch) == ("git.example.org/Team/Sub/App-메모", "Feat/X-메모")
    assert place.top == str(app)


def test_a_repository_of_sha256_commits_is_one_too(home: Path) -> None:
    app = home / "app"
    app.mkdir()
    git(app, "init", "-q", "--object-format=sha256")
    git(app, "commit", "-q", "--allow-empty", "-m", "first")
    place = at(app)
    assert place.revision is not None
    assert len(place.revision) == 64
    assert place.repo == f"root:{place.revision}"


def test_a_split_index_is_no_broken_one(home: Path) -> None:
    app = made(home / "app", REMOTE)
    git(app, "update-index", "--split-index")
    (app / "sub").mkdir()
    assert (at(app / "sub").repo, at(app / "sub").branch, at(app / "sub").top) == (
        "github.com/Owner/app",
        "main",
        str(app),
    )


# What git cannot say.


@pytest.mark.parametrize("folder", ["gone", "file", "nul\0", ""])
def test_a_folder_that_is_none_is_a_reason(folder: str, home: Path) -> None:
    (home / "file").touch()
    assert_unknown(at(os.path.join(home, folder) if folder else ""), "git-failed", "not a folder")


@pytest.mark.parametrize("data", [b"", b"garbage", b"DIRC\0\0\0\x63\0\0\0\0" + b"\0" * 20])
def test_a_broken_index_is_a_reason(data: bytes, home: Path) -> None:
    app = made(home / "app", REMOTE)
    (app / ".git" / "index").write_bytes(data)
    assert_unknown(at(app), "git-failed", "index")


@pytest.mark.parametrize(("file", "data"), [
    ("HEAD", "garbage\n"), ("HEAD", ""), ("HEAD", "f" * 40 + "\n"), ("refs/heads/main", "garbage\n"), ("refs/heads/main", "f" * 40 + "\n"),
    ("config", "[core\n"), ("config", "[core]\n\trepositoryformatversion = 99\n"),
])  # fmt: skip
def test_a_corrupt_repository_is_a_reason(file: str, data: str, home: Path) -> None:
    app = made(home / "app", REMOTE)
    (app / "below").mkdir()
    (app / ".git" / file).write_text(data, encoding="utf-8")
    for folder in (app, app / "below"):
        assert_unknown(at(folder), "git-failed", str(app))


@pytest.mark.parametrize("pointer", ["gitdir: ../gone\n", "nonsense\n", ""])
def test_a_git_file_that_leads_nowhere_is_a_reason(pointer: str, home: Path) -> None:
    (home / "work" / ".git").write_text(pointer, encoding="utf-8")
    assert_unknown(at(home / "work"), "git-failed")


def test_a_broken_repository_is_not_taken_for_the_one_around_it(home: Path) -> None:
    app = made(home / "app", REMOTE)
    inner = made(app / "vendor" / "inner", "https://h/o/inner")
    (inner / ".git" / "HEAD").write_text("garbage\n", encoding="utf-8")
    assert_unknown(at(inner), "git-failed", str(inner / ".git"))
    assert at(app / "vendor").repo == "github.com/Owner/app"


def test_a_broken_repository_beyond_gits_ceiling_is_not_ours(home: Path) -> None:
    (home / "x" / ".git").mkdir(parents=True)
    (home / "x" / "y").mkdir()
    assert at(home / "x" / "y").problem is not None
    assert at(home / "x" / "y", GIT_CEILING_DIRECTORIES=str(home / "x")).problem is None


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_a_repository_of_another_account_is_a_reason_with_what_to_do(home: Path) -> None:
    app = made(home / "app", REMOTE)
    for path in (app, app / ".git"):
        os.chown(path, 1234, 1234)
    assert_unknown(at(app), "git-failed", "another account")
    problem = at(app).problem
    assert problem is not None
    assert f"safe.directory {app}" in problem.remedy


def test_without_git_that_is_the_reason(home: Path) -> None:
    app = made(home / "app", REMOTE)
    assert_unknown(at(app, PATH=str(home / "empty")), "git-missing", "not installed")


@posix
def test_a_git_that_is_slower_than_the_time_allowed_is_a_reason(home: Path) -> None:
    app, begun = made(home / "app", REMOTE), time.monotonic()
    assert_unknown(at(app, 0.3, PATH=f"{fake_git(home, 'sleep 60')}:{os.environ['PATH']}"), "git-failed", "0.3 s")
    assert time.monotonic() - begun < 20


@posix
@pytest.mark.parametrize("body", [
    "exit 0", "echo true; echo x", "exit 3", "kill -9 $$", "printf 'true\\nfalse\\n/\\n/\\n\\nHEAD^{commit}\\n'",
    "printf 'true\\nfalse\\n/\\n/\\n\\nbad\\nrefs/heads/x\\n'", "printf '\\377\\376'", "yes | head -c 100000",
])  # fmt: skip
def test_a_git_that_answers_nonsense_is_a_reason(body: str, home: Path) -> None:
    assert_unknown(at(home / "work", PATH=f"{fake_git(home, body)}:{os.environ['PATH']}"), "git-failed")


def fake_git(home: Path, body: str) -> Path:
    (home / "fake").mkdir()
    (home / "fake" / "git").write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    (home / "fake" / "git").chmod(0o755)
    return home / "fake"


@posix
def test_a_folder_with_a_line_break_in_its_name_is_a_reason_or_right(home: Path) -> None:
    app = made(home / "one\ntwo", REMOTE)
    place = at(app)
    assert place.problem is not None or (place.repo, place.top) == ("github.com/Owner/app", str(app))


def test_no_part_of_an_address_is_told_but_host_and_path(home: Path) -> None:
    for number, address in enumerate((REMOTE, "https://me:se/secret@h/o/r", "me:secret@h/o/r", "https://h/o/r?secret")):
        place = at(made(home / str(number), address))
        assert place.problem is None
        assert "secret" not in f"{place.repo} {place.remote} {place.root} {vars(place)['_found']}"


def test_a_given_place_is_what_it_is_given() -> None:
    place: Place = GivenPlace(repo="github.com/o/r", branch="main")
    assert (place.repo, place.branch, place.revision, place.problem) == ("github.com/o/r", "main", None, None)


def test_a_mirror_of_the_users_own_does_not_change_which_repository_it_is(tmp_path: Path) -> None:
    clone = made(tmp_path / "app", REMOTE)
    before = at(clone).repo
    settings = str(tmp_path / "gitconfig")
    git(
        tmp_path,
        "config",
        "--file",
        settings,
        "url.https://mirror.example/hub/.insteadOf",
        "https://me:secret@GitHub.com:443/",
    )
    assert "mirror.example" in git(clone, "remote", "-v", GIT_CONFIG_GLOBAL=settings)
    assert (before, at(clone, GIT_CONFIG_GLOBAL=settings).repo) == ("github.com/Owner/app", "github.com/Owner/app")
