"""The library as docs/gate.md shows it: policies by their names, a reviewer's key opened, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support import ROOT

from indelible import AccessDenied, HeldError, NotFoundError, UsageError, open_memory, open_reviewer, settings
from indelible.gate.presets import PRESETS
from indelible.wiring import REVIEWER, keystore

if TYPE_CHECKING:
    from indelible.memory import Memory

PASSPHRASE = "correct horse battery"
EXAMPLE = re.search(
    r"^```python\n(.*?)^```$", Path(ROOT, "docs", "gate.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
)


def reviewer(name: str, passphrase: str | None = PASSPHRASE) -> None:
    """Make a reviewer's key."""
    ask = None if passphrase is None else lambda _name: passphrase
    keystore(settings.load()).create(f"{REVIEWER}{name}", "reviewer", ask, unprotected=passphrase is None)


@pytest.fixture
def memory(home: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(home)
    with open_memory(create=True) as opened:
        opened.save("test-db", b"Start the database first.")
        yield opened


def test_the_example_of_the_page_approves_and_loads(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], home: Path
) -> None:
    assert EXAMPLE is not None
    with pytest.raises(HeldError):
        memory.load("test-db", policy="owner")
    reviewer("kim")
    (home / "passphrase").write_text(PASSPHRASE, encoding="utf-8")
    (home / "passphrase").chmod(0o600)
    monkeypatch.setenv("INDELIBLE_PASSPHRASE_FILE", str(home / "passphrase"))
    exec(EXAMPLE[1], {})  # noqa: S102 - the page's own text
    assert capsys.readouterr().out == "approved\n"


def test_a_policy_is_taken_by_its_name_at_every_call(memory: Memory) -> None:
    assert (
        memory.deliver("test-db", policy="strict").verdict
        == memory.deliver("test-db", policy=PRESETS["strict"]).verdict
    )
    assert memory.judge("test-db", policy="expiry").verdict.mode == "expiry"
    assert [held.verdict.mode for held in memory.recall("database", policy="strict").held] == ["strict"]
    for wrong in ("strickt", 3):
        with pytest.raises(UsageError, match=r"strickt|int"):
            memory.load("test-db", policy=wrong)  # type: ignore[arg-type]


def test_the_letters_of_one_text_are_no_tags(memory: Memory) -> None:
    with pytest.raises(UsageError, match="tags"):
        memory.save("k", b"x", tags="abc")
    with pytest.raises(UsageError, match="tags"):
        memory.recall("x", tags="abc")


@pytest.mark.parametrize("by", ["kim", None, b"key"])
def test_who_signs_is_a_key_and_not_a_name(memory: Memory, by: Any) -> None:
    with pytest.raises(UsageError, match=f"this is {type(by).__name__}") as refused:
        memory.review("test-db", "approve", by=by)
    assert "open_reviewer" in refused.value.remedy


def test_the_only_reviewers_key_needs_no_name_and_each_its_passphrase(memory: Memory) -> None:
    with pytest.raises(NotFoundError, match="no reviewer's key"):
        open_reviewer()
    reviewer("kim")
    assert open_reviewer(passphrase=PASSPHRASE).name == f"{REVIEWER}kim"
    for passphrase in (None, "wrong"):
        with pytest.raises(AccessDenied):
            open_reviewer("kim", passphrase=passphrase)
    with pytest.raises(NotFoundError, match="mina"):
        open_reviewer("mina", passphrase=PASSPHRASE)
    reviewer("mina", None)
    assert open_reviewer("mina").name == f"{REVIEWER}mina"
    with pytest.raises(UsageError, match="kim, mina"):
        open_reviewer()
