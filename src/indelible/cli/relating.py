"""What a save says about other memories: that it takes their place, or says otherwise. Signed in the log of each after the save."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from indelible.cli import common
from indelible.cli.output import WARN
from indelible.cli.reviewers import Judge, as_option, reviewer_of
from indelible.errors import AccessDenied, NotFoundError, UsageError
from indelible.gate.subject import BY_KEY, claims
from indelible.record.parts import Link

if TYPE_CHECKING:
    from collections.abc import Callable

    from indelible.cli.session import Session
    from indelible.memory import Memory, Saved
    from indelible.record import Record
    from indelible.settings import Settings

SUPERSEDES, CONTRADICTS = "supersedes", "contradicts"


def relation_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that name other memories."""
    options = (
        click.option(
            "--supersedes", multiple=True, metavar="KEY", shell_complete=common.complete_key,
            help="It takes that one's place; over an approved one a reviewer's key signs. Any number of times.",
        ),
        click.option(
            "--contradicts", multiple=True, metavar="KEY", shell_complete=common.complete_key,
            help="It says otherwise than that one; both show it.",
        ),
        as_option,
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


class Others(NamedTuple):
    """What was asked for."""

    supersedes: tuple[str, ...]
    contradicts: tuple[str, ...]
    reviewer: str | None


def take(said: dict[str, Any]) -> Others:
    """Take what is meant for this module out of a command's options."""
    return Others(said.pop("supersedes"), said.pop("contradicts"), said.pop("reviewer"))


class Relating:
    """The other memories of one save: looked at before it, written to after it.

    Raises:
        NotFoundError: one of them is not there, or a reviewer's key is needed and is not. UsageError: it is the memory itself.
        AccessDenied: the reviewer's passphrase is needed.
    """

    def __init__(self, settings: Settings, memory: Memory, key: str, others: Others) -> None:
        self._memory, self._key = memory, key
        self._supersedes = tuple(dict.fromkeys(others.supersedes))
        self._contradicts = tuple(dict.fromkeys(others.contradicts))
        self._links: list[Link] = []
        self._judge: Judge | None = None
        for rel, keys in ((SUPERSEDES, self._supersedes), (CONTRADICTS, self._contradicts)):
            for other in keys:
                self._look(settings, rel, other, others.reviewer)

    def _look(self, settings: Settings, rel: str, other: str, reviewer: str | None) -> None:
        if other == self._key:
            raise UsageError(f"--{rel} {other!r} is the memory itself", remedy="Name another KEY")
        if getattr(self._memory, "judge_plainly", None) is not None:
            raise UsageError("A plain Memory API keeps no links between memories", remedy=f"Leave --{rel} out")
        loaded = self._memory.fetch(other)
        self._links.append(Link(rel, claims(loaded.body)["id"], f"{BY_KEY}{other}"))
        if rel == SUPERSEDES and self._judge is None and self._memory.is_approved(loaded):
            try:
                self._judge = reviewer_of(settings, reviewer)
            except (NotFoundError, AccessDenied) as error:
                error.message = (
                    f"{other!r} was approved, and only a reviewer's key puts another in its place. {error.message}"
                )
                raise

    def put(self, record: Record) -> Record:
        """The record of the save, with its links."""
        if not self._links:
            return record
        mine = {(link.rel, link.target) for link in self._links}
        kept = [link for link in record.links if (link.rel, link.target) not in mine]
        return replace(record, links=(*kept, *self._links))

    def finish(self, session: Session, saved: Saved) -> None:
        """Say it in the log of the others; a repeat of the same save ends what was cut off."""
        from indelible.memory.deciding import derived_op

        memory, op = self._memory, saved.op
        for other in self._supersedes:
            try:
                judge = self._judge or Judge(memory.signer, "process")
                memory.supersede(
                    other, self._key, by=judge.signer, method=judge.method, op=derived_op(op, "supersede", other)
                )
            except NotFoundError:
                if not saved.repeated:
                    raise
                session.output.aside(f"{WARN} {other!r} is gone since: nothing is left to supersede")
        for other in self._contradicts:
            for about, says in ((other, self._key), (self._key, other)):
                memory.review(
                    about, "dispute", by=memory.signer, method="process", subject=says, reason="said at a save",
                    op=derived_op(op, CONTRADICTS, about, says),
                )  # fmt: skip
