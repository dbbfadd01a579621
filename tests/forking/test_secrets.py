"""A child is told nothing that is a person's."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Run


def test_a_child_does_not_learn_where_a_passphrase_lies(run: Run, home: Path) -> None:
    ran = run("fork", "look", "--", "env", env={"INDELIBLE_PASSPHRASE_FILE": str(home / "secret-place")})
    assert ran.code == 0, ran
    shown = run("forks", "show", "look")
    assert b"PATH=" in shown.stdout
    assert b"secret-place" not in shown.stdout
