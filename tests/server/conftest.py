"""Fixtures of the server's tests: servers are shared by the tests of a module where nothing is tampered with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import pytest
from tests.serving import Served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Serve(Protocol):
    def __call__(self, **options: Any) -> Served: ...


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """`serve(limit=…)` starts a server of the test's own."""
    made: list[Served] = []

    def start(**options: Any) -> Served:
        made.append(Served(tmp_path / f"served{len(made)}", options).start())
        return made[-1]

    yield start
    for served in made:
        served.stop()


@pytest.fixture
def served(serve: Serve) -> Served:
    """A server of the test's own."""
    return serve()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server for a whole module; each test has its own agent or its own keys."""
    served = Served(tmp_path_factory.mktemp("shared"), {}).start()
    yield served
    served.stop()
