"""Recall in its two stages, kept apart: the index proposes entries, then each is fetched, verified and judged like any other read.

What a query is narrowed to comes before the ranking. What the gate holds takes no place from what it hands over: the walk down
the ranking goes on until enough applies, and what was held for its scope or its expiry leaves the ranking with all its like.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import IntegrityError, NotFoundError, UsageError
from indelible.memory.indexing import scope_label
from indelible.memory.judging import judged, noted
from indelible.memory.narrowing import mask_of, unexpired
from indelible.memory.results import Held
from indelible.memory.standing import standing
from indelible.recall.crowds import Settled, settle
from indelible.recall.spelling import may_mean
from indelible.recall.tokens import QUESTION

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from indelible.gate.context import Context
    from indelible.memory.finding import Advance, Finder
    from indelible.memory.gating import Gate
    from indelible.memory.judging import Judged
    from indelible.memory.narrowing import Wanted
    from indelible.memory.reading import Reader
    from indelible.memory.results import Loaded
    from indelible.recall.index import Channels, Hit, Index
    from indelible.recall.vectors import Floats

FIRST = 12
"""Candidates that are looked at first, and twice as many as are wanted; each further look is at STEP times as many."""
STEP = 4
MOST = 10_000
"""Candidates that are judged for one query. More that are all held, and no kind of them alike, is a question to narrow."""
_ELSEWHERE = frozenset({"scope", "permission"})
"""Reasons that lie in a memory's scope and the reader alone: what has the very same scope is held for the same."""
_EXPIRED = "expiry"


class Why(NamedTuple):
    """How a memory came to its place."""

    score: float
    channels: Channels
    gap: float | None
    """By how much the score is above that of the next candidate; None for the last one."""
    similar: tuple[str, ...] = ()
    """Keys of memories that were as near, and are nearly the same text: not merged, and not handed over before others."""


class Recalled(NamedTuple):
    """What a query led to."""

    delivered: tuple[Loaded, ...]
    """Best first, each with its verdict."""
    held: tuple[Held, ...]
    """Candidates that were as near, and are held."""
    findings: tuple[IntegrityError, ...]
    """Memories that are not what was sealed, and so are none."""
    why: tuple[Why, ...] = ()
    """Of each that was delivered."""
    withheld: int = 0
    """Candidates that were held, those in `held` included; more of the same scope, or expired, may not have been looked at."""
    warnings: tuple[str, ...] = ()
    """What to say aloud of the index."""


def recall(
    reader: Reader, query: str, *, limit: int, wanted: Wanted, gate: Gate, advance: Advance | None = None
) -> Recalled:
    """As `Memory.recall`.

    Raises:
        UsageError: a limit below 1. IntegrityError: the log cannot be followed.
    """
    if limit < 1:
        raise UsageError(f"A limit of {limit} memories gives none", remedy="Use a limit of 1 or more")
    finder = reader.indexed.finder
    index = finder.refresh(advance)
    if wanted.prefix:  # so that no score tells how often a word is in what may not be read
        index = finder.under(wanted.prefix)
    nearness, warnings = finder.nearing.nearness(query, index, advance)
    walk = _Walk(reader, gate, query, limit, mask_of(wanted, index))
    walk.down(finder, index, nearness)
    delivered, held = walk.handed_over()
    findings = (*walk.findings, *finder.still_broken(walk.seen, wanted.prefix))
    return Recalled(
        tuple(one for one, _ in delivered), tuple(held), findings, tuple(why for _, why in delivered), len(walk.kept),
        (*finder.take_warnings(), *warnings, *walk.warnings),
    )  # fmt: skip


class _Candidate(NamedTuple):
    """A memory that was found, verified, and judged."""

    loaded: Loaded
    judged: Judged
    why: Why

    @property
    def text(self) -> str:
        return self.loaded.content.decode("utf-8", "replace")


