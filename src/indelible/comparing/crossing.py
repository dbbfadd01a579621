"""The passages that two agents share: where each stands on both sides, and since when, by the two logs.

Both sides are read as any memory is, and verified. When a passage came into a memory is told by its versions: the newest one that
has it, and before that each that has it still. Times are those of the logs' entries, which each agent's own clock made.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import numpy as np

from indelible import wiring
from indelible.comparing.report import Passage, Place
from indelible.errors import IntegrityError, NotFoundError
from indelible.memory.results import Held
from indelible.recall import codepoints, shingles

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from indelible.comparing.gathering import Gathered
    from indelible.memory import Memory
    from indelible.memory.results import Loaded
    from indelible.recall.codepoints import Text
    from indelible.recall.overlap import Profile
    from indelible.settings import Settings

WORDS = 8
"""A shorter one is a figure of speech."""
MEETINGS, ALARMED = 20, 200
"""Pairs of memories of two agents that are looked into, those first that share most; and of two agents in alarm."""
VERSIONS = 32
"""How far back in its versions a passage is looked for."""
DOOR = "similarity"


class Crossings:
    """Use it in a `with` statement: it keeps the memories that it opened."""

    def __init__(self, settings: Settings, gathered: Gathered) -> None:
        self._settings, self._memories = settings, gathered.memories
        self._profiles = {one.agent: one for one in gathered.profiles}
        self._open: dict[str, Memory] = {}
        self._texts: dict[tuple[str, str, int], tuple[Loaded, Text]] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def between(
        self, a: str, b: str, *, limit: int, newer: str = "", meetings: int = MEETINGS
    ) -> tuple[tuple[Passage, ...], int]:
        """`(passages, left_out)`: those that are newer than a time first, then the longest.

        Args:
            meetings: pairs of memories that are looked into.

        Raises:
            IntegrityError: a side is not what was sealed any more.
        """
        if not limit:
            return (), 0
        found = sorted(
            self._candidates(self._profiles[a], self._profiles[b], newer, meetings), key=lambda one: (-one.words, one)
        )
        dated = [self._dated(one) for one in found[: 4 * limit]]
        dated.sort(key=lambda one: (bool(newer) and not one.is_newer(newer), -one.words))
        return tuple(dated[:limit]), max(0, len(found) - limit)

    def text(self, passage: Passage) -> bytes | None:
        """The words of a passage, out of a memory that is handed over to this reader; None where both are held."""
        for place in (passage.a, passage.b):
            given = self._memory(place.agent).deliver(place.key, place.version, door=DOOR)
            if not isinstance(given, Held):
                return given.content[place.offset : place.offset + place.length]
        return None

    def _candidates(self, one: Profile, other: Profile, newer: str, limit: int) -> list[Passage]:
        fresh = self._fresh(one.agent, newer), self._fresh(other.agent, newer)
        passages = []
        for left, right, count in shingles.meetings(one.shingles, other.shingles, limit, fresh):
            if count >= WORDS - shingles.WEIGHT // codepoints.FULL + 1:
                passages += self._shared(self._named(one.agent, left), self._named(other.agent, right))
        return passages

    def _fresh(self, agent: str, newer: str) -> NDArray[np.bool_]:
        """Which of an agent's memories were saved since."""
        return np.array([at > newer for _, _, at in self._memories[agent]], np.bool_)

    def _named(self, agent: str, number: int) -> tuple[str, str, int]:
        key, version, _ = self._memories[agent][number]
        return agent, key, version

    def _shared(self, one: tuple[str, str, int], other: tuple[str, str, int]) -> list[Passage]:
        left, right = self._read(*one)[1], self._read(*other)[1]
        return [
            Passage(_place(one, left, run.left), _place(other, right, run.right), run.words)
            for run in shingles.passages(left, right)
            if run.words >= WORDS
        ]

    def _dated(self, passage: Passage) -> Passage:
        return passage._replace(a=self._since(passage.a), b=self._since(passage.b))

    def _since(self, place: Place) -> Place:
        """With the first of the unbroken row of versions that have the passage."""
        loaded, _ = self._read(place.agent, place.key, place.version)
        words = loaded.content[place.offset : place.offset + place.length]
        memory = self._memory(place.agent)
        saved = [one for one in memory.history(place.key) if one.content is not None and one.version <= place.version]
        first = saved[0]
        for one in saved[1:VERSIONS]:
            try:
                if words not in memory.fetch(place.key, one.version).content:
                    break
            except (IntegrityError, NotFoundError):  # erased; a broken old version is for the audit to say
                break
            first = one
        return place._replace(since=first.at, first_version=first.version)

    def _read(self, agent: str, key: str, version: int) -> tuple[Loaded, Text]:
        named = (agent, key, version)
        if named not in self._texts:
            loaded = self._memory(agent).fetch(key, version)
            self._texts[named] = loaded, codepoints.read(loaded.content)
        return self._texts[named]

    def _memory(self, agent: str) -> Memory:
        if agent not in self._open:
            self._open[agent] = self._stack.enter_context(wiring.open_memory(self._settings, agent=agent, door=DOOR))
        return self._open[agent]


def _place(named: tuple[str, str, int], text: Text, span: tuple[int, int]) -> Place:
    start = text.byte(span[0])
    return Place(*named, start, text.byte(span[1]) - start, "", 0)
