"""Fixtures of the state directory's tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.cli.conftest import plain_user
from tests.keeping.desks import Desk, desk_at
from tests.store.conftest import strace

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Run

__all__ = ["plain_user", "strace"]


@pytest.fixture
def bare(home: Path, run: Run) -> Desk:
    """A repository with laws and nothing else."""
    return desk_at(home, home / "work", run)


@pytest.fixture
def desk(bare: Desk) -> Desk:
    """A repository with the five files of the public cases."""
    bare.fill()
    return bare
