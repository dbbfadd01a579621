"""Fixtures of the workflow's tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.cli.hands import git
from tests.keeping.conftest import bare
from tests.stepping.flows import Place
from tests.stepping.sites import Site, site_at

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Run
    from tests.keeping.desks import Desk

__all__ = ["bare"]


@pytest.fixture
def site(run: Run, home: Path) -> Site:
    """A checkout with laws and an approver's key."""
    return site_at(run, home)


@pytest.fixture
def place(bare: Desk, home: Path, run: Run) -> Place:
    """A repository with laws and one commit, and the workflow that is built in."""
    (bare.work / "a.txt").write_text("one\n")
    git(bare.work, "add", "-A")
    git(bare.work, "commit", "-q", "-m", "first")
    return Place(run, home, bare.work)
