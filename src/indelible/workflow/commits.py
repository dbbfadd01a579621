"""Commits against receipts: does each one carry an approver's receipt for exactly what it is?

A commit is approved by the one receipt in its message (`Indelible-Receipt: …`), if a trusted approver, and nobody else,
signed it, for the target that a commit needs, with the commit's first parent as base, its tree, its further parents, and its
time within the receipt's. Public keys are all that it takes, so that CI and a receiving repository say the same as the
machine on which the commit was made. A merge needs a receipt of its own, and so does every commit that it brings.

What cannot be seen (a shallow clone, a graft) is said, and never counted as approved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

from indelible.errors import BadSignature, Malformed
from indelible.gitsource.command import Git
from indelible.gitsource.lines import lines_of
from indelible.seal.note import parse_note
from indelible.workflow import history
from indelible.workflow.known import known_before
from indelible.workflow.receipt import TRAILER, from_trailer, misfit, open_receipt, out_of_time, receipt_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from indelible.seal.note import Verifier
    from indelible.workflow.change import Change
    from indelible.workflow.history import Commit

APPROVED, NO_RECEIPT, MANY_RECEIPTS, BAD_RECEIPT, UNKNOWN, REVOKED, MISFIT, OUT_OF_TIME, EMPTY, TWICE, UNSEEN = (
    "approved", "no-receipt", "many-receipts", "bad-receipt", "unknown-approver", "revoked-approver", "misfit",
    "out-of-time", "empty-change", "used-twice", "unseen",
)  # fmt: skip
SAYS = {
    APPROVED: "The commit is what its receipt says, and an approver who counts signed that",
    NO_RECEIPT: "Its message carries no receipt",
    MANY_RECEIPTS: "Its message carries more than one: nobody approved the sum",
    BAD_RECEIPT: "What it carries is no receipt in its one form, or its signature fails",
    UNKNOWN: "The one who signed the receipt is no approver who counts here",
    REVOKED: "The one who signed it was an approver once, and is revoked",
    MISFIT: "The receipt is for another change: another base, tree or target, or another repository where one is named",
    OUT_OF_TIME: "The commit was made before the receipt, or after its end",
    EMPTY: "The commit changes nothing: an empty change cannot be approved",
    TWICE: "Another commit of the same history carries the same receipt",
    UNSEEN: "A parent of it is not here, or was cut off: what lies behind it could not be checked",
}
"""Everything that is found of a commit."""
TIMEOUT = 120.0


class Finding(NamedTuple):
    """What was found of one commit."""

    commit: str
    slug: str
    said: str
    """Why, in words; of an approved one, who approved it."""
    subject: str = ""
    receipt: str = ""
    """The receipt's id, where there is one that parses."""

    @property
    def ok(self) -> bool:
        """Whether it is approved."""
        return self.slug == APPROVED

    @property
    def unchecked(self) -> bool:
        """Whether it is only not known."""
        return self.slug == UNSEEN

    @property
    def text(self) -> str:
        """One line for a person."""
        subject = f"  {self.subject!r}" if self.subject else ""
        return f"{self.commit[:12]}{subject}: {self.said} [{self.slug}]"


class Trust(NamedTuple):
    """By whom and for what a receipt has to be."""

    approvers: tuple[Verifier, ...]
    target: str
    """Name of the target whose receipt a commit needs."""
    revoked: tuple[Verifier, ...] = ()
    repositories: tuple[str, ...] = ()
    """Names of the repository that a receipt may be for; empty where that is not looked at."""


def check_range(
    folder: str, environ: Mapping[str, str], old: str, new: str, trust: Trust, *, known: Iterable[str] = (),
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Finding, ...]:  # fmt: skip
    """Every commit that `new` brings over `old`, parents first, and what is to be said of it.

    Args:
        folder: a repository, bare or not.
        old: a commit; empty for none, so that the whole history is checked.
        known: more that counts as checked already: full ids, or options of `git rev-list` that stand for refs.

    Raises:
        GitFailed, GitMissing, NoRepository: it could not be checked.
    """
    git = Git(environ, TIMEOUT, settings=history.AS_STORED)
    tip = history.resolve(git, folder, new)
    before = history.resolve(git, folder, old) if old else ""
    return check_commits(git, folder, [tip], [before, *known], trust, progress)


def check_commits(
    git: Git, folder: str, tips: Iterable[str], known: Iterable[str], trust: Trust,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Finding, ...]:  # fmt: skip
    """As `check_range`, of full ids."""
    before = tuple(known)
    found = history.walk(git, folder, tips, before)
    commits = list(history.read_commits(git, folder, found.ids))
    trees = history.trees_of(git, folder, (commit.base for commit in commits))
    used = _used_before(git, folder, commits, found, before)
    seen = found.edge.union(found.ids)
    findings = []
    for done, commit in enumerate(commits):
        finding = judge(commit, trees.get(commit.base, ""), trust)
        if finding.ok and used.setdefault(finding.receipt, commit.id) != commit.id:
            said = f"its receipt {finding.receipt} serves {used[finding.receipt][:12]} already"
            finding = finding._replace(slug=TWICE, said=said)
        findings += [finding, *_unseen(commit, seen)]
        if progress is not None:
            progress(done + 1, len(commits))
    return tuple(findings)


