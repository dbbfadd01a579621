"""Exit codes are a contract: 2 is tampering and nothing else, 1 is never to be read as verified, a wrong call is 64."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest
from tests.cli.hands import FIRST, Kept, refused, said

if TYPE_CHECKING:
    from collections.abc import Callable


def nothing(_: Kept) -> None:
    """Leave the store as it is."""


def altered(kept: Kept) -> None:
    kept.alter()


def lost_pin(kept: Kept) -> None:
    kept.lose_pin()


def new_here(kept: Kept) -> None:
    kept.be_new()


def archived(kept: Kept) -> None:
    assert kept.run("archive", "MEMORY.md").code == 0


def erased(kept: Kept) -> None:
    assert kept.run("erase", "MEMORY.md", "--yes").code == 0


CONTRACT: list[tuple[Callable[[Kept], None], tuple[str, ...], int, str]] = [
    (nothing, ("verify", "MEMORY.md"), 0, "verified"),
    (nothing, ("load", "MEMORY.md"), 0, "loaded"),
    (new_here, ("verify", "MEMORY.md"), 0, "verified"),
    (lost_pin, ("verify", "MEMORY.md"), 1, "pin-lost"),
    (lost_pin, ("load", "MEMORY.md"), 1, "pin-lost"),
    (new_here, ("save", "MEMORY.md"), 1, "pin-lost"),
    (altered, ("verify", "MEMORY.md"), 2, "digest-mismatch"),
    (altered, ("load", "MEMORY.md"), 2, "digest-mismatch"),
    (altered, ("list",), 2, "tampered"),
    (altered, ("audit",), 2, "tampered"),
    (altered, ("incident",), 2, "incident"),
    (altered, ("doctor",), 2, "examined"),
    (nothing, ("load", "nothing"), 3, "not-found"),
    (erased, ("load", "MEMORY.md"), 3, "not-found"),
    (nothing, ("list", "--store", "/nowhere/store.db"), 3, "not-found"),
    (archived, ("load", "MEMORY.md"), 4, "held"),
    (archived, ("verify", "MEMORY.md"), 0, "verified"),
    (nothing, ("save", "MEMORY.md", "--based-on", "0" * 64), 5, "conflict"),
    (nothing, ("save", "MEMORY.md", "/dev/null"), 6, "discipline"),
    (nothing, ("save", ""), 64, "usage"),
    (nothing, ("bogus",), 64, "usage"),
    (nothing, ("load", "MEMORY.md", "--bogus"), 64, "usage"),
    (nothing, ("load",), 64, "usage"),
]


@pytest.mark.parametrize(("act", "words", "code", "slug"), CONTRACT, ids=lambda value: getattr(value, "__name__", None))
def test_each_outcome_has_its_exit_code_and_slug(
    kept: Kept, act: Callable[[Kept], None], words: tuple[str, ...], code: int, slug: str
) -> None:
    act(kept)
    ran = kept.run(*words, "--json", input=b"x")
    document = said(ran)
    assert (ran.code, document["slug"]) == (code, slug), ran


def test_every_error_names_what_and_the_remedy_in_one_plain_sentence(kept: Kept) -> None:
    for act, words, code, _ in CONTRACT:
        if act is not nothing or code == 0:
            continue
        err = refused(kept.run(*words, input=b"x"), code).strip()
        assert len(err.splitlines()) == 1, err
        assert not re.search(r"\b(Errno|Exception|Error:|None|\[Errno|<class)\b", err), err


def test_an_unforeseen_fault_is_1_and_one_document(kept: Kept) -> None:
    """The process's door: what nobody expected is shown whole, and is never taken for a verdict."""
    broken = kept.home / "broken"
    broken.mkdir()
    (broken / "sitecustomize.py").write_text(
        "import indelible.memory.facade as f\n"
        "def fail(*_, **__): raise RuntimeError('boom')\n"
        "f.Memory.load = f.Memory.list = fail\n",
        encoding="utf-8",
    )
    env = {"PYTHONPATH": os.pathsep.join([str(broken), *filter(None, [os.environ.get("PYTHONPATH")])])}
    ran = kept.run("load", "MEMORY.md", env=env)
    assert ran.code == 1
    assert ran.stdout == b""
    assert "boom" in ran.err
    assert "fault of Indelible" in ran.err
    document = kept.run("list", "--json", env=env)
    assert document.json["exit_code"] == document.code == 1


def test_a_verdict_is_not_changed_by_where_it_is_asked_from(repo: Kept) -> None:
    (repo.work / "sub").mkdir()
    for folder in (repo.work, repo.work / "sub"):
        assert repo.run("verify", "MEMORY.md", cwd=folder).code == 0
    assert repo.run("load", "MEMORY.md", cwd=repo.work / "sub").stdout == FIRST
    refused(repo.run("verify", "MEMORY.md", cwd=repo.home), 3)


def test_the_seeds_line_in_a_session_opening_works(kept: Kept) -> None:
    """`indelible verify MEMORY.md || exit 1`, and the three branches of the seed's protocol by exit code."""
    from tests.cli.hands import ended, start

    opening = """
        "$@"; code=$?
        case $code in
            0) echo continue ;;
            2) echo stop-and-escalate ;;
            *) echo not-checked ;;
        esac
    """

    def open_session() -> str:
        ran = ended(start("verify", "MEMORY.md", cwd=kept.work, prefix=("sh", "-c", opening, "sh")))
        return ran.out.splitlines()[-1]

    assert open_session() == "continue"
    kept.alter()
    assert open_session() == "stop-and-escalate"
    kept.lose_pin()
    assert open_session() == "not-checked"