class _Walk:
    """One way down the ranking. Lives as long as the call."""

    def __init__(self, reader: Reader, gate: Gate, query: str, limit: int, allowed: NDArray[np.bool_] | None) -> None:
        self._reader, self._gate, self._query, self._limit, self._allowed = reader, gate, query, limit, allowed
        self._context: Context = gate.context(reader.agent, reader.now())
        self.seen: set[int] = set()
        self.apply: list[_Candidate] = []
        self.kept: list[_Candidate] = []
        self.findings: list[IntegrityError] = []
        self.warnings: list[str] = []
        self._settled = Settled((), 0, ())
        self._settled_of = 0
        """So many of those that apply were there to be settled."""

    def down(self, finder: Finder, index: Index, nearness: Floats | None) -> None:
        """Look at candidates until enough of them apply, or there are no more."""
        size = FIRST + 2 * self._limit
        while True:
            hits = index.query(self._query, limit=size, allowed=self._allowed, nearness=nearness)
            like: set[str] = set()
            for hit, following in pairwise((*hits, None)):
                like |= self._look(finder, hit, following)
            exhausted = len(hits) < size and not like
            if exhausted or self._enough():
                return
            if len(self.seen) >= MOST:
                self.warnings.append(
                    f"The {MOST} nearest candidates are held; narrow the query to find what applies behind them"
                )
                return
            self._leave_out(index, like)
            size = size if like else size * STEP

    def _leave_out(self, index: Index, like: set[str]) -> None:
        """Once one was held for where it applies, or as expired, all that are held for the very same leave the ranking."""
        for label in like - {_EXPIRED}:
            self._narrow(~index.labelled(label))
        if _EXPIRED in like:
            self._narrow(unexpired(index, self._context.now))

    def _narrow(self, mask: NDArray[np.bool_]) -> None:
        self._allowed = mask if self._allowed is None else self._allowed & mask

    def _look(self, finder: Finder, hit: Hit | None, following: Hit | None) -> set[str]:
        """Fetch, verify and judge one candidate; gives what it was held for, if all its like are held for that."""
        live = finder.present.get(hit.seq) if hit is not None else None
        if hit is None or live is None or hit.seq in self.seen:
            return set()
        self.seen.add(hit.seq)
        try:
            loaded = self._reader.fetch(live.key)
            if loaded.latest.state != "active" and standing(self._reader, loaded).state != "active":
                return set()
            found = judged(self._reader, loaded, policy=self._gate.policy, context=self._context)
        except NotFoundError:
            return set()  # erased since
        except IntegrityError as finding:
            self.findings.append(finding)
            return set()
        gap = hit.score - following.score if following is not None else None
        candidate = _Candidate(loaded, found, Why(hit.score, hit.channels, gap))
        if _by_grams_alone(hit) and not may_mean(self._query[:QUESTION], candidate.text):
            return set()
        if not found.verdict.held:
            self.apply.append(candidate)
            return set()
        self.kept.append(candidate)
        return _shared_reasons(candidate)

    def _enough(self) -> bool:
        return len(self.apply) >= self._limit and self._order().fair >= self._limit

    def _order(self) -> Settled:
        """In which order those that apply are handed over."""
        if self._settled_of != len(self.apply):
            self._settled, self._settled_of = self._settle(self.apply), len(self.apply)
        return self._settled

    def _settle(self, some: list[_Candidate]) -> Settled:
        return settle(self._query, [one.text for one in some], self._limit)

    def handed_over(self) -> tuple[list[tuple[Loaded, Why]], list[Held]]:
        """Write down and hand over the best of both: those that apply, and those that are held."""
        delivered, held = [], []
        best = (self.apply[place] for place in self._order().places)
        similar = self._similar()
        for one in (*best, *(self.kept[place] for place in self._settle(self.kept).places)):
            answer = noted(one.judged, one.loaded, self._gate)
            if isinstance(answer, Held):
                held.append(answer)
            else:
                delivered.append((answer, one.why._replace(similar=similar.get(answer.key, ()))))
        return delivered, held

    def _similar(self) -> dict[str, tuple[str, ...]]:
        """Of each that is handed over first, by key, those that are nearly the same."""
        order = self._order()
        named = zip(order.places, order.twins, strict=False)
        return {
            self.apply[place].loaded.key: tuple(self.apply[twin].loaded.key for twin in twins)
            for place, twins in named
            if twins
        }


def _by_grams_alone(hit: Hit) -> bool:
    """Whether nothing but character n-grams speaks for it: of those a long text has nearly all."""
    return hit.channels.grams > 0 and not (hit.channels.words or hit.channels.near or hit.channels.nearness > 0)


def _shared_reasons(held: _Candidate) -> set[str]:
    """The label of its scope, if it is held for that; `expiry`, if it is held for that."""
    slugs = set(held.judged.verdict.slugs)
    where = {scope_label(json.loads(held.loaded.body).get("scope"))} if slugs & _ELSEWHERE else set()
    return where | (slugs & {_EXPIRED})
