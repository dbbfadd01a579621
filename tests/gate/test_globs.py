"""Which files a glob means."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.gate.globs import matches

paths = st.lists(st.text("ab.[]?-메", min_size=1, max_size=4), min_size=1, max_size=4).map("/".join)


@pytest.mark.parametrize(("glob", "path", "meant"), [
    ("src/app.py", "src/app.py", True),
    ("src/app.py", "src/app.pyc", False),
    ("src", "src/a/b.py", True),
    ("src/", "src/a/b.py", True),
    ("/src", "src/a.py", True),
    ("src", "lib/src/a.py", False),
    ("src", "src2/a.py", False),
    ("src/*.py", "src/a.py", True),
    ("src/*.py", "src/a/b.py", False),
    ("src/**", "src/a/b.py", True),
    ("**/*.py", "a.py", True),
    ("**/*.py", "a/b/c.py", True),
    ("src/**/test_*.py", "src/test_a.py", True),
    ("src/**/test_*.py", "src/a/b/test_a.py", True),
    ("src/**/test_*.py", "src/a/b/a.py", False),
    ("a?c", "abc", True),
    ("a?c", "a/c", False),
    ("Src/a", "src/a", False),
    ("app/[id]/page.tsx", "app/[id]/page.tsx", True),
    ("app/[id]/page.tsx", "app/i/page.tsx", False),
    ("./src", "src/./a", True),
    ("**", "a", True),
    ("*", "a/b", True),
    ("a+b", "aab", False),
    ("메모/*", "메모/하나.md", True),
])  # fmt: skip
def test_a_glob_means_these(glob: str, path: str, meant: bool) -> None:
    assert matches(glob, path) is meant


@given(paths)
def test_a_path_means_itself_and_what_lies_below(path: str) -> None:
    if "?" not in path:
        assert matches(path, path)
        assert matches(path, f"{path}/below")


def test_a_glob_of_many_stars_takes_no_time() -> None:
    begun = time.process_time()
    assert not matches("/".join(["**", "*a" * 20] * 20) + "/c", "/".join(["a" * 60] * 60) + "/b")
    assert matches("/".join(["**", "*a" * 20] * 20), "/".join(["a" * 60] * 60) + "/b")
    assert time.process_time() - begun < 2
