"""approve --ask, --asked, --receipt: a yes from another machine, through a server or by files."""

from __future__ import annotations

import os
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from indelible.cli import common, renewing, showing
from indelible.cli.inputs import read_input
from indelible.cli.output import OK, WARN, visible
from indelible.errors import ConflictError, NotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indelible.cli.approving import Told
    from indelible.cli.session import Session
    from indelible.memory import Memory
    from indelible.settings import Settings
    from indelible.stepping.asking import Asked
    from indelible.stepping.desk import Desk
    from indelible.workflow.change import Change
    from indelible.workflow.graph import Target


def ask(session: Session, desk: Desk, target: Target, file: str | None, *, regardless: bool) -> None:
    """Seal a request for an approver on another machine; write it to a file too, where one is named."""
    from indelible.cli.outputs import write_output
    from indelible.stepping import asking
    from indelible.stepping.approving import shown_now

    with TemporaryDirectory(prefix="indelible-") as folder, desk.opened() as opened:
        digest = showing.render_to(os.path.join(folder, "branch.diff"), opened)
        shown = shown_now(desk, target, opened.change, digest, regardless=regardless)
        pack = opened.pack()
    saved = asking.ask(desk, shown, pack)
    if file is not None:
        write_output(desk.settings, file, desk.memory.fetch(saved.key).content)
    session.output.line(
        f"{OK} asked for {target.title}: tree {shown.change.tree[:12]} on {shown.change.base[:12] or 'nothing'}"
    )
    session.output.line("An approver with a clone says, against the same store: indelible approve --asked")
    session.output.document({"ok": True, "exit_code": 0, "slug": "asked", "key": saved.key, **showing.as_dict(shown)})


def approve_asked(session: Session, told: Told) -> None:
    """Look at what was asked for elsewhere, in a clone that has its base, and sign it."""
    from indelible.cli import approvers
    from indelible.stepping import asking
    from indelible.stepping.approving import receipt_of
    from indelible.workflow.receipt import receipt_id, sign_receipt

    settings = common.settings_of(session)
    approvers.require_approver(settings, told.approver)
    with _asked(settings, told.target, told.request) as (memory, asked):
        if memory is not None:
            asking.refuse_stale(memory, asked)
        with _looked_at(settings, asked) as (change, path):
            _show(session, asked, change, path)
            showing.ask(session, asked.target, yes=told.yes)
        signer = approvers.approver_of(settings, told.approver)
        if memory is not None and asking.newest(memory, asked.target) != asked:
            raise ConflictError(
                "Something else was asked for meanwhile: nothing was approved", remedy="Look at it again"
            )
        from indelible.settings import now

        receipt = receipt_of(asked, now(), told.holds)
        note = sign_receipt(receipt, signer)
        kept = _hand_in(session, settings, memory, note, told.file)
    identity = receipt_id(note)
    session.output.line(f"{OK} approved {asked.target}: receipt {identity}, until {receipt.expires}; {kept}")
    session.output.document({
        "ok": True, "exit_code": 0, "slug": "approved", "receipt": identity, "approver": signer.name, "expires": receipt.expires,
        "target": asked.target, "base": asked.base or None, "tree": asked.tree,
    })  # fmt: skip


def take_in(session: Session, file: str) -> None:
    """Seal a receipt that was signed elsewhere, if an approver who is known here signed it."""
    from indelible.memory.bound import RECEIPT
    from indelible.stepping import approvals, approving, receipts
    from indelible.stepping.desk import open_desk

    note = read_input(file)
    with open_desk(common.settings_of(session), showing.environ(), door="approve") as desk:
        saved = receipts.issue(desk.memory, note, desk.approvers)
        identity = saved.key.removeprefix(RECEIPT)
        reasons = approvals.why_not(desk, identity)
        became = () if reasons else approving.take_up(desk)
        renewing.renew(session, desk)
    session.output.line(f"{OK} {'already ' if saved.repeated else ''}taken in: receipt {identity}")
    for slot in became:
        session.output.line(f"{OK} written {slot}")
    if reasons:
        session.output.aside(f"{WARN} it is not for what is here now: {'; '.join(map(visible, reasons))}")
    session.output.document({
        "ok": True, "exit_code": 0, "slug": "taken-in", "receipt": identity, "repeated": saved.repeated, "became": list(became),
        "misfits": list(reasons),
    })  # fmt: skip


@contextmanager
def _asked(settings: Settings, target: str | None, request: str | None) -> Iterator[tuple[Memory | None, Asked]]:
    """The request, from a file or from the agent's log."""
    from indelible import wiring
    from indelible.stepping import asking

    if request is not None:
        yield None, asking.parse_asked(read_input(request))
        return
    with wiring.open_memory(settings) as memory:
        yield memory, asking.newest(memory, target)


@contextmanager
def _looked_at(settings: Settings, asked: Asked) -> Iterator[tuple[Change, str]]:
    from indelible.settings import here
    from indelible.workflow.change.packed import open_packed

    if settings.checkout is None:
        raise NotFoundError(
            "There is no clone here to look at the change in", remedy="Go into a clone of the repository"
        )
    with (
        TemporaryDirectory(prefix="indelible-") as folder,
        open_packed(settings.checkout, here()[1], asked.change, asked.pack) as opened,
    ):
        path = os.path.join(folder, "branch.diff")
        digest = showing.render_to(path, opened)
        if digest != asked.diff:
            raise ConflictError(
                "The change reads otherwise here than where it was asked for: another git may render it, or it was altered",
                remedy="Compare the versions of git; or approve on the machine where the change is", expected=asked.diff, actual=digest,
            )  # fmt: skip
        yield opened.change, path


def _show(session: Session, asked: Asked, change: Change, path: str) -> None:
    session.output.line(
        f"{asked.target}  {asked.repository}, {asked.branch.removeprefix('refs/heads/') or 'a detached HEAD'}"
    )
    for line in showing.lines_of_change(change):
        session.output.line(line)
    for line in showing.lines_of_inputs(asked.inputs, dict(asked.texts)):
        session.output.line(line)
    showing.page(session, path)


def _hand_in(session: Session, settings: Settings, memory: Memory | None, note: bytes, file: str | None) -> str:
    """Where the receipt goes: to a file, to the server, or into the log that is here."""
    from indelible import wiring
    from indelible.cli.outputs import write_output
    from indelible.stepping import receipts
    from indelible.workflow.receipt import receipt_id

    if file is not None:
        return (
            f"written to {write_output(settings, file, note)}: where the change is, 'indelible approve --receipt FILE'"
        )
    if memory is None:
        session.output.give(note.decode())
        return "printed: where the change is, 'indelible approve --receipt FILE'"
    hand_in = getattr(memory.store, "hand_in", None)
    if hand_in is None or wiring.keystore(settings).holds(memory.origin):
        receipts.issue(memory, note, wiring.approvers(settings))
        return "sealed in the log"
    hand_in(note, receipts.operation_of(receipt_id(note)))
    receipts.require_there(memory, note)
    return "handed in"
