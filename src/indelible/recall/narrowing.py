"""Which documents a question is put to: decided before anything is ranked."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from indelible.recall.columns import Array
    from indelible.recall.segment import Segment

_SAVED, _FROM, _UNTIL, _EXPIRES = range(4)


class Narrow(NamedTuple):
    """What a document has to be; nothing said, nothing asked."""

    every: tuple[tuple[str, ...], ...] = ()
    """Of each of these sets of labels it has one at least: `(("kind:note",), ("scope:", "scope:<digest>"))`."""
    none: tuple[str, ...] = ()
    """Labels that it has not."""
    at: float | None = None
    """A time, in seconds since 1970, at which it is valid and has not expired."""
    expires_after: float | None = None
    """It has not expired by this time."""
    saved_from: float = -np.inf
    saved_until: float = np.inf
    """It was saved at or after the one and before the other."""
    seqs: tuple[int, ...] | None = None
    """It is one of these."""


def narrow(segment: Segment, wanted: Narrow, live: Array) -> Array:
    """(n,) bool: the live documents that are wanted."""
    mask = live.copy()
    for labels in wanted.every:
        mask &= _having(segment, labels)
    if wanted.none:
        mask &= ~_having(segment, wanted.none)
    times = segment.columns.times
    if wanted.at is not None:
        mask &= (times[_FROM] <= wanted.at) & (wanted.at < times[_UNTIL]) & (wanted.at < times[_EXPIRES])
    if wanted.expires_after is not None:
        mask &= wanted.expires_after < times[_EXPIRES]
    if wanted.saved_from > -np.inf or wanted.saved_until < np.inf:
        mask &= (wanted.saved_from <= times[_SAVED]) & (times[_SAVED] < wanted.saved_until)
    if wanted.seqs is not None:
        named = np.zeros(len(mask), np.bool_)
        named[segment.docs_of(np.array(sorted(set(wanted.seqs)), "<u8"))] = True
        mask &= named
    return mask


def _having(segment: Segment, labels: tuple[str, ...]) -> Array:
    mask = np.zeros(len(segment), np.bool_)
    for label in labels:
        mask[segment.labelled(label)] = True
    return mask
