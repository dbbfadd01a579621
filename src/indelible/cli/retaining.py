"""retention show, retention apply."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import click

from indelible.cli import common
from indelible.cli.output import BAD, OK, WARN, counted, shown, visible
from indelible.errors import IndelibleError, IntegrityError

if TYPE_CHECKING:
    from indelible.cli.session import Session
    from indelible.memory import Memory
    from indelible.retention import Rule, Rules

_STATES = frozenset({"active", "archived", "superseded"})


class Past(NamedTuple):
    """A memory whose content is kept by a rule until `end`."""

    key: str
    rule: Rule
    end: str


@click.group(cls=common.Group)
def retention() -> None:
    """How long content and deliveries are kept, by the rules in .indelible/retention.toml."""


@retention.command()
@click.pass_obj
def show(session: Session) -> None:
    """Say the rules, and what they would erase now."""
    from indelible.settings import now

    rules = _rules()
    if rules is None:
        _say_none(session, {"rules": [], "audit_keep": None, "past": [], "next": None, "findings": []})
        return
    with common.target(session) as memory:
        kept, problems = _kept(memory, rules)
    past = [one for one in kept if one.end <= now()]
    for number, rule in enumerate(rules.content, 1):
        count = sum(one.rule is rule for one in kept)
        gone = sum(one.rule is rule for one in past)
        session.output.line(f"{number}. {rule}: {counted(count, 'memory', 'memories')}, {gone} past")
    session.output.line(f"deliveries are kept {f'for {rules.audit_text}' if rules.audit else 'for ever'}")
    _problems(session, problems)
    session.output.document({
        "ok": True, "exit_code": 0, "slug": "retention", "file": rules.path, "rules": [str(rule) for rule in rules.content],
        "audit_keep": rules.audit_text or None, "past": [_members(one) for one in past],
        "next": min((one.end for one in kept if one.end > now()), default=None), "findings": [error.as_dict() for error in problems],
    })  # fmt: skip


@retention.command()
@click.option("--dry-run", is_flag=True, help="Say what would be erased, and erase nothing.")
@click.pass_obj
def apply(session: Session, dry_run: bool) -> int:  # noqa: FBT001 - click's call
    """Erase the content that is past its time, and drop the deliveries that are. One that fails holds up no other."""
    from indelible.settings import now

    rules, today = _rules(), now()
    if rules is None:
        _say_none(session, {"dry_run": dry_run, "erased": [], "deliveries_dropped": 0, "findings": []})
        return 0
    with common.target(session) as memory:
        kept, problems = _kept(memory, rules)
        past = [one for one in kept if one.end <= today]
        done = past if dry_run else _erase(session, memory, past, problems)
    dropped = _drop(session, rules, today, problems, dry_run=dry_run)
    did = "would be erased" if dry_run else "erased"
    for one in done:
        session.output.line(f"{OK} {did}  {shown(one.key)}  past since {one.end} ({visible(str(one.rule))})")
    session.output.line(
        f"{counted(len(done), 'memory', 'memories')} {did}, {counted(dropped, 'delivery', 'deliveries')} {'would be ' if dry_run else ''}dropped"
    )
    _problems(session, problems)
    code = (
        0
        if not problems
        else IntegrityError.exit_code
        if any(isinstance(one, IntegrityError) for one in problems)
        else 1
    )
    session.output.document({
        "ok": not code, "exit_code": code, "slug": {0: "applied", 1: "unchecked", IntegrityError.exit_code: "tampered"}[code],
        "file": rules.path, "dry_run": dry_run, "erased": [_members(one) for one in done], "deliveries_dropped": dropped,
        "findings": [error.as_dict() for error in problems],
    })  # fmt: skip
    return code


def _rules() -> Rules | None:
    """The rules here; None where there is no file of them."""
    from indelible.retention import parse_rules
    from indelible.settings import retention_text

    found = retention_text()
    return None if found is None else parse_rules(found[1], found[0])


def _say_none(session: Session, members: dict[str, object]) -> None:
    session.output.line(
        "There are no retention rules here, and so nothing is past its time; they would stand in .indelible/retention.toml, beside config.toml"
    )
    session.output.document({"ok": True, "exit_code": 0, "slug": "no-rules", "file": None, **members})


def _kept(memory: Memory, rules: Rules) -> tuple[list[Past], list[IndelibleError]]:
    """Every memory that a rule fits, the one that is past first; and what could not be judged.

    A slot that is open is under no rule: it holds until its ticket is closed, and laws for as long as the owner leaves them.
    """
    from indelible.record import Record
    from indelible.retention import rule_for
    from indelible.state.slot import GONE, slot_of_key

    listing = memory.list(states=_STATES)
    kept, problems = [], list[IndelibleError](listing.findings)
    for item in listing.items:
        if item.state not in GONE and slot_of_key(item.key) is not None:
            continue
        try:
            fitting = rule_for(rules, Record.from_body(item.body), item.at)
        except IndelibleError as error:
            problems.append(error)
            continue
        if fitting is not None:
            kept.append(Past(item.key, *fitting))
    return sorted(kept, key=lambda one: one.end), problems


def _erase(session: Session, memory: Memory, past: list[Past], problems: list[IndelibleError]) -> list[Past]:
    from indelible import erasing

    settings, done = common.settings_of(session), []
    with common.progress(session.output, "Erasing") as advance:
        for number, one in enumerate(past, 1):
            try:
                erased = erasing.erase(settings, memory, one.key, reason=f"retention: {one.rule}", purge=False)
                done.append(one)
                for warning in erased.warnings:
                    session.output.aside(f"{WARN} {warning}")
            except IndelibleError as error:
                problems.append(error)
            advance(number, len(past))
        left = memory.purge() if done else ""
    if left:
        problems.append(IndelibleError(left))
    return done


def _drop(session: Session, rules: Rules, today: str, problems: list[IndelibleError], *, dry_run: bool) -> int:
    """Deliveries that are past their time; how many there are."""
    import apsw

    from indelible.deliveries import first_line, journal_of
    from indelible.spans import shifted
    from indelible.store.follower import name_of

    if rules.audit is None:
        return 0
    settings, before = common.settings_of(session), shifted(today, -rules.audit)
    journal = journal_of(settings.state_dir, name_of(settings.store, settings.agent))
    try:
        return sum(1 for _ in journal.read(until=before)) if dry_run else journal.prune(before)
    except (OSError, apsw.Error) as exc:
        problems.append(IndelibleError(f"Deliveries could not be dropped ({first_line(exc)})"))
        return 0
    finally:
        journal.close()


def _members(one: Past) -> dict[str, str]:
    return {"key": one.key, "rule": str(one.rule), "past": one.end}


def _problems(session: Session, problems: list[IndelibleError]) -> None:
    for error in problems:
        mark = BAD if isinstance(error, IntegrityError) else WARN
        session.output.aside(f"{mark} {visible(str(error))}")
