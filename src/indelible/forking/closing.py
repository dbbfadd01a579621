"""Closing a run: its output is measured, told, and written down. By its supervisor, or by whoever finds it without one."""

from __future__ import annotations

import os
from contextlib import suppress

from indelible.errors import NotSaved
from indelible.forking import places
from indelible.forking.artifact import SUMMARY_LINES, read_output
from indelible.forking.ending import Marked, end_tree
from indelible.forking.run import UNSUPERVISED, Run
from indelible.light import TYPE_CHECKING

if TYPE_CHECKING:
    from indelible.forking.ending import Ended

MASKED = "mask"


def closed(folder: str, run: Run, *, most: int = SUMMARY_LINES, secrets: str = MASKED) -> Run:
    """The run with what its output holds; nothing is written.

    Args:
        most: lines that a parent is told.
        secrets: `allow` where a secret in those lines may stand.
    """
    place = os.path.join(folder, run.id)
    errors = os.path.join(place, places.ERRORS)
    output, apart, told = read_output(
        os.path.join(place, places.OUTPUT), errors if os.path.exists(errors) else None, most
    )
    return run._replace(
        output=output, errors=apart, tokens=told.tokens, summary=screened(told.lines, secrets), omitted=told.omitted,
        is_result=told.is_result,
    )  # fmt: skip


def screened(texts: tuple[str, ...], secrets: str) -> tuple[str, ...]:
    """The texts with a mark in the place of what looks like a secret."""
    from indelible.errors import SecretRefused
    from indelible.screening import ALLOW, MASK, screen

    def one(text: str) -> str:
        try:
            return screen(text.encode("utf-8", "backslashreplace"), mode=MASK).content.decode("utf-8", "replace")
        except SecretRefused:  # where it cannot be told which part of it is the secret
            return "[left out: it looks like a secret]"

    return texts if secrets == ALLOW else tuple(map(one, texts))


def close_abandoned(folder: str, run: Run, ended_at: str, *, secrets: str = MASKED) -> Run:
    """End whatever is left of a run without a supervisor, and write down that it has ended."""
    return close_unsupervised(folder, run, ended_at, end_tree(Marked(run.id)), secrets=secrets)


def close_unsupervised(
    folder: str, run: Run, ended_at: str, ended: Ended, *, most: int = SUMMARY_LINES, secrets: str = MASKED
) -> Run:
    """Write down that a run has ended without its supervisor, if nobody did so meanwhile.

    Where there is no room for that it is only told: the next look does it again.
    """
    latest = places.read(folder, run.id)
    if latest.is_over:
        return latest
    whole = closed(folder, latest, most=most, secrets=secrets)._replace(
        ended=ended_at, reason=UNSUPERVISED, killed=ended.killed, left=ended.left
    )
    with suppress(NotSaved):
        places.keep(folder, whole)
    return whole
