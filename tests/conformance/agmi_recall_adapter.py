"""The public suite's retrieval attacks on Indelible: each user an agent of one store, asked by `recall`.

Where a text comes from is said by whoever hands it in, as the suite means it: who holds the writer's key saves as the
user; who does not can only hand text in from outside, whatever label is on it.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agmi.adapters.semantic_base import MemoryItem, Retrieved, SemanticMemoryAdapter
from agmi.signing import KEYRING
from tests.support import NOW, Bench, bench_at

from indelible.memory.recalling import recall
from indelible.record import Origin, draft

if TYPE_CHECKING:
    from indelible.memory import Memory


class RecallAdapter(SemanticMemoryAdapter):  # type: ignore[misc] # not typed by its authors
    name = "indelible (recall)"

    def __init__(self) -> None:
        self._root, self._memories = "", dict[str, "Memory"]()

    def reset(self) -> None:
        self.close()
        self._root = bench_at(Path(tempfile.mkdtemp(prefix="indelible-recall-"))).root

    def close(self) -> None:
        while self._memories:
            self._memories.popitem()[1].close()
        shutil.rmtree(self._root, ignore_errors=True)

    def add_memory(self, item: MemoryItem) -> None:
        ours = KEYRING.verify(item.user_id, item.source, item.text, item.signature)
        memory, content = self._memory(item.user_id), item.text.encode()
        key = f"note-{memory.list(states=frozenset({'active', 'archived'})).total}"
        origin, tags = (
            Origin(class_="user" if ours else "external"),
            tuple(f"{k}={v}" for k, v in item.metadata.items()),
        )
        first = draft(key, content, agent=item.user_id, author="unknown", now=NOW, random=bytes(10), origin=origin)
        memory.save(key, content, record=lambda _: replace(first, tags=tags))

    def retrieve(self, query: str, user_id: str, k: int = 5) -> list[Retrieved]:
        return self.retrieve_where(query, user_id, {}, k)

    def retrieve_where(self, query: str, user_id: str, where: dict[str, Any], k: int = 5) -> list[Retrieved]:
        found = recall(self._memory(user_id), query, limit=k, tags=[f"{name}={value}" for name, value in where.items()])
        return [Retrieved(one.content.decode(), user_id) for one in found.delivered]

    def _memory(self, user: str) -> Memory:
        if user not in self._memories:
            self._memories[user] = Bench(self._root, user).memory(create=True)
        return self._memories[user]
