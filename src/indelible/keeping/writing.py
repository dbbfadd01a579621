"""How one slot is written: a finished copy first, then the seal, then its name.

The log's table is locked while a name is given, so that of two writers the one that was sealed last names its file last.
"""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import IntegrityError, NotFoundError, OutcomeUnknown, UsageError
from indelible.files import remove
from indelible.keeping import begun
from indelible.keeping.fitting import require_room
from indelible.keeping.past import held_before, past_of
from indelible.memory import placing
from indelible.memory.results import Saved
from indelible.state import filing
from indelible.state.counter import parse_counter
from indelible.state.directory import look_at, read_slot
from indelible.state.slot import APPEND_ONLY, NEXT, NO_CHECKLIST, Slot, check_text, has_checklist, key_of, named
from indelible.state.templates import check_filled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from indelible.keeping.begun import Begun
    from indelible.memory.facade import Memory
    from indelible.memory.results import Loaded
    from indelible.memory.slotted import SealedSlot
    from indelible.record import Record
    from indelible.screening import Screened
    from indelible.state.budget import Room
    from indelible.state.directory import Finding


_LATE = frozenset({"slot-interrupted", "slot-absent", "slot-behind"})
"""Files that a write brings up to date before it goes on."""


class Altered(IntegrityError):
    """A slot is not what was sealed, or not as its discipline allows, and so is not built upon. Its slug is the finding's own."""

    slug = "slot-altered"

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.text, remedy=finding.remedy, slot=finding.name)
        self.slug = finding.slug


class Ready(NamedTuple):
    """A slot before a write."""

    content: bytes | None
    """What is sealed; None where it is free."""
    loaded: Loaded | None
    over: bytes | None
    """What stands in its place and may be replaced."""
    begun: tuple[Begun, ...] = ()
    """Writes of it that were cut short, by their notes."""


