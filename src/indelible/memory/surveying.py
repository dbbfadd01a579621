"""Every memory of a log judged: what is held, what waits for a reviewer, and the command that resolves each."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import IntegrityError, NotFoundError, UsageError
from indelible.gate.conditions import ReviewNotOverdue
from indelible.gate.policy import judge
from indelible.gate.presets import PRESETS, UNSAFE
from indelible.gate.subject import claims
from indelible.gate.verdict import as_argument
from indelible.memory.judging import judged
from indelible.memory.standing import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from indelible.gate.policy import Policy
    from indelible.memory.judging import Judged
    from indelible.memory.reading import Reader
    from indelible.memory.results import Loaded

CHAIN = 32
"""How far it is followed what took the place of what."""
CHUNK = 500
"""Memories whose files are looked at together."""
PUT_AWAY = frozenset({"archived", "superseded"})
WAITING = ("held", "overdue", "disputed", "pending", "unreviewed")
"""What a memory waits for a reviewer with, the most pressing first."""
BY_REVIEW = frozenset({
    "origin-unreviewed", "review-disputed", "review-missing", "review-not-by-owner", "review-overdue", "revision",
    "revision-unknown", "rule-unreviewed", "order-quarantined",
})  # fmt: skip
"""Why a memory is held that an approval frees; whatever is said of an anchor is such a reason too."""


_FIRST = {
    "state-archived": "indelible unarchive {key}",
    "state-superseded": "indelible load {other}",
    "clock-behind": "indelible doctor",
    "outranked": "indelible archive {key}",
    "review-rejected": "indelible archive {key}",
    "scope-global-not-admitted": "INDELIBLE_GLOBAL=1 indelible load {key}",
}
"""By the reason that has to go first."""
_SAYING = {
    "expiry": "--expires 90d",
    "expiry-invalid": "--expires 90d",
    "expiry-missing": "--expires 90d",
    "validity-not-yet": "--valid-from 0m",
    "validity-over": "--valid-until 90d",
    "retention-over": "",
}
"""What a memory is saved again with, by the reasons that this takes away; all of them in one save."""
_GONE = frozenset({"state-archived", "review-rejected", "outranked"})
"""Why nothing stands on a memory any more."""
_ELSEWHERE = frozenset({"scope", "scope-unknown"})


class Surveyed(NamedTuple):
    """One memory, and what each of the policies makes of it."""

    loaded: Loaded
    found: tuple[Judged, ...]


def survey(
    reader: Reader, policies: tuple[Policy, ...], findings: list[IntegrityError], *, prefix: str = "", every: bool = False,
    advance: Callable[[int, int], None] = lambda _done, _all: None,
) -> Iterator[Surveyed]:  # fmt: skip
    """Judge every memory in the order of keys, all at one time and place; what is not what was sealed goes to `findings`.

    Args:
        every: those that were put away too.
        advance: told how many of how many are done.

    Raises:
        IntegrityError: the log cannot be followed.
    """
    with reader.following() as (table, _, _):
        keys = [key for key, row in table.keys(prefix=prefix) if row.state != "erased"]
    context = reader.gate.context(reader.agent, reader.now())
    for start in range(0, len(keys), CHUNK):
        chunk = list(_fetched(reader, keys[start : start + CHUNK], findings))
        context.world.prepare(anchor for loaded in chunk for anchor in claims(loaded.body)["anchors"])
        for loaded in chunk:
            try:
                found = tuple(judged(reader, loaded, policy=policy, context=context) for policy in policies)
            except IntegrityError as finding:
                findings.append(finding)
                continue
            if every or found[0].subject.state not in PUT_AWAY:
                yield Surveyed(loaded, found)
        advance(min(start + CHUNK, len(keys)), len(keys))


def _fetched(reader: Reader, keys: list[str], findings: list[IntegrityError]) -> Iterator[Loaded]:
    for key in keys:
        try:
            yield reader.fetch(key)
        except NotFoundError:
            continue  # erased since
        except IntegrityError as finding:
            findings.append(finding)


def review_states(found: Judged) -> tuple[str, ...]:
    """Where the review of a memory stands: of `WAITING` what it waits with, else `approved` or `rejected`."""
    review, subject = found.subject.review, found.subject
    said = {review.value}
    if any(is_for_review(slug) for slug in found.verdict.slugs):
        said.add("held")
    if any(reason.slug == "review-overdue" for reason in ReviewNotOverdue()(subject, found.context)):
        said.add("overdue")
    if review.doubted:
        said.add("disputed")
    return tuple(state for state in (*WAITING, "approved", "rejected") if state in said)


def is_elsewhere(found: Judged) -> bool:
    """Whether a memory is held for no other reason than that it is for another place."""
    return found.verdict.held and _ELSEWHERE.issuperset(found.verdict.slugs)


def is_for_review(slug: str) -> bool:
    """Whether a reviewer's approval takes that reason away."""
    return slug in BY_REVIEW or slug.startswith("anchor-")


