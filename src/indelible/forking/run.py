"""One run of a child: what was started, how it ended, and what its output comes to; kept as one JSON document.

    {"format":"indelible/fork/v1","id":"archaeology-1f2e3d4c","name":"archaeology","command":"claude -p …","cwd":"/…",
     "started":"2026-11-30T17:00:00Z","ended":"2026-11-30T17:04:10Z","milliseconds":250113,"reason":"exited","exit":0,…}

Sizes are bytes, times RFC 3339 in UTC. A run without a `reason` has not ended, or nobody has looked yet.
"""

from __future__ import annotations

import json

from indelible.errors import Malformed
from indelible.light import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

FORMAT = "indelible/fork/v1"
EXITED, SIGNALLED, NOT_STARTED = "exited", "signalled", "not-started"
TIME_LIMIT, STOPPED, INTERRUPTED, PARENT_GONE, UNSUPERVISED = (
    "time-limit", "stopped", "interrupted", "parent-gone", "unsupervised",
)  # fmt: skip
REASONS = {
    EXITED: "",
    SIGNALLED: "killed by a signal",
    NOT_STARTED: "could not be started",
    TIME_LIMIT: "its time was over",
    STOPPED: "was stopped",
    INTERRUPTED: "its parent was interrupted",
    PARENT_GONE: "its parent was killed",
    UNSUPERVISED: "ended without its supervisor",
}
"""Why a run ended, in words."""
ESTIMATE = "estimate"
"""The source of a number of tokens that nobody reported."""
_LOCAL = ("child", "sealed", "supervisor")
"""What only this machine has to know."""


class Measured(NamedTuple):
    """What a file of output holds."""

    size: int = 0
    lines: int = 0
    sha256: str = ""


class Tokens(NamedTuple):
    """What a child's model read and wrote, as its client reports it; or an estimate of what its output would have cost."""

    input: int
    """All that was read, whether from a cache or not."""
    cached: int
    output: int
    source: str
    """The client that reports them, or `estimate`."""


class Run(NamedTuple):
    """A child, from its beginning on."""

    id: str
    name: str
    command: str
    """As a shell has it, with a mark in the place of what looks like a secret."""
    cwd: str
    started: str
    within: str = ""
    """The fork that this one was started in."""
    ended: str = ""
    milliseconds: int = 0
    reason: str = ""
    detail: str = ""
    exit: int | None = None
    """The child's own exit code; None where it has none."""
    signal: str = ""
    output: Measured | None = None
    errors: Measured | None = None
    """Its standard error, where that was kept apart."""
    tokens: Tokens | None = None
    summary: tuple[str, ...] = ()
    omitted: int = 0
    """Lines of the result, or of the output, that the summary leaves out."""
    is_result: bool = False
    """Whether the summary is what a client gave as its result, and not the last lines of the output."""
    killed: int = 0
    """Processes that were left when it ended, and were ended with it."""
    left: tuple[int, ...] = ()
    """Processes that could not be ended: another user's, or stuck in the system."""
    cleaned: str = ""
    """When its output was taken away."""
    supervisor: int = 0
    child: int = 0
    sealed: int | None = None
    """The entry that sealed it."""

    @property
    def is_over(self) -> bool:
        """Whether it has ended, and what it left is known."""
        return bool(self.reason)

    @property
    def succeeded(self) -> bool:
        """Whether the child ended by itself, with 0."""
        return self.reason == EXITED and self.exit == 0


def to_document(run: Run) -> dict[str, Any]:
    """For JSON; what is in there comes out of `from_document` again."""
    members = run._asdict()
    for name in ("output", "errors", "tokens"):
        members[name] = members[name]._asdict() if members[name] is not None else None
    return {"format": FORMAT, **members}


def sealed_text(run: Run) -> bytes:
    """What is sealed of a run: all but what only this machine has to know; one member a line."""
    members = {name: value for name, value in to_document(run).items() if name not in _LOCAL}
    return (json.dumps(members, ensure_ascii=False, sort_keys=True, indent=1) + "\n").encode(
        "utf-8", "backslashreplace"
    )


def parse_run(text: bytes, where: str) -> Run:
    """The run that a document tells of.

    Args:
        where: what is read, for an error.

    Raises:
        Malformed: it is none.
    """
    try:
        members = json.loads(text)
        return _from(members)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as exc:
        raise Malformed(f"{where} is no record of a fork", remedy="Its output may still be beside it") from exc


def _from(members: dict[str, Any]) -> Run:
    if members.pop("format") != FORMAT:
        raise ValueError("format")
    parts: dict[str, Any] = {"output": Measured, "errors": Measured, "tokens": Tokens}
    for name, kind in parts.items():
        if members.get(name) is not None:
            members[name] = kind(**members[name])
    for name in ("summary", "left"):
        members[name] = tuple(members.get(name, ()))
    return Run(**{name: members[name] for name in Run._fields if name in members})
