"""review list, show, approve, reject, dispute, assign."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from indelible.cli import common
from indelible.cli.drafting import KINDS, ORIGINS
from indelible.cli.listing import in_scope, listed, row
from indelible.cli.output import BAD, OK, WARN, counted, shown, visible
from indelible.cli.reviewers import as_option, complete_known, require_head_signer, reviewer_of, reviewer_or_agent
from indelible.errors import IndelibleError, IntegrityError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from indelible.cli.reviewers import Judge
    from indelible.cli.session import Session
    from indelible.memory import Memory
    from indelible.memory.judging import Judged
    from indelible.memory.surveying import Surveyed

STATES = ("held", "overdue", "disputed", "pending", "unreviewed", "approved", "rejected")


@click.group(cls=common.Group)
def review() -> None:
    """What people think of memories: an approval is bound to the text, and to what is said of it, that was looked at."""


class Filter(NamedTuple):
    """Which memories are meant; what is not said does not count."""

    prefix: str | None = None
    origin: str | None = None
    kind: str | None = None

    @property
    def said(self) -> bool:
        return any(value is not None for value in self)

    def fits(self, found: Judged) -> bool:
        subject = found.subject
        return self.origin in (None, subject.origin) and self.kind in (None, subject.kind)


def _filters(command: Callable[..., Any]) -> Callable[..., Any]:
    options = (
        click.option("--prefix", metavar="TEXT", help="Only keys that begin so."),
        click.option("--origin", type=click.Choice((*ORIGINS, "unknown")), help="Only of that origin."),
        click.option("--kind", type=click.Choice(KINDS), help="Only of that kind."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@review.command(name="list")
@_filters
@click.option("--scope", metavar="LEVEL[:VALUE]", help="Only of that scope: repo, repo:github.com/o/r, agent, …")
@click.option("--state", type=click.Choice(STATES), help="Only in that state of review.")
@click.option("--assigned", metavar="NAME", help="Only what NAME is to review.")
@click.option("--all", "every", is_flag=True, help="Approved and rejected ones too.")
@click.pass_obj
def review_list(
    session: Session, *, prefix: str | None, origin: str | None, kind: str | None, scope: str | None, state: str | None,
    assigned: str | None, every: bool,
) -> int:  # fmt: skip
    """List what waits for a reviewer: held for review, overdue, disputed, pending (assigned), unreviewed."""
    from indelible.memory.surveying import WAITING, review_states

    wanted = Filter(prefix, origin, kind)
    findings: list[IntegrityError] = []
    with common.target(session) as memory:
        rows = [
            (one, states)
            for one in _survey(session, memory, wanted, findings)
            if (states := review_states(one.found[0]))
            and (state in states if state else every or states[0] in WAITING or _waits_still(one.found[0], assigned))
            and (assigned is None or one.found[0].subject.review.assigned == assigned)
            and (scope is None or in_scope(one.found[0], scope))
        ]
    for one, states in rows:
        session.output.line(row(one, states))
    for finding in findings:
        session.output.line(f"{BAD} {visible(str(finding))}")
    session.output.line(counted(len(rows), "memory", "memories"))
    code = IntegrityError.exit_code if findings else 0
    session.output.document({
        "ok": not code, "exit_code": code, "slug": "tampered" if code else "reviews",
        "memories": [listed(one, states) for one, states in rows], "findings": [finding.as_dict() for finding in findings],
    })  # fmt: skip
    return code


def _waits_still(found: Judged, assigned: str | None) -> bool:
    """Whether somebody else approved what one person is to review."""
    return assigned is not None and found.subject.review.by != assigned


def _survey(session: Session, memory: Memory, wanted: Filter, findings: list[IntegrityError]) -> list[Surveyed]:
    from indelible.memory.surveying import survey

    with common.progress(session.output, "Judging") as advance:
        found = survey(memory, (memory.gate.policy,), findings, prefix=wanted.prefix or "", advance=advance)
        return [one for one in found if wanted.fits(one.found[0])]


@review.command(name="show")
@common.key_argument
@click.pass_obj
def review_show(session: Session, key: str) -> None:
    """Show all that a reviewer has to see of KEY: whence it comes, the verdict, its anchors, what changed, the text."""
    from indelible.cli.looking import show

    with common.target(session) as memory:
        show(session, memory, key)


class Told(NamedTuple):
    """One decision, as it was asked for."""

    verdict: str
    did: str
    reason: str | None = None
    subject: str | None = None
    digest: str | None = None
    op: str | None = None


def _chosen(command: Callable[..., Any]) -> Callable[..., Any]:
    """The arguments and options of those that decide about any number of memories."""
    options = (
        click.argument("keys", nargs=-1, shell_complete=common.complete_key),
        _filters,
        click.option("--all-unreviewed", is_flag=True, help="Everything that nobody has reviewed, within the filters."),
        click.option("--yes", is_flag=True, help="Do not ask."),
        as_option,
        common.op_option,
    )
    for option in reversed(options):
        command = option(command)
    return command


@review.command(name="approve")
@_chosen
@common.reason_option
@click.option(
    "--digest",
    metavar="SHA256",
    help="What was looked at: the SHA-256 of the text, or the entry's hash, as 'show' prints them. Another one there is a conflict.",
)
@click.pass_obj
def review_approve(
    session: Session, /, *, reason: str | None, digest: str | None, op: str | None,
    **chosen: Any,  # noqa: ANN401 - click hands options by name
) -> int:  # fmt: skip
    """Approve KEYS, as they are now: their text, what is said of them, and what they depend on. A reviewer's key signs."""
    return _decide(session, Told("approve", "approved", reason, None, digest, op), **chosen)


