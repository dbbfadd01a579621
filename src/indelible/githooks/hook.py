"""The door by which git's hooks come in: `indelible flow hook EVENT …`, with git's own arguments and input.

It ends with 0 where git may go on, and with 2 where it may not: because nobody approved it, and likewise because it could not
be told. What git no longer lets stop (`committed`) is said and noted.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from indelible.errors import Blocked, IndelibleError, UsageError
from indelible.githooks.scripts import EVENTS

if TYPE_CHECKING:
    from collections.abc import Sequence

ALLOWED, REFUSED = 0, 2
_REFUSING = "indelible: refused, since it could not be told whether this was approved"


def run(event: str, arguments: Sequence[str]) -> int:
    """Answer one event; the exit code.

    Raises:
        UsageError: there is no such event.
    """
    if event not in EVENTS:
        raise UsageError(
            f"Git has no hook {event!r} that is answered here",
            remedy=f"Those are {', '.join(EVENTS)}. See 'indelible flow hook --help'",
        )
    try:
        _answer(event, arguments)
    except Blocked as error:
        _say(f"indelible: {error}")
        return REFUSED
    except (IndelibleError, OSError, ValueError) as error:
        _say(f"{_REFUSING} ({error if isinstance(error, IndelibleError) else type(error).__name__})")
        _say("indelible: 'indelible doctor' says more")
        return REFUSED
    return ALLOWED


def _answer(event: str, arguments: Sequence[str]) -> None:
    if event == "pre-receive":
        from indelible.githooks.receiving import before_receive
        from indelible.settings import here as place

        before_receive(*place(), _input())
    elif event == "reference-transaction":
        _move(arguments)
    elif event == "pre-push":
        from indelible.githooks.here import here
        from indelible.githooks.pushing import before_push

        before_push(here(), _input(), arguments[0] if arguments else "")
    else:
        from indelible.githooks import committing
        from indelible.githooks.here import here

        if event == "pre-commit":
            committing.before_commit(here())
        else:
            committing.add_receipt(here(), _first(event, arguments))


def _move(arguments: Sequence[str]) -> None:
    from indelible.githooks import mending, transacting
    from indelible.githooks.here import here

    state, process = _first("reference-transaction", arguments), _process(arguments)
    if state == transacting.COMMITTED:
        for said in transacting.committed(here(), _input(), process):
            _say(f"indelible: {said}")
    elif state == transacting.PREPARED:
        found = here()
        mended = mending.mend(found)
        try:
            transacting.prepared(found, _input(), process)
        except Blocked:
            for said in mended:
                _say(f"indelible: {said}")
            raise


def _first(event: str, arguments: Sequence[str]) -> str:
    if not arguments:
        raise UsageError(f"Git gives the hook {event} an argument, and there is none")
    return arguments[0]


def _process(arguments: Sequence[str]) -> int:
    """The git process that asks, as the shell saw it."""
    return int(arguments[1]) if len(arguments) > 1 else os.getppid()


def _input() -> bytes:
    return sys.stdin.buffer.read()


def _say(text: str) -> None:
    """On standard error, where git shows it; of a push, the pusher reads it as `remote: …`."""
    shown = "\n".join("".join(char if char.isprintable() else "?" for char in line) for line in text.split("\n"))
    try:
        sys.stderr.buffer.write(shown.encode("utf-8", "backslashreplace") + b"\n")
        sys.stderr.buffer.flush()
    except (OSError, ValueError):  # nobody reads: the exit code is left
        return
