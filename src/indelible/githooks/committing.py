"""Before a commit: is what the index holds what was approved? And the receipt goes into the message.

What git hands over counts: it names another index for `commit`, for `commit -a` and for `commit -- path`. It is copied, and
never written to.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from indelible.errors import Blocked, IndelibleError, NotPermitted
from indelible.files import replace_file
from indelible.githooks.approved import open_desks
from indelible.githooks.here import head_branch
from indelible.stepping.receipts import APPROVE
from indelible.workflow.change import Change, change_of_index, missing, open_change
from indelible.workflow.history import read_commits, trees_of
from indelible.workflow.receipt import TRAILER, to_trailer

if TYPE_CHECKING:
    from indelible.githooks.approved import Desks
    from indelible.githooks.here import Here
    from indelible.stepping.receipts import Issued

_OURS = re.compile(rb"^" + TRAILER.encode() + rb"[ \t]*:.*(?:\n|\Z)", re.IGNORECASE | re.MULTILINE)
_SHOWN = 20
"""Paths that are told one by one."""


def before_commit(here: Here) -> None:
    """Let the commit go on, or not.

    Raises:
        Blocked: nobody approved what is staged. IndelibleError: it cannot be told.
    """
    with open_desks(here) as desks:
        if not desks.rules.guards(head_branch(here.git, here.folder)):
            return
        change = _staged(here)
        if _is_message_only(here, change):
            return
        try:
            _receipt(here, desks, change)
        except NotPermitted as error:
            raise Blocked(
                f"Not committed: {error.message}{_what_differs(here, desks, change)}", remedy=APPROVE
            ) from error


def add_receipt(here: Here, path: str) -> None:
    """Put the receipt into the message of the commit that is being made.

    Args:
        path: the file of the message.

    Raises:
        Blocked: there is none for it.
    """
    where = os.path.join(here.folder, path)
    with open(where, "rb") as file:
        text = file.read()
    if not _says_something(here, text):  # git gives the commit up, and a trailer would keep it from that
        return
    with open_desks(here) as desks:
        if not desks.rules.guards(head_branch(here.git, here.folder)):
            return
        change = _staged(here)
        if _is_message_only(here, change):
            note = _carried(here)
            if note:
                _write(here, where, text, note)
            return
        try:
            note = to_trailer(_receipt(here, desks, change).note)
        except NotPermitted as error:
            raise Blocked(f"Not committed: {error.message}", remedy=APPROVE) from error
        _write(here, where, text, note)


def _staged(here: Here) -> Change:
    return change_of_index(here.folder, here.environ, here.environ.get("GIT_INDEX_FILE", ""))


def _receipt(here: Here, desks: Desks, change: Change) -> Issued:
    """The receipt for what is staged, on HEAD or, for an amendment, in the place of HEAD.

    Raises:
        NotPermitted: there is none for either.
    """
    try:
        return desks.fitting(change)
    except NotPermitted:
        amended = _amended(here, change)
        if amended is None:
            raise
        try:
            return desks.fitting(amended)
        except NotPermitted:
            pass
        raise


def _amended(here: Here, change: Change) -> Change | None:
    """The same tree in the place of HEAD."""
    if not change.base or change.parents:
        return None
    head = next(read_commits(here.git, here.folder, [change.base]))
    return Change(change.format, head.base, change.tree, head.parents, change.branch)


def _is_message_only(here: Here, change: Change) -> bool:
    """Whether the tree is that of HEAD: another message for it, or an empty commit, which is refused when HEAD moves."""
    return not change.parents and trees_of(here.git, here.folder, [change.base]).get(change.base) == change.tree


def _carried(here: Here) -> str:
    """The trailer that HEAD carries."""
    head = next(read_commits(here.git, here.folder, [here.git.line(here.folder, "rev-parse", "HEAD")]))
    return f"{TRAILER}: {head.receipts[0]}" if len(head.receipts) == 1 else ""


def _what_differs(here: Here, desks: Desks, change: Change) -> str:
    """Which paths keep what is staged from being what was approved, where the working tree is still that."""
    try:
        with open_change(here.folder, here.environ) as opened:
            whole = opened.change
            desks.fitting(whole)
    except IndelibleError:
        return ""
    paths = missing(whole, change)
    shown = ", ".join(repr(path) for path in paths[:_SHOWN])
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return f". The working tree is what was approved, and what is staged is not: {shown}{more} ('git add -A' stages all of it)"


def _says_something(here: Here, text: bytes) -> bool:
    """Whether a message is left once git has taken its comments out."""
    stripped = here.git.run(here.folder, "stripspace", "--strip-comments", stdin=_OURS.sub(b"", text))
    return bool(stripped.out.strip()) or bool(stripped.code)


def _write(here: Here, where: str, text: bytes, trailer: str) -> None:
    """One receipt, in the last block of the message; whatever else of ours stands in it (two commits made one) goes."""
    replace_file(where, _OURS.sub(b"", text), mode=0o644)
    here.git.must(
        here.folder, "interpret-trailers", "--in-place", "--no-divider", "--where", "end", "--if-exists", "replace",
        "--if-missing", "add", "--trailer", trailer, where,
    )  # fmt: skip
    with open(where, "rb") as file:
        made = file.read()
    if _OURS.findall(made) != [f"{trailer}\n".encode()]:
        raise Blocked(
            "Not committed: the receipt could not be put into the message as it is",
            remedy="Look for 'trailer.…' in your git settings: one of them changes trailers",
        )