@review.command(name="reject")
@_chosen
@click.option("--reason", required=True, metavar="TEXT", help="Why; it stands in the log.")
@click.pass_obj
def review_reject(session: Session, /, *, reason: str, op: str | None, **chosen: Any) -> int:  # noqa: ANN401 - click hands options by name
    """Reject KEYS: they are handed out to nobody who trusts this reviewer. A reviewer's key signs."""
    return _decide(session, Told("reject", "rejected", reason, op=op), **chosen)


@review.command(name="dispute")
@_chosen
@click.option("--reason", required=True, metavar="TEXT", help="Why; it stands in the log.")
@click.option(
    "--with", "other", metavar="KEY", shell_complete=common.complete_key,
    help="The memory that says otherwise; it stands in the log of both.",
)  # fmt: skip
@click.pass_obj
def review_dispute(session: Session, /, *, reason: str, other: str | None, op: str | None, **chosen: Any) -> int:  # noqa: ANN401 - click hands options by name
    """Dispute KEYS: a reviewer's word holds them; the agent's own, where no reviewer's key is here, is shown beside them."""
    return _decide(session, Told("dispute", "disputed", reason, other, op=op), **chosen)


@review.command(name="assign")
@_chosen
@common.reason_option
@click.option(
    "--to", "name", required=True, metavar="NAME", shell_complete=complete_known,
    help="The reviewer who is to look at them.",
)  # fmt: skip
@click.pass_obj
def review_assign(session: Session, /, *, reason: str | None, name: str, op: str | None, **chosen: Any) -> int:  # noqa: ANN401 - click hands options by name
    """Say who is to review KEYS. Under the policy 'owner' nobody else's approval counts."""
    return _decide(session, Told("assign", "assigned", reason, name, op=op), **chosen)


def _decide(
    session: Session, told: Told, *, keys: tuple[str, ...], prefix: str | None, origin: str | None, kind: str | None,
    all_unreviewed: bool, yes: bool, reviewer: str | None,
) -> int:  # fmt: skip
    wanted = Filter(prefix, origin, kind)
    if bool(keys) == (wanted.said or all_unreviewed):
        raise UsageError(
            "Say which memories are meant", remedy="Name KEYS, or choose with --all-unreviewed, --prefix, …"
        )
    if told.digest is not None and len(keys) != 1:
        raise UsageError("--digest is of one memory", remedy="Name one KEY")
    settings = common.settings_of(session)
    with common.target(session) as memory:
        require_head_signer(memory)
        if told.verdict == "dispute" and told.subject is not None:
            _require_other(memory, keys, told.subject)
        batch = _named(memory, keys) if keys else _selected(session, memory, wanted, told, every=not all_unreviewed)
        if len(batch) > 1 or not keys:
            _ask(session, batch, told, yes=yes)
        elif told.verdict == "approve" and batch[0].error is None:
            _show_and_ask(session, memory, batch[0], yes=yes)
        if not batch:
            return _say(session, told, [], None)
        who = (
            partial(reviewer_or_agent, settings, memory)
            if told.verdict in ("dispute", "assign")
            else partial(reviewer_of, settings)
        )
        judge = who(reviewer)
        results = []
        with common.progress(session.output, "Reviewing") as advance:
            for one in batch:
                results.append(_one(session, memory, one, told, judge, alone=len(batch) == 1))
                advance(len(results), len(batch))
        if told.verdict == "assign":
            _warn_of_stranger(session, memory, told.subject)
        return _say(session, told, results, judge)


def _require_other(memory: Memory, keys: tuple[str, ...], other: str) -> None:
    """What is said to contradict has to be there, before anything is signed."""
    if other in keys:
        raise UsageError(f"{other!r} cannot contradict itself", remedy="Name another KEY with --with")
    memory.fetch(other)


class Item(NamedTuple):
    """One memory to decide about, as it was looked at; or why it could not be."""

    key: str
    found: Judged | None = None
    seq: int = 0
    sha256: str = ""
    error: IndelibleError | None = None


def _named(memory: Memory, keys: tuple[str, ...]) -> list[Item]:
    items = []
    for key in dict.fromkeys(keys):
        try:
            loaded = memory.fetch(key)
            items.append(Item(key, memory.judge(key), loaded.seq, loaded.sha256))
        except IndelibleError as error:
            items.append(Item(key, error=error))
    return items