def judge(commit: Commit, base_tree: str, trust: Trust) -> Finding:
    """What one commit comes to by itself.

    Args:
        base_tree: the tree of its first parent; empty where it has none, or it is not here.
    """
    if len(commit.receipts) != 1:
        return _of_number(commit)
    try:
        note = from_trailer(f"{TRAILER}: {commit.receipts[0]}")
        refused = _of_signer(commit, note, trust)
        if refused is not None:
            return refused
        receipt, signer = open_receipt(note, trust.approvers)
    except (Malformed, BadSignature) as exc:
        return _found(commit, BAD_RECEIPT, f"its receipt does not hold: {exc.message}")
    name = receipt_id(note)
    # A commit has the members of a change that are compared.
    reasons = misfit(receipt, cast("Change", commit), target=trust.target)
    if trust.repositories and receipt.repository not in trust.repositories:
        reasons += (f"it is for the repository {receipt.repository or '-'}, not {' or '.join(trust.repositories)}",)
    if reasons:
        return _found(commit, MISFIT, f"its receipt is not for it: {'; '.join(reasons)}", name)
    if not commit.at or out_of_time(receipt, commit.at):
        said = f"it says it was made {commit.at or 'at no time'}, and its receipt holds from {receipt.issued} to {receipt.expires}"
        return _found(commit, OUT_OF_TIME, said, name)
    if not commit.parents and commit.tree == (base_tree or _EMPTY[commit.format]):
        return _found(commit, EMPTY, "it changes nothing, and an empty change cannot be approved", name)
    return _found(commit, APPROVED, f"approved by {signer}", name)


def _found(commit: Commit, slug: str, said: str, receipt: str = "") -> Finding:
    return Finding(commit.id, slug, said, commit.subject, receipt)


def _of_number(commit: Commit) -> Finding:
    if not commit.receipts:
        return _found(commit, NO_RECEIPT, "nobody approved it: its message carries no receipt")
    said = f"its message carries {len(commit.receipts)} receipts, and one is for one commit"
    return _found(commit, MANY_RECEIPTS, said)


def _of_signer(commit: Commit, note: bytes, trust: Trust) -> Finding | None:
    """Why whoever signed it does not count. A second signature would make another note of the same receipt."""
    signatures = parse_note(note).signatures
    signed, first = {(one.name, one.key_id) for one in signatures}, signatures[0]
    if any((key.name, key.key_id) in signed for key in trust.revoked):
        return _found(commit, REVOKED, f"its receipt is signed by {first.name}, whose key is revoked")
    if len(signatures) > 1:
        return _found(commit, BAD_RECEIPT, "its receipt has more than one signature, which no approver makes")
    if all((key.name, key.key_id) not in signed for key in trust.approvers):
        return _found(
            commit, UNKNOWN, f"its receipt is signed by {first.name} ({first.key_id:08x}), who is no approver here"
        )
    return None


_EMPTY = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
"""The tree with nothing in it."""


def unapproved_since(
    folder: str, environ: Mapping[str, str], last_seen: str, trust: Trust, *, baseline: Iterable[str] = ()
) -> tuple[Finding, ...]:
    """The commits by which HEAD moved on since, which are not approved, and were not fetched from a remote.

    Args:
        last_seen: a commit; empty where there was none.
        baseline: full ids of what was there before the hooks were.

    Raises:
        GitFailed, GitMissing, NoRepository: it could not be checked.
    """
    git = Git(environ, TIMEOUT, settings=history.AS_STORED)
    tip, before = history.resolve(git, folder, "HEAD"), history.resolve(git, folder, last_seen) if last_seen else ""
    known = known_before(git, folder, ids=[before, *baseline], fetched=True)
    findings = check_commits(git, folder, [tip], known, trust)
    return tuple(finding for finding in findings if not finding.ok)


def _unseen(commit: Commit, seen: frozenset[str]) -> list[Finding]:
    return [
        Finding(
            parent,
            UNSEEN,
            f"it is a parent of {commit.id[:12]}, and is not here or was cut off: nobody can say what it brings",
        )
        for parent in commit.above
        if parent not in seen
    ]


def _used_before(
    git: Git, folder: str, commits: list[Commit], found: history.Walk, known: tuple[str, ...]
) -> dict[str, str]:
    """Receipts that commits of before carry, where one could be for the same change: they stand on the same base."""
    bases = {commit.base for commit in commits if commit.base in found.edge}
    tips = [one for one in known if one]
    if not bases or not tips:
        return {}
    below = lines_of(
        git.run(folder, "merge-base", "--all", "--octopus", *bases).out
    )  # one of them may stand on another
    ids = git.must(folder, "rev-list", "--parents", *tips, "--not", *below, "--")
    beside = [words[0] for line in lines_of(ids) if (words := line.split()) and bases.intersection(words[1:2])]
    used = {}
    for commit in history.read_commits(git, folder, beside):
        for text in commit.receipts:
            try:
                used[receipt_id(from_trailer(f"{TRAILER}: {text}"))] = commit.id
            except Malformed:
                continue
    return used
