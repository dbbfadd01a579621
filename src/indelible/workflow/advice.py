"""What may be done next, in words: one action, and the program counter `99_next_action.md` that says it to whoever wakes up.

# Next action

- [x] 0 read-init-d
- [ ] 1 ticket

Current Target: 1 (ticket)
Last Completed Step: 0 (read-init-d)
Next Permitted Action: Write the ticket down …

Note: whatever stands from such a line on is kept, whoever wrote it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from indelible.state.counter import LAST, NEXT_ACTION, TARGET, is_told
from indelible.workflow import frontier
from indelible.workflow.graph import CHANGE, CRITIC

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indelible.workflow.frontier import Standing
    from indelible.workflow.graph import Target

_ENDED = "everything in this workflow is done"
_NOTE = "note:"
MOST_ACTION = 900
"""Characters of the next permitted action."""


class Next(NamedTuple):
    """The next permitted action."""

    standing: Standing | None
    """Of the target that it is about; None where all is done."""
    action: str
    """What is permitted, on one line."""
    last: str
    """The last target that is done, in the order of the workflow; `none` where there is none."""


def next_of(standings: Sequence[Standing]) -> Next:
    """What may be done next: the first target, in their order, that is not done and waits for nobody."""
    open_ = [one for one in standings if one.state not in frontier.SATISFIED]
    ready = [one for one in open_ if one.state != frontier.WAITING]
    about = _helper(ready[0], standings) if ready else next(iter(open_), None)
    done = [one for one in standings if one.state == frontier.DONE]
    before = done if about is None else [one for one in done if standings.index(one) < standings.index(about)]
    return Next(about, _bounded(_action(about)), (before or done)[-1].target.title if done else "none")


def _bounded(action: str) -> str:
    """On one line, and no longer than a waking agent has room for."""
    line = " ".join(action.split())
    return line if len(line) <= MOST_ACTION else f"{line[: MOST_ACTION - 1]}…"


def _helper(first: Standing, standings: Sequence[Standing]) -> Standing:
    """Behind a target that failed come those that are there for that."""
    if first.state != frontier.FAILED:
        return first
    helpers = (one for one in standings if one.target.when == (first.target.id, frontier.FAILED))
    return next((one for one in helpers if one.state not in (*frontier.SATISFIED, frontier.WAITING)), first)


def _action(about: Standing | None) -> str:
    if about is None:
        return f"{_ENDED}: begin the next ticket, or end this one with 'indelible state close'"
    why = about.reasons[0].text if about.reasons else about.state
    target = about.target
    if about.state == frontier.MAY_HAVE_HAPPENED:
        return question(about)
    if about.state == frontier.NEEDS_APPROVAL:
        return _to_be_approved(about, why)
    if about.state == frontier.NEEDS_CRITIC:
        return f"{target.manual or 'have a critic look at this change: indelible critic add'} ({why})"
    if about.state == frontier.WAITING:
        return f"Nothing is permitted before this is mended: {why}"
    if about.state == frontier.FAILED:
        return _after_failing(about, why)
    if target.run:
        return f"indelible flow run {target.id} ({why})"
    return f"{target.manual}{then_of(target)} ({why})"


def _to_be_approved(about: Standing, why: str) -> str:
    """What a human reads has to be written first; once it is there, or where there is nothing to write, one waits."""
    target = about.target
    gone = [one.text for one in about.reasons if one.slug == "input-gone"]
    is_written = bool(target.outputs) and not gone
    before = f"{target.manual}. " if target.manual and not is_written else ""
    return f"{before}Wait for your human, who says 'indelible approve {target.id}' ({'; '.join(gone) or why})"


def then_of(target: Target) -> str:
    """How it is said that something is done by hand; nothing where it is seen."""
    is_seen = bool(target.outputs) and CHANGE not in target.outputs and not target.effects
    return "" if is_seen or "flow done" in target.manual else f"; then: indelible flow done {target.id}"


def _after_failing(about: Standing, why: str) -> str:
    target = about.target
    if target.gate == CRITIC:
        return f"Mend what the critic blocked ({why}), and have the new change looked at: indelible critic add"
    if target.effects:
        return (
            f"Mend what failed ({why}); to take {target.title} again as it is: "
            f"indelible flow resolve {target.id} --did-not-happen --reason TEXT"
        )
    return f"Mend what failed ({why}), and then: indelible flow {'run' if target.run else 'done'} {target.id}"


def question(standing: Standing) -> str:
    """What to ask about a step that may have happened."""
    target = standing.target
    return (
        f"{target.title} may have happened: it was begun and nobody knows how it ended. Do not repeat it. Look whether it did "
        f"({target.effects}); then: indelible flow resolve {target.id} --happened, or --did-not-happen, with --reason TEXT"
    )


def counter_text(standings: Sequence[Standing], found: Next, before: bytes | None) -> bytes:
    """The text of `99_next_action.md`.

    Args:
        before: what stands there now, whose notes are kept.
    """
    boxes = [
        f"- [{'x' if one.state == frontier.DONE else ' '}] {one.target.id} {one.target.name}{_mark(one)}"
        for one in standings
    ]
    current = found.standing.target.title if found.standing else "none: all is done"
    fields = [f"{TARGET}: {current}", f"{LAST}: {found.last}", f"{NEXT_ACTION}: {found.action}"]
    notes = _notes(before or b"")
    rows = ["# Next action", "", *boxes, "", *fields, *(["", *notes] if notes else [])]
    return ("\n".join(rows) + "\n").encode("utf-8", "replace")


def short_text(found: Next) -> bytes:
    """The same without boxes and notes, for where no boot could carry them."""
    return counter_text((), found, None)


def is_counter(content: bytes, targets: Sequence[Target]) -> bool:
    """Whether a text of `99_next_action.md` is this workflow's own: it has a box for each target."""
    text = content.decode("utf-8", "replace")
    return all(f"] {one.id} {one.name}" in text for one in targets)


def _mark(one: Standing) -> str:
    if one.state in (frontier.DIRTY, frontier.WAITING, frontier.DONE):
        return ""
    return f" ({one.state})"


def _notes(before: bytes) -> list[str]:
    """From the first line that begins with `Note:` on; what only the flow says is left out."""
    rows = before.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    first = next((at for at, row in enumerate(rows) if row.lower().startswith(_NOTE)), len(rows))
    kept = [row for row in rows[first:] if not is_told(row)]
    while kept and not kept[-1].strip():
        kept.pop()
    return kept
