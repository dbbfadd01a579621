"""The final word: what a receiving repository takes. Public keys are all that it needs.

    {git folder}/indelible/approvers
    # who may approve; one key on a line
    indelible-approver/mina+1c2d3e4f+AQ…
    revoked indelible-approver/leo+4e5f6a7b+AQ…
    protect main
    protect release/*
    target approved-diff
    repository github.com/Owner/repo    what receipts have to be for; where no such line is, that is not looked at
    baseline 5f0c…                      a commit that was there before: nobody has to approve it

A push lies in quarantine while this runs: git's variables that say so are obeyed, and nothing of it is kept where it is refused.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import UsageError
from indelible.gate.identity import parse_identity
from indelible.githooks.here import TIMEOUT, is_id, is_zero, not_understood, variables_of
from indelible.githooks.pushing import refused
from indelible.gitsource.command import Git
from indelible.gitsource.lines import lines_of
from indelible.seal.note import Verifier
from indelible.workflow.branches import PROTECTED, is_among
from indelible.workflow.commits import Trust, check_commits
from indelible.workflow.guard import RECEIPT
from indelible.workflow.history import AS_STORED
from indelible.workflow.known import known_before

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indelible.workflow.commits import Finding

NAME = os.path.join("indelible", "approvers")
_MOST = 1_000_000
_KINDS = ("revoked", "protect", "target", "baseline", "repository")
_BLANKS = " \t\r"
_HEAD = "# Who may approve what comes to the protected branches of this repository: 'indelible hooks install --git --receive'\n"


class Terms(NamedTuple):
    """What a receiving repository asks for."""

    approvers: tuple[Verifier, ...]
    revoked: tuple[Verifier, ...] = ()
    protected: tuple[str, ...] = PROTECTED
    target: str = RECEIPT
    baseline: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()
    """Names of this repository in receipts (see `gate.identity`); empty where that is not looked at."""

    def protects(self, ref: str) -> bool:
        """Whether that branch (a full name) takes nothing without a receipt."""
        return is_among(ref, self.protected)

    def format(self) -> bytes:
        """The file's text; `parse_terms` is the inverse."""
        lines = [key.vkey for key in self.approvers]
        lines += [f"revoked {key.vkey}" for key in self.revoked]
        lines += [f"protect {one}" for one in self.protected]
        lines += [f"target {self.target}", *(f"baseline {one}" for one in self.baseline)]
        lines += [f"repository {one}" for one in self.repositories]
        return (_HEAD + "".join(f"{line}\n" for line in lines)).encode()


def parse_terms(text: str, path: str) -> Terms:
    """Read the file of approvers. Without other lines the protected branches and the target are the usual ones.

    Raises:
        UsageError: a line is nothing that can stand there; its number is told.
    """
    found: dict[str, list[str]] = {name: [] for name in ("", *_KINDS)}
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip(_BLANKS)
        if not stripped or stripped.startswith("#"):
            continue
        kind, blank, value = stripped.partition(" ")
        kind, value = (kind, value.strip(_BLANKS)) if blank else ("", stripped)
        if kind not in found or (kind != "repository" and " " in value) or not value.isprintable():
            raise UsageError(
                f"{path}:{number}: that is no key, and none of {', '.join(_KINDS)} with one word after it", file=path
            )
        found[kind].append(value)
    try:
        approvers, revoked = (tuple(map(Verifier, found[kind])) for kind in ("", "revoked"))
    except UsageError as exc:
        raise UsageError(
            f"{path}: {exc.message}", remedy="One key on a line, as 'indelible key show' prints it", file=path
        ) from exc
    gone = {key.vkey for key in revoked}
    return Terms(
        tuple(key for key in approvers if key.vkey not in gone), revoked, tuple(found["protect"]) or PROTECTED,
        (found["target"] or [RECEIPT])[-1], tuple(found["baseline"]),
        tuple(map(repository_named, found["repository"])),
    )  # fmt: skip


def repository_named(text: str) -> str:
    """The name that receipts have for a repository, from that name or an address of it.

    Raises:
        UsageError: it is an address that names no repository.
    """
    found = parse_identity(text)
    if not found:
        raise UsageError(
            f"{text!r} names no repository", remedy="Say it as a receipt does: host/owner/repo, or file:/a/path"
        )
    return found


def read_terms(path: str) -> Terms:
    """The terms in a file.

    Raises:
        UsageError: it is not there, or not as it has to be.
    """
    try:
        with open(path, "rb") as file:
            return parse_terms(file.read(_MOST).decode("utf-8", "replace"), path)
    except OSError as exc:
        raise UsageError(
            f"The file of approvers {path} cannot be read ({exc.strerror})",
            remedy="'indelible hooks install --git --receive DIR --approver VKEY' writes it", file=path,
        ) from exc  # fmt: skip


def before_receive(folder: str, environ: Mapping[str, str], lines: bytes) -> None:
    """Take a push, or not.

    Args:
        folder: the git folder, in which git runs this hook.
        lines: `OLD NEW NAME`, as git gives them.

    Raises:
        Blocked: a protected branch would get what nobody approved. IndelibleError: it cannot be told.
    """
    git = Git(environ, TIMEOUT, variables=variables_of(environ), settings=AS_STORED)
    common = os.path.realpath(os.path.join(folder, git.line(folder, "rev-parse", "--git-common-dir")))
    terms = read_terms(os.path.join(common, NAME))
    rows = [_row(line) for line in lines_of(lines)]
    wanted = [(old, new, name) for old, new, name in rows if terms.protects(name)]
    reasons = [reason for old, new, name in wanted if (reason := _moved(git, folder, old, new, name))]
    news = [new for _, new, _ in wanted if not is_zero(new)]
    wrong: list[Finding] = []
    if news:
        trust = Trust(terms.approvers, terms.target, terms.revoked, terms.repositories)
        # what only another branch has was never looked at
        known = known_before(git, folder, ids=terms.baseline, branches=terms.protected)
        wrong = [one for one in check_commits(git, folder, news, known, trust) if not one.ok]
    if reasons or wrong:
        raise refused("Not taken", reasons, wrong)


def _row(line: str) -> tuple[str, str, str]:
    """`OLD NEW NAME`.

    Raises:
        Blocked: it cannot be understood.
    """
    words = line.split(" ")
    if len(words) != 3 or not (is_id(words[0]) and is_id(words[1]) and words[2].startswith("refs/")):
        raise not_understood("pre-receive", line)
    return words[0], words[1], words[2]


def _moved(git: Git, folder: str, old: str, new: str, name: str) -> str:
    if is_zero(new):
        return f"{name} is protected, and would be deleted"
    if is_zero(old) or not git.run(folder, "merge-base", "--is-ancestor", old, new).code:
        return ""
    return f"{name} is protected, and would be moved away from {old[:12]}: fetch it, and build on it"
