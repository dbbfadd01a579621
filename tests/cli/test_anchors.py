"""save --anchor, --anchor-auto, --no-anchors and --depends-on; and where a text was written."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest
from tests.cli.hands import Kept, git, refused, said
from tests.plain.conftest import API_KEY, PlainServer

import indelible

if TYPE_CHECKING:
    from indelible.record import Record

IDENTITY = "git.example.org/team/notes"


def record(repo: Kept, key: str) -> Record:
    with indelible.open_memory(store=str(repo.store)) as memory:
        return memory.fetch(key).record


def anchors(repo: Kept, key: str) -> list[tuple[str, str | None]]:
    return [(anchor.type, anchor.path) for anchor in record(repo, key).validity.anchors]


def value(repo: Kept, key: str) -> str:
    (anchor,) = record(repo, key).validity.anchors
    return anchor.value


def targets(repo: Kept, key: str) -> list[tuple[str, str]]:
    return [(link.rel, link.target) for link in record(repo, key).links]


@pytest.fixture
def app(repo: Kept) -> Kept:
    (repo.work / "src").mkdir()
    repo.file("src/app.py", b"print('one')\n")
    repo.file("설계 안.md", "# 설계\n".encode())
    git(repo.work, "add", "-A")
    git(repo.work, "commit", "-qm", "second")
    return repo


def blob(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0%b" % (len(content), content), usedforsecurity=False).hexdigest()


def test_an_anchor_is_recorded_and_said(app: Kept) -> None:
    ran = app.run("save", "note", "--anchor", "src/app.py", "--anchor", "env:os", input=b"x")
    assert ran.code == 0
    assert ran.err == "Anchored to 2: src/app.py, env:os\n"
    first, second = record(app, "note").validity.anchors
    assert (first.type, first.repo, first.path, first.value) == (
        "git-blob", IDENTITY, "src/app.py", blob(b"print('one')\n")
    )  # fmt: skip
    assert (second.type, second.path) == ("env", "env:os")


def test_json_lists_the_anchors(app: Kept) -> None:
    document = said(app.run("save", "note", "--anchor", "src/app.py", "--json", input=b"x"))
    assert document["anchors"] == [
        {"type": "git-blob", "repo": IDENTITY, "path": "src/app.py", "value": blob(b"print('one')\n")}
    ]
    assert said(app.run("save", "other", "--json", input=b"x"))["anchors"] == []


def test_a_plain_save_says_nothing_of_anchors_and_records_where_it_was_written(app: Kept) -> None:
    ran = app.run("save", "note", input=b"x")
    assert (ran.code, ran.err) == (0, "")
    made = record(app, "note")
    assert made.validity.anchors == ()
    head, branch = git(app.work, "rev-parse", "HEAD"), git(app.work, "symbolic-ref", "--short", "HEAD")
    assert (made.origin.repo, made.origin.branch, made.origin.commit) == (IDENTITY, branch.strip(), head.strip())
    assert made.origin.uri is None


def test_outside_a_repository_nothing_is_recorded_of_one(kept: Kept) -> None:
    kept.run("save", "note", input=b"x")
    origin = record(kept, "note").origin
    assert (origin.repo, origin.branch, origin.commit) == (None, None, None)


def test_the_files_that_the_text_names_are_anchored(app: Kept) -> None:
    text = "먼저 src/app.py를 보고 `설계 안.md`도 본다. 그리고 and/or, https://example.org/src/app.py, v1.2\n".encode()
    ran = app.run("save", "note", "--anchor-auto", input=text)
    assert ran.code == 0
    assert ran.err == "Anchored to 2: src/app.py, 설계 안.md\n"
    none = app.run("save", "note", "--anchor-auto", input=b"nothing")
    assert "names no file" in none.err
    assert anchors(app, "note") == []


def test_a_path_is_relative_to_the_folder_of_the_caller(app: Kept) -> None:
    assert app.run("save", "note", "--anchor", "app.py", input=b"x", cwd=app.work / "src").code == 0
    assert anchors(app, "note") == [("git-blob", "src/app.py")]


def test_a_save_that_says_nothing_keeps_the_anchors_as_the_files_are_now(app: Kept) -> None:
    app.run("save", "note", "--anchor", "src/app.py", input=b"x")
    app.file("src/app.py", b"print('two')\n")
    ran = app.run("save", "note", input=b"y")
    assert ran.err == "Anchored to 1: src/app.py\n"
    assert value(app, "note") == blob(b"print('two')\n")


def test_a_save_that_states_anchors_replaces_them(app: Kept) -> None:
    app.run("save", "note", "--anchor", "src/app.py", input=b"x")
    app.run("save", "note", "--anchor", "MEMORY.md", input=b"y")
    assert anchors(app, "note") == [("git-blob", "MEMORY.md")]
    app.run("save", "note", "--no-anchors", input=b"z")
    assert anchors(app, "note") == []


def test_an_anchor_that_is_gone_stays_as_it_was_bound_and_is_named(app: Kept) -> None:
    app.run("save", "note", "--anchor", "src/app.py", input=b"x")
    (app.work / "src/app.py").unlink()
    ran = app.run("save", "note", input=b"y")
    assert ran.code == 0
    assert "git-blob src/app.py stays as it was bound" in ran.err
    assert "--no-anchors" in ran.err
    assert value(app, "note") == blob(b"print('one')\n")


def test_what_is_edited_is_anchored_anew(app: Kept) -> None:
    app.run("save", "note", "--anchor", "src/app.py", input=b"x")
    app.file("src/app.py", b"print('two')\n")
    assert app.run("edit", "note", "--editor", "sh -c 'echo more >> \"$1\"' sh").code == 0
    assert value(app, "note") == blob(b"print('two')\n")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nowhere.py", ("never existed", "nowhere.py")), ("src", ("is a folder", "Name its files")), ("../x", ("lies outside",)),
        ("commit:nowhere", ("is no commit",)), ("package:react", ("any lock file",)), ("api:x", ("[apis]",)),
    ],
)  # fmt: skip
def test_an_anchor_that_cannot_be_is_a_matter_of_usage_and_nothing_is_saved(
    app: Kept, text: str, words: tuple[str, ...]
) -> None:
    refused(app.run("save", "note", "--anchor", text, input=b"x"), 64, *words)
    refused(app.run("load", "note"), 3)


def test_without_git_a_plain_save_works_and_an_anchor_is_refused(app: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert app.run("save", "note", input=b"x").code == 0
    refused(app.run("save", "note", "--anchor", "src/app.py", input=b"y"), 64, "Git is not installed")


def test_the_version_of_an_api_is_what_the_settings_state(app: Kept) -> None:
    app.file(".indelible/config.toml", b'[apis]\npayments = "2026-10-01"\n')
    app.run("save", "note", "--anchor", "api:payments", input=b"x")
    assert value(app, "note") == "2026-10-01"


def test_a_memory_can_depend_on_others(app: Kept) -> None:
    app.run("save", "base", input=b"b")
    app.run("save", "more", input=b"m")
    base, more = record(app, "base").id, record(app, "more").id
    assert app.run("save", "note", "--depends-on", "base", "--depends-on", "base", input=b"x").code == 0
    assert targets(app, "note") == [("depends_on", base)]
    app.run("save", "note", input=b"y")
    assert targets(app, "note") == [("depends_on", base)]
    app.run("save", "note", "--depends-on", "more", input=b"z")
    assert targets(app, "note") == [("depends_on", more)]
    app.run("save", "note", "--no-depends-on", input=b"w")
    assert targets(app, "note") == []


def test_a_memory_depends_on_an_archived_one_all_the_same(app: Kept) -> None:
    app.run("save", "base", input=b"b")
    app.run("archive", "base")
    assert app.run("save", "note", "--depends-on", "base", input=b"x").code == 0


def test_what_is_depended_on_must_be_there_and_be_another(app: Kept) -> None:
    refused(app.run("save", "note", "--depends-on", "nowhere", input=b"x"), 3, "nowhere")
    refused(app.run("save", "MEMORY.md", "--depends-on", "MEMORY.md", input=b"x"), 64, "depend on itself")
    refused(app.run("load", "note"), 3)


@pytest.mark.parametrize(
    "words", [("--no-anchors", "--anchor", "src/app.py"), ("--no-anchors", "--anchor-auto"), ("--no-depends-on", "--depends-on", "MEMORY.md")]
)  # fmt: skip
def test_options_that_contradict_one_another_are_refused(app: Kept, words: tuple[str, ...]) -> None:
    refused(app.run("save", "note", *words, input=b"x"), 64, "contradict")


def test_a_plain_server_keeps_no_anchors_and_says_so(app: Kept, server: PlainServer) -> None:
    plain = ("--store", server.url, "--agent", "eros")
    environ = {"INDELIBLE_API_KEY": API_KEY}
    assert app.run(*plain, "save", "note", input=b"x", env=environ).code == 0
    for words in (("--anchor", "src/app.py"), ("--depends-on", "MEMORY.md")):
        refused(app.run(*plain, "save", "note", *words, input=b"y", env=environ), 64, "keeps no anchors")


def test_the_branch_of_a_saved_file_is_its_own(app: Kept) -> None:
    app.run("save", "note", "MEMORY.md")
    origin = record(app, "note").origin
    assert origin.uri == "team/notes/MEMORY.md"
    assert origin.branch == git(app.work, "symbolic-ref", "--short", "HEAD").strip()
