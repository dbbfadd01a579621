"""A fresh home and a seeded repository in it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from tests.workflow.change.trees import Tree, new_tree

if TYPE_CHECKING:
    from pathlib import Path


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "workflow/change" in item.nodeid and not shutil.which("git"):
            item.add_marker(pytest.mark.skip(reason="needs git"))


@pytest.fixture
def tree(home: Path) -> Tree:
    """The repository that the cases' scenarios start from."""
    return new_tree(home / "work" / "tree").seed()