def _selected(session: Session, memory: Memory, wanted: Filter, told: Told, *, every: bool) -> list[Item]:
    findings: list[IntegrityError] = []
    found = _survey(session, memory, wanted, findings)
    values = ("unreviewed", "pending")
    items = [
        Item(one.loaded.key, one.found[0], one.loaded.seq, one.loaded.sha256)
        for one in found
        if every or one.found[0].subject.review.value in values
        if told.verdict != "approve" or one.found[0].subject.review.value != "approved"
    ]
    return items + [Item(str(finding.facts.get("key", "")), error=finding) for finding in findings]


def _ask(session: Session, batch: list[Item], told: Told, *, yes: bool) -> None:
    """List what would be decided, with digests, and make sure that it is meant."""
    for one in batch:
        what = f"sha256:{one.sha256}" if one.error is None else visible(one.error.message)
        session.output.aside(f"{told.verdict}  {shown(one.key)}  {what}")
    if yes or not batch:
        return
    if session.output.json or sys.stdin is None or not sys.stdin.isatty():
        raise UsageError(
            f"That would {told.verdict} {counted(len(batch), 'memory', 'memories')}, and there is no terminal to ask on",
            remedy="Say --yes if that is meant",
        )
    click.confirm(f"{told.verdict.capitalize()} {counted(len(batch), 'memory', 'memories')}?", abort=True, err=True)


def _show_and_ask(session: Session, memory: Memory, one: Item, *, yes: bool) -> None:
    """On a terminal, show the one memory that would be approved, and make sure that it is meant."""
    from indelible.cli.looking import lines_for

    if yes or session.output.json or sys.stdin is None or not sys.stdin.isatty():
        return
    for line in lines_for(memory, one.key):
        session.output.aside(line)
    click.confirm(f"Approve {shown(one.key)} as it is shown?", abort=True, err=True)


def _warn_of_stranger(session: Session, memory: Memory, name: str | None) -> None:
    """Say that nobody here is known by the name that something is assigned to."""
    from indelible.memory.standing import name_of

    if name not in [name_of(key.name) for key in memory.reviewers.values()]:
        session.output.aside(
            f"{WARN} no reviewer's key that is known here is of {visible(str(name))}: 'indelible key list' shows those that are,"
            " and 'indelible key trust VKEY' adds one"
        )


class Done(NamedTuple):
    """What became of one."""

    key: str
    sha256: str
    seq: int | None = None
    repeated: bool = False
    error: IndelibleError | None = None


def _one(session: Session, memory: Memory, one: Item, told: Told, judge: Judge, *, alone: bool) -> Done:
    """Decide about one; one that fails does not stop the others."""
    from indelible.memory.deciding import derived_op
    from indelible.memory.standing import format_seen

    if one.error is not None or one.found is None:
        return _failed(session, one, one.error, alone=alone)
    op = told.op if told.op is None or alone else derived_op(told.op, one.key)
    subject = told.subject
    if told.verdict == "approve":
        subject = format_seen(one.found.context, one.found.subject.anchors)
    try:
        saved = memory.review(
            one.key, told.verdict, by=judge.signer, method=judge.method, subject=subject, reason=told.reason, of=told.digest,
            at=one.seq, op=op,
        )  # fmt: skip
        if told.verdict == "dispute" and told.subject is not None:
            memory.review(
                told.subject, "dispute", by=judge.signer, method=judge.method, subject=one.key, reason=told.reason,
                op=derived_op(saved.op, "with"),
            )  # fmt: skip
    except IndelibleError as error:
        return _failed(session, one, error, alone=alone)
    session.output.line(f"{OK} {told.did}  {shown(one.key)} (version {saved.version})  sha256:{one.sha256}")
    return Done(one.key, one.sha256, saved.seq, saved.repeated)


def _failed(session: Session, one: Item, error: IndelibleError | None, *, alone: bool) -> Done:
    if alone and error is not None:
        raise error
    session.output.line(f"{BAD} {shown(one.key)}: {visible(str(error))}")
    return Done(one.key, one.sha256, error=error)


def _say(session: Session, told: Told, results: list[Done], judge: Judge | None) -> int:
    codes = [one.error.exit_code for one in results if one.error is not None]
    code = IntegrityError.exit_code if IntegrityError.exit_code in codes else max(codes, default=0)
    if len(results) != 1:
        failed = f"; {len(codes)} failed" if codes else ""
        session.output.line(f"{counted(len(results) - len(codes), 'memory', 'memories')} {told.did}{failed}")
    if judge is not None and judge.method == "process" and told.verdict in ("approve", "reject"):
        session.output.aside(f"{WARN} the key of {visible(judge.name)} is under no passphrase: every verdict says so")
    session.output.document({
        "ok": not code, "exit_code": code, "slug": told.did if not code else "not-decided", "verdict": told.verdict,
        "by": judge.name if judge else None, "method": judge.method if judge else None,
        "memories": [{"key": one.key, "sha256": one.sha256 or None, "seq": one.seq, "repeated": one.repeated,
                      "error": one.error and one.error.as_dict()} for one in results],
    })  # fmt: skip
    return code
