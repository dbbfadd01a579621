"""`Flow`: what may happen next, and taking the step: status, why, run, done, resolve; the program counter in the same step.

A step is judged, stamped and taken by one process at a time. What has effects outside of the repository is stamped before and
after: woken in between, nobody repeats it, and a person is asked.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import IndelibleError, NotFoundError, NotPermitted, UsageError
from indelible.settings import FOLDER
from indelible.state.slot import NEXT
from indelible.stepping import marks
from indelible.stepping.facts import gather
from indelible.stepping.inforce import WorkflowAltered, workflow_in_force
from indelible.stepping.locking import alone
from indelible.stepping.receipts import use
from indelible.stepping.running import run_command
from indelible.workflow import frontier
from indelible.workflow import stamp as stamps
from indelible.workflow.advice import counter_text, is_counter, next_of, question, short_text, then_of
from indelible.workflow.graph import HUMAN
from indelible.workflow.stamp import MOST_NOTE, Stamp, format_stamp, stamp_key

if TYPE_CHECKING:
    from indelible.forking.run import Run
    from indelible.memory.results import Saved
    from indelible.stepping.desk import Desk
    from indelible.workflow.advice import Next
    from indelible.workflow.frontier import Facts, Standing
    from indelible.workflow.graph import Target, Workflow

__all__ = ["ByHand", "Flow", "MayHaveHappened", "Taken", "View", "WorkflowAltered", "waits_for", "workflow_in_force"]


_REASON = "the next permitted action"


class ByHand(NotPermitted):
    """No command does it: a person or the agent does, and says so."""

    slug = "by-hand"


class MayHaveHappened(NotPermitted):
    """It was begun and nobody knows how it ended, so it is not repeated."""

    slug = "may-have-happened"


class View(NamedTuple):
    """Everything at one moment."""

    workflow: Workflow
    facts: Facts
    standings: tuple[Standing, ...]
    next: Next

    def of(self, target: Target) -> Standing:
        """How one target stands."""
        return next(one for one in self.standings if one.target.id == target.id)


class Taken(NamedTuple):
    """What came of a step."""

    standing: Standing
    next: Next
    code: int = 0
    """Exit code of its command."""
    already: bool = False
    """Whether it was done before, and nothing was done."""
    child: Run | None = None
    """The child that ran it; None where none did."""


class Flow:
    """The workflow of one checkout.

    Args:
        desk: its state directory, memory, workflow, approvers.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.top = desk.settings.checkout or os.path.dirname(desk.state.path)
        inside = desk.settings.checkout is not None
        self.stamp_folder = (
            os.path.join(self.top, FOLDER, "stamps") if inside else os.path.join(desk.state.path, ".stamps")
        )

    @property
    def workflow(self) -> Workflow:
        """What is in force."""
        return self._desk.workflow

    def view(self) -> View:
        """How everything stands now. Changes nothing.

        Raises:
            IntegrityError: workflow, slots or log are not what was sealed.
        """
        facts = gather(self._desk, self.top, self.stamp_folder)
        found = frontier.standings(self.workflow, facts)
        return View(self.workflow, facts, found, next_of(found))

    def next(self) -> View:
        """How everything stands, with the next permitted action written into `99_next_action.md`."""
        self._require_laws()
        self._take_up()
        view = self.view()
        self._note(view)
        return view

    def _take_up(self) -> None:
        """A draft that was approved on another machine becomes what it is a draft of; a fork's child leaves that to its parent."""
        from indelible.stepping.approving import take_up

        if not self._desk.state.fork:
            take_up(self._desk)

    def run(self, text: str, *, stdout: int | None = None) -> Taken:
        """Take a step by its command.

        Args:
            stdout: the descriptor that the command writes to.

        Raises:
            NotPermitted: something before it is missing. ByHand: it has no command; what is to be done is said.
            MayHaveHappened: nobody knows whether it happened. ConflictError: another process is at it.
        """
        target = self.workflow.target(text)
        self._require_laws()
        self._take_up()
        with alone(self.stamp_folder, target.id):
            view = self._view_alone(target)
            standing = view.of(target)
            if standing.state == frontier.DONE:
                return self._ended(target, view, already=True)
            self._require(standing)
            begun = self._stamp(target, view, stamps.BEGUN).sha256 if target.run or target.effects else ""
            if not target.run:
                self._note(self._view_alone(target))
                raise _by_hand(target)
            if target.fork:
                return self._after_child(target, view, begun)
            code = run_command(target.run, self.top, self._desk.environ, target.id, stdout)
            return self._after(target, view, code, begun)

    def done(self, text: str, *, note: str = "", failed: bool = False) -> Taken:
        """Say of a step that is taken by hand that it is done.

        Args:
            note: for people, on one line.
            failed: it was taken, and failed.

        Raises:
            NotPermitted: something before it, or what it makes, is missing. UsageError: its command does it.
        """
        target = self.workflow.target(text)
        _check_note(note)
        if target.run:
            raise UsageError(f"{target.title} is done by its command", remedy=f"'indelible flow run {target.id}'")
        self._require_laws()
        with alone(self.stamp_folder, target.id):
            view = self._view_alone(target)
            standing = view.of(target)
            if standing.state == frontier.DONE and not failed:
                return self._ended(target, view, already=True)
            if standing.state not in (frontier.MAY_HAVE_HAPPENED, frontier.DONE):
                self._require(standing)
            if not failed:
                _require_made(target, view)
            self._stamp(target, view, stamps.FAILED if failed else stamps.DONE, note, after_begun=True)
            return self._ended(target, self._view_alone(target))

    def resolve(self, text: str, *, happened: bool, reason: str) -> Taken:
        """A person's word on a step that may have happened, or failed.

        Raises:
            UsageError: there is nothing to say about it.
        """
        target = self.workflow.target(text)
        _check_note(reason)
        if not reason.strip():
            raise UsageError(
                "Whether it happened is said with a reason", remedy="Say --reason TEXT; it stands in the log"
            )
        self._require_laws()
        with alone(self.stamp_folder, target.id):
            view = self._view_alone(target)
            last = view.facts.stamps.get(target.id)
            if last is None or last.state not in (stamps.BEGUN, stamps.FAILED):
                raise UsageError(
                    f"There is nothing open about {target.title}: it is {view.of(target).state}",
                    remedy="Only what was begun and did not end well is resolved: 'indelible flow status'",
                )
            state = stamps.DONE if happened else stamps.UNDONE
            self._stamp(target, view, state, reason, after_begun=True)
            return self._ended(target, self._view_alone(target))

    def agree(self) -> View:
        """Make the `.stamp` files agree with what is sealed."""
        view = self.view()
        marks.agree(self.stamp_folder, view.standings)
        return view

    def _view_alone(self, target: Target) -> View:
        """A view of the one process that is at a target: it does not wait for itself."""
        facts = gather(self._desk, self.top, self.stamp_folder)
        facts = facts._replace(running=facts.running - {target.id})
        found = frontier.standings(self.workflow, facts)
        return View(self.workflow, facts, found, next_of(found))

    @staticmethod
    def _require(standing: Standing) -> None:
        """Raise where the step may not be taken now."""
        target = standing.target
        if standing.state == frontier.MAY_HAVE_HAPPENED:
            raise MayHaveHappened(question(standing), target=target.id)
        stopped = standing.state == frontier.FAILED and (bool(target.effects) or target.gate == "critic")
        if standing.is_permitted and not stopped:
            return
        why = "; ".join(one.text for one in standing.reasons) or standing.state
        raise NotPermitted(
            f"{target.title} may not be taken now, it is {standing.state}: {why}", remedy=_remedy(standing),
            target=target.id, state=standing.state, reasons=[{"slug": one.slug, "message": one.text} for one in standing.reasons],
        )  # fmt: skip

    def _after_child(self, target: Target, view: View, begun: str) -> Taken:
        """Run it in a child. One with effects that was ended from outside is not known to have failed."""
        from indelible.stepping.children import code_of, ended_by_itself, run_child

        run = run_child(self._desk, target, self.top)
        if target.effects and not ended_by_itself(run):
            self._use_up(target, view, begun)
            return self._ended(target, self._view_alone(target))._replace(code=1, child=run)
        return self._after(target, view, code_of(run), begun)._replace(child=run)

    def _use_up(self, target: Target, view: View, begun: str) -> None:
        """A yes to a command is for one run of it; one that a commit needs is left for the commit.

        Args:
            begun: SHA-256 of the stamp with which it was begun: what the receipt was used for.
        """
        found = view.facts.approvals.get(target.name) if target.gate == HUMAN else None
        if found is not None and target.name != self.workflow.guard.receipt:
            use(self._desk.memory, found.id, begun)

    def _after(self, target: Target, view: View, code: int, begun: str) -> Taken:
        """Stamp what a command came to."""
        after = self._view_alone(target)
        missing = frontier.missing(after.facts, target)
        note = f"exit {code}" if code else f"it did not make {', '.join(missing)}" if missing else ""
        self._stamp(target, view, stamps.FAILED if note else stamps.DONE, note[:MOST_NOTE], outputs=after)
        self._use_up(target, view, begun)
        taken = self._ended(target, self._view_alone(target))
        return taken._replace(code=code or int(bool(missing)))

    def _ended(self, target: Target, view: View, *, already: bool = False) -> Taken:
        """The end of a step: what make looks at, and the program counter."""
        marks.set_mark(self.stamp_folder, view.of(target))
        self._note(view)
        return Taken(view.of(target), view.next, already=already)

    def _stamp(
        self, target: Target, view: View, state: str, note: str = "", *, outputs: View | None = None, after_begun: bool = False
    ) -> Saved:  # fmt: skip
        """Seal a stamp over the one that was read.

        Args:
            outputs: where what it made is looked up, if not in `view`.
            after_begun: the inputs are those with which it was begun.
        """
        desk, facts = self._desk, view.facts
        last = facts.stamps.get(target.id)
        made = Stamp(
            target.id, state, target.definition, self.workflow.digest,
            {name: facts.digests.get(name, "") for name in target.inputs},
            {name: frontier.product(self.workflow, facts, self.workflow.target(name)) for name in target.needs
             if view.of(self.workflow.target(name)).state != frontier.OPTIONAL},
            {name: (outputs or view).facts.digests.get(name, "") for name in target.outputs},
            desk.memory.now(), note,
        )  # fmt: skip
        if after_begun and last is not None and last.state == stamps.BEGUN and last.definition == made.definition:
            made = made._replace(inputs=last.inputs, needs=last.needs)
        key = stamp_key(desk.state.namespace, target.id)
        before = self._sealed(key)
        return desk.memory.record(key, format_stamp(made), "stamped", reason=state, based_on=before)

    def _sealed(self, key: str) -> str:
        """SHA-256 of the stamp that is there; empty where there is none."""
        try:
            return self._desk.memory.fetch(key).sha256
        except NotFoundError:
            return ""

    def _require_laws(self) -> None:
        """Nothing is written down, and no step taken, where there is nothing to go on from.

        Raises:
            NotFoundError: there is no governance.
        """
        if not any(one.slot.number == 0 for one in self._desk.state.slots()):
            raise NotFoundError(
                "There are no laws here yet (00_governance.md), so there is nothing to go on from",
                remedy="'indelible init' seals them",
            )

    def renew(self) -> str:
        """Write the next permitted action anew where the flow wrote the one that is there; another's is left.

        For steps that are taken elsewhere and have their own outcome: what is wrong here is given as a warning, and not raised.
        """
        try:
            before = next((one.loaded.content for one in self._desk.state.slots() if one.slot.name == NEXT), b"")
            if not is_counter(before, self.workflow.targets):
                return ""
            self.next()
        except IndelibleError as error:
            return f"{NEXT} was not written anew: {error.message}"
        return ""

    def _note(self, view: View) -> None:
        """Write the next permitted action down; what stands there already is left, and a fork's child leaves it to its parent."""
        state = self._desk.state
        if state.fork:
            return
        before = next((one.loaded.content for one in state.slots() if one.slot.name == NEXT), None)
        text = counter_text(view.standings, view.next, before)
        if text == before:
            return
        try:
            state.write(NEXT, text, reason=_REASON)
        except UsageError:  # more than a boot carries: what matters is said all the same
            state.write(NEXT, short_text(view.next), reason=_REASON)