class SlotWriter:
    """The slots of one namespace and the folder with their files.

    Args:
        path: of the folder, absolute; None for the log alone, as a server has it, whose clients have the files.
        room: what a boot here can carry; None where that is not known.
    """

    def __init__(
        self, memory: Memory, path: str | None, namespace: str, room: Room | None = None,
        placed: Callable[[], None] | None = None,
    ) -> None:  # fmt: skip
        self.memory, self.namespace, self._path, self._room = memory, namespace, path, room
        self._placed = placed or (lambda: None)
        self._notes: list[str] = []
        """Of writes that are done, or that were cut short and are done with: taken back when this is closed, after the answer."""

    @property
    def path(self) -> str:
        """The folder with the files.

        Raises:
            UsageError: there is none.
        """
        if self._path is None:
            raise UsageError("There are no files here", remedy="Do that where the state directory is")
        return self._path

    def slots(self) -> tuple[SealedSlot, ...]:
        """The open slots, verified, in the order of their names."""
        return self.memory.slots(self.namespace)

    def _key(self, slot: Slot) -> str:
        return key_of(self.namespace, slot.name)

    def _loaded(self, slot: Slot) -> Loaded | None:
        return next((one.loaded for one in self.slots() if one.slot == slot), None)

    @staticmethod
    def _check(slot: Slot, content: bytes) -> None:
        check_text(slot, content)
        check_filled(slot, content)
        if slot.name == NEXT:
            parse_counter(content)

    def _done(self, slot: Slot, op: str) -> Saved | None:
        """An append that was carried out before."""
        try:
            versions = self.memory.history(self._key(slot))
        except NotFoundError:
            return None
        one = next((version for version in versions if version.op == op and version.type == "saved"), None)
        if one is None:
            return None
        loaded = self.memory.fetch(self._key(slot), one.version)
        return Saved(loaded.key, one.version, one.seq, loaded.sha256, op, repeated=True)

    def _require_room(self, texts: Mapping[str, bytes]) -> None:
        """Raise where no boot could carry these texts: the agent would be locked out, for good where they are written once."""
        kept = {name: content for name, content in texts.items() if named(name).discipline != APPEND_ONLY}
        if self._room is None or not kept:
            return
        before = {one.slot.name: one.loaded.content for one in self.slots()}
        require_room(before, kept, self._room, f"{self.namespace} {self.memory.agent}")

    def _write(
        self, slot: Slot, content: bytes, *, how: str, reason: str | None = None, op: str | None = None,
        over_budget: bool = False,
    ) -> Saved:  # fmt: skip
        self._check(slot, content)
        if not over_budget:
            self._require_room({slot.name: content})
        screened = self.memory.admit(content, {"key": self._key(slot)})
        ready = self._ready(slot, screened.content)
        if ready.loaded is not None and ready.content == screened.content:
            saved = again(ready.loaded, op)
        else:
            saved = self._seal(slot, screened, ready, how=how, reason=reason, op=op)
        return saved._replace(warnings=(*saved.warnings, *said_of(slot, content)))

    def _ready(self, slot: Slot, content: bytes | None) -> Ready:
        """Finish what was cut short, and refuse to build on what was altered.

        Args:
            content: what will be written; a file that holds but the beginning of it was half-written by its own author.
        """
        loaded = self._loaded(slot)
        if self._path is None:
            return Ready(loaded.content if loaded is not None else None, loaded, None)
        filing.refuse_link(self.path)
        short = self._sweep(self._key(slot))
        while True:
            found = self._looked_at(slot, loaded, content, short)
            if isinstance(found, Ready):
                return found
            before, loaded = loaded, self._loaded(slot)
            if (loaded and loaded.seq) == (before and before.seq):
                raise Altered(
                    found
                )  # else another writer sealed between the two looks, and the file may be of the later one

    def _looked_at(
        self, slot: Slot, loaded: Loaded | None, content: bytes | None, short: tuple[Begun, ...]
    ) -> Ready | Finding:
        """What to build on, or what is wrong with the file beside the version that was sealed last a moment ago."""
        sealed = loaded.content if loaded is not None else None
        finding = look_at(self.path, slot.name, sealed, past_of(self.memory, self.path, self.namespace))
        if finding is None or finding.slug == "slot-writable":
            return Ready(sealed, loaded, sealed, short)
        if finding.slug == "slot-closed":
            filing.take_away(self.path, slot.name, read_slot(self.path, slot.name))
            return Ready(None, None, None)
        if finding.slug in _LATE and sealed is not None:
            self.finish(slot, sealed)
            return Ready(sealed, loaded, sealed, short)
        if finding.slug == "slot-unsealed" and content is not None and self._is_begun(slot, content):
            return Ready(None, None, read_slot(self.path, slot.name))
        return finding

    def _sweep(self, *keys: str) -> tuple[Begun, ...]:
        """Take the temporary files of processes that are gone away; gives what was cut short of these keys, which is now done with."""
        if self._path is None:
            return ()
        found = begun.begun_in(self.memory.follower.path, self.path)
        filing.sweep(self.path, {one.temporary for one in found})
        short = tuple(one for one in found if one.key in keys and one.note not in self._notes and one.is_cut_short)
        self._notes += [one.note for one in short]
        return short

    def done_with_all(self) -> None:
        """Take everything away that writes left which were cut short: their files were brought up to date just now."""
        if self._path is not None:
            self._sweep(*(one.key for one in begun.begun_in(self.memory.follower.path, self.path)))

    def _begin(self, key: str, content: bytes, temporary: str, before: int | None = None) -> str:
        return begun.begin(self.memory.follower.path, self.path, key, content, os.path.basename(temporary), before)

    def _is_begun(self, slot: Slot, content: bytes) -> bool:
        """Whether what stands there is a beginning of what is being written, by this very user."""
        status = os.lstat(os.path.join(self.path, slot.name))
        own = os.name != "posix" or status.st_uid == os.geteuid()
        return own and status.st_nlink == 1 and content.startswith(read_slot(self.path, slot.name))

    def _seal(
        self, slot: Slot, content: bytes | Screened, ready: Ready, *, how: str, reason: str | None, op: str | None,
        based_on: str | None = None, before: int | None = None,
    ) -> Saved:  # fmt: skip
        text = content if isinstance(content, bytes) else content.content

        def save() -> Saved:
            return self.memory.save(
                self._key(slot),
                content,
                record=self._record(slot, text),
                based_on=based_on,
                how=how,
                reason=reason,
                op=op,
            )

        return self._name(slot, text, save, over=ready.over, before=before)

    def _name(
        self, slot: Slot, content: bytes, save: Callable[[], Saved], *, over: bytes | None, before: int | None = None
    ) -> Saved:
        """Finish a copy, note it, seal it, and give it its name. What is not sealed leaves nothing behind."""
        if self._path is None:
            return save()
        fresh = filing.make_directory(self.path)
        temporary, kept = filing.prepare(self.path, slot, content), False
        note = self._begin(self._key(slot), content, temporary, before)
        try:
            saved = save()
            kept = True
        except OutcomeUnknown:
            kept = True  # it may be sealed: the copy is what finishes it
            raise
        finally:
            if not kept:
                remove(temporary)
                begun.end([note])
                filing.remove_empty(self.path, fresh)
        placed = self._give(slot, saved.seq, content, temporary, over)
        self._notes.append(note)
        if not placed:
            remove(temporary)
            words = f"{slot.name} is sealed, and something else stands in its place by now: 'indelible state check'"
            return saved._replace(warnings=(*saved.warnings, words))
        self._placed()
        return saved

    def _give(self, slot: Slot, seq: int, content: bytes, temporary: str, over: bytes | None) -> bool:
        """With the log's table locked, so that who was sealed last names the file last."""
        key = self._key(slot)
        with self.memory.following() as (table, reading, _):
            latest = table.get(key)
            if latest is None or latest.saved_seq != seq:  # another version was sealed since, and its author names it
                remove(temporary)
                return True
            try:
                actual: bytes | None = read_slot(self.path, slot.name)
            except FileNotFoundError:
                actual = None
            except OSError:
                return False
            if actual == content:
                remove(temporary)
                filing.set_mode(self.path, slot)
            else:
                foreign = actual is not None and actual != over
                if foreign and not held_before(self.memory, reading, key, latest, actual or b""):
                    return False
                if not filing.give_name(temporary, self.path, slot, over=actual):
                    return False
            placing.note(self.memory.follower.path, self.path, {key: seq})
            return True

    def finish(self, slot: Slot, content: bytes) -> None:
        """Give the sealed text its file, over an earlier version of it or over nothing."""
        loaded = self._loaded(slot)
        if loaded is not None:
            filing.make_directory(self.path)
            self._give(slot, loaded.seq, content, filing.prepare(self.path, slot, content), None)

    def close_memory(self) -> None:
        """End the memory, and take back what was noted of writes that ended: the very last thing."""
        self.memory.close()
        notes, self._notes = self._notes, []
        begun.end(notes)

    def _record(self, slot: Slot, content: bytes) -> Callable[[Record | None], Record]:
        """What is known about a slot: that it is the state of a task."""
        from dataclasses import replace

        from indelible.record import draft

        memory = self.memory

        def make(earlier: Record | None) -> Record:
            if earlier is not None:
                return memory.revise(earlier, content)
            made = draft(
                self._key(slot), content, now=memory.now(), author=f"agent:{memory.agent}", agent=memory.agent, team=memory.team,
                random=os.urandom(10),
            )  # fmt: skip
            return replace(made, kind="task_state")

        return make


def said_of(slot: Slot, content: bytes) -> tuple[str, ...]:
    """What is worth a word about a text that is none the less sealed."""
    return (NO_CHECKLIST,) if slot.name == NEXT and not has_checklist(content) else ()


def again(loaded: Loaded, op: str | None) -> Saved:
    """The answer to a write of what is sealed already."""
    return Saved(loaded.key, loaded.version, loaded.seq, loaded.sha256, op or "", repeated=True)


def digest_of(content: bytes | None) -> str:
    """SHA-256 of what a write is based on; "" for nothing at all."""
    return "" if content is None else sha256(content).hexdigest()
