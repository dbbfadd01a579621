"""The files that a text names, and nothing that only looks like one."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.gate.anchors.checkouts import Checkout, Here, checkout_in

from indelible.gate.anchors.files import Files
from indelible.gate.anchors.mentions import LIMIT, find_paths

if TYPE_CHECKING:
    from pathlib import Path

APP = "src/app.py"


def named(app: Checkout, text: str, here: str = "") -> tuple[str, ...]:
    return find_paths(text, app.files(), str(app.top / here))


@pytest.mark.parametrize(
    "text",
    [
        "see src/app.py", "`src/app.py`", '"src/app.py"', "'src/app.py'", "(src/app.py)", "src/app.py.", "src/app.py, and", "src/app.py:12",
        "src/app.py:12:4", "src/app.py:10-20", "src/app.py#L12", "src/app.py#L12-L20", "./src/app.py", "@src/app.py", "[the app](src/app.py)",
        "[the app](<src/app.py>)", '[a](src/app.py#L3 "title")', "src/app.py를 고친다", "`src/app.py`를", "src/app.py에서는", "src/app.py:12에서",
        "「src/app.py」", "src/app.pyを直す", "src/app.py。", "src/app.py::test_one", "src\\app.py", "**src/app.py**", "src/app.py — why", "- src/app.py\n",
        "| src/app.py |", "src/app.py(12)", "diff --git a/src/app.py b/src/app.py src/app.py", "<src/app.py>", "src/app.py?", "`python src/app.py --x`",
        "don't touch src/app.py, it's fine",
    ],
)  # fmt: skip
def test_a_path_is_found_however_it_is_written(app: Checkout, text: str) -> None:
    assert named(app, text) == (APP,)


@pytest.mark.parametrize(
    "text",
    [
        "", "and/or", "either/or", "1.2.3", "v2.0", "e.g. this", "https://example.org/src/app.py", "http://x/src/app.py를", "git@github.com:src/app.py/x",
        "file:///src/app.py", "www.example.org/src/app.py", "src", "src/", ".", "..", "/", "../app/src", "src/none.py", "~/src/app.py", ".git/config",
        "README", "app", "<https://example.org/src/app.py>", "[x](https://example.org/src/app.py)", "`https://example.org/src/app.py`", "\0/\0", "a/" * 3000,
    ],
)  # fmt: skip
def test_what_only_looks_like_a_path_is_none(app: Checkout, text: str) -> None:
    assert named(app, text) == ()


def test_paths_come_once_each_in_order(app: Checkout) -> None:
    text = "README.md says that src/app.py is run; see `src/app.py` and [README](README.md)."
    assert named(app, text) == ("README.md", APP)


def test_names_with_spaces_and_korean_letters_are_found(app: Checkout) -> None:
    for path in ("문서/설계 안.md", "문서/설계.md", "문서/설계", "Makefile", "a%20b.txt", "a b.txt"):
        app.write(path, "x")
    assert named(app, "`문서/설계 안.md`을 보고 문서/설계.md를 고친다") == ("문서/설계 안.md", "문서/설계.md")
    assert named(app, "문서/설계에서는 아니다") == ("문서/설계",)
    assert named(app, "run `Makefile`; Makefile is plain") == ("Makefile",)
    assert named(app, "[x](a%20b.txt)") == ("a%20b.txt",)
    assert named(app, "[x](문서/설계%20안.md)") == ("문서/설계 안.md",)


def test_a_decomposed_name_is_found_by_its_composed_spelling(app: Checkout) -> None:
    app.write("cafe\u0301.md", "x")
    assert named(app, "see caf\u00e9.md") == ("cafe\u0301.md",)


def test_a_path_may_be_relative_to_the_current_folder_or_to_the_top(app: Checkout) -> None:
    assert named(app, "app.py", "src") == (APP,)
    assert named(app, APP, "src") == (APP,)
    assert named(app, str(app.top / APP)) == (APP,)
    assert named(app, "../README.md", "src") == ("README.md",)


def test_a_link_stands_for_what_it_leads_to_and_none_leads_out(app: Checkout, home: Path) -> None:
    (home / "secret.md").write_text("x")
    (app.top / "CLAUDE.md").symlink_to("README.md")
    (app.top / "out.md").symlink_to(home / "secret.md")
    checkout_in(app.top / "nested")
    app.write(".indelible/config.toml", "")
    assert named(app, "CLAUDE.md out.md ../../secret.md nested/README.md .indelible/config.toml") == ("README.md",)


def test_a_text_gives_no_more_than_the_limit(app: Checkout) -> None:
    for number in range(LIMIT + 10):
        app.write(f"f{number}.txt", "")
    found = named(app, " ".join(f"f{number}.txt" for number in range(LIMIT + 10)))
    assert found == tuple(f"f{number}.txt" for number in range(LIMIT))


def test_outside_a_repository_the_folder_counts(home: Path) -> None:
    (home / "work" / "a.txt").write_text("x")
    files = Files(Here(None, str(home / "work")), os.environ)
    assert find_paths("a.txt and ../x", files, str(home / "work")) == ("a.txt",)
    assert find_paths("a.txt", Files(Here(None, None), os.environ), str(home)) == ()


@pytest.mark.parametrize("part", ["`", "a", "](<", "「", '"', "'a", "::", "a/", "](a(b", "http://", "가/나 ", "](("])
def test_a_text_of_one_thing_over_and_over_is_looked_through_in_time(app: Checkout, part: str) -> None:
    began = time.process_time()
    assert named(app, part * (200_000 // len(part))) == ()
    assert time.process_time() - began < 5


@given(text=st.text(max_size=300))
def test_any_text_can_be_looked_through(text: str) -> None:
    files = Files(Here(None, os.getcwd()), {})
    assert isinstance(find_paths(text, files, os.getcwd()), tuple)
