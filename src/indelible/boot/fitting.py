"""A briefing that is too long: its records are shortened from their old ends, then scars and rules left out by name. Pure.

Laws and the program counter are never touched. Of what the laws leave, scars and rules may not take the last third from
the records.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from indelible.boot.layout import ALL, LAW, NEXT, RECORD, RULE, SCAR, WIDEST, Composed
from indelible.state.budget import Room, estimate
from indelible.state.cutting import shorten, split_rounds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indelible.boot.layout import Draft, Part

_PASSES = 12
_EMPTY = Room(0, 0)


def fit(draft: Draft, room: Room) -> Composed:
    """The briefing, cut to `room`; where laws and program counter are too much by themselves, which of them was."""
    fitting = _Fitting(draft, room)
    fitting.drop()
    if fitting.lacks():
        least = draft.render(WIDEST, draft.parts)
        return Composed("", "", estimate(least), (), _misfit(draft, room), len(least))
    fitting.fill()
    return draft.done()


class _Fitting:
    """One draft and its room. Lives as long as the call."""

    def __init__(self, draft: Draft, room: Room) -> None:
        self._draft, self._room = draft, room
        self._records = [part for part in draft.parts if part.kind == RECORD]
        self._rounds = {part.id: split_rounds(part.text) for part in self._records}
        self._droppable = [part for kind in (SCAR, RULE) for part in reversed(draft.parts) if part.kind == kind]
        for part in self._records:
            self._keep(part, _EMPTY)
        self._least = self._due() if self._droppable else _EMPTY

    def drop(self) -> None:
        """Leave out as few scars and rules as may be, the last scar first."""
        places = range(len(self._droppable) + 1)
        self._drop_first(min(bisect_left(places, 1, key=self._is_enough), len(self._droppable)))

    def lacks(self) -> bool:
        """Whether it is too long even so."""
        return self._draft.left(self._room).is_over

    def fill(self) -> None:
        """Give the records, which have no text now, as much of it as there is room for."""
        spare = self._draft.left(self._room)
        for _ in range(_PASSES):
            for part, share in zip(self._records, _shares([part.text for part in self._records], spare), strict=True):
                self._keep(part, share)
            left = self._draft.left(self._room)
            if not left.is_over:
                return
            spare = Room(spare.tokens + min(left.tokens, -1), spare.characters + min(left.characters, -1))
        for part in self._records:
            self._keep(part, _EMPTY)

    def _due(self) -> Room:
        """What the records want, or a third of what the laws leave."""
        self._drop_first(len(self._droppable))
        left = self._draft.left(self._room)
        wants = [left.wanted(part.text) for part in self._records]
        tokens, characters = sum(want.tokens for want in wants), sum(want.characters for want in wants)
        return Room(min(tokens, left.tokens // 3), min(characters, left.characters // 3))

    def _is_enough(self, number: int) -> int:
        self._drop_first(number)
        left = self._draft.left(self._room)
        return int(not Room(left.tokens - self._least.tokens, left.characters - self._least.characters).is_over)

    def _drop_first(self, number: int) -> None:
        for place, part in enumerate(self._droppable):
            if place < number:
                self._draft.cut(part, "", ALL)
            else:
                self._draft.restore(part)

    def _keep(self, part: Part, room: Room) -> None:
        if not room.less(part.text).is_over:
            self._draft.restore(part)
            return
        short = shorten(self._rounds[part.id], room)
        self._draft.cut(part, short.text, f"{short.left_out} of {short.total} {short.unit}")


def _misfit(draft: Draft, room: Room) -> str:
    """The first slot of those that are never cut with which it is too much; the last where only the lines about the others are."""
    kept = [part for part in draft.parts if part.kind in (LAW, NEXT)]
    over = (part.name for number, part in enumerate(kept, 1) if draft.left(room, kept[:number]).is_over)
    return next(over, kept[-1].name if kept else draft.parts[-1].name)


def _shares(texts: Sequence[str], room: Room) -> list[Room]:
    wanted = [room.wanted(text) for text in texts]
    tokens = _fair([want.tokens for want in wanted], room.tokens)
    characters = _fair([want.characters for want in wanted], room.characters)
    return [Room(*share) for share in zip(tokens, characters, strict=True)]


def _fair(wanted: Sequence[int], there: int) -> list[int]:
    """Who wants less than an equal share has it whole, and leaves the rest to the others."""
    shares = [0] * len(wanted)
    for place, index in enumerate(sorted(range(len(wanted)), key=wanted.__getitem__)):
        shares[index] = min(wanted[index], max(there, 0) // (len(wanted) - place))
        there -= shares[index]
    return shares
