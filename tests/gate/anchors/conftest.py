"""A repository of its own for each test."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from tests.gate.anchors.checkouts import Checkout, checkout_in

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def app(home: Path) -> Checkout:
    if not shutil.which("git"):
        pytest.skip("needs git")
    return checkout_in(home / "work" / "app")
