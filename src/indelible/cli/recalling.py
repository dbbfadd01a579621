"""recall."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from indelible.cli import common
from indelible.cli.output import BAD, WARN, shown, visible
from indelible.errors import HeldError, IntegrityError

if TYPE_CHECKING:
    from indelible.cli.session import Session
    from indelible.memory import Held
    from indelible.memory.results import Loaded


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(1), default=5, show_default=True, help="At most so many.")
@click.option("--tag", "tags", metavar="TAG", multiple=True, help="Only memories that have it; any number of times.")
@common.files_option
@common.policy_option
@click.pass_obj
def recall(
    session: Session, *, query: tuple[str, ...], limit: int, tags: tuple[str, ...], files: tuple[str, ...], policy: str | None
) -> int:  # fmt: skip
    """Give memories that are near to QUERY in their words, best first, each verified, judged and in a frame for a model.

    What is near and held is named on standard error. Exit 4 where there is nothing else.
    """
    from indelible.memory.framing import framed

    chosen = common.policy_of(policy)
    with common.target(session, files) as memory:
        found = memory.recall(" ".join(query), limit=limit, tags=tags, policy=chosen, door="recall")
    frames = [framed(loaded, os.urandom) for loaded in found.delivered]
    if frames:
        session.output.give("\n\n".join(frames))
    for one in found.held:
        session.output.aside(f"{WARN} {shown(one.key)} is held: {', '.join(one.verdict.slugs)}")
    for finding in found.findings:
        session.output.aside(f"{BAD} {visible(str(finding))}")
    if not frames and not found.held:
        session.output.aside("Nothing is near to that")
    code = IntegrityError.exit_code if found.findings else HeldError.exit_code if found.held and not frames else 0
    session.output.document({
        "ok": not code, "exit_code": code, "slug": {0: "recalled", HeldError.exit_code: "held"}.get(code, "tampered"),
        "delivered": [_delivered(one, frame) for one, frame in zip(found.delivered, frames, strict=True)],
        "held": [_held(one) for one in found.held], "findings": [finding.as_dict() for finding in found.findings],
    })  # fmt: skip
    return code


def _delivered(one: Loaded, frame: str) -> dict[str, object]:
    verdict = None if one.verdict is None else one.verdict.as_dict()
    return {
        "key": one.key, "version": one.version, "sha256": one.sha256, "fenced": frame, "verdict": verdict, "delivery": one.delivery,
    }  # fmt: skip


def _held(one: Held) -> dict[str, object]:
    return {"key": one.key, "version": one.version, "verdict": one.verdict.as_dict(), "delivery": one.delivery}
