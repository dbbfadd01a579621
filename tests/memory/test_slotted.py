"""The open slots of a state directory: read in one look, verified, and only those of this very namespace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from indelible.errors import IntegrityError
from indelible.memory.slotted import read_pinned_slots

if TYPE_CHECKING:
    from tests.support import Bench

    from indelible.memory import Memory


def names(memory: Memory, namespace: str = "state") -> list[str]:
    return [found.slot.name for found in memory.slots(namespace)]


def fill(memory: Memory) -> None:
    memory.save("state/99_next_action.md", b"Current Target: 1\n")
    memory.save("state/00_governance.md", b"# Governance\n")
    memory.save("state/worktree/one/00_governance.md", b"# Governance of another\n")
    memory.save("state/notes.md", b"no slot\n")
    memory.save("states/00_governance.md", b"no slot either\n")


def test_slots_come_in_the_order_of_their_names_and_nothing_else_does(memory: Memory) -> None:
    fill(memory)
    assert names(memory) == ["00_governance.md", "99_next_action.md"]
    assert names(memory, "state/worktree/one") == ["00_governance.md"]
    assert [found.loaded.content for found in memory.slots("state")] == [b"# Governance\n", b"Current Target: 1\n"]


def test_where_nothing_is_new_the_log_is_not_followed(bench: Bench, memory: Memory) -> None:
    fill(memory)
    found = read_pinned_slots(memory.store, memory.follower, memory.agent, "state", "")
    assert found is not None
    assert [one.slot.name for one in found.slots] == ["00_governance.md", "99_next_action.md"]


def test_a_memory_without_a_log_has_no_slots(memory: Memory) -> None:
    assert memory.slots("state") == ()


@pytest.mark.parametrize("sql", [
    "UPDATE record SET content = CAST('# Governance: commit at will' AS BLOB) WHERE id = {}",
    "DELETE FROM record WHERE id = {}",
])  # fmt: skip
def test_a_slot_that_was_altered_in_the_store_is_not_given(sql: str, bench: Bench, memory: Memory) -> None:
    fill(memory)
    bench.sql(sql.format(bench.row_id(1)))
    with pytest.raises(IntegrityError):
        memory.slots("state")
