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
from indelible.memory.results import Held
from indelible.memory.standing import standing
from indelible.recall.crowds import settle
from indelible.recall.narrowing import Narrow
from indelible.record.rules import instant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indelible.gate.context import Context
    from indelible.memory.finding import Advance, Finder
    from indelible.memory.gating import Gate
    from indelible.memory.judging import Judged
    from indelible.memory.reading import Reader
    from indelible.memory.results import Loaded
    from indelible.recall.index import Channels, Hit, Index

FIRST = 24
"""Candidates that are looked at first; each further look is at STEP times as many."""
STEP = 4
MOST = 10_000
"""Candidates that are judged for one query. More that are all held, and no kind of them alike, is a question to narrow."""
_ELSEWHERE = frozenset({"scope", "permission"})
"""Reasons that lie in a memory's scope and the reader alone: what has the very same scope is held for the same."""
_EXPIRED = "expiry"


class Wanted(NamedTuple):
    """What a query is narrowed to, before anything is ranked."""

    tags: frozenset[str] = frozenset()
    """All of them."""
    prefix: str = ""
    """Of the key."""
    kinds: frozenset[str] = frozenset()
    """One of them: `decision`, `failure`, …"""
    levels: frozenset[str] = frozenset()
    """One of these levels of scope: `repo`, `agent`, …"""
    since: str = ""
    """Saved at this time or later (RFC 3339)."""
    until: str = ""
    """Saved before this time."""


class Why(NamedTuple):
    """How a memory came to its place."""

    score: float
    channels: Channels
    gap: float
    """By how much the score is above that of the next candidate; 0 for the last one."""


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
    finder = reader.finder
    index = finder.refresh(advance)
    walk = _Walk(reader, gate, query, limit, _narrow(finder, wanted))
    walk.down(finder, index)
    delivered, held = walk.handed_over()
    findings = (*walk.findings, *finder.still_broken(walk.seen))
    return Recalled(
        tuple(one for one, _ in delivered), tuple(held), findings, tuple(why for _, why in delivered), len(walk.kept),
        (*finder.take_warnings(), *walk.warnings),
    )  # fmt: skip


def _narrow(finder: Finder, wanted: Wanted) -> Narrow:
    every: list[tuple[str, ...]] = [(f"tag:{tag}",) for tag in sorted(wanted.tags)]
    every += [tuple(f"kind:{kind}" for kind in sorted(wanted.kinds))] if wanted.kinds else []
    every += [tuple(f"level:{level}" for level in sorted(wanted.levels))] if wanted.levels else []
    narrow = Narrow(every=tuple(every))
    if wanted.since:
        narrow = narrow._replace(saved_from=instant(wanted.since) / 10**9)
    if wanted.until:
        narrow = narrow._replace(saved_until=instant(wanted.until) / 10**9)
    return narrow._replace(seqs=finder.present.under(wanted.prefix)) if wanted.prefix else narrow


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

    def __init__(self, reader: Reader, gate: Gate, query: str, limit: int, narrow: Narrow) -> None:
        self._reader, self._gate, self._query, self._limit, self._narrow = reader, gate, query, limit, narrow
        self._context: Context = gate.context(reader.agent, reader.now())
        self.seen: set[int] = set()
        self.apply: list[_Candidate] = []
        self.kept: list[_Candidate] = []
        self.findings: list[IntegrityError] = []
        self.warnings: list[str] = []

    def down(self, finder: Finder, index: Index) -> None:
        """Look at candidates until enough of them apply, or there are no more."""
        size = FIRST + 2 * self._limit
        while True:
            narrow = self._narrow
            hits = index.query(self._query, size, wanted=narrow)
            for hit, following in pairwise((*hits, None)):
                self._look(finder, hit, following)
            exhausted = len(hits) < size and narrow == self._narrow
            if exhausted or self._enough():
                return
            if len(self.seen) >= MOST:
                self.warnings.append(
                    f"The {MOST} nearest candidates are held; narrow the query to find what applies behind them"
                )
                return
            size = size * STEP if narrow == self._narrow else size

    def _look(self, finder: Finder, hit: Hit | None, following: Hit | None) -> None:
        live = finder.present.get(hit.seq) if hit is not None else None
        if hit is None or live is None or hit.seq in self.seen:
            return
        self.seen.add(hit.seq)
        try:
            loaded = self._reader.fetch(live.key)
            if loaded.latest.state != "active" and standing(self._reader, loaded).state != "active":
                return
            found = judged(self._reader, loaded, policy=self._gate.policy, context=self._context)
        except NotFoundError:
            return  # erased since
        except IntegrityError as finding:
            self.findings.append(finding)
            return
        why = Why(hit.score, hit.channels, hit.score - following.score if following is not None else 0.0)
        if found.verdict.held:
            self._narrow = self._without_its_like(found, loaded)
            self.kept.append(_Candidate(loaded, found, why))
        else:
            self.apply.append(_Candidate(loaded, found, why))

    def _without_its_like(self, found: Judged, loaded: Loaded) -> Narrow:
        """Once one was held for where it applies, or as expired, all that are held for the very same leave the ranking."""
        narrow, slugs = self._narrow, set(found.verdict.slugs)
        if slugs & _ELSEWHERE:
            label = scope_label(json.loads(loaded.body).get("scope"))
            narrow = narrow._replace(none=tuple(sorted({*narrow.none, label})))
        if _EXPIRED in slugs and narrow.expires_after is None:
            narrow = narrow._replace(expires_after=instant(self._context.now) / 10**9)
        return narrow

    def _enough(self) -> bool:
        return (
            len(self.apply) >= self._limit
            and settle(self._query, [one.text for one in self.apply], self._limit).fair >= self._limit
        )

    def handed_over(self) -> tuple[list[tuple[Loaded, Why]], list[Held]]:
        """Write down and hand over the best of both: those that apply, and those that are held."""
        delivered, held = [], []
        for one in (*self._best(self.apply), *self._best(self.kept)):
            answer = noted(one.judged, one.loaded, self._gate)
            if isinstance(answer, Held):
                held.append(answer)
            else:
                delivered.append((answer, one.why))
        return delivered, held

    def _best(self, some: list[_Candidate]) -> Iterator[_Candidate]:
        return (some[place] for place in settle(self._query, [one.text for one in some], self._limit).places)
