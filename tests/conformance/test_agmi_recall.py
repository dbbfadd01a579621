"""The six retrieval attacks of the public suite, on all its channels, as they stand and reworded by the suite.

What comes without the writer's key never reaches an agent. What comes with it is only what a reader of texts can tell: there
at least as much is kept out, fixture by fixture, as by the suite's own defended reference.
"""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any

import pytest
from agmi.adapters.defended_memory import DefendedMemoryAdapter
from agmi.attacks.memory_specific import ALL_MEMORY_ATTACKS
from tests.conformance.agmi_recall_adapter import RecallAdapter

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = 5
SHARED_MEMORY = "/dev/shm"
WHOLLY_KEPT_OUT = {"retrieval_hijack", "indirect_prompt_injection", "cross_session_bleed"}
"""Attacks that a check of the text alone can meet; the other three plant a plausible fact in the writer's own name."""


def _channels(adapter: Any, attack: Callable[..., Any], *, mutate: bool) -> dict[str, list[bool | None]]:
    """Channel to whether the attacker's text surfaced, fixture by fixture."""
    result = attack(mutate=mutate).run(adapter)
    adapter.close()
    assert result.channels, result
    return dict(result.channels)


@pytest.fixture(autouse=True)
def _in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of stores are made and thrown away: none needs a disk."""
    if os.path.isdir(SHARED_MEMORY):
        monkeypatch.setattr(tempfile, "tempdir", SHARED_MEMORY)


@pytest.mark.parametrize("mutate", [False, True], ids=["plain", "mutated"])
@pytest.mark.parametrize("attack", ALL_MEMORY_ATTACKS, ids=lambda attack: attack.name)
def test_the_attackers_memory_does_not_reach_an_agent(attack: Any, mutate: bool) -> None:
    ours = _channels(RecallAdapter(), attack, mutate=mutate)
    reference = _channels(DefendedMemoryAdapter(), attack, mutate=mutate)
    signed = ours.pop("agent-laundered", [])
    assert ours == dict.fromkeys(reference.keys() - {"agent-laundered"}, [False] * FIXTURES)
    for got, theirs in zip(signed, reference.get("agent-laundered", []), strict=True):
        assert got is False or theirs is not False
    if attack.name in WHOLLY_KEPT_OUT:
        assert True not in signed
        assert None not in signed
