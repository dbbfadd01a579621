"""Fixtures of the workflow's tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.stepping.sites import Site, site_at

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Run


@pytest.fixture
def site(run: Run, home: Path) -> Site:
    """A checkout with laws and an approver's key."""
    return site_at(run, home)
