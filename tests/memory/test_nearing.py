"""Vectors beside the words: of one embedder at a time, made of verified texts, and never in the way of recall."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

import numpy as np
import pytest

from indelible.errors import EmbedderFailed
from indelible.memory import nearing
from indelible.memory.indexing import index_folder
from indelible.recall import vectorshelf
from indelible.recall.embed import Maker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.support import Bench

    from indelible.memory import Memory
    from indelible.recall.embed import Vectors

MEANT = {"whale": "sea", "ocean": "sea", "deploy": "ship", "release": "ship", "tea": "drink", "coffee": "drink"}


class Toy:
    """Words that mean the same point the same way."""

    def __init__(self, size: int, name: str = "toy") -> None:
        self.maker = Maker(name, size, "")
        self.asked = 0
        self.fails = False

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        if self.fails:
            raise EmbedderFailed("The toy is broken")
        self.asked += len(texts)
        rows = np.array([self._row(text) for text in texts], np.float32)
        made: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return made

    def _row(self, text: str) -> np.ndarray:
        row = np.full(self.maker.size, 0.01)
        for word in text.lower().split():
            meant = MEANT.get(word, word)
            seed = int.from_bytes(hashlib.sha256(meant.encode()).digest()[:4], "little")
            row += np.random.default_rng(seed).standard_normal(self.maker.size) * (3 if word in MEANT else 1)
        return row

    def close(self) -> None:
        pass


def opened(bench: Bench, toy: Toy, *, create: bool = False) -> Memory:
    memory = bench.memory(create=create)
    memory._embedder = lambda: toy
    return memory


@pytest.fixture
def toy() -> Toy:
    return Toy(64)


@pytest.fixture
def memory(bench: Bench, toy: Toy) -> Memory:
    made = opened(bench, toy, create=True)
    made.save("sea", b"a whale was seen")
    made.save("cup", b"tea is in the cupboard")
    for number in range(18):
        made.save(f"note-{number}", f"drawer {number} holds ledger {number * 7}".encode())
    return made


def keys(memory: Memory, query: str) -> list[str]:
    return [one.key for one in memory.recall(query).delivered]


def test_a_question_in_other_words_is_answered(memory: Memory) -> None:
    found = memory.recall("ocean")
    assert found.delivered[0].key == "sea"
    assert found.why[0].channels.nearness > 0
    assert found.why[0].channels.words == 0


def test_each_memory_is_embedded_once_and_a_new_version_anew(bench: Bench, memory: Memory, toy: Toy) -> None:
    keys(memory, "ocean")
    asked = toy.asked
    keys(memory, "ocean")
    assert toy.asked == asked + 1
    memory.save("sea", b"coffee was spilt")
    assert keys(memory, "ocean")[:1] != ["sea"]
    assert toy.asked == asked + 3
    with opened(bench, toy) as other:
        keys(other, "ocean")
    assert toy.asked == asked + 4


@pytest.mark.parametrize("other", [Toy(128), Toy(64, "another")])
def test_another_embedder_is_named_words_go_on_and_reindex_restores(bench: Bench, memory: Memory, other: Toy) -> None:
    """O-SRCH-04."""
    keys(memory, "ocean")
    before = {key: memory.fetch(key).sha256 for key in ("sea", "cup", "note-3")}
    with opened(bench, other) as changed:
        found = changed.recall("whale ocean")
        assert [one.key for one in found.delivered] == ["sea"]
        assert "'toy' with 64 dimensions" in found.warnings[0]
        assert f"'{other.maker.name}' with {other.maker.size} dimensions" in found.warnings[0]
        assert "reindex" in found.warnings[0]
        assert changed.reindex().memories == 20
        found = changed.recall("ocean")
        assert (found.delivered[0].key, found.warnings) == ("sea", ())
        assert {key: changed.fetch(key).sha256 for key in before} == before


def test_an_embedder_that_is_not_to_be_had_is_a_warning(memory: Memory, toy: Toy) -> None:
    toy.fails = True
    found = memory.recall("whale")
    assert [one.key for one in found.delivered] == ["sea"]
    assert "The toy is broken" in found.warnings[0]
    assert "No vectors were made" in memory.reindex().warnings[0]


def test_many_memories_without_a_vector_are_told_and_not_waited_for(
    memory: Memory, toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nearing, "AT_ONCE", 5)
    found = memory.recall("whale")
    assert "20 memories have no vector yet" in found.warnings[0]
    assert toy.asked == 1
    memory.reindex()
    assert memory.recall("ocean").warnings == ()


@pytest.mark.parametrize("fault", ["cut", "altered", "gone"])
def test_a_damaged_matrix_is_made_again(
    bench: Bench, memory: Memory, toy: Toy, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.setattr(vectorshelf, "FEW", 4)
    keys(memory, "ocean")
    path = os.path.join(index_folder(memory.follower), vectorshelf.FILE)
    memory.end_index()
    if fault == "gone":
        os.unlink(path)
    else:
        with open(path, "r+b") as file:
            file.truncate(200) if fault == "cut" else (file.seek(-20, 2), file.write(b"\xff" * 9))
    assert keys(memory, "ocean")[0] == "sea"


def test_a_vector_of_what_was_erased_is_gone(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectorshelf, "FEW", 4)
    keys(memory, "ocean")
    memory.erase("sea")
    finder = memory.indexed.finder
    assert 0 not in finder.nearing.shelf.matrix(Maker("toy", 64, "")).seqs.tolist()
    assert "sea" not in keys(memory, "ocean")
