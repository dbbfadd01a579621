"""Associative memories: from a noisy cue to the pattern that was stored.

    nearest    the store itself, bit by bit: the pattern at the least Hamming distance, which is the maximum-likelihood
               answer to independent bit flips at any rate below one half. What every network is measured against.
    softmax    the modern Hopfield network: Ramsauer et al., "Hopfield Networks is All You Need", ICLR 2021
               (arXiv:2008.02217), equations 1-3, theorems 1-4.
    sparse     the same with sparsemax in place of softmax: Hu et al., "On Sparse Modern Hopfield Model", NeurIPS 2023
               (arXiv:2309.12673); Martins and Astudillo, "From Softmax to Sparsemax", ICML 2016 (arXiv:1602.02068).
    truncated  the softmax over the k best alone, with a bound on what that changes.
    cubic      for comparison: Krotov and Hopfield, "Dense Associative Memory for Pattern Recognition", NeurIPS 2016
               (arXiv:1606.01164), F(x) = x^3.
    classical  for comparison: Hopfield, PNAS 79 (1982), 2554-2558, with Hebb's weights.

Shapes: `n` patterns of `d` components are (n, d); one state or cue is (d,), many are (m, d), and what comes back has the shape
that went in. The networks for comparison take components of +1 and -1 only. Bits are packed, 64 to a u64, (n, w) words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indelible.errors import UsageError
from indelible.light import NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.floating]
    Words = NDArray[np.uint64]

__all__ = [
    "Bound",
    "Retrieval",
    "classical",
    "cubic",
    "distances",
    "energy",
    "hebb",
    "nearest",
    "separation",
    "softmax",
    "sparse",
    "sparsemax",
    "truncated",
]


_MOST = 700.0
"""The largest power of e that a double holds, about."""


class Retrieval(NamedTuple):
    """What a network answers to one cue, or to many."""

    state: Floats
    """The new state, the shape of the cue: the patterns, weighted."""
    weights: Floats
    """How much of each pattern is in it: (n,) or (m, n); none is negative and they add up to 1."""
    energy: Floats
    """The energy of that state, () or (m,): what an update never raises. No unit; see `energy`."""


class Bound(NamedTuple):
    """A retrieval from the k best patterns, and how far from the whole one it can be."""

    retrieval: Retrieval
    """Its weights are zero but for the k best."""
    tail: Floats
    """At most this share of the whole softmax lies on the patterns left out: () or (m,), from 0 to 1."""
    error: Floats
    """At most this far, in Euclidean length, is the state from that of the whole softmax: 2 x tail x the longest pattern."""


def distances(cue: Words, patterns: Words, known: Words | None = None) -> NDArray[np.int64]:
    """Hamming distances in bits, over the bits that are known on both sides.

    Args:
        cue: (w,) words.
        patterns: (n, w) words.
        known: (w,) or (n, w) words with a 1 at each bit to be compared; all of them if left out.

    Returns:
        (n,) counts.

    Raises:
        UsageError: the cue, or what is known, does not have the patterns' size.
    """
    differing = np.bitwise_xor(patterns, _sized(cue, patterns))
    if known is not None:
        np.bitwise_and(differing, _sized(known, patterns), out=differing)
    apart: NDArray[np.int64] = np.bitwise_count(differing).sum(axis=1, dtype=np.int64)
    return apart


def nearest(cue: Words, patterns: Words, known: Words | None = None) -> tuple[int, int]:
    """Which pattern lies nearest, and its distance in bits: the maximum-likelihood answer to bit flips.

    With flips that are independent and at one rate r < 1/2, log P(cue | pattern) = h log r + (N - h) log(1 - r) falls in
    the distance h, so the least h is the likeliest pattern, whatever r is. Of several as near, the first.

    Raises:
        UsageError: nothing is stored, or the sizes differ.
    """
    _stored(patterns)
    apart = distances(cue, patterns, known)
    best = int(apart.argmin())
    return best, int(apart[best])


def energy(states: Floats, patterns: Floats, beta: float) -> Floats:
    """E(s) = -log(sum_i exp(beta x_i.s)) / beta + s.s / 2 + log(n) / beta + M^2 / 2, with M the longest pattern's length.

    Ramsauer et al., equation 1. Never negative, never above 2 M^2 for a state within the patterns' hull; () or (m,).
    """
    similar = beta * (states @ patterns.T)
    top = similar.max(axis=-1, keepdims=True)
    spread = top[..., 0] + np.log(np.exp(similar - top).sum(axis=-1))
    longest = float((patterns * patterns).sum(axis=1).max())
    return np.asarray((np.log(len(patterns)) - spread) / beta + 0.5 * (states * states).sum(axis=-1) + 0.5 * longest)


def softmax(cue: Floats, patterns: Floats, beta: float, *, steps: int = 1) -> Retrieval:
    """Ramsauer et al., equation 3: s <- X p with p the softmax of beta X^T s, `steps` times; one is enough for patterns well apart.

    Args:
        cue: (d,), or (m, d) for many.
        patterns: (n, d).
        beta: inverse temperature, in 1 / (unit of x.s); the larger, the more the best alone counts.
        steps: at least 1.

    Raises:
        UsageError: sizes that differ, an empty store, NaN or infinities, a beta that is not positive, no step.
    """
    states = _checked(cue, patterns, beta, steps)
    weights = states
    for _ in range(steps):
        weights = _softmax(beta * (states @ patterns.T))
        states = weights @ patterns
    return Retrieval(states, weights, energy(states, patterns, beta))


def sparse(cue: Floats, patterns: Floats, beta: float, *, steps: int = 1) -> Retrieval:
    """The sparse modern Hopfield network: s <- X sparsemax(beta X^T s). Arguments and errors are those of `softmax`.

    Exact in one step under separation: if beta (x_1.s - x_i.s) >= 1 for every other pattern i, all weight lies on x_1 and the
    state is x_1 itself, to the last bit, where softmax only comes near (Hu et al., theorem 2.2; `separation` says how far apart
    stored patterns are). The energy told is that of `energy`, so that both networks are told on one scale.
    """
    states = _checked(cue, patterns, beta, steps)
    weights = states
    for _ in range(steps):
        weights = sparsemax(beta * (states @ patterns.T))
        states = weights @ patterns
    return Retrieval(states, weights, energy(states, patterns, beta))


def truncated(cue: Floats, patterns: Floats, beta: float, k: int) -> Bound:
    """One softmax step over the k patterns most similar to the cue, and a bound on what the others would have changed.

    With z = beta X^T s in falling order, the share p of the n - k patterns left out is at most t / (1 + t), t = (n - k)
    exp(z_(k+1)) / sum_(i<=k) exp(z_i): each of them weighs at most what the first one left out weighs. The renormalised weights differ
    from the whole ones by 2 p in sum, so the states by at most 2 p M (M: length of the longest pattern).

    Raises:
        UsageError: as `softmax`; or k is not between 1 and n.
    """
    states = _checked(cue, patterns, beta, 1)
    count = len(patterns)
    if not 1 <= k <= count:
        raise UsageError(f"k is {k}, with {count} patterns stored; let it be between 1 and {count}")
    similar = beta * (states @ patterns.T)
    order = np.argpartition(-similar, min(k, count - 1), axis=-1)
    kept = np.take_along_axis(similar, order[..., :k], axis=-1)
    weights = np.zeros_like(similar)
    np.put_along_axis(weights, order[..., :k], _softmax(kept), axis=-1)
    tail = np.zeros(similar.shape[:-1])
    if k < count:
        first_out = np.take_along_axis(similar, order[..., k : k + 1], axis=-1)
        odds = (count - k) / np.exp(np.minimum((kept - first_out).astype(np.float64), _MOST)).sum(axis=-1)
        tail = odds / (1 + odds)
    state = weights @ patterns
    longest = float(np.sqrt((patterns * patterns).sum(axis=1).max()))
    return Bound(Retrieval(state, weights, energy(state, patterns, beta)), tail, 2 * tail * longest)


def separation(patterns: Floats) -> Floats:
    """How far each pattern stands from the others: x_i.x_i - max_(j != i) x_i.x_j, (n,); infinite for the only one.

    Ramsauer et al., definition 2. A pattern with separation at least 1 / beta is a fixed point of `sparse`, to the last bit.
    """
    similar = patterns @ patterns.T
    own = similar.diagonal().copy()
    np.fill_diagonal(similar, -np.inf)
    return np.asarray(own - similar.max(axis=1))


def sparsemax(scores: Floats) -> Floats:
    """The point of the probability simplex nearest to `scores` (Martins and Astudillo, algorithm 1); over the last axis."""
    scores = scores - scores.max(axis=-1, keepdims=True)  # so that a single winner weighs 1 to the last bit
    ordered = -np.sort(-scores, axis=-1)
    sums = ordered.cumsum(axis=-1) - 1
    ranks = np.arange(1, scores.shape[-1] + 1)
    support = (ordered * ranks > sums).sum(axis=-1, keepdims=True)
    threshold = np.take_along_axis(sums, support - 1, axis=-1) / support
    return np.asarray(np.maximum(scores - threshold, 0))


def hebb(patterns: Floats) -> Floats:
    """Hebb's weights, (d, d): W = X^T X / n - I for components +1 and -1; no unit feeds itself."""
    _stored(patterns)
    weights = patterns.T @ patterns / len(patterns)
    np.fill_diagonal(weights, 0)
    return np.asarray(weights)


