"""One comparison: read, compare, hold against the past, find what crossed, and remember."""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING

from indelible.comparing.crossing import ALARMED, MEETINGS, Crossings
from indelible.comparing.gathering import agents_of, gather
from indelible.comparing.report import Compared, Report, Side
from indelible.errors import IntegrityError, UsageError
from indelible.recall import alarm, bands, history, ngrams, overlap
from indelible.store.follower import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from indelible.comparing.gathering import Gathered
    from indelible.recall.bands import Calibration
    from indelible.recall.history import Past
    from indelible.recall.ngrams import Embed
    from indelible.recall.overlap import Pair
    from indelible.settings import Settings

PASSAGES = 5
"""Passages of a pair that are told, unless otherwise asked."""


def compare(
    settings: Settings, agents: Iterable[str] = (), *, now: str, embed: Embed | None = None, embedder: str = "",
    passages: int = PASSAGES, advance: Callable[[int, int], None] = lambda _done, _total: None,
    show: Callable[[Crossings, Report], None] | None = None,
) -> Report:  # fmt: skip
    """Compare the memories of agents of the store that the settings name, and remember what came of it.

    Args:
        agents: by default all that the store holds.
        now: RFC 3339 UTC.
        embed: makes vectors of texts; without it they are of n-grams.
        embedder: its name and version: a past with another one is not compared with.
        passages: how many of each pair are told; of a pair in alarm four times as many.
        show: called with what can read the passages' texts while it is open, for a person at a terminal.

    Raises:
        NotFoundError: there is no store, or a named agent has no log in it. UsageError: no embedder's name, or a bad one's vectors.
        IndelibleError: a named agent cannot be read; the history cannot be read or added to.
    """
    if embed is not None and not embedder:
        raise UsageError(
            "A model without a name: its vectors could not be told from another's", remedy="Name it in `embedder`"
        )
    named = tuple(sorted(set(agents)))
    gathered = gather(settings, named or agents_of(settings), named=bool(named), embed=embed, advance=advance)
    path = history_path(settings)
    kept = history.load(path)
    report = _judged(gathered, kept.lines, now, embedder if embed is not None else ngrams.NAME)
    report = report._replace(problems=kept.problems)
    with Crossings(settings, gathered) as crossings:
        report = _with_passages(report, crossings, passages)
        if show is not None:
            show(crossings, report)
    fresh = report.history[len(report.history) - len(report.compared) :]
    # A run that could not read everything would make a past of what somebody did to the store.
    if fresh and not report.findings and not any(_is_same(one, fresh[0]) for one in kept.lines[-len(fresh) :]):
        history.append(path, fresh)
    return report


def history_path(settings: Settings) -> str:
    """Where the comparisons of a store are remembered."""
    return os.path.join(settings.state_dir, "similarity", f"{name_of(settings.store, settings.team)}.jsonl")


def _judged(gathered: Gathered, past: tuple[Past, ...], now: str, vectors: str) -> Report:
    made = overlap.vectors(gathered.profiles)
    pairs = overlap.compare(gathered.profiles, made)
    scale = bands.calibrate(made, pairs)
    sides = tuple(Side(one.agent, one.memories, one.words) for one in gathered.profiles)
    among = sha256("\0".join(one.agent for one in sides).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    compared, lines = [], []
    for pair in pairs:
        line = _line(pair, scale, now, gathered.of, among, vectors)
        own = [one for one in past if (one.a, one.b) == (pair.a, pair.b)]
        levels = alarm.levels(own, of=gathered.of, among=among, vectors=vectors)
        likeness = scale.likeness(pair.cosine)
        compared.append(Compared(pair, likeness, bands.band(likeness), levels, alarm.judge(line, levels, pair.shared)))
        lines.append(line)
    names = {one.agent for one in sides}
    before = tuple(one for one in past if {one.a, one.b} <= names and not _is_same(one, lines[0]))
    return Report(
        now,
        sides,
        tuple(compared),
        scale,
        vectors,
        made.is_centred,
        gathered.findings,
        gathered.unread,
        (),
        (*before, *lines),
    )


def _line(pair: Pair, scale: Calibration, now: str, of: str, among: str, vectors: str) -> Past:
    cosine = None if pair.cosine is None else round(pair.cosine, 6)
    likeness = scale.likeness(pair.cosine)
    return history.Past(
        now, of, among, vectors, pair.a, pair.b, cosine, None if likeness is None else round(likeness, 6),
        round(pair.a_in_b, 6), round(pair.b_in_a, 6),
    )  # fmt: skip


def _with_passages(report: Report, crossings: Crossings, limit: int) -> Report:
    """With the passages of each pair; a memory that is found altered on the way is a finding like any other."""
    before = {(one.a, one.b): one.at for one in report.history if one.at < report.at}
    compared, findings = [], list(report.findings)
    for one in report.compared:
        pair = one.pair
        try:
            found, left_out = crossings.between(
                pair.a,
                pair.b,
                limit=limit * (4 if one.alarms else 1),
                newer=before.get((pair.a, pair.b), ""),
                meetings=ALARMED if one.alarms else MEETINGS,
            )
        except IntegrityError as finding:
            findings.append(finding)
            found, left_out = (), 0
        compared.append(one._replace(passages=found, left_out=left_out))
    return report._replace(compared=tuple(compared), findings=tuple(findings))


def _is_same(one: Past, other: Past) -> bool:
    return (one.of, one.among, one.vectors) == (other.of, other.among, other.vectors)
