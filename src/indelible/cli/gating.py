"""gate show, gate compare, gate check."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import click

from indelible.cli import common
from indelible.cli.common import policy_of, policy_option
from indelible.cli.inputs import read_input
from indelible.cli.output import BAD, OK, WARN, counted, shown, visible
from indelible.errors import HeldError, IntegrityError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indelible.cli.session import Session
    from indelible.gate.context import Context
    from indelible.gate.stated import Stated
    from indelible.memory.surveying import Surveyed
    from indelible.settings import Settings


@click.group(cls=common.Group)
def gate() -> None:
    """Whether a memory applies here and now: the policy in force, the four compared, records judged without a store."""


@gate.command(name="show")
@common.files_option
@policy_option
@click.pass_obj
def gate_show(session: Session, files: tuple[str, ...], policy: str | None) -> None:
    """Show the policy in force, its conditions, where this folder stands, and which reviewers count."""
    from indelible.gate.presets import SAYS

    settings, chosen = common.settings_of(session), policy_of(policy)
    with common.target(session, files) as memory:
        used = chosen or memory.gate.policy
        context = memory.gate.context(memory.agent, memory.now())
        reviewers = [(key.name, key.vkey, key.key_id in memory.open_reviewers) for key in memory.reviewers.values()]
    parts = {part.name: SAYS.get(part.name, "") for part in used.parts}
    for line in (*_policy(used.mode, parts), *_standing(settings, context)):
        session.output.line(line)
    for name, vkey, is_open in reviewers:
        kept = ", under no passphrase here" if is_open else ""
        session.output.line(f"reviewer   {visible(name)}  {visible(vkey)}{kept}")
    if not reviewers:
        session.output.line(
            "reviewer   none is trusted here: 'indelible key create --role reviewer', or 'indelible key trust VKEY'"
        )
    problem = context.place.problem
    session.output.document({
        "ok": True, "exit_code": 0, "slug": "gate", "mode": used.mode, "policy": used.condition.name, "conditions": parts,
        "context": context.as_dict(), "global": context.admits_global, "problem": problem and problem._asdict(),
        "reviewers": [{"name": name, "vkey": vkey, "protected": not is_open} for name, vkey, is_open in reviewers],
        "settings": _sources(settings),
    })  # fmt: skip


def _policy(mode: str, parts: dict[str, str]) -> Iterator[str]:
    from indelible.gate.presets import TRADES

    trade = TRADES.get(mode)
    yield f"policy     {mode}" + (f": {trade.way}; {trade.gains}, but {trade.costs}" if trade else "")
    for name, says in parts.items():
        yield f"           {name}: {says}" if says else f"           {name}"


def _standing(settings: Settings, context: Context) -> Iterator[str]:
    for name, value in context.as_dict().items():
        yield f"{name:<10} {visible(str(value))}"
    yield f"{'global':<10} {'admitted' if context.admits_global else 'not admitted'}"
    if (problem := context.place.problem) is not None:
        yield f"{WARN} {visible(problem.message)}. {visible(problem.remedy)}"
    for name, value in _sources(settings).items():
        yield f"{name:<10} {visible(str(value))}"


def _sources(settings: Settings) -> dict[str, str]:
    """Where the settings that judging goes by came from."""
    return {"store from": settings.store_from, "settings of": settings.repository_top or "(no repository)"}


@gate.command(name="compare")
@click.argument("prefix", required=False, default="")
@click.pass_obj
def gate_compare(session: Session, prefix: str) -> int:
    """Judge every memory by each of the four policies: what each holds and why, where they differ, what each is worth."""
    from indelible.gate.presets import COMPARED, PRESETS
    from indelible.memory.surveying import survey

    findings: list[IntegrityError] = []
    with common.target(session) as memory, common.progress(session.output, "Comparing") as advance:
        policies = tuple(PRESETS[name] for name in COMPARED)
        rows = [_slugs(one) for one in survey(memory, policies, findings, prefix=prefix, advance=advance)]
    for line in _table(rows):
        session.output.line(line)
    for finding in findings:
        session.output.line(f"{BAD} {visible(str(finding))}")
    code = IntegrityError.exit_code if findings else 0
    session.output.document({
        "ok": not code, "exit_code": code, "slug": "tampered" if code else "compared", "judged": len(rows),
        "policies": {name: _summary(name, rows) for name in COMPARED}, "differ": [key for key, slugs in rows if _differ(slugs)],
        "memories": [{"key": key, "held": slugs} for key, slugs in rows], "findings": [finding.as_dict() for finding in findings],
    })  # fmt: skip
    return code


Row = tuple[str, dict[str, list[str]]]
"""A key, and by policy the reasons for which it is held."""


def _slugs(one: Surveyed) -> Row:
    return one.loaded.key, {found.verdict.mode: list(found.verdict.slugs) for found in one.found}


def _differ(slugs: dict[str, list[str]]) -> bool:
    return len({bool(held) for held in slugs.values()}) > 1


def _summary(name: str, rows: list[Row]) -> dict[str, object]:
    from indelible.gate.presets import TRADES

    counts = Counter(slug for _, slugs in rows for slug in slugs[name])
    number = sum(bool(slugs[name]) for _, slugs in rows)
    return {
        "held": number,
        "delivered": len(rows) - number,
        "reasons": dict(counts.most_common()),
        **TRADES[name]._asdict(),
    }


def _table(rows: list[Row]) -> Iterator[str]:
    from indelible.gate.presets import COMPARED, TRADES

    yield f"{counted(len(rows), 'memory', 'memories')}; held under each policy:"
    for name in COMPARED:
        counts = Counter(slug for _, slugs in rows for slug in slugs[name])
        why = ", ".join(f"{slug} {number}" for slug, number in counts.most_common())
        yield f"  {name:<9} {sum(bool(slugs[name]) for _, slugs in rows):>5}  {why}"
    differ = [(key, slugs) for key, slugs in rows if _differ(slugs)]
    yield f"{counted(len(differ), 'memory', 'memories')} on which they differ:" if differ else "They differ on none"
    for key, slugs in differ:
        said = "; ".join(f"{name} {', '.join(held) if held else 'delivers'}" for name, held in slugs.items())
        yield f"  {shown(key)}  {said}"
    yield "What each is worth:"
    for name in COMPARED:
        way, gains, costs = TRADES[name]
        yield f"  {name:<9} {way}: {gains}; but {costs}"


@gate.command(name="check")
@click.argument("file")
@click.option("--scope", metavar="TEXT", help="The reader's scope, compared letter by letter: repo:example/app.")
@click.option("--revision", metavar="COMMIT", help="The commit that is checked out.")
@click.option("--now", "at", metavar="TIME", help="RFC 3339 with a zone. [this machine's clock]")
@click.option("--agent", "reader", metavar="NAME", help="Who reads.")
@click.option(
    "--context",
    "stated",
    metavar="JSON",
    help="All of these as one JSON object, with repo, branch, org, user, project, session, global.",
)
@policy_option
@click.pass_obj
def gate_check(
    session: Session, *, file: str, scope: str | None, revision: str | None, at: str | None, reader: str | None, stated: str | None,
    policy: str | None,
) -> int:  # fmt: skip
    """Judge the records of a JSON Lines FILE (or '-') in a stated context; no store is needed. Exit 4 where one is held.

    A record is in the small form (id, scope, source_revision, expires_at, reviewed) or in the interchange form.
    """
    from indelible.gate.stated import context_of, judge_lines
    from indelible.memory.gating import NoWorld
    from indelible.settings import now

    settings = common.settings_of(session)
    said = {"scope": scope, "revision": revision, "now": at, "agent": reader or session.agent}
    known = _stated(stated) | {name: value for name, value in said.items() if value is not None}
    if known.keys() <= {"now", "agent"}:
        session.output.aside(
            f"{WARN} no context was given, and so nothing is known of where the reader is: say --scope and --revision, or --context JSON"
        )
    context = context_of({"now": now(), "agent": settings.agent, **known}, NoWorld())
    used = policy_of(policy or settings.policy)
    assert used is not None  # noqa: S101 - a name was given
    found = list(judge_lines(read_input(file), used, context))
    for one in found:
        session.output.line(_verdict(one))
    number = sum(one.verdict.held for one in found)
    session.output.line(
        f"{len(found) - number} of {counted(len(found), 'record', 'records')} offered under {used.mode}"
    )
    code = HeldError.exit_code if number else 0
    session.output.document({
        "ok": not code, "exit_code": code, "slug": "held" if number else "offered", "context": context.as_dict(),
        "records": [{"line": one.line, "id": one.id or None, **one.verdict.as_dict()} for one in found],
    })  # fmt: skip
    return code


def _stated(text: str | None) -> dict[str, object]:
    try:
        said = json.loads(text or "{}")
    except (ValueError, RecursionError) as exc:
        raise UsageError("--context is no JSON", remedy='Write it as {"scope": "repo:example/app", …}') from exc
    if not isinstance(said, dict):
        raise UsageError("--context is no JSON object", remedy='Write it as {"scope": "repo:example/app", …}')
    return said


def _verdict(one: Stated) -> str:
    who = shown(one.id) if one.id else f"line {one.line}"
    if not one.verdict.held:
        notes = ", ".join(note.slug for note in one.verdict.notes)
        return f"{OK} {who}  offered" + (f"  ({notes})" if notes else "")
    return f"{WARN} {who}  held: " + "; ".join(
        f"{reason.slug}: {visible(reason.message)}" for reason in one.verdict.reasons
    )