def classical(cue: Floats, weights: Floats, *, steps: int = 20) -> Floats:
    """Hopfield's network of 1982: s <- sign(W s), all units at once, until nothing changes or `steps` are done.

    It holds about 0.138 d random patterns (Amit, Gutfreund and Sompolinsky 1985); beyond that it answers with mixtures.
    """
    states = cue
    for _ in range(steps):
        updated = _sign(states @ weights, states)
        if np.array_equal(updated, states):
            break
        states = updated
    return states


def cubic(cue: Floats, patterns: Floats, *, steps: int = 5) -> Floats:
    """Krotov and Hopfield's dense memory with F(x) = x^3: each unit takes the value that lowers the energy, all at once.

    Their rule is s_i <- sign(sum_u F(x_ui + r_ui) - F(-x_ui + r_ui)), with r_ui = m_u - x_ui s_i, m_u = x_u.s. For F = x^3 and
    components +1, -1 the difference is 6 x_ui r_ui^2 + 2 x_ui, which sums to X^T (6 m^2 + 8) - 12 s_i sum_u m_u: two products.
    """
    _stored(patterns)
    states = cue
    for _ in range(steps):
        overlaps = states @ patterns.T
        field = (6 * overlaps * overlaps + 8) @ patterns - 12 * states * overlaps.sum(axis=-1, keepdims=True)
        updated = _sign(field, states)
        if np.array_equal(updated, states):
            break
        states = updated
    return states


