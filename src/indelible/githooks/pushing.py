"""Before a push: every commit that goes to a protected branch carries its receipt, and no such branch is deleted or forced.

It spares the way to a server that refuses anyway, and is all there is where the server does not look.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import Blocked
from indelible.githooks.approved import open_desks
from indelible.githooks.here import git_folder, is_id, is_zero, not_understood
from indelible.gitsource.lines import lines_of
from indelible.workflow.commits import Trust, check_commits
from indelible.workflow.known import known_before
from indelible.workflow.moved import baseline_of

if TYPE_CHECKING:
    from indelible.githooks.approved import Desks
    from indelible.githooks.here import Here
    from indelible.workflow.commits import Finding

_TOLD = 10
"""Commits that are told one by one."""


class Push(NamedTuple):
    """One reference that is pushed."""

    local: str
    new: str
    remote: str
    """The reference there, full name."""
    old: str
    """What it is there; zeros where it is not there yet."""


def before_push(here: Here, lines: bytes, remote: str) -> None:
    """Let the push go on, or not.

    Args:
        lines: `LOCAL NEW REMOTE OLD`, as git gives them.
        remote: its name, or its address where it has none.

    Raises:
        Blocked: a protected branch would get what nobody approved. IndelibleError: it cannot be told.
    """
    rows = [_push(line) for line in lines_of(lines)]
    with open_desks(here) as desks:
        pushes = [push for push in rows if desks.rules.protects(push.remote)]
        reasons = [reason for push in pushes if (reason := _moved(here, push))]
        wrong = [one for push in pushes if not is_zero(push.new) for one in _unapproved(here, desks, push, remote)]
    if reasons or wrong:
        raise refused("Not pushed", reasons, wrong)


def refused(head: str, reasons: list[str], wrong: list[Finding]) -> Blocked:
    """The error that says it commit by commit."""
    lines = [*reasons, *dict.fromkeys(finding.text for finding in wrong)]
    more = [f"and {len(lines) - _TOLD} more"] if len(lines) > _TOLD else []
    return Blocked(
        "\n  ".join(
            (f"{head}: protected branches take approved commits only, on top of what is there", *lines[:_TOLD], *more)
        ),
        remedy="A person approves each change before it is committed ('indelible approve'), and the receipt goes into the commit's message",
    )


def _push(line: str) -> Push:
    """One line. The local name stands there as it was typed, with whatever blanks it has (`main^{/some words}`).

    Raises:
        Blocked: it cannot be understood.
    """
    words = line.rsplit(" ", 3)
    if len(words) != 4 or not (is_id(words[1]) and words[2].startswith("refs/") and is_id(words[3])):
        raise not_understood("pre-push", line)
    return Push(*words)


def _moved(here: Here, push: Push) -> str:
    if is_zero(push.new):
        return f"{push.remote} would be deleted there"
    if is_zero(push.old):
        return ""
    ended = here.git.run(here.folder, "merge-base", "--is-ancestor", push.old, push.new)
    return "" if not ended.code else f"{push.remote} would be moved away from {push.old[:12]}, which is there"


def _unapproved(here: Here, desks: Desks, push: Push, remote: str) -> list[Finding]:
    """What would go out, over what that remote is known to have on protected branches and what was there before our hooks."""
    git, folder = here.git, here.folder
    baseline = baseline_of(here.settings.state_dir, git_folder(git, folder))
    there = () if is_zero(push.old) else (push.old,)
    known = known_before(git, folder, ids=[*there, *baseline], remote=remote, protected=desks.rules.protected)
    trust = Trust(desks.desk.approvers, desks.rules.receipt)
    return [one for one in check_commits(git, folder, [push.new], known, trust) if not one.ok]
