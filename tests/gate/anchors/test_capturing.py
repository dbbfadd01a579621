"""What can be said to `save --anchor`, and what is answered where it cannot."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.gate.anchors.checkouts import REPO, Checkout, Here, checkout_in

from indelible.errors import UsageError
from indelible.gate.anchors.capturing import capture, recapture_all
from indelible.gate.anchors.files import Files
from indelible.gate.anchors.naming_paths import capture_files
from indelible.gate.verdict import Reason
from indelible.record import Anchor

if TYPE_CHECKING:
    from pathlib import Path

APP = "src/app.py"


def refused(app: Checkout, text: str, *words: str) -> None:
    with pytest.raises(UsageError) as caught:
        app.capture(text)
    assert caught.value.remedy
    for word in words:
        assert word in str(caught.value)


def test_a_path_is_relative_to_the_current_folder(app: Checkout) -> None:
    expected = app.anchor(APP)
    here = str(app.top / "src")
    for text in ("app.py", "./app.py", "../src/app.py", str(app.top / APP)):
        assert capture(text, app.files(), here) == (expected,)


def test_a_path_through_a_link_to_the_repository_is_the_path_inside(app: Checkout, home: Path) -> None:
    (home / "link").symlink_to(app.top)
    assert capture(str(home / "link" / APP), app.files(), str(home)) == app.capture(APP)


def test_a_file_that_never_existed_is_told_from_one_that_was_deleted(app: Checkout) -> None:
    refused(app, "nowhere.py", "never existed", "nowhere.py")
    (app.top / APP).unlink()
    refused(app, APP, "deleted", "not committed")
    commit = app.commit()
    refused(app, APP, f"deleted by commit {commit[:12]}")


def test_what_cannot_be_an_anchor_is_refused_in_plain_words(app: Checkout, home: Path) -> None:
    (home / "outside.txt").write_text("x")
    (app.top / "link.py").symlink_to(APP)
    (app.top / "folder").symlink_to("src")
    (app.top / "out").symlink_to(home)
    refused(app, "src", "is a folder", "Name its files")
    refused(app, ".", "whole folder", "commit:HEAD")
    refused(app, "../../outside.txt", "lies outside")
    refused(app, str(home / "outside.txt"), "lies outside")
    refused(app, "link.py", "through the link link.py", APP)
    refused(app, "folder/app.py", "through the link folder")
    refused(app, "out/outside.txt", "through the link out")
    refused(app, ".git/config", "no path of a file")
    refused(app, "", "names nothing")
    refused(app, "a\0b", "names nothing")
    refused(app, "src/app\udcff.py", "not UTF-8")
    refused(app, "x" * 5000, "never existed")


def test_names_that_stand_for_nothing_are_refused_in_plain_words(app: Checkout) -> None:
    refused(app, "commit:nowhere", "is no commit")
    refused(app, "commit:", "is no commit")
    refused(app, "commit:HEAD\nx", "is no commit")
    refused(app, "ref:--all", "no branch or tag")
    refused(app, "ref:HEAD~0", "no branch or tag")
    refused(app, "env:", "no variable")
    refused(app, "env:A=B", "no variable")
    refused(app, "api:payments", "none are stated", "[apis]")
    with pytest.raises(UsageError, match="known are billing"):
        app.capture("api:payments", apis={"billing": "1"})


def test_a_commit_that_is_not_in_the_history_of_head_is_refused(app: Checkout) -> None:
    app.git("checkout", "-q", "-b", "side")
    app.commit(side="x")
    app.git("checkout", "-q", "main")
    refused(app, "commit:side", "not in the history of HEAD")


def test_a_member_that_is_not_there_is_refused(app: Checkout) -> None:
    app.write("a.json", '{"a": {"b": [1, {"c": 2}]}, "x#y": 3}')
    assert app.anchor("a.json#a.b.1.c").path == "a.json#a.b.1.c"
    assert app.anchor('a.json#"x#y"').type == "file-digest"
    refused(app, "a.json#a.z", "no such member")
    refused(app, "a.json#a.b.7", "no such member")
    refused(app, 'a.json#"open', "no such member")
    refused(app, f"{APP}#x", "cannot be read as JSON or TOML")
    refused(app, "none.json#x", "never existed")
    app.write("big.toml", f"n = {10**30}\nf = inf\nt = 01:02:03\n")
    assert [app.anchor(f"big.toml#{name}").type for name in "nft"] == ["file-digest"] * 3


def test_a_file_of_another_repository_inside_is_refused(app: Checkout) -> None:
    checkout_in(app.top / "nested")
    refused(app, "nested/README.md", "another repository, nested")
    assert app.anchor("nested").type == "git-commit"
    fresh = Checkout(app.top / "fresh")
    fresh.top.mkdir()
    fresh.git("init", "-q")
    refused(app, "fresh", "without commits")


def test_a_repository_without_commits_says_so(home: Path) -> None:
    fresh = Checkout(home / "work" / "fresh")
    fresh.top.mkdir()
    fresh.git("init", "-q")
    refused(fresh, "commit:HEAD", "has none yet")
    refused(fresh, "ref:HEAD", "no branch or tag")
    refused(fresh, "x", "never existed")


def test_where_git_is_missing_that_is_said_and_nothing_is_recorded(app: Checkout) -> None:
    with pytest.raises(UsageError, match="Git is not installed"):
        app.capture(APP, environ={"PATH": "/nowhere"})
    problem = Reason("git-missing", "Git is not installed", "Install it")
    for text in (APP, "commit:HEAD", "package:x"):
        with pytest.raises(UsageError, match="Git is not installed"):
            capture(text, Files(Here(None, None, problem=problem), os.environ), str(app.top))


def test_a_file_that_the_text_names_and_git_cannot_read_is_named(app: Checkout) -> None:
    app.write(".gitattributes", "*.bin filter=gone\n")
    app.git("config", "filter.gone.clean", "false")
    app.git("config", "filter.gone.required", "true")
    app.write("b.bin", "content")
    with pytest.raises(UsageError, match=r"b\.bin, which the text names, cannot be hashed by git"):
        capture_files((APP, "b.bin"), app.files())


def test_outside_a_repository_a_file_is_bound_by_its_bytes(home: Path) -> None:
    folder = home / "work"
    (folder / "a.txt").write_bytes(b"a")
    files = Files(Here(None, str(folder)), os.environ)
    (anchor,) = capture("a.txt", files, str(folder))
    assert anchor.type == "file-digest"
    assert anchor.value == "sha256:ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
    assert capture_files(("a.txt",), files) == (anchor,)
    for text, words in (
        ("b.txt", "does not exist"),
        ("commit:HEAD", "no git repository"),
        ("ref:main", "no git repository"),
    ):
        with pytest.raises(UsageError, match=words):
            capture(text, files, str(folder))


def test_anchors_are_bound_anew_by_type_and_path(app: Checkout) -> None:
    app.write("package-lock.json", '{"packages": {"node_modules/a": {"version": "1.0.0"}}}')
    texts = (APP, "package-lock.json#packages", "commit:HEAD", "ref:main", "package:a", "env:os", "env:NAME")
    anchors = tuple(app.anchor(text) for text in texts)
    app.write(APP, "changed")
    app.write("package-lock.json", '{"packages": {"node_modules/a": {"version": "2.0.0"}}}')
    head = app.commit()
    now, kept = recapture_all(anchors, app.files(environ={**os.environ, "NAME": "set"}))
    assert kept == ()
    assert [(anchor.type, anchor.path) for anchor in now] == [(anchor.type, anchor.path) for anchor in anchors]
    assert now[2] == anchors[2]
    assert (now[3].value, now[4].value) == (head, "npm:a@2.0.0")
    assert now[0] == app.anchor(APP)
    assert now[6].value.startswith("sha256:")


def test_what_cannot_be_bound_anew_stays_as_it_was_and_is_named(app: Checkout) -> None:
    anchors = (
        app.anchor(APP),
        replace(app.anchor("README.md"), repo="github.com/other/app"),
        Anchor("url", "https://example.org"),
        Anchor("package", "npm:a@1", REPO, "yarn.lock"),
        Anchor("env", "x", path="odd:thing", unknown=(("x", b"1"),)),
    )
    (app.top / APP).unlink()
    now, kept = recapture_all(anchors, app.files())
    assert now == anchors
    assert [anchor for anchor, _ in kept] == [anchors[0], anchors[1], anchors[3]]
    assert all(why for _, why in kept)
