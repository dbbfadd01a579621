"""Every memory of a log judged: what is held, what waits for a reviewer, and the command that resolves each."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import IntegrityError, NotFoundError, UsageError
from indelible.gate.conditions import ReviewNotOverdue
from indelible.gate.subject import claims
from indelible.gate.verdict import as_argument
from indelible.memory.judging import judged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from indelible.gate.policy import Policy
    from indelible.memory.judging import Judged
    from indelible.memory.reading import Reader
    from indelible.memory.results import Loaded

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


_AGAIN = "indelible load --policy lifecycle {key} | indelible save "
_COMMANDS = {
    "state-archived": "indelible unarchive {key}",
    "state-superseded": "indelible load {other}",
    "expiry": "indelible restore --version {version} {key}",
    "expiry-missing": _AGAIN + "--expires 90d {key} -",
    "validity-over": _AGAIN + "--valid-until 90d {key} -",
    "clock-behind": "indelible doctor",
    "outranked": "indelible archive {key}",
    "review-rejected": "indelible archive {key}",
}
"""By the reason that has to go first. An expiry that has passed does not go on to the version that 'restore' makes."""


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
    for slug, command in _COMMANDS.items():
        if slug in slugs:
            return command.format(
                key=key, version=subject.version, other=as_argument(subject.replaced_by or subject.key)
            )
    if any(slug.startswith("dependency-") for slug in slugs):
        return _resolving_dependency(reader, found, policy, depth)
    if any(slug.startswith("scope") for slug in slugs):
        return "indelible doctor --scope"
    if "review-not-by-owner" in slugs:
        return f"indelible review approve --as {quote(subject.review.assigned)} {key}"
    return f"indelible {'review approve' if all(map(is_for_review, slugs)) else 'why'} {key}"


def _resolving_dependency(reader: Reader, found: Judged, policy: Policy, depth: int) -> str:
    for key in found.subject.depends_on:
        argument = as_argument(key)
        try:
            loaded = reader.fetch(key)
            other = judged(reader, loaded, policy=policy, context=found.context)
        except (NotFoundError, UsageError):
            return f"indelible save {argument} FILE"
        except IntegrityError:
            return f"indelible verify {argument}"
        if other.verdict.held:
            return resolving(reader, other, policy, depth - 1) if depth else f"indelible why {argument}"
    return f"indelible why {as_argument(found.subject.key)}"
