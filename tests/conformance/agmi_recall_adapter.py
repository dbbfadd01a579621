"""The public suite's retrieval attacks on Indelible: each user an agent of one store, asked by `recall`.

Where a text comes from is said by whoever hands it in, as the suite means it: who holds the writer's key is the agent,
and its own text; who does not can only hand text in from outside, whatever label is on it.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agmi.adapters.semantic_base import MemoryItem, Retrieved, SemanticMemoryAdapter
from agmi.signing import KEYRING
from tests.support import Bench, bench_at

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
        tags = tuple(f"{name}={value}" for name, value in item.metadata.items())
        memory.save(key, content, origin="agent" if ours else "external", tags=tags)

    def retrieve(self, query: str, user_id: str, k: int = 5) -> list[Retrieved]:
        return self.retrieve_where(query, user_id, {}, k)

    def retrieve_where(self, query: str, user_id: str, where: dict[str, Any], k: int = 5) -> list[Retrieved]:
        tags = [f"{name}={value}" for name, value in where.items()]
        found = self._memory(user_id).recall(query, limit=k, tags=tags)
        return [Retrieved(one.content.decode(), user_id) for one in found.delivered]

    def _memory(self, user: str) -> Memory:
        if user not in self._memories:
            self._memories[user] = Bench(self._root, user).memory(create=True)
        return self._memories[user]