def _softmax(scores: Floats) -> Floats:
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


def _sign(field: Floats, states: Floats) -> Floats:
    """+1 or -1 by the field; a unit without a field stays what it is."""
    return np.where(field == 0, states, np.sign(field)).astype(states.dtype)


def _checked(cue: Floats, patterns: Floats, beta: float, steps: int) -> Floats:
    """The cue, once all of it can be computed with."""
    _stored(patterns)
    if cue.shape[-1] != patterns.shape[1]:
        raise UsageError(
            f"The cue has {cue.shape[-1]} components, the stored patterns have {patterns.shape[1]}",
            remedy="Make the cue as the patterns were made, or build the patterns anew",
        )
    if not (np.isfinite(cue).all() and np.isfinite(patterns).all()):
        raise UsageError(
            "A cue or a pattern holds NaN or an infinity", remedy="Leave that vector out, and see what made it"
        )
    if not (beta > 0 and np.isfinite(beta)) or steps < 1:
        raise UsageError(
            f"beta is {beta} and steps is {steps}; beta is positive and finite, and there is at least one step"
        )
    return cue


def _stored(patterns: NDArray[np.generic]) -> None:
    if patterns.ndim != 2 or not len(patterns):
        raise UsageError("Nothing is stored to be like the cue", remedy="Save a memory first, or widen the filter")


def _sized(words: Words, patterns: Words) -> Words:
    if words.shape[-1] != patterns.shape[-1]:
        raise UsageError(
            f"A cue of {words.shape[-1]} words of bits, patterns of {patterns.shape[-1]}",
            remedy="Pack both to the same size",
        )
    return words
