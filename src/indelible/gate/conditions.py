"""The conditions that policies are made of. Each is one question about a memory in a context."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from indelible.errors import UsageError
from indelible.gate.policy import HOLDS
from indelible.gate.scope import in_scope
from indelible.gate.subject import CLASSES
from indelible.gate.verdict import Reason
from indelible.record.parts import Scope
from indelible.record.rules import instant
from indelible.record.times import parse_time
from indelible.retention import rule_of

if TYPE_CHECKING:
    from indelible.gate.context import Context
    from indelible.gate.policy import Reasons
    from indelible.gate.subject import Subject

SKEW = 300 * 10**9
"""Nanoseconds by which clocks of machines may differ."""
_APPROVE = "'indelible review approve KEY', by a reviewer"
_PUT_AWAY = "'indelible archive KEY', or a reviewer approves it"


class InScope:
    """It applies where the reader is."""

    name = "in-scope"

    def __call__(self, subject: Subject, context: Context) -> Reasons:
        scope = subject.scope
        if scope is None:
            return (Reason("scope-invalid", "its scope cannot be read"),)
        if context.scope is not None or isinstance(scope, str):
            if scope == context.scope:
                return HOLDS
            return (Reason("scope", f"it is for {scope!r}, and the reader is in {context.scope!r}"),)
        reason = in_scope(
            scope, reader=context.reader, place=context.place, facts=context.facts, admits_global=context.admits_global,
            paths=context.paths,
        )  # fmt: skip
        return HOLDS if reason is None else (reason,)


class Readable:
    """This agent may read it: its own, or one that is shared."""

    name = "readable"

    def __call__(self, subject: Subject, context: Context) -> Reasons:
        visibility = getattr(subject.scope, "visibility", None)
        if context.reader == subject.agent or visibility in ("shared", "public"):
            return HOLDS
        return (
            Reason("permission", f"it is private to {subject.agent!r}, and {context.reader!r} reads", "Save it with --visibility shared"),
        )  # fmt: skip


class AtRevision:
    """The whole repository is at the very commit that the memory was written or approved at."""

    name = "at-revision"

    def __call__(self, subject: Subject, context: Context) -> Reasons:
        here, said = context.place.revision, subject.revision
        if not isinstance(said, str) or not said:
            return (Reason("revision-unknown", "no revision is recorded with it", _APPROVE),)
        if not here:
            why = f" ({context.place.problem.message})" if context.place.problem else ""
            return (
                Reason(
                    "revision-unknown",
                    f"there is no commit here to compare with{why}",
                    context.place.remedies.get("revision", ""),
                ),
            )
        if here == said or (subject.reviewed and subject.review.revision == here):
            return HOLDS
        short = ", which is a short form and could be another" if here.startswith(said.lower()) else ""
        return (Reason("revision", f"it was written at {said[:12]}{short}; here is {here[:12]}", _APPROVE),)


class AnchorsUnchanged:
    """The files and other facts that it depends on are as they were, or as they were when it was last approved."""

    name = "anchors-unchanged"

    def __call__(self, subject: Subject, context: Context) -> Reasons:
        if not subject.anchors or subject.on_change in ("warn", "ignore"):
            return HOLDS
        reasons = context.world.check(subject.anchors)
        if (
            reasons
            and subject.reviewed
            and subject.review.anchors
            and subject.review.anchors == context.world.digest(subject.anchors)
        ):
            return HOLDS
        return reasons


class WithinValidity:
    """Now lies in the time that the text speaks of."""

    name = "within-validity"

    def __call__(self, subject: Subject, context: Context) -> Reasons:
        return (
            *_compare(subject.valid_from, context, "validity-not-yet", "it holds from {} on only", past=False),
            *_compare(subject.valid_until, context, "validity-over", "it held until {} only", past=True),
        )


class NotExpired:
    """It has not expired. Nothing said is no expiry, and what cannot be read is not nothing.

    Args:
        required: hold what has no expiry at all, as the seed's function does.
    """

    def __init__(self, *, required: bool = False) -> None:
        self._required = required
        self.name = "expiry-ahead" if required else "not-expired"

    def __call__(self, subject: Subject, context: Context) -> Reasons:
        if subject.expires_at is None:
            missing = Reason(
                "expiry-missing", "it has no expiry, and this policy asks for one", "Save it again with --expires"
            )
            return (missing,) if self._required else HOLDS
        return _compare(
            subject.expires_at,
            context,
            "expiry",
            "it expired at {}",
            past=True,
            remedy="Save it again with a later --expires",
        )


class WithinRetention:
    """The rules of how long content is kept do not say that its time is over."""

    name = "within-retention"

    def __call__(self, subject: Subject, context: Context) -> Reasons:
        rules = context.retention
        if rules is None or not rules.content or not subject.saved_at or not isinstance(subject.scope, Scope):
            return HOLDS
        found = rule_of(rules, subject.scope, subject.kind, subject.saved_at)
        if found is None or instant(found[1]) > instant(context.now):
            return HOLDS
        words = f"its content was kept until {found[1]} ({found[0]})"
        return (
            Reason(
                "retention-over", words, "'indelible retention apply' erases it; save it again if it is still needed"
            ),
        )


class Reviewed:
    """A reviewer that this reader trusts approved this very version.

    Args:
        named: the reviewer whom the memory was assigned to, and nobody else.
    """

    def __init__(self, *, named: bool = False) -> None:
        self._named = named
        self.name = "reviewed-by-owner" if named else "reviewed"

    def __call__(self, subject: Subject, context: Context) -> Reasons:  # noqa: ARG002 - a condition's signature
        review = subject.review
        if review.value in ("rejected", "disputed"):
            return HOLDS  # NotRejected says so
        remedy = _APPROVE
        if self._named and review.assigned:
            remedy = f"'indelible review approve --as {quote(review.assigned)} KEY', by {review.assigned}"
        if not subject.reviewed:
            known = " (by somebody whose key is not trusted here)" if review.strangers else ""
            wait = f"; it waits for {review.assigned}" if review.assigned else ""
            return (
                Reason("review-missing", f"nobody that is trusted here approved this version{known}{wait}", remedy),
            )
        if self._named and review.assigned and review.assigned != review.by:
            return (
                Reason(
                    "review-not-by-owner", f"{review.by} approved it, and {review.assigned} is to review it", remedy
                ),
            )
        return HOLDS


class NotRejected:
    """No reviewer rejected or disputed it."""

    name = "not-rejected"

    def __call__(self, subject: Subject, context: Context) -> Reasons:  # noqa: ARG002 - a condition's signature
        if subject.review.value not in ("rejected", "disputed"):
            return HOLDS
        word = subject.review.value
        remedy = _PUT_AWAY if word == "rejected" else _APPROVE
        return (Reason(f"review-{word}", f"{subject.review.by} {word} it at {subject.review.at}", remedy),)


class ReviewNotOverdue:
    """Nobody was to look at it again by now, or somebody did."""

    name = "review-not-overdue"

    def __call__(self, subject: Subject, context: Context) -> Reasons:
        if subject.review_by is None:
            return HOLDS
        due = _compare(
            subject.review_by,
            context,
            "review-overdue",
            "somebody was to look at it again by {}",
            past=True,
            remedy=_APPROVE,
        )
        if (
            due
            and due[0].slug == "review-overdue"
            and subject.reviewed
            and instant(subject.review.at) >= _instant(subject.review_by)
        ):
            return HOLDS
        return due


class Active:
    """It is not archived, superseded or put away otherwise."""

    name = "active"

    def __call__(self, subject: Subject, context: Context) -> Reasons:  # noqa: ARG002 - a condition's signature
        if subject.state == "active":
            return HOLDS
        if subject.state == "superseded":
            return (
                Reason("state-superseded", f"{subject.replaced_by!r} took its place", f"Read {subject.replaced_by!r}"),
            )
        return (Reason(f"state-{subject.state}", f"it is {subject.state}", "'indelible unarchive KEY' brings it back"),)


class ClockSane:
    """The reader's clock is not behind the time at which the memory was saved."""

    name = "clock-sane"

    def __call__(self, subject: Subject, context: Context) -> Reasons:
        if (
            not subject.saved_at
            or subject.saved_at <= context.now
            or instant(subject.saved_at) <= instant(context.now) + SKEW
        ):
            return HOLDS
        words = f"it was saved at {subject.saved_at}, and the clock here says {context.now}: no expiry can be judged"
        return (Reason("clock-behind", words, "Set this machine's clock"),)


