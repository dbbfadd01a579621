"""Anchors held against a real repository: cheap judgements, and what history says of the few that are looked at."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.gate.anchors.checkouts import LATER, REPO, Checkout, Here, checkout_in

from indelible.gate.anchors.checking import check, prepare
from indelible.gate.anchors.explaining import Explained, explain
from indelible.gate.anchors.files import Files
from indelible.gate.anchors.gitfacts import GitFacts
from indelible.gate.verdict import Reason
from indelible.record import Anchor

if TYPE_CHECKING:
    from pathlib import Path

    from hypothesis.strategies import DataObject

    from indelible.gitsource.command import Git

APP = "src/app.py"


def slugs(anchors: tuple[Anchor, ...], files: Files) -> list[str]:
    return [reason.slug for reason in check(anchors, files)]


def told(app: Checkout, anchor: Anchor, since: str | None = None) -> Explained:
    return explain(anchor, app.files(), since)


def never(*_: object) -> None:
    raise AssertionError("git was asked")


# Files.


def test_an_untouched_file_holds_without_git(app: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    anchor = app.anchor(APP)
    assert anchor == Anchor("git-blob", app.git("rev-parse", f"HEAD:{APP}"), REPO, APP)
    monkeypatch.setattr(GitFacts, "git", never)
    assert check((anchor,), app.files()) == ()


def test_a_changed_file_is_named_with_what_it_was_bound_to(app: Checkout) -> None:
    anchor = app.anchor(APP)
    app.write(APP, "the secret is hunter2\n")
    (reason,) = check((anchor,), app.files())
    assert reason.slug == "anchor-changed"
    assert reason.message.startswith(f"git-blob {APP} (bound to {anchor.value[:12]}) has changed")
    assert reason.remedy
    assert "hunter2" not in str(reason)


def test_each_anchor_that_does_not_hold_has_its_own_reason(app: Checkout) -> None:
    anchors = (app.anchor(APP), app.anchor("README.md"), Anchor("git-blob", "0" * 40, REPO, "../etc/passwd"))
    app.write(APP, "other")
    (app.top / "README.md").unlink()
    assert slugs(anchors, app.files()) == ["anchor-changed", "anchor-missing", "anchor-outside"]


def test_a_modified_and_an_untracked_file_are_anchored_as_they_are(app: Checkout) -> None:
    app.write(APP, "modified")
    app.write("new.txt", "untracked")
    anchors = (app.anchor(APP), app.anchor("new.txt"))
    assert anchors[1].value == app.git("hash-object", "new.txt")
    assert check(anchors, app.files()) == ()
    app.commit()
    assert check(anchors, app.files()) == ()


@pytest.mark.parametrize(
    "name", ["설계 문서.md", "a\nb.txt", '"quoted".txt', "tab\tand\\slash.txt", "ends.txt\r", "-n", "a#b.json"]
)
def test_a_file_of_any_name_can_be_anchored(app: Checkout, name: str) -> None:
    app.git("config", "core.autocrlf", "input")
    app.write(name, b"one\r\ntwo\r\n")
    anchor = app.anchor(name)
    assert anchor.path == name
    assert check((anchor,), app.files()) == ()
    app.write(name, b"one\r\nthree\r\n")
    assert slugs((anchor,), app.files()) == ["anchor-changed"]


def test_line_endings_count_as_git_would_commit_them(app: Checkout) -> None:
    app.git("config", "core.autocrlf", "true")
    anchor = app.anchor(APP)
    text = (app.top / APP).read_bytes()
    app.write(APP, text.replace(b"\n", b"\r\n"))
    assert check((anchor,), app.files()) == ()
    assert app.anchor(APP) == anchor
    app.git("config", "core.autocrlf", "false")
    assert slugs((anchor,), app.files()) == ["anchor-changed"]


def test_a_clean_filter_counts_as_it_does_for_large_files(app: Checkout) -> None:
    app.write(".gitattributes", "*.bin filter=pointer\n")
    app.git("config", "filter.pointer.clean", "sha256sum | cut -c1-64")
    app.git("config", "filter.pointer.smudge", "cat")
    app.write("large.bin", b"\0large")
    app.commit()
    anchor = app.anchor("large.bin")
    assert anchor.value == app.git("rev-parse", "HEAD:large.bin")
    assert check((anchor,), app.files()) == ()
    app.write("large.bin", b"\0larger")
    assert slugs((anchor,), app.files()) == ["anchor-changed"]


def test_a_filter_that_fails_leaves_the_others_judged(app: Checkout) -> None:
    app.write(".gitattributes", "*.bin filter=gone\n")
    app.git("config", "filter.gone.clean", "false")
    app.git("config", "filter.gone.required", "true")
    app.write("b.bin", "content")
    gone = Anchor("git-blob", "1" * 40, REPO, "b.bin")
    app.write(APP, "changed")
    changed = Anchor("git-blob", "1" * 40, REPO, APP)
    assert slugs((gone, changed, replace(gone, path="README.md")), app.files()) == [
        "anchor-unknown", "anchor-changed", "anchor-changed",
    ]  # fmt: skip


def test_git_is_asked_once_for_any_number_of_files(app: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(30):
        app.write(f"f{number}.txt", f"{number}\n")
    anchors = tuple(app.anchor(f"f{number}.txt") for number in range(30))
    for number in range(30):
        app.write(f"f{number}.txt", f"{number} changed\n")
    asked: list[str] = []
    run = GitFacts._run

    def counted(facts: GitFacts, *args: str, stdin: bytes = b"") -> bytes:
        asked.append(args[0])
        return run(facts, *args, stdin=stdin)

    monkeypatch.setattr(GitFacts, "_run", counted)
    files = app.files()
    prepare(anchors, files)
    assert [slugs((anchor,), files) for anchor in anchors] == [["anchor-changed"]] * 30
    assert asked == ["hash-object"]


@given(data=st.data())
def test_any_changed_byte_of_an_anchored_file_is_seen(
    tmp_path_factory: pytest.TempPathFactory, data: DataObject
) -> None:
    app = _shared(tmp_path_factory)
    content = data.draw(st.binary(min_size=1, max_size=200))
    at = data.draw(st.integers(0, len(content) - 1))
    app.write("any.bin", content)
    files = app.files()
    anchor = app.anchor("any.bin")
    assert check((anchor,), files) == ()
    flipped = bytes((*content[:at], content[at] ^ data.draw(st.integers(1, 255)), *content[at + 1 :]))
    app.write("any.bin", flipped)
    assert slugs((anchor,), files) == ["anchor-changed"]


_SHARED: list[Checkout] = []


def _shared(factory: pytest.TempPathFactory) -> Checkout:
    if not _SHARED:
        _SHARED.append(checkout_in(factory.mktemp("shared") / "app"))
    return _SHARED[0]


def test_a_change_that_keeps_size_and_time_is_seen_while_the_file_is_fresh(app: Checkout) -> None:
    anchor = app.anchor("README.md")
    files = app.files()
    file = app.top / "README.md"
    stamp = file.stat().st_mtime_ns
    assert check((anchor,), files) == ()
    file.write_bytes(b"# Ape\n")
    os.utime(file, ns=(stamp, stamp))
    assert slugs((anchor,), files) == ["anchor-changed"]


def test_a_file_that_is_not_fresh_is_read_once(app: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    anchor = app.anchor(APP)
    files = Files(Here(top=str(app.top)), {}, clock_ns=lambda: time.time_ns() + LATER)
    assert check((anchor,), files) == ()
    monkeypatch.setattr("indelible.gate.anchors.files.digest_of", never)
    assert check((anchor,), files) == ()


def test_a_file_touched_within_two_seconds_is_read_again(app: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    anchor = app.anchor(APP)
    stamp = (app.top / APP).stat().st_ctime_ns
    files = Files(Here(top=str(app.top)), {}, clock_ns=lambda: stamp + 1_999_999_999)
    assert check((anchor,), files) == ()
    monkeypatch.setattr("indelible.gate.anchors.files.digest_of", never)
    with pytest.raises(AssertionError):
        check((anchor,), files)


# Paths.


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../other/x",
        "src/../../x",
        "src/..",
        "..",
        "a/\0b",
        "./src/app.py",
        "src//app.py",
        "",
        ".git/config",
    ],
)
@pytest.mark.parametrize("kind", ["git-blob", "file-digest"])
def test_a_path_that_leaves_the_repository_is_never_read(app: Checkout, path: str, kind: str) -> None:
    value = "1" * 40 if kind == "git-blob" else f"sha256:{'1' * 64}"
    expected = "anchor-outside" if path else "anchor-unknown"
    assert slugs((Anchor(kind, value, REPO, path),), app.files()) == [expected]


def test_a_link_out_of_the_repository_is_not_followed(app: Checkout, home: Path) -> None:
    secret = home / "secret"
    secret.mkdir()
    (secret / "app.py").write_text("x")
    (app.top / "out").symlink_to(secret)
    (app.top / "file").symlink_to(secret / "app.py")
    for path in ("out/app.py", "file"):
        assert slugs((Anchor("git-blob", "1" * 40, REPO, path),), app.files()) == ["anchor-outside"]


def test_a_link_that_stays_inside_is_followed(app: Checkout) -> None:
    anchor = app.anchor(APP)
    (app.top / "src").rename(app.top / "lib")
    (app.top / "src").symlink_to("lib")
    assert check((anchor,), app.files()) == ()
    app.write("lib/app.py", "changed")
    assert slugs((anchor,), app.files()) == ["anchor-changed"]


def test_a_link_is_known_by_where_it_leads_as_git_has_it(app: Checkout) -> None:
    (app.top / "AGENTS.md").symlink_to("README.md")
    app.commit()
    anchor = Anchor("git-blob", app.git("rev-parse", "HEAD:AGENTS.md"), REPO, "AGENTS.md")
    assert check((anchor,), app.files()) == ()
    (app.top / "AGENTS.md").unlink()
    (app.top / "AGENTS.md").symlink_to(APP)
    assert slugs((anchor,), app.files()) == ["anchor-changed"]


def test_what_is_no_file_any_more_is_not_read(app: Checkout) -> None:
    anchors = (app.anchor(APP), app.anchor("README.md"))
    (app.top / APP).unlink()
    (app.top / APP).mkdir()
    (app.top / "README.md").unlink()
    os.mkfifo(app.top / "README.md")
    first, second = check(anchors, app.files())
    assert (first.slug, second.slug) == ("anchor-changed", "anchor-changed")
    assert "is a folder now" in first.message


# Where it cannot be checked.


@pytest.mark.parametrize(
    ("anchor", "slug"),
    [
        (Anchor("git-blob", "1" * 40, "github.com/other/app", APP), "anchor-unknown"),
        (Anchor("url", "https://example.org/", path="x"), "anchor-unknown"),
        (Anchor("git-blob", "not hex", REPO, APP), "anchor-unknown"),
        (Anchor("git-blob", "1" * 40, REPO), "anchor-unknown"),
        (Anchor("file-digest", "md5:00", REPO, APP), "anchor-unknown"),
        (Anchor("git-commit", "HEAD"), "anchor-unknown"),
        (Anchor("git-commit", "1" * 40), "anchor-missing"),
        (Anchor("git-commit", "-x\ny"), "anchor-unknown"),
        (Anchor("git-ref", "1" * 40, REPO, "refs/heads/no\nsuch"), "anchor-missing"),
        (Anchor("env", "x", path="other:thing"), "anchor-unknown"),
        (Anchor("package", "nonsense", REPO, "README.md"), "anchor-unknown"),
        (Anchor("git-blob", "1" * 40, REPO, "a/" * 3000 + "x"), "anchor-unknown"),
    ],
)
def test_an_anchor_that_makes_no_sense_has_its_own_verdict(app: Checkout, anchor: Anchor, slug: str) -> None:
    (reason,) = check((anchor,), app.files())
    assert reason.slug == slug
    assert reason.message
    assert explain(anchor, app.files()).slug in {slug, "anchor-never-existed"}


def test_outside_a_repository_an_anchor_into_one_is_unknown(app: Checkout, home: Path) -> None:
    anchor = app.anchor(APP)
    nowhere = Files(Here(None, str(home)), os.environ)
    assert slugs((anchor, replace(anchor, repo=None)), nowhere) == ["anchor-unknown"] * 2


def test_where_git_cannot_say_its_own_words_are_the_reason(app: Checkout) -> None:
    anchor = app.anchor(APP)
    broken = Files(Here(None, None, problem=Reason("git-missing", "Git is not installed", "Install it")), os.environ)
    (reason,) = check((anchor,), broken)
    assert reason.slug == "anchor-unknown"
    assert "Git is not installed" in reason.message
    assert reason.remedy == "Install it"


def test_without_git_on_the_path_an_equal_file_holds_and_another_is_unknown(app: Checkout) -> None:
    anchor = app.anchor(APP)
    assert check((anchor,), app.files(environ={"PATH": "/nowhere"})) == ()
    app.write(APP, "changed")
    (reason,) = check((anchor,), app.files(environ={"PATH": "/nowhere"}))
    assert reason.slug == "anchor-unknown"
    assert "not installed" in reason.message


def test_a_broken_index_is_a_reason_and_not_a_crash(app: Checkout) -> None:
    anchor = app.anchor(APP)
    app.write(APP, "changed")
    (app.top / ".git" / "index").write_bytes(b"rubbish")
    (reason,) = check((anchor,), app.files())
    assert reason.slug in {"anchor-changed", "anchor-unknown"}
    assert explain(anchor, app.files()).slug in {"anchor-changed", "anchor-unknown"}


def test_a_bare_repository_has_no_files_to_hold_an_anchor_against(app: Checkout, home: Path) -> None:
    app.git("clone", "-q", "--bare", app.top, home / "bare.git")
    bare = Files(Here(top=str(home / "bare.git")), os.environ)
    (reason,) = check((app.anchor(APP),), bare)
    assert reason.slug == "anchor-unknown"
    assert "no working tree" in reason.message


def test_a_repository_is_known_by_its_first_commit_after_it_was_given_a_remote(app: Checkout) -> None:
    root = app.git("rev-parse", "HEAD")
    anchor = replace(app.anchor(APP), repo=f"root:{root}")
    assert check((anchor,), Files(Here(top=str(app.top), root=root), os.environ)) == ()
    assert slugs((anchor,), app.files()) == ["anchor-unknown"]
    written = replace(anchor, repo="git@github.com:example/app.git")
    assert check((written,), app.files()) == ()


def test_a_folder_is_known_again_after_it_became_a_repository(home: Path) -> None:
    folder = home / "work" / "plain"
    folder.mkdir()
    plain = Checkout(folder)
    plain.write("notes.md", "notes")
    from indelible.gate.anchors.capturing import capture

    (anchor,) = capture("notes.md", Files(Here(None, str(folder)), os.environ), str(folder))
    assert (anchor.type, anchor.path) == ("file-digest", "notes.md")
    assert check((anchor,), Files(Here(None, str(folder)), os.environ)) == ()
    assert slugs((anchor,), Files(Here(None, str(home)), os.environ)) == ["anchor-unknown"]
    plain.git("init", "-q")
    plain.commit()
    assert check((anchor,), plain.files()) == ()
    plain.write("notes.md", "other")
    assert slugs((anchor,), plain.files()) == ["anchor-changed"]


# Commits, refs, submodules.


def test_a_commit_holds_while_it_is_in_the_history_of_head(app: Checkout) -> None:
    anchor = app.anchor("commit:HEAD")
    app.write("x", "1")
    app.commit()
    assert check((anchor,), app.files()) == ()
    app.git("checkout", "-q", "--orphan", "other")
    app.commit()
    (reason,) = check((anchor,), app.files())
    assert reason.slug == "anchor-changed"
    assert "not in the history of HEAD" in reason.message


def test_a_commit_beyond_a_shallow_history_is_unknown(app: Checkout, home: Path) -> None:
    anchor = app.anchor("commit:HEAD")
    app.write("x", "1")
    app.commit()
    app.git("clone", "-q", "--depth", "1", f"file://{app.top}", home / "shallow")
    (reason,) = check((anchor,), Files(Here(top=str(home / "shallow")), os.environ))
    assert reason.slug == "anchor-unknown"
    assert "unshallow" in reason.remedy


def test_many_commits_are_asked_about_in_three_processes(app: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    commits = tuple(Anchor("git-commit", app.commit()) for _ in range(5))
    app.git("checkout", "-q", "--orphan", "other")
    beyond = Anchor("git-commit", app.commit(beyond="x"))
    app.git("checkout", "-q", "main")
    asked: list[GitFacts] = []
    git = GitFacts.git

    def counted(facts: GitFacts) -> Git:
        asked.append(facts)
        return git(facts)

    monkeypatch.setattr(GitFacts, "git", counted)
    assert slugs((*commits, beyond, Anchor("git-commit", "2" * 40)), app.files()) == [
        "anchor-changed",
        "anchor-missing",
    ]
    assert len(asked) == 3


def test_a_ref_holds_while_it_points_at_the_same_commit(app: Checkout) -> None:
    app.git("tag", "-a", "v1", "-m", "one")
    tag, branch = app.anchor("ref:v1"), app.anchor("ref:HEAD")
    assert (tag.path, branch.path) == ("refs/tags/v1", "refs/heads/main")
    app.git("tag", "-f", "-a", "v1", "-m", "the same commit")
    assert check((tag, branch), app.files()) == ()
    app.commit()
    assert slugs((tag, branch), app.files()) == ["anchor-changed"]
    app.git("tag", "-d", "v1")
    assert slugs((tag,), app.files()) == ["anchor-missing"]


def test_a_submodule_is_anchored_at_its_commit(app: Checkout, home: Path) -> None:
    inner = checkout_in(home / "work" / "lib")
    app.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.top), "vendor/lib")
    app.commit()
    anchor = app.anchor("vendor/lib")
    assert anchor == Anchor("git-commit", inner.git("rev-parse", "HEAD"), REPO, "vendor/lib")
    assert check((anchor,), app.files()) == ()
    Checkout(app.top / "vendor/lib").commit()
    assert slugs((anchor,), app.files()) == ["anchor-changed"]
    app.git("submodule", "deinit", "-q", "-f", "vendor/lib")
    assert check((anchor,), app.files()) == ()  # what is recorded here


def test_a_repository_that_a_link_leads_out_to_is_no_submodule(app: Checkout, home: Path) -> None:
    outer = checkout_in(home / "outer")
    (app.top / "lib").symlink_to(outer.top)
    head = outer.git("rev-parse", "HEAD")
    assert slugs((Anchor("git-commit", head, REPO, "lib"),), app.files()) == ["anchor-outside"]


# Facts.


def test_a_variable_is_bound_by_its_digest_and_never_shown(app: Checkout) -> None:
    environ = {**os.environ, "API_BASE": "https://hunter2.example"}
    anchor, none = app.anchor("env:API_BASE", environ=environ), app.anchor("env:NOT_THERE")
    assert anchor.value.startswith("sha256:")
    assert none.value == "unset"
    assert check((anchor, none), app.files(environ=environ)) == ()
    (reason,) = check((anchor,), app.files(environ={**environ, "API_BASE": "https://swordfish.example"}))
    assert reason.slug == "anchor-changed"
    assert "hunter2" not in str((anchor, reason))
    assert "swordfish" not in str(reason)
    assert slugs((none,), app.files(environ={"NOT_THERE": ""})) == ["anchor-changed"]


@pytest.mark.parametrize("name", ["os", "arch", "python"])
def test_facts_of_the_machine_are_in_clear(app: Checkout, name: str) -> None:
    anchor = app.anchor(f"env:{name}")
    assert not anchor.value.startswith("sha256:")
    assert check((anchor,), app.files()) == ()
    assert slugs((replace(anchor, value="another"),), app.files()) == ["anchor-changed"]


def test_an_api_is_anchored_at_its_stated_version(app: Checkout) -> None:
    anchor = app.anchor("api:payments", apis={"payments": "2026-10-01"})
    assert (anchor.type, anchor.path, anchor.value) == ("env", "api:payments", "2026-10-01")
    assert check((anchor,), app.files(apis={"payments": "2026-10-01"})) == ()
    assert slugs((anchor,), app.files(apis={"payments": "2026-11-01"})) == ["anchor-changed"]
    assert slugs((anchor,), app.files()) == ["anchor-missing"]


def test_a_member_of_a_file_holds_whatever_else_changes(app: Checkout) -> None:
    app.write("openapi.json", '{"info": {"version": "1.2", "title": "x"}, "paths": {"/users": {"get": 1}}}')
    app.write("pyproject.toml", '[tool.x]\nwhen = 2026-01-01\n"a.b" = [1, 2]\n')
    anchors = tuple(
        app.anchor(text)
        for text in (
            "openapi.json#info.version",
            "openapi.json#/paths/~1users/get",
            'pyproject.toml#tool.x."a.b".1',
            "pyproject.toml#tool.x",
        )
    )
    app.write("openapi.json", '{"paths": {"/users": {"get": 1}}, "info": {"title": "y", "version": "1.2"}}')
    assert check(anchors, app.files()) == ()
    app.write("openapi.json", '{"info": {"version": "1.3"}}')
    app.write("pyproject.toml", '[tool.x]\nwhen = 2026-01-02\n"a.b" = [1, 2]\n')
    assert slugs(anchors, app.files()) == ["anchor-changed", "anchor-missing", "anchor-changed"]
    app.write("openapi.json", "{")
    (app.top / "pyproject.toml").unlink()
    assert slugs(anchors, app.files()) == ["anchor-changed"] * 2 + ["anchor-missing"] * 2


def test_a_name_that_this_locale_cannot_write_is_a_reason(app: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    lstat = os.lstat

    def unwritable(path: str) -> os.stat_result:
        if str(path).endswith(APP):
            raise UnicodeEncodeError("latin-1", path, 0, 1, "ordinal not in range")
        return lstat(path)

    anchor = app.anchor(APP)
    monkeypatch.setattr("os.lstat", unwritable)
    (reason,) = check((anchor,), app.files())
    assert reason.slug == "anchor-unknown"
    assert "locale" in reason.message


# History.


def test_an_unchanged_and_a_reverted_file_are_told_apart(app: Checkout) -> None:
    anchor, since = app.anchor(APP), app.git("rev-parse", "HEAD")
    assert told(app, anchor, since).slug == "anchor-unchanged"
    before = (app.top / APP).read_text()
    app.write(APP, "changed")
    app.commit()
    app.write(APP, before)
    back = app.commit()
    assert check((anchor,), app.files()) == ()
    found = told(app, anchor, since)
    assert (found.slug, found.commit) == ("anchor-reverted", back)
    assert told(app, anchor).slug == "anchor-unchanged"
    assert told(app, anchor, "1" * 40).slug == "anchor-unchanged"  # rebased away: nothing to count from


def test_a_change_is_told_with_the_commit_that_made_it(app: Checkout) -> None:
    anchor = app.anchor(APP)
    app.write(APP, "changed")
    uncommitted = told(app, anchor)
    assert (uncommitted.slug, uncommitted.commit) == ("anchor-changed", None)
    assert "not committed" in uncommitted.message
    commit = app.commit()
    app.commit(other="x")
    found = told(app, anchor)
    assert (found.slug, found.commit) == ("anchor-changed", commit)
    assert commit[:12] in found.message


def test_a_moved_file_is_found_by_its_content(app: Checkout) -> None:
    anchor = app.anchor(APP)
    (app.top / "lib").mkdir()
    (app.top / APP).rename(app.top / "lib/main.py")
    by_hand = told(app, anchor)
    assert (by_hand.slug, by_hand.path, by_hand.commit) == ("anchor-renamed", "lib/main.py", None)
    app.git("add", "-A")
    assert told(app, anchor).path == "lib/main.py"
    commit = app.commit()
    found = told(app, anchor)
    assert (found.slug, found.path, found.commit) == ("anchor-renamed", "lib/main.py", commit)
    assert "--anchor lib/main.py" in found.remedy


@pytest.mark.parametrize("known", [True, False], ids=["since a known commit", "commit by commit"])
def test_a_file_that_moved_and_changed_is_found_as_git_finds_renames(app: Checkout, known: bool) -> None:
    anchor, since = app.anchor(APP), app.git("rev-parse", "HEAD")
    lines = "".join(f"line {number}\n" for number in range(50))
    app.write(APP, lines)
    anchor = app.anchor(APP)
    since = app.commit()
    app.git("mv", APP, "main.py")
    app.write("main.py", lines + "more\n")
    staged = told(app, anchor)
    assert (staged.slug, staged.path) == ("anchor-renamed", "main.py")
    app.commit()
    app.git("mv", "main.py", "last.py")
    app.commit()
    found = told(app, anchor, since if known else None)
    assert (found.slug, found.path) == ("anchor-renamed", "last.py")
    assert "has changed" in found.message


def test_a_deleted_file_is_told_with_the_commit_that_took_it_away(app: Checkout) -> None:
    anchor = app.anchor(APP)
    (app.top / APP).unlink()
    by_hand = told(app, anchor)
    assert (by_hand.slug, by_hand.commit) == ("anchor-deleted", None)
    commit = app.commit()
    app.commit()
    found = told(app, anchor)
    assert (found.slug, found.commit) == ("anchor-deleted", commit)


def test_a_file_with_a_hash_in_its_name_is_explained_under_its_whole_name(app: Checkout) -> None:
    app.write("README.md#old", "x")
    app.commit()
    anchor = app.anchor("README.md#old")
    assert anchor.type == "git-blob"
    (app.top / "README.md#old").unlink()
    commit = app.commit()
    found = told(app, anchor)
    assert (found.slug, found.commit) == ("anchor-deleted", commit)


def test_a_file_that_never_was_is_told_from_one_on_another_branch(app: Checkout) -> None:
    anchor = Anchor("git-blob", "1" * 40, REPO, "never.py")
    assert told(app, anchor).slug == "anchor-never-existed"
    app.git("checkout", "-q", "-b", "side")
    app.write("never.py", "x")
    commit = app.commit()
    app.git("checkout", "-q", "main")
    found = told(app, anchor)
    assert (found.slug, found.commit) == ("anchor-missing", commit)
    assert "branch" in found.message


def test_in_a_shallow_clone_what_is_gone_is_not_said_never_to_have_been(app: Checkout, home: Path) -> None:
    anchor = app.anchor(APP)
    (app.top / APP).unlink()
    app.commit()
    app.commit()
    app.git("clone", "-q", "--depth", "1", f"file://{app.top}", home / "shallow")
    found = explain(anchor, Files(Here(top=str(home / "shallow")), os.environ))
    assert found.slug == "anchor-unknown"
    assert "shallow" in found.message


def test_a_repository_without_commits_can_anchor_and_explain(home: Path) -> None:
    bare = Checkout(home / "work" / "fresh")
    bare.top.mkdir()
    bare.git("init", "-q")
    bare.write("a.txt", "a")
    anchor = bare.anchor("a.txt")
    assert check((anchor,), bare.files()) == ()
    assert explain(anchor, bare.files()).slug == "anchor-unchanged"
    bare.write("a.txt", "b")
    assert explain(anchor, bare.files()).slug == "anchor-changed"
    (bare.top / "a.txt").unlink()
    assert explain(anchor, bare.files()).slug == "anchor-never-existed"
    assert slugs((Anchor("git-commit", "1" * 40, REPO),), bare.files()) == ["anchor-missing"]


def test_a_worktree_holds_anchors_against_its_own_files(app: Checkout, home: Path) -> None:
    anchor = app.anchor(APP)
    app.git("worktree", "add", "-q", home / "tree", "-b", "tree")
    tree = Checkout(home / "tree")
    assert check((anchor,), tree.files()) == ()
    tree.write(APP, "changed there")
    assert slugs((anchor,), tree.files()) == ["anchor-changed"]
    assert check((anchor,), app.files()) == ()


def test_a_repository_of_sha256_objects_works_alike(home: Path) -> None:
    made = Checkout(home / "work" / "long")
    made.top.mkdir()
    made.git("init", "-q", "--object-format=sha256")
    made.write("a.txt", "a")
    made.commit()
    anchor = made.anchor("a.txt")
    assert anchor.value == made.git("rev-parse", "HEAD:a.txt")
    assert len(anchor.value) == 64
    assert check((anchor, made.anchor("commit:HEAD")), made.files()) == ()
    assert slugs((replace(anchor, value="1" * 40),), made.files()) == ["anchor-unknown"]
