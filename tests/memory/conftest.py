"""Fixtures of the facade's tests."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from tests.support import ROOT, Bench, bench_at

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from indelible.memory import Memory

CASES = os.path.join(ROOT, "tests", "vectors", "cases")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A store without anything in it; `bench.memory(create=True)` makes it."""
    made = bench_at(tmp_path)
    yield made
    made.close()


@pytest.fixture
def memory(bench: Bench) -> Memory:
    """An agent's memory in a new store."""
    return bench.memory(create=True)


@pytest.fixture(scope="session")
def case():
    """`case("int_crlf.md")`: the bytes of a field case's fixture."""

    def read(name: str) -> bytes:
        with open(os.path.join(CASES, name), "rb") as file:
            return file.read()

    return read


@pytest.fixture(scope="session")
def odd_keys() -> dict[str, list[str]]:
    """Keys that broke other products, by how: `query`, `lookalike`, `escape`."""
    with open(os.path.join(CASES, "key_list_open.json"), encoding="utf-8") as file:
        return dict(json.load(file))
