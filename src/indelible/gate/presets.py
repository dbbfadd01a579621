"""The policies that have a name, and those put together from named conditions.

    strict      the seed's four conditions: scope, the whole commit, an expiry that is ahead, reviewed
    anchored    the default: what the memory depends on is unchanged; the agent's own unreviewed memory goes out, labelled
    expiry      time alone: changes of the code within it are not seen
    owner       the person whom it was assigned to approved it, and nothing is overdue
    lifecycle   archived, superseded or expired, and nothing else: what the seeds' plain wire form judges

Whatever the preset but for the last, and whatever conditions are put together, nothing goes out that is out of scope, not for this reader, put away, expired, rejected, or that
came from outside, asks to be a rule or reads as an order and was not reviewed.
"""

from __future__ import annotations

from typing import NamedTuple

from indelible.errors import UsageError
from indelible.gate import conditions as c
from indelible.gate.policy import AllOf, Condition, Policy, UnsafeDeliverAll

DEFAULT = "anchored"
UNSAFE = "unsafe-deliver-all"
CUSTOM = "custom"
"""The mode of a policy that is put together from conditions."""

_ALWAYS: tuple[Condition, ...] = (
    c.InScope(), c.Readable(), c.Active(), c.NotRejected(), c.WithinValidity(), c.WithinRetention(), c.ClockSane(),
    c.TrustedOrigin(), c.RulesReviewed(), c.NotOrdering(), c.Understood(),
)  # fmt: skip

PRESETS: dict[str, Policy] = {
    name: Policy(name, AllOf(parts))
    for name, parts in {
        "strict": (*_ALWAYS, c.AtRevision(), c.NotExpired(required=True), c.Reviewed()),
        "anchored": (*_ALWAYS, c.AnchorsUnchanged(), c.NotExpired(), c.ReviewNotOverdue()),
        "expiry": (*_ALWAYS, c.NotExpired()),
        "owner": (*_ALWAYS, c.NotExpired(), c.Reviewed(named=True), c.ReviewNotOverdue()),
        "lifecycle": (c.Active(), c.WithinRetention(), c.NotExpired()),
    }.items()
} | {UNSAFE: Policy(UNSAFE, UnsafeDeliverAll())}

ALONE = frozenset({"lifecycle", UNSAFE})
"""Not for a settings file or a request to choose. Those that look at a memory alone: what it stands on, and what says otherwise, is nothing to them."""

COMPARED = ("strict", "anchored", "expiry", "owner")
"""Those that `gate compare` holds against one another: the four rows of the seed's table."""

CONDITIONS: dict[str, Condition] = {
    condition.name: condition
    for condition in (
        *_ALWAYS, c.AtRevision(), c.AnchorsUnchanged(), c.NotExpired(), c.NotExpired(required=True), c.Reviewed(),
        c.Reviewed(named=True), c.ReviewNotOverdue(),
    )
}  # fmt: skip


SAYS: dict[str, str] = {
    "in-scope": "it is for the repository, branch, path, agent, … that the reader is in",
    "readable": "it is the reader's own, or shared",
    "active": "it is neither archived nor superseded",
    "not-rejected": "no reviewer rejected or disputed it",
    "within-validity": "now lies between its valid_from and valid_until",
    "within-retention": "the rules in .indelible/retention.toml keep its content for longer",
    "clock-sane": "the reader's clock is not behind the time at which it was saved",
    "trusted-origin": "text of a tool's, or from outside, was reviewed",
    "rules-reviewed": "what asks to be a rule was reviewed",
    "not-ordering": "text that reads as an order to the model was reviewed, or is the user's",
    "understood": "it has no extension that must be understood and is not",
    "at-revision": "the repository is at the commit at which it was written or approved",
    "anchors-unchanged": "the files and facts that it depends on are as they were, or as they were when it was approved",
    "not-expired": "its expires_at, if it has one, is ahead",
    "expiry-ahead": "it has an expires_at, and that is ahead",
    "reviewed": "a reviewer whom this reader trusts approved this version",
    "reviewed-by-owner": "the reviewer whom it was assigned to approved this version",
    "review-not-overdue": "its review_by, if it has one, is ahead, or somebody approved it since",
}
"""Each condition in one line, for people."""


class Trade(NamedTuple):
    """What one way of judging is worth."""

    way: str
    gains: str
    costs: str


TRADES: dict[str, Trade] = {
    "strict": Trade(
        "compare the whole commit", "simple, and the same for everybody", "unrelated changes hold memory back too"
    ),
    "anchored": Trade("compare the files that it depends on", "holds less back", "may miss indirect dependencies"),
    "expiry": Trade("expiry alone", "simple to build and to follow", "misses changes of the code within that time"),
    "owner": Trade(
        "a named person reviews it again",
        "judges by the context",
        "people wait for reviews, and somebody has to see to them",
    ),
}
"""The table of trade-offs of the note that this gate was built after; a comparison of designs, and no measurement."""


def policy_of(text: str) -> Policy:
    """The preset of that name, or the conditions that are named with commas between, beside those that always hold.

    Raises:
        UsageError: a name that there is not.
    """
    text = text.strip()
    if text in PRESETS:
        return PRESETS[text]
    names = [name.strip() for name in text.split(",")]
    unknown = [name for name in names if name not in CONDITIONS]
    if unknown:
        raise UsageError(
            f"There is no policy or condition {unknown[0]!r}",
            remedy=f"Presets: {', '.join(PRESETS)}; conditions, with commas: {', '.join(CONDITIONS)}",
        )
    named = [CONDITIONS[name] for name in names]
    chosen = {condition.name: condition for condition in (*named, *_ALWAYS, c.NotExpired())}
    return Policy(CUSTOM, AllOf(list(chosen.values())))