class TrustedOrigin:
    """Text that came from a tool or from outside was reviewed."""

    name = "trusted-origin"

    def __call__(self, subject: Subject, context: Context) -> Reasons:  # noqa: ARG002 - a condition's signature
        if subject.reviewed or CLASSES.index(
            subject.origin if subject.origin in CLASSES else "unknown"
        ) >= CLASSES.index("agent"):
            return HOLDS
        return (
            Reason("origin-unreviewed", f"its text is of origin {subject.origin!r} and was not reviewed", _APPROVE),
        )


class RulesReviewed:
    """What asks to be a rule was reviewed."""

    name = "rules-reviewed"

    def __call__(self, subject: Subject, context: Context) -> Reasons:  # noqa: ARG002 - a condition's signature
        if subject.authority != "instruction" or subject.ruled:
            return HOLDS
        if subject.reviewed:
            words = f"it asks to be a rule, and the key of {subject.review.by}, who approved it, is under no passphrase"
            return (Reason("rule-unreviewed", words, _APPROVE),)
        return (Reason("rule-unreviewed", "it asks to be a rule and was not reviewed", _APPROVE),)


class NotOrdering:
    """Text from below the user that reads as an order to the model was reviewed."""

    name = "not-ordering"

    def __call__(self, subject: Subject, context: Context) -> Reasons:  # noqa: ARG002 - a condition's signature
        if not subject.signs or subject.reviewed or subject.origin == "user":
            return HOLDS
        return (
            Reason(
                "order-quarantined", f"its text reads as an order to the model ({', '.join(subject.signs)})", _APPROVE
            ),
        )


class Understood:
    """It has no extension that must be understood and is not."""

    name = "understood"

    def __call__(self, subject: Subject, context: Context) -> Reasons:  # noqa: ARG002 - a condition's signature
        if not subject.crit:
            return HOLDS
        return (Reason("crit-unknown", f"it must not be used without understanding {', '.join(subject.crit)}"),)


def _instant(value: object) -> int:
    """Nanoseconds from 1970. Raises UsageError where it is no time with a zone."""
    if not isinstance(value, str):
        raise UsageError("no text")
    try:
        return instant(value)
    except UsageError:
        return instant(parse_time(value, "time"))


def _compare(value: object, context: Context, slug: str, words: str, *, past: bool, remedy: str = "") -> Reasons:
    """The reason where a time is behind us (`past`) or still ahead; nothing said is none."""
    if value is None:
        return HOLDS
    condition = slug.partition("-")[0]
    try:
        at = _instant(value)
    except UsageError:
        shown = value if isinstance(value, str) and len(value) <= 40 and value.isprintable() else type(value).__name__
        return (
            Reason(f"{condition}-invalid", f"{shown!r} is no time with a zone, and so nothing can be judged by it"),
        )
    reached = at <= instant(context.now)
    return (Reason(slug, words.format(value), remedy),) if reached is past else HOLDS
