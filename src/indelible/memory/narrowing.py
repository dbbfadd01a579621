"""What a query is narrowed to before anything is ranked: a mask over what the index holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indelible.record.rules import instant

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indelible.recall.index import Index

STATE = "task_state"
"""The kind of a state directory's slots: a waking agent has read them, and is given them here if it asks for that kind alone."""
_SAVED, _FROM, _UNTIL, _EXPIRES = range(4)


class Wanted(NamedTuple):
    """What a memory has to be; nothing said, nothing asked."""

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


def mask_of(wanted: Wanted, index: Index) -> NDArray[np.bool_] | None:
    """(n,) bool, aligned with `index.seqs`, which are of the prefix already; None where nothing is asked.

    Raises:
        UsageError: a time that is none.
    """
    hides = STATE not in wanted.kinds and f"kind:{STATE}" in index.labels("kind:")
    if wanted == Wanted() and not hides:
        return None
    mask = ~index.labelled(f"kind:{STATE}") if hides else np.ones(len(index.seqs), np.bool_)
    for tag in wanted.tags:
        mask &= index.labelled(f"tag:{tag}")
    for name, several in (("kind", wanted.kinds), ("level", wanted.levels)):
        if several:
            mask &= np.logical_or.reduce([index.labelled(f"{name}:{one}") for one in several])
    if wanted.since:
        mask &= index.times[:, _SAVED] >= instant(wanted.since) / 10**9
    if wanted.until:
        mask &= index.times[:, _SAVED] < instant(wanted.until) / 10**9
    return mask


def unexpired(index: Index, now: str) -> NDArray[np.bool_]:
    """(n,) bool: what has not expired by then."""
    found: NDArray[np.bool_] = index.times[:, _EXPIRES] > instant(now) / 10**9
    return found
