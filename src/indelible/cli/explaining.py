"""why, held."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from indelible.cli import common
from indelible.cli.common import policy_of, policy_option
from indelible.cli.looking import event_in_words, reasons, scope_in_words
from indelible.cli.output import BAD, OK, WARN, counted, shown, visible
from indelible.cli.reviewers import with_signer
from indelible.errors import HeldError, IntegrityError, NotFoundError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indelible.cli.session import Session
    from indelible.deliveries import Delivery
    from indelible.explaining import Checked, Erased, Why
    from indelible.memory.surveying import Surveyed


@click.command()
@click.argument("key", required=False, shell_complete=common.complete_key)
@click.option("--delivery", "number", type=click.IntRange(1), metavar="N", help="Why this one was, by its number.")
@click.option("--version", type=click.IntRange(1), metavar="N", help="An older version of KEY.")
@common.files_option
@policy_option
@click.pass_obj
def why(
    session: Session, *, key: str | None, number: int | None, version: int | None, files: tuple[str, ...], policy: str | None
) -> int:  # fmt: skip
    """Say why KEY (or the record of that URN) is handed over here and now, or held; or all about a delivery of before.

    Exit 0: it is handed over, or the delivery still stands in the log. 4: it is held. 3: nothing is there, or no more. 2: altered.
    """
    from indelible import explaining

    if key is not None and number is not None:
        raise UsageError(
            "A KEY and --delivery were both named", remedy="Name one: a KEY, or a delivery with --delivery N"
        )
    if key is None and number is None:
        raise UsageError("Say what is to be explained", remedy="Name a KEY, or a delivery with --delivery N")
    if number is not None and (version is not None or policy is not None or files):
        raise UsageError(
            "A delivery was of one version, under one policy", remedy="Leave --version, --file and --policy out"
        )
    chosen = policy_of(policy)
    with common.target(session, files) as memory:
        if number is not None:
            return _say_delivery(session, explaining.why_delivery(memory, number))
        seen = explaining.why(memory, explaining.key_of(memory, key or ""), version, policy=chosen)
        if memory.gate.journal is not None and memory.gate.journal.warning:
            session.output.aside(f"{WARN} {memory.gate.journal.warning}")
    return _say_erased(session, seen) if isinstance(seen, explaining.Erased) else _say_why(session, seen)


def _say_why(session: Session, seen: Why) -> int:
    held = seen.found.verdict.held
    for line in _why(seen):
        session.output.line(line)
    command = with_signer(common.settings_of(session), seen.command, seen.found.subject.review.assigned)
    if command:
        session.output.line(f"Next: {command}")
    code = HeldError.exit_code if held else 0
    session.output.document(
        document_of(seen)
        | {"command": command or None, "ok": not code, "exit_code": code, "slug": "held" if held else "applies"}
    )
    return code


def _why(seen: Why) -> Iterator[str]:
    from indelible.explaining import HOLDING

    loaded, subject, verdict = seen.loaded, seen.found.subject, seen.found.verdict
    how = f"delivered as {verdict.delivered_as}" if not verdict.held else "held"
    yield f"{WARN if verdict.held else OK} {shown(loaded.key)} (version {loaded.version}) is {how} under {seen.mode}"
    for outcome in seen.outcomes:
        yield f"  {BAD if outcome.reasons else OK} {outcome.condition}"
        yield from (f"  {line}" for line in reasons(outcome.reasons))
    beside = [reason for reason in verdict.reasons if all(reason not in one.reasons for one in seen.outcomes)]
    yield from reasons(beside)
    yield from reasons(verdict.notes)
    yield f"  facts       {_facts(seen.found.context.as_dict())}"
    yield f"  memory      {visible(subject.id)}, scope {visible(scope_in_words(subject.scope))}, origin {subject.origin}"
    yield f"  text        sha256:{loaded.sha256}"
    yield f"  review      {_review(seen)}"
    yield from (f"              {event_in_words(event)}" for event in seen.found.standing.events)
    accepted = not any(slug.startswith("anchor-") for slug in verdict.slugs)
    for _, state, _approved in seen.anchors:
        mark = OK if state.slug in HOLDING else WARN if accepted else BAD
        yield f"  anchor      {mark} {state.slug}: {visible(state.message)}" + (
            f". {visible(state.remedy)}" if state.remedy else ""
        )
    for one in seen.related:
        yield f"  {one.relation.replace('_', ' '):<11} {shown(one.key)} ({one.state})"
    yield f"  checkpoint  size {seen.checkpoint[0]}, root {seen.checkpoint[1]}; entry {loaded.seq}, leaf {seen.found.standing.leaf.hex()}"
    yield from _deliveries(seen.deliveries)


def _review(seen: Why) -> str:
    review = seen.found.subject.review
    by = f" by {visible(review.by)} at {review.at}" if review.by else ""
    kept = "" if review.protected or not review.by else ", with a key under no passphrase"
    to = f"; {visible(review.assigned)} is to review it" if review.assigned else ""
    return f"{review.value}{by}{kept}{to}"


def _facts(said: object) -> str:
    if not isinstance(said, dict) or not said:
        return "none"
    return visible(", ".join(f"{name} {value}" for name, value in said.items()))


def _deliveries(found: tuple[Delivery, ...]) -> Iterator[str]:
    for one in found:
        yield f"  delivery    {one.number}  {visible(one.at)}  {visible(one.outcome)}  version {one.version}  {visible(one.door)}"


def document_of(seen: Why) -> dict[str, object]:
    """What is known of a memory and its verdict, for a program."""
    loaded, found = seen.loaded, seen.found
    subject, review = found.subject, found.subject.review
    return {
        "key": loaded.key, "version": loaded.version, "id": subject.id, "sha256": loaded.sha256, "state": subject.state,
        "verdict": found.verdict.as_dict(), "context": found.context.as_dict(), "command": seen.command or None,
        "conditions": [{"name": one.condition, "holds": not one.reasons, "reasons": [reason._asdict() for reason in one.reasons]}
                       for one in seen.outcomes],
        "memory": {"kind": subject.kind, "origin": subject.origin, "authority": subject.authority, "scope": scope_in_words(subject.scope),
                   "revision": subject.revision, "valid_from": subject.valid_from, "valid_until": subject.valid_until,
                   "expires_at": subject.expires_at, "review_by": subject.review_by, "replaced_by": subject.replaced_by or None},
        "review": {"value": review.value, "by": review.by or None, "at": review.at or None, "protected": review.protected,
                   "assigned": review.assigned or None,
                   "events": [{**event.entry._asdict(), "reviewer": event.reviewer or None} for event in found.standing.events]},
        "anchors": [{"type": anchor.type, "path": anchor.path, "value": anchor.value, "approved": approved, **state._asdict()}
                    for anchor, state, approved in seen.anchors],
        "related": [one._asdict() for one in seen.related],
        "checkpoint": {"size": seen.checkpoint[0], "root": seen.checkpoint[1]},
        "entry": {"seq": loaded.seq, "leaf": found.standing.leaf.hex(), "by": loaded.by, "attested": loaded.attested},
        "deliveries": [one.as_dict() for one in seen.deliveries],
    }  # fmt: skip


def _say_erased(session: Session, seen: Erased) -> int:
    erased = next(entry for entry in seen.entries if entry.type == "erased")
    why_ = f": {visible(erased.reason)}" if erased.reason else ""
    session.output.line(
        f"{WARN} {shown(seen.key)} was erased at {erased.at} (entry {erased.seq}){why_}; nothing is delivered"
    )
    for entry in seen.entries:
        session.output.line(
            f"  entry {entry.seq}  {entry.at}  {entry.type} version {entry.version}  leaf {entry.leaf.hex()}"
        )
    session.output.line(f"  checkpoint  size {seen.checkpoint[0]}, root {seen.checkpoint[1]}")
    for line in _deliveries(seen.deliveries):
        session.output.line(line)
    session.output.document({
        "ok": False, "exit_code": NotFoundError.exit_code, "slug": "erased", "key": seen.key, "erased_at": erased.at, "reason": erased.reason,
        "entries": [{"seq": one.seq, "type": one.type, "version": one.version, "at": one.at, "leaf": one.leaf.hex()} for one in seen.entries],
        "checkpoint": {"size": seen.checkpoint[0], "root": seen.checkpoint[1]}, "deliveries": [one.as_dict() for one in seen.deliveries],
    })  # fmt: skip
    return NotFoundError.exit_code


_ENTRIES = {
    "stands": "it stands in the log still",
    "given-up": "it is not in the log: the owner accepted an older store, and what it did not hold was given up",
    "altered": "it is not in the verified log",
    "none": "the delivery names no entry",
}
_BECAME = {
    "unchanged": "it is still the present version", "newer": "a newer version took its place", "archived": "it was archived since",
    "superseded": "it was superseded since", "erased": "it was erased since: content gone, entry and proof stand", "unknown": "not known",
}  # fmt: skip


def _say_delivery(session: Session, seen: Checked) -> int:
    one, code = seen.delivery, IntegrityError.exit_code if seen.finding is not None else 0
    for line in _delivery(seen):
        session.output.line(line)
    if seen.finding is not None:
        session.output.aside(f"{BAD} {visible(str(seen.finding))}")
    proof = seen.proof
    session.output.document({
        "ok": not code, "exit_code": code, "slug": seen.finding.slug if seen.finding else "explained", "delivery": one.as_dict(),
        "entry": seen.entry, "now": seen.now, "since": seen.since or None, "text": seen.text,
        "proof": proof and {"index": proof[0], "size": proof[1], "root": proof[2], "leaf": proof[3]}, "finding": seen.finding and seen.finding.as_dict(),
    })  # fmt: skip
    return code


def _delivery(seen: Checked) -> Iterator[str]:
    from json import loads

    one = seen.delivery
    how = f" as {visible(one.delivered_as)}" if one.delivered_as else ""
    to = f" to {visible(one.reader)}" if one.reader else ""
    version = f" (version {one.version})" if one.version else ""
    yield f"Delivery {one.number}: {shown(one.key)}{version} was {visible(one.outcome)}{how} at {visible(one.at)} through {visible(one.door)}{to}"
    if one.mode:
        yield f"  policy      {visible(one.mode)}: {visible(one.policy)}"
        yield f"  facts       {_facts(loads(one.context))}"
    for slug, message in (*one.reasons, *one.notes):
        yield f"  {visible(slug)}: {visible(message)}"
    if one.review is not None:
        yield f"  review      {visible(one.review.verdict)} by {visible(one.review.reviewer)} at {visible(one.review.at)}"
    yield f"  text        {f'sha256:{one.sha256}' if one.sha256 else 'its digest is not kept'}{_held_against(seen)}"
    if one.checkpoint is not None:
        yield f"  checkpoint  size {one.checkpoint[0]}, root {one.checkpoint[1]}"
    yield f"  {BAD if seen.finding else OK} entry {one.seq}: {_ENTRIES[seen.entry]}"
    if seen.proof is not None:
        yield f"  {OK} proof: leaf {seen.proof[3]} is under size {seen.proof[1]}, root {seen.proof[2]}"
    if seen.entry == "stands":
        yield f"  now         {_BECAME[seen.now]}" + (f" ({seen.since})" if seen.now != "unchanged" else "")


def _held_against(seen: Checked) -> str:
    return {
        "same": ", which is that of this version still",
        "other": ", which is not that of this version",
        "gone": "; the text is gone",
    }.get(seen.text, "")


@click.command()
@click.argument("prefix", required=False, default="")
@click.option("--all", "every", is_flag=True, help="What was archived, superseded or is for other places too.")
@common.files_option
@policy_option
@click.pass_obj
def held(session: Session, *, prefix: str, every: bool, files: tuple[str, ...], policy: str | None) -> int:
    """List what is held here and now and why (what is for other places is counted), each with the one command that resolves it."""
    from indelible.memory.surveying import is_elsewhere, resolving, survey

    chosen = policy_of(policy)
    findings: list[IntegrityError] = []
    rows: list[tuple[Surveyed, str]] = []
    number = elsewhere = 0
    settings = common.settings_of(session)
    with common.target(session, files) as memory, common.progress(session.output, "Judging") as advance:
        used = chosen or memory.gate.policy
        for one in survey(memory, (used,), findings, prefix=prefix, every=every, advance=advance):
            number += 1
            found = one.found[0]
            if is_elsewhere(found) and not every:
                elsewhere += 1
            elif found.verdict.held:
                command = with_signer(settings, resolving(memory, found, used), found.subject.review.assigned)
                rows.append((one._replace(loaded=one.loaded._replace(content=b"")), command))
    for one, command in rows:
        session.output.line(f"{WARN} {shown(one.loaded.key)} (version {one.loaded.version})")
        for line in reasons(one.found[0].verdict.reasons):
            session.output.line(line)
        session.output.line(f"  -> {visible(command)}")
    for finding in findings:
        session.output.line(f"{BAD} {visible(str(finding))}")
    more = f"; {elsewhere} more {'is' if elsewhere == 1 else 'are'} for other places: --all" if elsewhere else ""
    session.output.line(f"{len(rows)} of {counted(number, 'memory', 'memories')} held under {used.mode}{more}")
    code = IntegrityError.exit_code if findings else 0
    session.output.document({
        "ok": not code, "exit_code": code, "slug": "tampered" if code else "queue", "mode": used.mode, "policy": used.condition.name,
        "judged": number, "elsewhere": elsewhere, "findings": [finding.as_dict() for finding in findings],
        "held": [{"key": one.loaded.key, "version": one.loaded.version, "command": command,
                  "reasons": [reason._asdict() for reason in one.found[0].verdict.reasons]} for one, command in rows],
    })  # fmt: skip
    return code
