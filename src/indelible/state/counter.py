"""The program counter, `99_next_action.md`: where the work stands, what was done last, and what may be done next.

    Current Target: Target 3 (implementation-diff)
    Last Completed Step: the failing test is committed
    Next Permitted Action: make the sorter copy its input

    - [x] 1 ticket read
    - [ ] 3 implementation

Three fields, each on a line of its own, in any order; the words in older files (Current target, Last done, Next allowed)
name the same ones. Whether letters are large, and marks of lists and of bold type, do not matter. The life-cycle checklist
is any number of lines `- [ ]` and `- [x]`. Source: seed 004.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from indelible.errors import UsageError

TARGET, LAST, NEXT_ACTION = "Current Target", "Last Completed Step", "Next Permitted Action"
FIELDS = (TARGET, LAST, NEXT_ACTION)
_ALIASES = {"current target": TARGET, "last completed step": LAST, "last done": LAST, "next permitted action": NEXT_ACTION,
            "next allowed": NEXT_ACTION}  # fmt: skip
_MARKS = r"[ \t]*(?:[-*+>][ \t]+|[0-9]+\.[ \t]+|#{1,6}[ \t]+)*"
_FIELD = re.compile(rf"{_MARKS}[*_`]*({'|'.join(_ALIASES)})[*_`]*[ \t]*:[ \t]*(.*)", re.IGNORECASE)
_STEP = re.compile(r"[ \t]*[-*+][ \t]+\[([ xX])\][ \t]*(.*)")
_EMPTY = re.compile(r"[\s*_`<>.…-]*|<[^>]*>")
"""What is no value: nothing, marks alone, or a place left open by the template."""


class Step(NamedTuple):
    """One line of the checklist."""

    done: bool
    text: str


class Counter(NamedTuple):
    """What a program counter says."""

    target: str
    last: str
    next: str
    steps: tuple[Step, ...]

    def as_dict(self) -> dict[str, object]:
        """For `--json`."""
        return {
            "target": self.target,
            "last": self.last,
            "next": self.next,
            "steps": [step._asdict() for step in self.steps],
        }


def parse_counter(content: bytes) -> Counter:
    """What `content` says.

    Raises:
        UsageError: a field is missing, empty, or there twice; it is named.
    """
    found: dict[str, str] = {}
    steps: list[Step] = []
    for line in content.decode("utf-8", "replace").split("\n"):
        if match := _FIELD.fullmatch(line.rstrip("\r")):
            name, value = _ALIASES[match[1].lower()], match[2].strip().strip("*_`").strip()
            if name in found:
                raise _refused(f"says {name!r} twice")
            found[name] = value
        elif match := _STEP.fullmatch(line.rstrip("\r")):
            steps.append(Step(match[1] != " ", match[2].strip()))
    missing = [name for name in FIELDS if _EMPTY.fullmatch(found.get(name, ""))]
    if missing:
        raise _refused(f"does not say {' nor '.join(map(repr, missing))}")
    return Counter(found[TARGET], found[LAST], found[NEXT_ACTION], tuple(steps))


def is_told(line: str) -> bool:
    """Whether a line is one of the three fields, or a step of the checklist."""
    return _FIELD.fullmatch(line) is not None or _STEP.fullmatch(line) is not None


def _refused(words: str) -> UsageError:
    return UsageError(
        f"99_next_action.md {words}: a waking agent would not know where it is",
        remedy=f"Give it the lines '{TARGET}: …', '{LAST}: …' and '{NEXT_ACTION}: …'; 'indelible state template 99' shows the form",
        slot="99_next_action.md",
    )  # fmt: skip
