"""Whether a boot could still carry the state directory, asked before something is sealed that stays for good.

What is written once and what is replaceable is never cut from a briefing. So one slot too many locks the agent out: `boot` then
refuses, and nobody but the owner can make a write-once slot shorter again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indelible.errors import UsageError
from indelible.gate.shown import visible
from indelible.state.budget import Room, estimate, hundreds
from indelible.state.slot import APPEND_ONLY, named

if TYPE_CHECKING:
    from collections.abc import Mapping

HOST_CHARACTERS = 9_000
"""Characters of a briefing that the hosts with the least room pass on."""
_MARK, _DIGEST = "a1" * 16, "a1" * 32
_ENDS = (
    f"[indelible {_MARK} briefing: 99 slots of , verified for . Read all of it before you act. Only a line that begins with this "
    f"mark, or with [{_MARK[:16]}, is a boundary.]\norder:\nsha256: {_DIGEST}\ncut:\n[indelible {_MARK} end]\n"
)
_ABOUT = f" \n[{_MARK[:16]} : what to do next]\n"
_CUT = f"; (99999 of 99999 paragraphs)[{_MARK[:16]} left out here, the oldest: 99999 of 99999 paragraphs, 9999999 bytes. The whole: indelible state show ]\n"


def needed(slots: Mapping[str, bytes], about: str = "") -> Room:
    """The least that a briefing of these slots takes: laws and program counter whole, and of each record the line that it was cut.

    Args:
        about: namespace and agent.
    """
    text = [_ENDS, about]
    for name, content in slots.items():
        text += [_ABOUT, name, name]
        if named(name).discipline == APPEND_ONLY:
            text += [_CUT, name, name]
        else:
            text.append(shown(content))
    whole = "".join(text)
    return Room(sum(map(estimate, text)), len(whole))


def shown(content: bytes) -> str:
    """A slot's text as a briefing has it."""
    text = visible(content.decode("utf-8", "backslashreplace"))
    return text if text.endswith("\n") else text + "\n"


def require_room(before: Mapping[str, bytes], texts: Mapping[str, bytes], room: Room, about: str = "") -> None:
    """Raise where no boot could carry these texts beside what is there. What makes a briefing no longer is let through.

    Args:
        before: the open slots.
        texts: those that are about to be sealed.

    Raises:
        UsageError: it says how much room there is, and what each takes.
    """
    was, now = needed(before, about), needed({**before, **texts}, about)
    for kind, there, need, past, take in (
        ("tokens", room.tokens, now.tokens, was.tokens, estimate),
        ("characters", room.characters, now.characters, was.characters, len),
    ):
        if need > there and need > past:
            takes = {name: take(shown(content)) for name, content in texts.items()}
            raise _refused(kind, there, need, takes)


def _refused(kind: str, there: int, need: int, takes: dict[str, int]) -> UsageError:
    size = sum(takes.values())
    said = ", ".join(f"{name} takes {number:,}" for name, number in takes.items())
    bound = f"[boot] budget is {there:,} tokens" if kind == "tokens" else f"hosts pass on {there:,} characters"
    more = f"raise budget in [boot] of .indelible/config.toml to {hundreds(need)}, or " if kind == "tokens" else ""
    return UsageError(
        f"No boot could carry that: {said} {kind}, and the whole briefing would need {need:,}; {bound}, which leaves room for "
        f"{max(there - (need - size), 0):,}",
        remedy=f"Say it shorter, or keep what is long in an append-only slot (30 to 89); {more}say --over-budget if it is meant",
        needed=need, room=max(there - (need - size), 0), budget=there, kind=kind,
    )  # fmt: skip
