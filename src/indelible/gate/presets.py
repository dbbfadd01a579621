"""The policies that have a name, and those put together from named conditions.

    strict      the seed's four conditions: scope, the whole commit, an expiry that is ahead, reviewed
    anchored    the default: what the memory depends on is unchanged; the agent's own unreviewed memory goes out, labelled
    expiry      time alone: changes of the code within it are not seen
    owner       the person whom it was assigned to approved it, and nothing is overdue
    lifecycle   archived, superseded or expired, and nothing else: what the seeds' plain wire form judges

Whatever the preset, nothing goes out that is out of scope, not for this reader, put away, expired, rejected, or that
came from outside, asks to be a rule or reads as an order and was not reviewed.
"""

from __future__ import annotations

from indelible.errors import UsageError
from indelible.gate import conditions as c
from indelible.gate.policy import AllOf, Condition, Policy, UnsafeDeliverAll

DEFAULT = "anchored"
UNSAFE = "unsafe-deliver-all"

_ALWAYS: tuple[Condition, ...] = (
    c.InScope(), c.Readable(), c.Active(), c.NotRejected(), c.WithinValidity(), c.ClockSane(), c.TrustedOrigin(),
    c.RulesReviewed(), c.NotOrdering(), c.Understood(),
)  # fmt: skip

PRESETS: dict[str, Policy] = {
    name: Policy(name, AllOf(parts))
    for name, parts in {
        "strict": (*_ALWAYS, c.AtRevision(), c.NotExpired(required=True), c.Reviewed()),
        "anchored": (*_ALWAYS, c.AnchorsUnchanged(), c.NotExpired(), c.ReviewNotOverdue()),
        "expiry": (*_ALWAYS, c.NotExpired()),
        "owner": (*_ALWAYS, c.NotExpired(), c.Reviewed(named=True), c.ReviewNotOverdue()),
        "lifecycle": (c.Active(), c.NotExpired()),
    }.items()
} | {UNSAFE: Policy(UNSAFE, UnsafeDeliverAll())}

ALONE = frozenset({"lifecycle", UNSAFE})
"""Those that look at a memory alone: what it stands on, and what says otherwise, is nothing to them."""

COMPARED = ("strict", "anchored", "expiry", "owner")
"""Those that `gate compare` holds against one another: the four rows of the seed's table."""

CONDITIONS: dict[str, Condition] = {
    condition.name: condition
    for condition in (
        *_ALWAYS, c.AtRevision(), c.AnchorsUnchanged(), c.NotExpired(), c.NotExpired(required=True), c.Reviewed(),
        c.Reviewed(named=True), c.ReviewNotOverdue(),
    )
}  # fmt: skip


def policy_of(text: str) -> Policy:
    """The preset of that name, or all of the conditions that are named with commas between.

    Raises:
        UsageError: a name that there is not.
    """
    if text in PRESETS:
        return PRESETS[text]
    names = [name.strip() for name in text.split(",")]
    unknown = [name for name in names if name not in CONDITIONS]
    if unknown:
        raise UsageError(
            f"There is no policy or condition {unknown[0]!r}",
            remedy=f"Presets: {', '.join(PRESETS)}; conditions, with commas: {', '.join(CONDITIONS)}",
        )
    return Policy("custom", AllOf([CONDITIONS[name] for name in names]))
