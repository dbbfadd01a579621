"""What a comparison found. No text of a memory is in it: a passage is named by its places."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from indelible.recall.alarm import FLOORS

if TYPE_CHECKING:
    from indelible.errors import IndelibleError, IntegrityError
    from indelible.recall.alarm import Alarm, Level
    from indelible.recall.bands import Calibration
    from indelible.recall.history import Past
    from indelible.recall.overlap import Pair


class Side(NamedTuple):
    """One of the agents."""

    agent: str
    memories: int
    """In force, and what they were sealed as."""
    words: int


class Place(NamedTuple):
    """Where a passage stands on one side."""

    agent: str
    key: str
    version: int
    offset: int
    """In bytes of that version."""
    length: int
    since: str
    """When the log says that the passage came there: RFC 3339 of the first version that has it without a break."""
    first_version: int


class Passage(NamedTuple):
    """Words that two agents' memories share, and that cannot be made longer on both sides."""

    a: Place
    b: Place
    words: int

    @property
    def first(self) -> str:
        """The agent that had it first; empty where both came within one second."""
        if self.a.since == self.b.since:
            return ""
        return self.a.agent if self.a.since < self.b.since else self.b.agent

    def is_newer(self, than: str) -> bool:
        """Whether it crossed since."""
        return max(self.a.since, self.b.since) > than

    def as_dict(self) -> dict[str, object]:
        """For a program."""
        return {"a": self.a._asdict(), "b": self.b._asdict(), "words": self.words, "first": self.first or None}


class Compared(NamedTuple):
    """Two agents."""

    pair: Pair
    likeness: float | None
    """The cosine on the scale of the bands."""
    band: str
    past: tuple[Level, ...]
    alarms: tuple[Alarm, ...]
    passages: tuple[Passage, ...] = ()
    left_out: int = 0
    """Passages beyond those that were asked for."""

    def as_dict(self) -> dict[str, object]:
        """For a program."""
        return {
            "a": self.pair.a, "b": self.pair.b, "cosine": _rounded(self.pair.cosine), "likeness": _rounded(self.likeness),
            "band": self.band, "a_in_b": _rounded(self.pair.a_in_b), "b_in_a": _rounded(self.pair.b_in_a), "shared": self.pair.shared,
            "past": [_level(one) for one in self.past],
            "alarms": [{"measure": one.measure, "value": _rounded(one.value), "limit": _rounded(one.level.limit)} for one in self.alarms],
            "passages": [one.as_dict() for one in self.passages], "passages_left_out": self.left_out,
        }  # fmt: skip


class Report(NamedTuple):
    """All of it."""

    at: str
    sides: tuple[Side, ...]
    """In the order of their names, those without a word too."""
    compared: tuple[Compared, ...]
    calibration: Calibration
    vectors: str
    """What made the vectors: `ngrams/1`, or an embedder's name."""
    centred: bool
    findings: tuple[IntegrityError, ...]
    """Memories that are not what was sealed: they were not compared."""
    unread: tuple[tuple[str, IndelibleError], ...]
    """Agents of the store that this user cannot read."""
    problems: tuple[str, ...]
    """Of the history."""
    history: tuple[Past, ...]
    """Of these agents, this comparison's own lines at the end."""

    @property
    def alarmed(self) -> tuple[Compared, ...]:
        """Pairs that are out of their past."""
        return tuple(one for one in self.compared if one.alarms)

    def as_dict(self) -> dict[str, object]:
        """For a program."""
        scale = self.calibration
        return {
            "at": self.at, "agents": [one._asdict() for one in self.sides], "vectors": self.vectors, "centred": self.centred,
            "calibration": {**scale._asdict(), "calibrated": not scale.problem, "same": _rounded(scale.same), "separate": _rounded(scale.separate)},
            "pairs": [one.as_dict() for one in self.compared], "alarms": len(self.alarmed),
            "findings": [one.as_dict() for one in self.findings],
            "unread": [{"agent": agent, **error.as_dict()} for agent, error in self.unread], "warnings": list(self.problems),
        }  # fmt: skip


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _level(one: Level) -> dict[str, object]:
    return {
        "measure": one.measure, "runs": one.runs, "median": _rounded(one.median), "limit": _rounded(one.limit), "floor": FLOORS[one.measure],
    }  # fmt: skip
