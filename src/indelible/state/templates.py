"""The forms of the known slots. They are terse on purpose: five filled-in files should stay under 1,800 tokens."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from indelible.errors import NotFoundError, UsageError
from indelible.state.slot import CRITIC, GOVERNANCE, NEXT, PLAN, TICKET

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indelible.state.slot import Slot

_GOVERNANCE = """\
# Governance

These laws hold for every ticket. They are written once; only the owner amends them.

## Human gates
- Never commit, push, merge, publish or deploy before a human says yes to that very change.
- The plan (20_plan_approved.md) is a human's to approve, and is followed as approved.
- What a human or the critic rejected (30_critic_summary.md) is not tried again.
- Never edit, move or delete a file of this folder: 'indelible state write|append' does it, and refuses what is not allowed.

## Workflow skills
{skills}

## Boot rule
After every start, resume, clear or compaction, run 'indelible boot' before any other action and read all of it, 00 to 99.
Then do what 99_next_action.md permits, and nothing else. If boot reports tampering, stop and tell a human.
"""
_TICKET = """\
# Ticket

Issue: <id and title>
Branch: <branch>
Worktree: <path>

## Requirements
- <what must be true at the end>
"""
_PLAN = """\
# Approved plan

Approved by: <who, when>

1. <step>
2. <step>

Not part of it: <what is left alone>
"""
_CRITIC = """\
## Round <n>: <rejected or approved>
Blocked: <defect, and why it is one>
Ignored: <false alarm, and why it is one>
Do not try again: <approach>
"""
_NEXT = """\
# Next action

- [x] 1 ticket
- [ ] 2 approved plan
- [ ] 3 implementation
- [ ] 4 critic
- [ ] 5 human approval
- [ ] 6 commit
- [ ] 7 CI
- [ ] 8 closed

Current Target: <target>
Last Completed Step: <step>
Next Permitted Action: <action>
"""
_FORMS = {TICKET: _TICKET, PLAN: _PLAN, CRITIC: _CRITIC, NEXT: _NEXT}
NO_SKILLS = "- None is here yet: the human says which ones hold."
MAX_SKILLS = 12
"""Paths that are named: each costs every waking agent some tokens."""
_SKILL_FOLDERS = (
    ".agents/skills",
    ".claude/skills",
    ".codex/skills",
    ".gemini/skills",
    ".qwen/skills",
    ".github/skills",
    "skills",
)
_OPEN = re.compile(r"<[^<>]+>")
_PLAIN = re.compile(r"[A-Za-z0-9._/-]{1,120}")
"""Names come with a clone, and a name can hold an order as well as a text can."""


def template(name: str, top: str | None = None) -> bytes:
    """The form of a known slot.

    Args:
        name: the file's name.
        top: the repository whose workflow skills the governance names.

    Raises:
        NotFoundError: there is none of that name.
    """
    if name == GOVERNANCE:
        paths = tuple(skills_of(top)) if top is not None else ()
        return _GOVERNANCE.format(skills="\n".join(f"- {path}" for path in paths) or NO_SKILLS).encode()
    if name not in _FORMS:
        raise NotFoundError(
            f"There is no template for {name}", remedy=f"There is one for {', '.join((GOVERNANCE, *_FORMS))}"
        )
    return _FORMS[name].encode()


def check_filled(slot: Slot, content: bytes) -> None:
    """Whether a form was filled in: a line of it that is left as it was says nothing, and is sealed for good.

    Raises:
        UsageError: one was; it is named.
    """
    form = _FORMS.get(slot.name, "").splitlines()
    open_ = [line.strip() for line in form if _OPEN.search(line)]
    left = [line for line in content.decode("utf-8", "replace").splitlines() if line.strip() in open_]
    if left:
        raise UsageError(
            f"{slot.name} still has the form's own words: {left[0].strip()!r}" + (f", and {len(left) - 1} more lines" if len(left) > 1 else ""),
            remedy="Put what is meant in the place of what stands between < and >", slot=slot.name,
        )  # fmt: skip


def skills_of(top: str) -> list[str]:
    """Paths of the workflow skills (SKILL.md) that a repository has where agents look for them, from its top; sorted."""
    found = {path for folder in _SKILL_FOLDERS for path in _skills_in(top, folder)}
    return sorted(found)[:MAX_SKILLS]


def _skills_in(top: str, folder: str) -> Iterator[str]:
    try:
        names = sorted(os.listdir(os.path.join(top, folder)))
    except OSError:
        return
    for name in names:
        path = f"{folder}/{name}/SKILL.md"
        if _PLAIN.fullmatch(path) and os.path.isfile(os.path.join(top, path)):
            yield path
