"""A receipt: an approver's signed note (C2SP signed-note) about one exact change, for one target, until one time.

    indelible/receipt/v1
    target approved-diff
    format sha1
    base 5f0c…          the commit that the change stands on; - for the first one
    tree 9a1b…          the tree that git would commit
    parents -           further parents of a merge
    branch refs/heads/x - where HEAD is detached
    repository github.com/Owner/repo
    workflow 2c26…      SHA-256 of the workflow in force
    diff 77aa…          SHA-256 of the rendered change that was shown
    input slot:30_critic_summary.md 41d0…
    issued 2026-11-30T17:00:00Z
    expires 2026-12-01T17:00:00Z
    nonce 0123…

Of the change nothing but base and tree counts: they are what git commits. In a commit the note stands whole, as one trailer, so
that who has the approver's public key needs nothing else to check it. Sources: seed 004; O-GIT-01 to O-GIT-11.
"""

from __future__ import annotations

import calendar
import re
import time
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import Malformed, UsageError
from indelible.light import sha256
from indelible.record.times import parse_time
from indelible.seal.note import from_base64, open_note, parse_note, sign_note, to_base64

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from indelible.seal.note import Signer, Verifier
    from indelible.workflow.change import Change

HEADER = "indelible/receipt/v1"
APPROVER = "indelible-approver/"
"""How the names of approvers' keys begin."""
TRAILER = "Indelible-Receipt"
NOTHING = "-"
MOST_INPUTS = 256
LONGEST = 100_000
"""Bytes of a note."""
SKEW = 300
"""Seconds by which the clock where a receipt is used may be behind the approver's."""
_MEMBERS = (
    "target", "format", "base", "tree", "parents", "branch", "repository", "workflow", "diff", "issued", "expires", "nonce",
)  # fmt: skip
_SIZES = {"sha1": 40, "sha256": 64}
_HEX = re.compile(r"[0-9a-f]+")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_NONCE = re.compile(r"[0-9a-f]{32}")
_PLAIN = re.compile(r"[^\x00-\x20\x7f][^\x00-\x1f\x7f]*")
_TARGET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class Receipt(NamedTuple):
    """What an approver said yes to. Texts that are empty stand as `-` in the note."""

    target: str
    format: str
    """Of object ids: `sha1` or `sha256`."""
    base: str
    """Empty for an unborn HEAD."""
    tree: str
    parents: tuple[str, ...]
    branch: str
    """Its full name; empty where HEAD is detached."""
    repository: str
    workflow: str
    diff: str
    inputs: tuple[tuple[str, str], ...]
    """Name and SHA-256 of what else was looked at, sorted."""
    issued: str
    """RFC 3339 in UTC, whole seconds, as every time here."""
    expires: str
    nonce: str

    def format_text(self) -> bytes:
        """The text that is signed.

        Raises:
            UsageError: a member cannot be told on one line.
        """
        rows = [(name, _said(getattr(self, name))) for name in _MEMBERS]
        at = next(index for index, (name, _) in enumerate(rows) if name == "issued")
        rows[at:at] = [("input", f"{name} {digest}") for name, digest in self.inputs]
        text = "".join(f"{name} {value}\n" for name, value in rows)
        made = f"{HEADER}\n{text}".encode("utf-8", "surrogateescape")
        try:
            fits = _parse_text(made) == self
        except Malformed as exc:
            raise UsageError(f"A receipt cannot say that: {exc.message}") from exc
        if not fits:
            raise UsageError(
                "A receipt cannot say that: one of its members has more than one line, or is not in its form"
            )
        return made


def sign_receipt(receipt: Receipt, signer: Signer) -> bytes:
    """The note, signed by an approver.

    Raises:
        UsageError: that is no approver's key, or the receipt has no form.
    """
    if not signer.name.startswith(APPROVER):
        raise UsageError(
            f"{signer.name} is not the key of an approver",
            remedy="'indelible key create --role approver' makes one; an agent's key approves nothing",
        )
    return sign_note(receipt.format_text(), signer)


def parse_receipt(note: bytes) -> Receipt:
    """What a note says. Nothing is verified.

    Raises:
        Malformed: it is no receipt in its one form.
    """
    if len(note) > LONGEST:
        raise Malformed(f"A receipt is longer than {LONGEST} bytes")
    return _parse_text(parse_note(note).text)


def open_receipt(note: bytes, approvers: Iterable[Verifier]) -> tuple[Receipt, str]:
    """The receipt, and the name of the approver who signed it.

    Raises:
        Malformed: it is no receipt. BadSignature: none of these approvers signed it.
    """
    receipt = parse_receipt(note)
    _, signatures = open_note(note, (key for key in approvers if key.name.startswith(APPROVER)))
    return receipt, signatures[0].name


def receipt_id(note: bytes) -> str:
    """Sixteen hex digits, by which a person and the log name it."""
    return sha256(note).hexdigest()[:16]


