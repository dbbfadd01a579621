"""Fixtures of the audit's tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.audit.stores import copy_of, fill

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support import Bench


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """The store of `fill`, made once. Nobody may change it."""
    return fill(tmp_path_factory.mktemp("filled"))


@pytest.fixture
def bench(filled: Bench, tmp_path: Path) -> Iterator[Bench]:
    """A copy of it to do with as one likes."""
    copied = copy_of(filled, tmp_path)
    yield copied
    copied.close()
