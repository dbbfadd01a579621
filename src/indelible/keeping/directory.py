"""`StateDirectory`: write, append, amend, show, check, repair, close, adopt. The files and the log, kept in step.

The log decides: what is sealed is the slot, and its file is a copy of it for those who read files. So a copy is finished and
synced first, then sealed, then given its name, with the log's table locked: of two writers the one that was sealed last names
its file last. What was cut short between is finished by the next write, by the same write again, or by `repair`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple, Self

from indelible.errors import Busy, ConflictError, DisciplineError, NotFoundError, UsageError
from indelible.keeping import closing
from indelible.keeping.checking import disciplines, inspect
from indelible.keeping.writing import Altered, SlotWriter, again, digest_of
from indelible.state import filing
from indelible.state.slot import GOVERNANCE, NEXT, REPLACEABLE, ROOT, Slot, check_text, closed_key, named, parse_name
from indelible.state.templates import check_filled, template

if TYPE_CHECKING:
    from collections.abc import Callable

    from indelible.keeping.checking import Inspected
    from indelible.keeping.repairing import Mended
    from indelible.memory.facade import Memory
    from indelible.memory.results import Loaded, Saved, Version
    from indelible.memory.slotted import SealedSlot
    from indelible.seal.note import Signer
    from indelible.state.budget import Room

CARRIED = "the laws are those of the main checkout, as they are sealed there now"
ATTEMPTS = 16
"""How often an append is put on top of what another one added meanwhile."""


class Closed(NamedTuple):
    """A ticket that ended."""

    saved: Saved
    names: tuple[str, ...]
    """The slots that were put away."""
    left: tuple[str, ...] = ()
    """Of those, the ones whose files could not be taken away."""


class StateDirectory(SlotWriter):
    """The slots of one namespace and the folder with their files. `with` closes the memory at the end.

    Args:
        path: of the folder, absolute; it is made at the first write. None for the log alone, as a server has it, whose
            clients have the files.
        room: tokens and characters of a briefing here: what no boot could carry is not sealed.
        top: the repository whose workflow skills a first governance names.
        placed: is called once a slot is known to be in its place.
        fork: the fork of this place that this process runs in: the next action is its parent's to write.
    """

    def __init__(
        self, memory: Memory, path: str | None, namespace: str = "state", *, top: str | None = None, room: Room | None = None,
        placed: Callable[[], None] | None = None, fork: str = "",
    ) -> None:  # fmt: skip
        super().__init__(memory, path, namespace, room, placed)
        self._top, self.fork = top, fork

    def _require_parent(self, what: str) -> None:
        """Two writers of one counter overwrite one another, and neither notices: a child leaves it to its parent."""
        if self.fork:
            raise DisciplineError(
                f"{what} is the parent's to do, and this is its child (fork {self.fork})",
                remedy="Say what you did as your result; whoever forked you reads it, and writes the next action from it",
                fork=self.fork,
            )

    def write(
        self, name: str, content: bytes, *, reason: str | None = None, op: str | None = None, over_budget: bool = False
    ) -> Saved:  # fmt: skip
        """Seal `content` as the slot's text, and give it its file. What is sealed already is only given its file.

        Args:
            over_budget: seal it although no boot with these settings can carry it.

        Raises:
            DisciplineError: its discipline forbids it, or it is 99 and this is a fork's child.
            UsageError: it is no text for that slot, or too long for a boot.
            Altered: its file is not what was sealed.
        """
        slot = self.slot(name)
        if slot.name == NEXT:
            self._require_parent(f"Writing {NEXT}")
        return self._write(slot, content, how="saved", reason=reason, op=op, over_budget=over_budget)

    def append(self, name: str, content: bytes, *, reason: str | None = None, op: str | None = None) -> Saved:
        """Add `content` at the end of the slot's text, on a line of its own; of two at once, both are there afterwards.

        One that was cut short after it was sealed, and is said again, is ended and not added twice.

        Raises:
            As `write`. Busy: others appended all the time.
        """
        return self.append_next(name, lambda _: content, reason=reason, op=op)

    def append_next(
        self, name: str, make: Callable[[bytes], bytes], *, reason: str | None = None, op: str | None = None
    ) -> Saved:  # fmt: skip
        """As `append`, of what follows from the text that it is added to: a round has the number after the last one.

        Args:
            make: gives the addition for the text before it; called anew where another one added meanwhile.
        """
        slot = self.slot(name)
        if slot.discipline == REPLACEABLE:
            raise UsageError(
                f"{slot.name} is replaced as a whole: what is put behind its last line is no next action",
                remedy=f"'indelible state write {slot.name} FILE' with the whole text", slot=slot.name,
            )  # fmt: skip

        admitted: dict[bytes, bytes] = {}

        def addition_to(before: bytes) -> bytes:
            content = make(before)
            if content not in admitted:
                check_text(slot, content)
                check_filled(slot, content)
                admitted[content] = self.memory.admit(content, {"key": self._key(slot)}).content
            return admitted[content]

        addition_to(b"")  # what cannot be written is refused before anything is looked at
        for _ in range(ATTEMPTS):
            if op is not None and (done := self._done(slot, op)) is not None:
                return done
            ready = self._ready(slot, None)
            before = ready.content or b""
            if ready.loaded is not None and any(
                one.added(before, addition_to(before[: one.before])) for one in ready.begun
            ):
                return again(ready.loaded, op)
            addition = addition_to(before)
            joint = b"\n" if before and not before.endswith(b"\n") else b""
            try:
                return self._seal(
                    slot, before + joint + addition, ready, how="saved", reason=reason, op=op,
                    based_on=digest_of(ready.content), before=len(before),
                )  # fmt: skip
            except ConflictError as conflict:
                if "based_on" not in conflict.facts:
                    raise
        raise Busy(f"Others added to {slot.name} all the time")

    def amend(
        self, name: str, content: bytes, *, by: Signer, reason: str, method: str = "human", op: str | None = None,
        over_budget: bool = False,
    ) -> Saved:  # fmt: skip
        """Replace the text of a slot that its discipline would keep, in the owner's name.

        Raises:
            BadSignature: that is no owner's key that is known here. NotFoundError: the slot is free, and simply written.
        """
        slot = self.slot(name)
        if slot.name == NEXT:
            self._require_parent(f"Writing {NEXT}")
        self._check(slot, content)
        if self._path is not None:
            filing.refuse_link(self.path)
            self._sweep(self._key(slot))
        loaded = self._loaded(slot)
        if loaded is None:
            raise NotFoundError(
                f"{slot.name} is not written yet", remedy=f"'indelible state write {slot.name} FILE' does that"
            )
        if not over_budget:
            self._require_room({slot.name: content})
        screened = self.memory.admit(content, {"key": self._key(slot)})
        if loaded.content == screened.content and not any(one.name == slot.name for one in self.check().findings):
            return again(loaded, op)  # and nothing is wrong with it that an owner's word would put right

        def save() -> Saved:
            return self.memory.amend(
                self._key(slot), screened, by=by, reason=reason, method=method, op=op, record=self._record(slot, screened.content)
            )  # fmt: skip

        return self._name(slot, screened.content, save, over=None)

    def show(self, name: str, version: int | None = None) -> Loaded:
        """The sealed text of a slot.

        Raises:
            NotFoundError: it is free. IntegrityError: the store's copy is not what was sealed.
        """
        slot = self.slot(name)
        if version is None and self._loaded(slot) is None:
            raise NotFoundError(
                f"{slot.name} is not written", remedy="'indelible state list' shows which slots are", slot=slot.name
            )
        return self.memory.fetch(self._key(slot), version)

    def history(self, name: str) -> tuple[Version, ...]:
        """What the log says about a slot, newest first, through every closing."""
        return self.memory.history(self._key(self.slot(name)))

    def closed(self) -> tuple[str, ...]:
        """Keys of the records of past closings, the oldest first."""
        return tuple(item.key for item in self.memory.list(prefix=f"{self.namespace}/closed/").items)

    def repair(self) -> Mended:
        """Put the sealed copies back, and keep what stood in their place aside. What the log itself holds wrong is left.

        Raises:
            IntegrityError: the log is not what was sealed, and no file has the bytes that it lost.
            NotSaved, ReadOnly: a file could not be moved or written.
        """
        from indelible.keeping.repairing import repair

        return repair(self)

    def check(self) -> Inspected:
        """Hold the files against the log, and the log against the disciplines.

        Raises:
            IntegrityError: the log, or a slot in it, is not what was sealed.
        """
        found = inspect(self.memory, self._path, self.namespace)
        if found.slots and not found.tampering:
            self._placed()
        return found

    def begin(self) -> Saved | None:
        """Seal a usable 00 where there is none; None where there is.

        Raises:
            Altered: a file stands there that was never sealed; a clone may have brought it, so it is not taken silently.
        """
        if any(one.slot.number == 0 for one in self.slots()):
            return None
        laws = self._laws_of_the_main_checkout()
        if laws is not None:
            saved = self.write(laws.slot.name, laws.loaded.content, reason="the laws of the main checkout")
            return saved._replace(warnings=(*saved.warnings, CARRIED))
        return self.write(GOVERNANCE, template(GOVERNANCE, self._top))

    def _laws_of_the_main_checkout(self) -> SealedSlot | None:
        """What a linked worktree begins with: its ticket is its own, and the laws are the repository's.

        Raises:
            Altered: they came where they are past their discipline.
        """
        if not self.namespace.startswith(f"{ROOT}/worktree/"):
            return None
        kept = self.memory.kept(ROOT)
        laws = next((one for one in kept.slots if one.slot.number == 0), None)
        wrong = next((one for one in disciplines(self.memory, kept) if laws and one.name == laws.slot.name), None)
        if wrong is not None:
            raise Altered(wrong)
        return laws

    def slot(self, name: str) -> Slot:
        """The slot of that name, or the open or known one of that number.

        Raises:
            UsageError: there is none.
        """
        if len(name) == 2 and name.isdecimal():
            number = int(name)
            is_open = next((one.slot for one in self.slots() if one.slot.number == number), None)
            if is_open is not None:
                return is_open
        return named(name)

    def adopt(self, folder: str | None = None, *, over_budget: bool = False) -> tuple[Saved, ...]:
        """Take the slots' files of an existing folder in, each as its first version; by default those that lie here unsealed.

        All are looked at before the first is sealed.

        Raises:
            NotFoundError: there is none. UsageError: one is no text for its slot, or no plain file.
            DisciplineError: one is written already, with another text.
        """
        source = os.path.abspath(folder or self.path)
        self._sweep()
        names = self._adoptable(source)
        texts = filing.read_folder(source, names)
        for name, content in texts.items():
            self._check(named(name), content)
        if not over_budget:
            self._require_room(texts)
        open_ = {one.slot.name for one in self.slots()}
        # What may be refused comes first: then nothing is sealed yet.
        order = sorted(texts, key=lambda name: (name not in open_, name))
        return tuple(
            self._write(named(name), texts[name], how="imported", reason="adopted", over_budget=True) for name in order
        )

    def _adoptable(self, source: str) -> list[str]:
        try:
            names = [name for name in sorted(os.listdir(source)) if parse_name(name)]
        except OSError as exc:
            raise NotFoundError(
                f"{source} cannot be looked at ({exc.strerror})", remedy="Name a folder with slots in it"
            ) from exc
        if source == os.path.abspath(self.path):
            sealed = {one.slot.name for one in self.slots()}
            names = [name for name in names if name not in sealed]
        if not names:
            raise NotFoundError(
                f"There is nothing to adopt in {source}: no file with a slot's name that is not sealed yet",
                remedy="Slots are called NN_name.md: 10_ticket.md",
            )
        return names

    def close(self, *, reason: str | None = None, op: str | None = None) -> Closed:
        """End the ticket: seal the whole directory as one record, put every slot but the laws away, and take their files away.

        One that was cut short after it was sealed, and is said again, takes the files away that it left.

        Raises:
            NotFoundError: there is nothing but laws. Altered: a file is not what was sealed.
            ConflictError: a slot changed meanwhile. DisciplineError: this is a fork's child.
        """
        self._require_parent("Ending the ticket")
        closed = self.closed()
        short = self._sweep(*closed)
        done = closing.closed_before(self.memory, closed, op) if op is not None else None
        if done is not None:
            return Closed(done, (), self._take_left(self.check()))
        found = self.check()
        if found.tampering:
            raise Altered(found.tampering[0])
        ending = [one for one in found.slots if not one.slot.is_law]
        left = [finding.name for finding in found.findings if finding.slug == "slot-closed"]
        if not ending and closed and (left or short):
            done = closing.closed_as(self.memory, short[-1].key if short else closed[-1])
            return Closed(done, tuple(left), self._take_left(found))
        if not ending:
            raise NotFoundError(
                "There is no ticket to close: only laws are written", remedy="'indelible state list' shows them"
            )
        for late in (one for one in ending if self._path is not None and one.slot.name in found.late):
            self.finish(late.slot, late.loaded.content)
        now = self.memory.now()
        content = closing.document(self.namespace, found.slots, now, reason)
        key = closed_key(self.namespace, now, closing.ticket_of(ending), closed)
        note = self._begin(key, content, "") if self._path is not None else ""
        saved = self.memory.close_slots(
            key, content, {one.loaded.key: one.loaded.seq for one in ending}, reason=reason, op=op, record=None
        )
        self._notes.append(note)
        names = tuple(one.slot.name for one in ending)
        if self._path is None:
            return Closed(saved, names)
        kept = tuple(one.slot.name for one in ending if not closing.take_away(self.path, one))
        return Closed(saved, names, (*kept, *self._take_left(found)))

    def _take_left(self, found: Inspected) -> tuple[str, ...]:
        """Take the files of slots away that an earlier closing left; gives the names of those that could not be."""
        left = [finding.name for finding in found.findings if finding.slug == "slot-closed"]
        return tuple(name for name in left if self._path is not None and not closing.take_left(self.path, name))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close_memory()
