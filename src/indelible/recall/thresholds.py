"""Where the lines are drawn between the four answers. Numbers come from `calibrate`, never from a hunch."""

from __future__ import annotations

import json
import math

from indelible.errors import Malformed
from indelible.light import NamedTuple

__all__ = ["DEFAULT", "Thresholds"]


class Thresholds(NamedTuple):
    """Nats, but for `covered`. Those of evidence are above log n, as the best of n unrelated texts comes nearer than one does."""

    bits: float
    """Evidence of bits from which a text stands clear of unrelated ones."""
    turns: float
    """Likewise by characters deleted, inserted and replaced."""
    grams: float
    """Likewise by n-grams wherever they moved; together with `covered`."""
    covered: float
    """The share of the cue, from 0 to 1, that a text has to hold."""
    gap: float
    """Evidence between the best and the next, from which the best stands clear of that one."""
    flips: float
    """Likewise where flipped bits explain the cue best, and nothing moved."""

    def format(self) -> str:
        """As a JSON object, keys sorted."""
        return json.dumps(self._asdict(), sort_keys=True)

    @classmethod
    def parse(cls, text: str) -> Thresholds:
        """The exact inverse of `format`.

        Raises:
            Malformed: not such an object; or a threshold that is no finite number, which would let anything pass.
        """
        try:
            found = json.loads(text)
            made = cls(**{name: float(value) for name, value in found.items()})
        except (ValueError, TypeError, AttributeError) as exc:
            raise Malformed("Thresholds of recall do not parse", remedy="Derive them anew, or leave them out") from exc
        if not all(map(math.isfinite, made)):
            raise Malformed("A threshold of recall is no finite number", remedy="Derive them anew, or leave them out")
        return made


DEFAULT = Thresholds(bits=16.2, turns=16.2, grams=16.2, covered=0.99, gap=13.9, flips=19.3)
"""What `calibrate` gave for the sentences of this project's own documents."""
