"""Runs of children, sealed: what each was, how it ended, and the digest of its output, under `flow/fork/ID`, with a `stamped` entry.

The output itself stays on disk. Its digest in the log says later whether it is still what the child wrote.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from indelible.errors import ConflictError, DigestMismatch, Missing, NotFoundError
from indelible.forking import places
from indelible.forking.artifact import measure
from indelible.forking.run import parse_run, sealed_text
from indelible.memory.results import Saved
from indelible.record import draft

if TYPE_CHECKING:
    from collections.abc import Callable

    from indelible.forking.run import Measured, Run
    from indelible.memory import Memory
    from indelible.record import Record

PREFIX = "flow/fork/"


def seal(memory: Memory, run: Run) -> Saved:
    """Seal a run that has ended. The same run again changes nothing.

    Of two that close at once a run that lost its supervisor, the one that seals first is right; to the other one its version is told.

    Raises:
        IntegrityError: the store is not what was sealed. NotSaved: nothing happened. OutcomeUnknown: do it again.
    """
    key, text = PREFIX + run.id, sealed_text(run)
    digest = run.output.sha256 if run.output is not None else None
    op = f"fork-{run.id}" + (f"-{run.cleaned}" if run.cleaned else "")
    try:
        return memory.record(key, text, "stamped", digest=digest, record=_about(memory, key, text), op=op)
    except ConflictError:
        first = memory.fetch(key)
        return Saved(key, first.version, first.seq, first.sha256, op, repeated=True)


def _about(memory: Memory, key: str, text: bytes) -> Callable[[Record | None], Record]:
    """A record that says where the words in it come from: from a tool, so that no gate hands them over as an agent's own."""

    def make(earlier: Record | None) -> Record:
        if earlier is not None:
            return memory.revise(earlier, text)
        made = draft(
            key, text, now=memory.now(), author=f"agent:{memory.agent}", agent=memory.agent, team=memory.team,
            random=os.urandom(10),
        )  # fmt: skip
        return replace(made, kind="observation", origin=replace(made.origin, class_="tool"))

    return make


def sealed(memory: Memory, name: str) -> Run:
    """A run as it is sealed.

    Raises:
        NotFoundError: it never was. IntegrityError: what is stored is not what was sealed.
    """
    loaded = memory.fetch(PREFIX + name)
    if loaded.finding is not None:
        raise loaded.finding
    return parse_run(loaded.content, PREFIX + name)._replace(sealed=loaded.seq)


def verify(memory: Memory, folder: str, name: str) -> Run:
    """Hold the output on disk against the sealed digest.

    Args:
        folder: of the runs of this place.

    Raises:
        DigestMismatch: it was altered. Missing: it is gone. NotFoundError: it was never sealed, or was cleaned away.
    """
    run = sealed(memory, name)
    if run.cleaned:
        raise NotFoundError(
            f"The output of {name} was taken away at {run.cleaned}", remedy="Its digest stands in the log", fork=name
        )
    _hold(os.path.join(folder, name, places.OUTPUT), run.output, name)
    if run.errors is not None:
        _hold(os.path.join(folder, name, places.ERRORS), run.errors, name)
    return run


def _hold(path: str, expected: Measured | None, name: str) -> None:
    if expected is None or (not expected.size and not os.path.lexists(path)):
        return
    if not os.path.isfile(path) or os.path.islink(path):
        raise Missing(
            f"The output of {name} is gone: {path}", remedy="What it held is known by its digest only", fork=name
        )
    actual = measure(path)
    if actual.sha256 != expected.sha256:
        raise DigestMismatch(
            subject=f"The output of {name} ({path})", expected=expected.sha256, actual=actual.sha256,
            remedy="Do not go by what it says; run the fork again", fork=name,
        )  # fmt: skip
