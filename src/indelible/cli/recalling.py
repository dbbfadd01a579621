"""recall, reindex."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from indelible.cli import certified, common
from indelible.cli.output import BAD, OK, WARN, counted, shown, visible
from indelible.errors import HeldError, IndexDamaged, IntegrityError, UsageError

if TYPE_CHECKING:
    from indelible.cli.output import Output
    from indelible.cli.session import Session
    from indelible.memory import Held
    from indelible.memory.certifying import Certificate
    from indelible.memory.recalling import Recalled, Why
    from indelible.memory.results import Loaded

CHARACTERS = 8_000
"""Characters of one text that a model is given: 2,000 tokens."""
_LEVELS = ("global", "org", "user", "project", "repo", "branch", "path", "session", "agent")


@click.command()
@click.argument("query", nargs=-1)
@click.option("--limit", type=click.IntRange(1), default=5, show_default=True, help="At most so many.")
@click.option("--tag", "tags", metavar="TAG", multiple=True, help="Only memories that have it; any number of times.")
@click.option(
    "--kind", "kinds", metavar="KIND", multiple=True, help="Only memories of this kind, or of one of several."
)
@click.option(
    "--scope", "levels", type=click.Choice(_LEVELS), multiple=True, help="Only memories of this level of scope."
)
@click.option(
    "--prefix",
    shell_complete=common.complete_key,
    metavar="TEXT",
    default="",
    help="Only memories whose key begins so.",
)
@click.option("--since", metavar="TIME", help="Only memories saved at this time or later (2026-11-30, 7d, …).")
@click.option("--until", metavar="TIME", help="Only memories saved before this time.")
@click.option(
    "--characters",
    type=click.IntRange(0),
    default=CHARACTERS,
    show_default=True,
    help="At most so many of each text, around the question's words; 0 for all.",
)
@click.option(
    "--explain",
    is_flag=True,
    help="Say of each what its score is made of, and how sure the Hopfield memory is of QUERY.",
)
@click.option(
    "--like",
    type=click.Path(),
    metavar="FILE",
    help="Which memory is FILE ('-': standard input) a copy of, and how far from it?",
)
@click.option(
    "--repair",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Restore FILE, a damaged copy of a memory, to the original.",
)
@common.files_option
@common.policy_option
@click.pass_obj
def recall(  # noqa: PLR0913 - an option each
    session: Session, *, query: tuple[str, ...], limit: int, tags: tuple[str, ...], kinds: tuple[str, ...],
    levels: tuple[str, ...], prefix: str, since: str | None, until: str | None, characters: int, explain: bool, like: str | None,
    repair: str | None, files: tuple[str, ...], policy: str | None,
) -> int:  # fmt: skip
    """Give memories that are near to QUERY, best first, each verified, judged and in a frame for a model.

    What is near and held is named on standard error. Exit 4 where there is nothing else. With --like or --repair there is no
    QUERY: the answer is PERFECT, MISMATCH, AMBIGUOUS or UNKNOWN, and only PERFECT is exit 0.
    """
    if sum((bool(query), like is not None, repair is not None)) != 1:
        raise UsageError("Say one thing to look for", remedy="Name a QUERY, or --like FILE, or --repair FILE")
    chosen = common.policy_of(policy)
    if like is not None or repair is not None:
        if tags or kinds or levels or since or until or explain or files:
            raise UsageError("That narrows a QUERY, and not a copy", remedy="Of those, leave all but --prefix out")
        if repair is not None:
            return certified.say_repair(session, repair, prefix, chosen)
        return certified.say_like(session, str(like), prefix)
    from indelible.memory.framing import framed

    with common.target(session, files) as memory, common.progress(session.output, "Indexing") as advance:
        times = _times(memory.now(), since, until)
        found = memory.recall(
            " ".join(query), limit=limit, tags=tags, kinds=kinds, levels=levels, prefix=prefix, since=times[0], until=times[1],
            policy=chosen, door="recall", advance=advance,
        )  # fmt: skip
        certificate = memory.identify(" ".join(query).encode("utf-8", "surrogateescape")) if explain else None
    frames = [framed(loaded, os.urandom, about=" ".join(query), characters=characters) for loaded in found.delivered]
    return _say(session, found, frames, certificate)


def _times(now: str, *texts: str | None) -> list[str]:
    from indelible.cli.drafting import parse_time

    return ["" if text is None else parse_time(text, now, back=True) for text in texts]


def _say(session: Session, found: Recalled, frames: list[str], certificate: Certificate | None) -> int:
    output = session.output
    if frames:
        output.give("\n\n".join(frames))
    if certificate is not None:
        _explain(output, found, certificate)
    for one, why in zip(found.delivered, found.why, strict=True):
        if why.similar:
            output.aside(f"{shown(one.key)}: nearly the same text is under {', '.join(map(shown, why.similar))}")
    for held in found.held:
        output.aside(f"{WARN} {shown(held.key)} is held: {', '.join(held.verdict.slugs)}")
    if found.withheld > len(found.held):
        output.aside(
            f"{WARN} {counted(found.withheld - len(found.held), 'more memory', 'more memories')} that are near are held: 'indelible held'"
        )
    for finding in found.findings:
        output.aside(f"{BAD} {visible(str(finding))}")
    for warning in found.warnings:
        output.aside(f"{WARN} {visible(warning)}")
    if not frames and not found.held:
        output.aside("Nothing is near to that: other words, or fewer conditions, may find more")
    code = IntegrityError.exit_code if found.findings else HeldError.exit_code if found.held and not frames else 0
    output.document({
        "ok": not code, "exit_code": code, "slug": {0: "recalled", HeldError.exit_code: "held"}.get(code, "tampered"),
        "delivered": [_delivered(*each) for each in zip(found.delivered, frames, found.why, strict=True)],
        "held": [_held(one) for one in found.held], "withheld": found.withheld,
        "findings": [finding.as_dict() for finding in found.findings], "warnings": list(found.warnings),
        **({} if certificate is None else {"certificate": certified.as_dict(certificate)}),
    })  # fmt: skip
    return code


def _explain(output: Output, found: Recalled, certificate: Certificate) -> None:
    output.aside(certified.as_a_copy(certificate))
    for one, why in zip(found.delivered, found.why, strict=True):
        output.aside(f"{shown(one.key)}: {in_words(why)}")


def in_words(why: Why) -> str:
    """What a score is made of."""
    parts = ", ".join(f"{name} {value:.2f}" for name, value in why.channels._asdict().items() if value)
    above = "" if why.gap is None else f", {why.gap:.2f} above the next"
    return f"score {why.score:.2f} ({parts}){above}"


def _delivered(one: Loaded, frame: str, why: Why) -> dict[str, object]:
    verdict = None if one.verdict is None else one.verdict.as_dict()
    return {
        "key": one.key, "version": one.version, "sha256": one.sha256, "fenced": frame, "verdict": verdict, "delivery": one.delivery,
        "score": why.score, "channels": why.channels._asdict(), "gap": why.gap, "similar": list(why.similar),
    }  # fmt: skip


def _held(one: Held) -> dict[str, object]:
    return {"key": one.key, "version": one.version, "verdict": one.verdict.as_dict(), "delivery": one.delivery}


@click.command()
@click.option("--check", is_flag=True, help="Derive it a second time and compare; exit 1 where it was another one.")
@click.option(
    "--calibrate",
    is_flag=True,
    help="Then find where --like and --repair have to draw their lines for what is stored here.",
)
@click.pass_obj
def reindex(session: Session, *, check: bool, calibrate: bool) -> int:
    """Derive what recall searches in again from the verified memories of this agent.

    Nothing of a memory changes. Exit 2 where one is not what was sealed: it is named, and left out.
    """
    from indelible.memory.finding import Checked

    output = session.output
    with common.target(session) as memory, common.progress(output, "Indexing") as advance:
        done = memory.check_index(advance) if check else memory.reindex(advance)
        lines = memory.calibrate() if calibrate else None
    for finding in done.findings:
        output.aside(f"{BAD} {visible(str(finding))}")
    for warning in done.warnings:
        output.aside(f"{WARN} {visible(warning)}")
    counted_ = counted(done.memories, "memory", "memories")
    if isinstance(done, Checked):
        slug, code = ("index-same", 0) if done.same and not done.warnings else ("index-damaged", IndexDamaged.exit_code)
        words = (
            f"what {counted_} make" if not code else "not what the memories make: 'indelible reindex' derives it anew"
        )
        (output.aside if code else output.line)(f"{BAD if code else OK} The index is {words}")
    else:
        slug, code = "reindexed", 0
        output.line(f"{OK} The index of {counted_} is derived anew ({done.size // 1024} KB)")
    if lines is not None:
        output.line(f"{OK} Calibrated: {', '.join(f'{name} {value:g}' for name, value in lines._asdict().items())}")
    if done.findings:
        slug, code = "tampered", IntegrityError.exit_code
    output.document({
        "ok": not code, "exit_code": code, "slug": slug, "memories": done.memories,
        **({} if isinstance(done, Checked) else {"bytes": done.size}), "thresholds": None if lines is None else lines._asdict(),
        "findings": [finding.as_dict() for finding in done.findings], "warnings": list(done.warnings),
    })  # fmt: skip
    return code