def resolving(reader: Reader, found: Judged, policy: Policy, depth: int = 8) -> str:
    """The one command that resolves what a memory is held for, or the first of it; empty where it is not held.

    Args:
        policy: by which it was judged.
        depth: how far a chain of what it depends on is followed to what is held of itself.
    """
    slugs, subject = found.verdict.slugs, found.subject
    if not slugs:
        return ""
    key = as_argument(subject.key)
    first = next((command for slug, command in _FIRST.items() if slug in slugs), None)
    if first is not None:
        return first.format(key=key, other=as_argument(subject.replaced_by or subject.key))
    if any(slug in _SAYING for slug in slugs):
        return _again(found, dict.fromkeys(_SAYING[slug] for slug in slugs if slug in _SAYING))
    if any(slug.startswith("dependency-") for slug in slugs):
        return _resolving_dependency(reader, found, policy, depth)
    if any(slug.startswith("scope") for slug in slugs):
        return "indelible doctor --scope"
    return _reviewing(reader, found, policy) if all(map(is_for_review, slugs)) else f"indelible why {key}"


def _again(found: Judged, options: Iterable[str]) -> str:
    """Save a memory again as it is, and say something more of it; read past what would hold it even then."""
    key = as_argument(found.subject.key)
    held = judge(PRESETS["lifecycle"], found.subject, found.context).held
    return " ".join([
        f"indelible load --policy {UNSAFE if held else 'lifecycle'} {key} | indelible save",
        *filter(None, options), key, "-",
    ])  # fmt: skip


def _reviewing(reader: Reader, found: Judged, policy: Policy) -> str:
    """A review; where nobody's counts but that of somebody whose key is not known here, one who is known is named instead."""
    review, key = found.subject.review, as_argument(found.subject.key)
    if not review.assigned or all(part.name != "reviewed-by-owner" for part in policy.parts):
        return f"indelible review approve {key}"
    known = sorted(name_of(one.name) for one in reader.reviewers.values())
    if review.assigned in known or not known:
        return f"indelible review approve --as {quote(review.assigned)} {key}"
    return f"indelible review assign --to {quote(review.by if review.by in known else known[0])} {key}"


def _resolving_dependency(reader: Reader, found: Judged, policy: Policy, depth: int) -> str:
    """Resolve what is held there; what is gone for good is no longer stood on, and what took its place is stood on instead."""
    stands: list[str] = []
    for key in found.subject.depends_on:
        became = _became(reader, found, policy, key)
        if isinstance(became, str):
            stands += [became] if became else []
        elif became is None:
            return f"indelible verify {as_argument(key)}"
        else:
            return resolving(reader, became, policy, depth - 1) if depth else f"indelible why {as_argument(key)}"
    if tuple(stands) == found.subject.depends_on:
        return f"indelible why {as_argument(found.subject.key)}"
    return _again(found, [f"--depends-on {quote(key)}" for key in dict.fromkeys(stands)] or ["--no-depends-on"])


def _became(reader: Reader, found: Judged, policy: Policy, key: str) -> str | Judged | None:
    """The key that is stood on from now on, empty for none; the judgement that has to be resolved first; None: it is not what was sealed."""
    for _ in range(CHAIN):
        try:
            other = judged(reader, reader.fetch(key), policy=policy, context=found.context)
        except (NotFoundError, UsageError):
            return ""
        except IntegrityError:
            return None
        if other.subject.state != "superseded":
            gone = key == found.subject.key or not _GONE.isdisjoint(other.verdict.slugs)
            return "" if gone else other if other.verdict.held else key
        key = other.subject.replaced_by
    return ""
