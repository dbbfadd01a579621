"""The public `compaction-conformance-kit` on Indelible: a session that keeps its state directory, and is woken by `boot`.

    compaction-kit check tests.conformance.compaction_adapter:IndelibleCompactor --rounds 5

What the session does is what the rules of the state directory tell every session to do, turn by turn, as it hears them and
long before it knows that it will be compacted:

- `00_governance.md` is what `indelible init` seals, and nothing of the transcript;
- what the user says that must or must not be done is appended to `31_rules_said.md`, in the user's words;
- what the user says about the project or about himself is appended to `40_notes.md`, likewise; the newest word stands last;
- where the work stands is written to `99_next_action.md`: the three fields, and each statement of it that still holds.

It tells these apart by the label that the user puts before them (`SAFETY RULE:`, `GOAL STATE:`, …), which stands in the turn
and would be as plain to a model. It does not look at `canary_id`, nor at anything else that the kit knows and a session does not,
and keeps nothing of what is said without a label but the tail: the last few turns, as hosts leave them beside their summary.
What comes back is that tail and the briefing, as a host has them after its compaction; the kit's own rounds then go on with that.
Everything is real: the store, the log, the files, and the boot that holds them against each other.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from compaction_kit.compacted import CompactedContext

from indelible import settings, wiring
from indelible.boot import wake
from indelible.initialising import initialise
from indelible.state.budget import estimate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from compaction_kit.session import Turn

    from indelible.boot import Briefing
    from indelible.keeping import StateDirectory
    from indelible.settings import Settings

TOKENS = 1_800
TAIL = 120
"""Tokens of the tail, out of those."""
RULES, NOTES, COUNTER = "31_rules_said.md", "40_notes.md", "99_next_action.md"
_SLOTS = {"RULE": RULES, "CONSTRAINT": RULES, "STATE": COUNTER, "FACT": NOTES, "PREFERENCE": NOTES}
"""The last word of a label, and where what it labels is kept."""
_HEAD = "Said by the user, newest last. Of two about the same thing the later one holds.\n"
_NEXT = "Next step is "


class IndelibleCompactor:
    """One session after another; each begins with the kit's first round."""

    name = "indelible"

    def __init__(self) -> None:
        self._root: Path | None = None
        self._goals: list[str] = []
        self.briefing: Briefing | None = None

    def compact(self, turns: list[Turn], round_num: int = 1, budget_chars: int | None = None) -> CompactedContext:
        if round_num == 1:
            self._begin()
        found = self._settings()
        with wiring.open_state(found) as state:
            for turn in turns:
                self._hear(state, turn)
        tail = _tail(turns, min(TAIL, (budget_chars or 1 << 30) // 8))
        characters = None if budget_chars is None else budget_chars - len(tail)
        self.briefing = wake(found, budget=TOKENS - estimate(tail), characters=characters)
        if self.briefing.exit_code:
            raise AssertionError(self.briefing.text)
        return CompactedContext(tail + self.briefing.text, self.name, round_num)

    def close(self) -> None:
        if self._root is not None:
            shutil.rmtree(self._root)
        self._root = None

    def _begin(self) -> None:
        self.close()
        self._goals = []
        self._root = Path(tempfile.mkdtemp(prefix="indelible-compaction-"))
        (self._root / "work" / ".git").mkdir(parents=True)
        found = self._settings()
        initialise(found)
        with wiring.open_state(found, create=True) as state:
            state.begin()

    def _settings(self) -> Settings:
        assert self._root is not None
        names = ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME")
        homes = {name: str(self._root / name) for name in names}
        return settings.load(self._root / "work", {"HOME": str(self._root), **homes})

    def _hear(self, state: StateDirectory, turn: Turn) -> None:
        """What a session keeps of one turn of the user's."""
        label, colon, said = turn.text.partition(": ")
        slot = _SLOTS.get(label.rpartition(" ")[2]) if turn.role == "user" and colon and label.isupper() else None
        if slot == COUNTER:
            self._goals.append(said)
            state.write(COUNTER, _counter(self._goals).encode())
        elif slot is not None:
            begun = slot in [one.slot.name for one in state.slots()]
            state.append(slot, f"{'' if begun else _HEAD}- {turn.text}\n".encode())


def _counter(goals: Sequence[str]) -> str:
    """The program counter of a session that was told `goals`, the last one being what it is at."""
    steps = [said.partition(_NEXT)[2].partition(".")[0] for said in goals if _NEXT in said]
    return (
        "# Next action\n\n"
        f"Current Target: {goals[-1].partition('. ')[0].rstrip('.')}\n"
        f"Last Completed Step: heard and kept {len(goals)} statements of where the work stands\n"
        f"Next Permitted Action: {steps[-1] if steps else 'ask what comes next'}\n\n"
        + "".join(f"- [ ] {said}\n" for said in goals)
    )


def _tail(turns: Sequence[Turn], tokens: int) -> str:
    """The last turns, as many as there is room for; of an earlier compaction, the tail that it had left."""
    kept: list[str] = []
    for line in reversed(list(_lines(turns))):
        if estimate("".join([line, *kept])) > tokens:
            break
        kept.insert(0, line)
    return "".join(kept)


def _lines(turns: Iterable[Turn]) -> Iterator[str]:
    for turn in turns:
        if "[indelible " in turn.text:
            yield from turn.text.partition("[indelible ")[0].splitlines(keepends=True)
        else:
            yield f"[{turn.role}] {turn.text}\n"