def waits_for(desk: Desk, target: Target) -> tuple[str, ...]:
    """Everything that has to come before a human says yes to a target; empty where nothing has to."""
    view = Flow(desk).view()
    standing = view.of(target)
    if standing.state in (frontier.WAITING, frontier.OPTIONAL, frontier.MAY_HAVE_HAPPENED):
        return tuple(one.text for one in standing.reasons)
    return ()


def _by_hand(target: Target) -> ByHand:
    remedy = f"'indelible flow why {target.id}' says whether it is done"
    return ByHand(f"{target.title} is done by hand: {target.manual}{then_of(target)}", remedy=remedy, target=target.id)


def _require_made(target: Target, view: View) -> None:
    """Refuse the word that something is done which is not there to be seen."""
    gone = frontier.missing(view.facts, target)
    if gone:
        raise NotPermitted(
            f"{target.title} is not done: {', '.join(gone)} is not there", remedy=target.manual, target=target.id
        )


def _remedy(standing: Standing) -> str:
    target = standing.target
    if standing.state == frontier.NEEDS_APPROVAL:
        return f"A person approves it: 'indelible approve {target.id}'"
    if standing.state == frontier.NEEDS_CRITIC:
        return "A critic looks at this very change: 'indelible critic add'"
    if standing.state == frontier.FAILED and target.effects:
        return f"To take it again as it is: 'indelible flow resolve {target.id} --did-not-happen --reason TEXT'"
    return "'indelible flow next' says what may be done"


def _check_note(note: str) -> None:
    if len(note) > MOST_NOTE or (note and not note.isprintable()):
        raise UsageError(
            f"A note is one line of up to {MOST_NOTE} characters", remedy="Say it shorter; a memory holds the rest"
        )
