"""T7: which network gives the stored pattern back exactly, by the share of flipped bits. Patterns of 1,024 bits.

The store is asked with `ASKED` cues, drawn evenly from its patterns and flipped afresh at each rate. Exact means: every one of the
1,024 components. Argmax over Hamming distances is the maximum-likelihood answer, so nothing can do better than it but by luck.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indelible.recall import hopfield

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Network = Callable[[Floats], Floats]

RATES = (0.0, 0.10, 0.20, 0.25, 0.30, 0.35, 0.40, 0.45, 0.50)
SIZE = 1024
ASKED = 400
"""Cues for a store; a small one, where chance shows most, is asked `SMALL` times as often."""
SMALL = 10
ROUND = 500
"""Cues at once: 500 x 10,000 similarities are 20 MB."""
BETA = 1.0
"""Per component that agrees more: the log of the odds of a flip at rate .12; larger changes nothing, the best is alone by then."""
BEST = 64
"""Patterns that the truncated softmax keeps."""


class Curve(NamedTuple):
    """One network on one store."""

    network: str
    exact: tuple[float, ...]
    """The share given back exactly, one for each of `RATES`."""


def random_store(count: int, seed: int = 1) -> Floats:
    """Independent random patterns of +1 and -1."""
    return np.random.default_rng(seed).choice(np.array([-1, 1], np.float32), (count, SIZE))


def text_store(texts: tuple[bytes, ...]) -> Floats:
    """The first 128 bytes of each text as +1 and -1, zeros behind a shorter one; what begins alike is one pattern."""
    heads = np.unique(
        np.stack([np.frombuffer(text[: SIZE // 8].ljust(SIZE // 8, b"\0"), np.uint8) for text in texts]), axis=0
    )
    return np.unpackbits(heads, axis=1).astype(np.float32) * 2 - 1


def curves(patterns: Floats, rates: tuple[float, ...] = RATES, seed: int = 2) -> list[Curve]:
    """Every network over all rates, on the same cues."""
    chosen = np.linspace(0, len(patterns) - 1, ASKED * (SMALL if len(patterns) <= 1000 else 1)).astype(int)
    right = patterns[chosen]
    exact: dict[str, list[float]] = {name: [] for name in networks(patterns)}
    for rate in rates:
        dice = np.random.default_rng(seed)
        cues = np.where(dice.random(right.shape) < rate, -right, right)
        for name, network in networks(patterns).items():
            found = [network(cues[at : at + ROUND]) for at in range(0, len(cues), ROUND)]
            exact[name].append(float((np.concatenate(found) == right).all(axis=1).mean()))
    return [Curve(name, tuple(shares)) for name, shares in exact.items()]


def networks(patterns: Floats) -> dict[str, Network]:
    """What is compared, by name."""
    packed = _packed(patterns)
    weights = hopfield.hebb(patterns)
    return {
        "argmax": lambda cues: patterns[[hopfield.nearest(cue, packed)[0] for cue in _packed(cues)]],
        "softmax": lambda cues: np.sign(hopfield.softmax(cues, patterns, BETA).state),
        "sparsemax": lambda cues: np.sign(hopfield.sparse(cues, patterns, BETA).state),
        f"softmax, top {BEST}": lambda cues: np.sign(
            hopfield.truncated(cues, patterns, BETA, min(BEST, len(patterns))).retrieval.state
        ),
        "polynomial, n = 3": lambda cues: hopfield.cubic(cues, patterns),
        "classical, 1982": lambda cues: hopfield.classical(cues, weights),
    }


def _packed(patterns: Floats) -> NDArray[np.uint64]:
    return np.packbits(patterns > 0, axis=1).view(np.uint64)