def misfit(
    receipt: Receipt, change: Change, *, now: str | None = None, branch: str | None = None, repository: str | None = None,
    inputs: Mapping[str, str] | None = None, workflow: str | None = None, target: str | None = None,
) -> tuple[str, ...]:  # fmt: skip
    """Every reason why a receipt is not for that change, here and now; empty where it fits. What is None is not looked at.

    Args:
        now: RFC 3339 in UTC, whole seconds.
        branch: full name of the branch that it is committed on; empty where HEAD is detached.
        inputs: present digests of what the receipt may name besides the change.
    """
    reasons = []
    if target is not None and receipt.target != target:
        reasons.append(f"it is for the target {receipt.target}, not {target}")
    if (receipt.format, receipt.base) != (change.format, change.base):
        reasons.append(f"the change stood on {_short(receipt.base)}, and stands on {_short(change.base)} now")
    if receipt.tree != change.tree:
        reasons.append(f"the tree that was approved is {_short(receipt.tree)}, and it is {_short(change.tree)} now")
    if receipt.parents != change.parents:
        reasons.append("what is merged is not what was approved")
    if branch is not None and receipt.branch != branch:
        reasons.append(f"it is for {receipt.branch or 'a detached HEAD'}, not {branch or 'a detached HEAD'}")
    if repository is not None and receipt.repository != repository:
        reasons.append(f"it is for the repository {receipt.repository}, not {repository}")
    if workflow is not None and receipt.workflow != workflow:
        reasons.append("the workflow was another one when it was given")
    if inputs is not None:
        said = dict(receipt.inputs)
        reasons += [f"{name} changed since it was given" for name in said if inputs.get(name) != said[name]]
        reasons += [f"{name} came since it was given" for name in inputs if name not in said]
    return (*reasons, *(out_of_time(receipt, now) if now is not None else ()))


def out_of_time(receipt: Receipt, now: str) -> tuple[str, ...]:
    """Why it does not hold at that time, the allowance for clocks counted in: times in one form compare as texts."""
    if now >= receipt.expires:
        return (f"it expired at {receipt.expires}",)
    if now < later(receipt.issued, -SKEW):
        return (f"it was given at {receipt.issued}, and the clock here says {now}: it went back",)
    return ()


def later(at: str, seconds: int) -> str:
    """A time of the one form, so many seconds later."""
    moment = calendar.timegm(time.strptime(at, "%Y-%m-%dT%H:%M:%SZ")) + seconds
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))


def to_trailer(note: bytes) -> str:
    """The trailer of a commit message that carries the note: one line, without its newline."""
    return f"{TRAILER}: {to_base64(note)}"


def from_trailer(text: str) -> bytes:
    """The note that a trailer carries; the exact inverse of `to_trailer`.

    Raises:
        Malformed: it carries none.
    """
    name, _, value = text.partition(": ")
    if name.lower() != TRAILER.lower():
        raise Malformed(f"That is no {TRAILER} trailer")
    return from_base64(value.strip())


def _said(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(value) or NOTHING
    return str(value) or NOTHING


def _parse_text(text: bytes) -> Receipt:
    try:
        lines = text.decode("utf-8", "surrogateescape").removesuffix("\n").split("\n")
    except UnicodeDecodeError as exc:  # pragma: no cover - surrogateescape takes every byte
        raise Malformed("A receipt is not text") from exc
    members: dict[str, str] = {}
    inputs: list[tuple[str, str]] = []
    for line in lines[1:]:
        name, _, value = line.partition(" ")
        if name == "input":
            what, _, digest = value.rpartition(" ")
            inputs.append((what, digest))
        elif name in members:
            raise Malformed(f"A receipt says {name!r} twice")
        else:
            members[name] = value
    if lines[0] != HEADER or tuple(members) != _MEMBERS or len(inputs) > MOST_INPUTS:
        raise Malformed("A receipt does not have its members in their order")
    _check(members, inputs)
    receipt = Receipt(
        members["target"], members["format"], _empty(members["base"]), members["tree"],
        tuple(_empty(members["parents"]).split()), _empty(members["branch"]), _empty(members["repository"]), members["workflow"],
        members["diff"], tuple(inputs), members["issued"], members["expires"], members["nonce"],
    )  # fmt: skip
    said = [line.partition(" ")[0] for line in lines[1:]]
    if said != [*_MEMBERS[:9], *("input" for _ in inputs), *_MEMBERS[9:]]:
        raise Malformed("A receipt does not have its members in their order")
    return receipt


def _empty(value: str) -> str:
    return "" if value == NOTHING else value


def _check(members: dict[str, str], inputs: list[tuple[str, str]]) -> None:
    size = _SIZES.get(members["format"], 0)
    ids = [members["tree"], *(name for name in (members["base"], *members["parents"].split(" ")) if name != NOTHING)]
    forms = (
        _TARGET.fullmatch(members["target"]) is not None,
        all(len(name) == size and _HEX.fullmatch(name) for name in ids),
        members["branch"] == NOTHING or members["branch"].startswith("refs/"),
        all(_PLAIN.fullmatch(members[name]) for name in ("branch", "repository")),
        all(_DIGEST.fullmatch(digest) for digest in (members["workflow"], members["diff"], *(digest for _, digest in inputs))),
        all(_PLAIN.fullmatch(name) for name, _ in inputs) and inputs == sorted(dict(inputs).items()),
        _NONCE.fullmatch(members["nonce"]) is not None,
    )  # fmt: skip
    if not all(forms):
        raise Malformed("A receipt has a member that is not in its form")
    for name in ("issued", "expires"):
        try:
            is_plain = parse_time(members[name], name) == members[name]
        except UsageError:
            is_plain = False
        if not is_plain:
            raise Malformed(f"A receipt has no time under {name!r}")


def _short(oid: str) -> str:
    return oid[:12] or "nothing (a first commit)"
