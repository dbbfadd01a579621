"""Random operations, crashes of trust and damage in between: memory equals a dict, or refuses; it is never something else."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.support import SIDES, Bench, or_refused

from indelible.errors import DisciplineError, HeldError, Missing, NotFoundError, RolledBack

if TYPE_CHECKING:
    from indelible.memory import Memory

KEYS = st.sampled_from(["MEMORY.md", "메모", "a", "a/b", "\0"])
CONTENTS = st.binary(max_size=40) | st.sampled_from([b"", b"x" * 5000, "한글".encode()])


@dataclass
class Model:
    """What one key must be: the contents of its versions, oldest first; None where they were erased."""

    versions: list[bytes | None] = field(default_factory=list)
    state: str = "active"


class AMemoryIsADict(RuleBasedStateMachine):
    """One writer, one reader with a pin of its own, and somebody who damages the files and puts them back."""

    def __init__(self) -> None:
        super().__init__()
        self.root = tempfile.mkdtemp(prefix="indelible-model-")
        self.bench = Bench(self.root)
        os.makedirs(os.path.dirname(self.bench.path))
        self.models: dict[str, Model] = {}
        self.copies: list[tuple[str, int]] = []
        self.entries = self.seen = 0
        self.operations: list[tuple[str, str, bytes, int]] = []

    @initialize()
    def make(self) -> None:
        self.memory = self.bench.memory(create=True)
        self.reader: Memory | None = None

    def teardown(self) -> None:
        self.bench.close()
        shutil.rmtree(self.root)

    # What users do.

    @rule(key=KEYS, content=CONTENTS, allow=st.booleans())
    def save(self, key: str, content: bytes, allow: bool) -> None:
        model = self.models.get(key, Model())
        full = bool(model.versions) and model.state != "erased" and bool(model.versions[-1])
        try:
            saved = self.memory.save(key, content, allow_empty=allow, op=f"op {self.entries}")
        except DisciplineError:
            assert full
            assert not content
            assert not allow
            return
        assert content or allow or not full
        model.versions.append(content)
        model.state = "active"
        self.models[key] = model
        assert saved.version == len(model.versions)
        self.operations.append((f"op {self.entries}", key, content, saved.version))
        self.entries += 1

    @precondition(lambda self: self.operations)
    @rule(data=st.data())
    def repeat(self, data: st.DataObject) -> None:
        op, key, content, version = data.draw(st.sampled_from(self.operations))
        model = self.models[key]
        if model.versions[version - 1] is None:
            return
        again = self.memory.save(key, content, op=op)
        assert (again.repeated, again.version) == (True, version)

    @rule(key=KEYS, what=st.sampled_from(["archive", "unarchive", "erase"]))
    def say(self, key: str, what: str) -> None:
        model = self.models.get(key)
        try:
            getattr(self.memory, what)(key, reason="why not")
        except NotFoundError:
            assert model is None or model.state == "erased"
            return
        assert model is not None
        assert model.state != "erased"
        model.state = {"archive": "archived", "unarchive": "active", "erase": "erased"}[what]
        if what == "erase":
            model.versions = [None] * len(model.versions)
        self.entries += 1

    @rule(key=KEYS, version=st.integers(1, 4))
    def restore(self, key: str, version: int) -> None:
        versions = self.models.get(key, Model()).versions
        wanted = versions[version - 1] if version <= len(versions) else None
        if wanted is None:
            try:
                self.memory.restore(key, version)
            except NotFoundError:
                return
            raise AssertionError("what is not there was restored")
        self.memory.restore(key, version)
        self.models[key].versions.append(wanted)
        self.models[key].state = "active"
        self.entries += 1

    @rule()
    def reopen(self) -> None:
        self.bench.close()
        self.memory = self.bench.memory()
        self.reader = None

    @rule(key=KEYS, version=st.none() | st.integers(1, 4), by_other=st.booleans())
    def load(self, key: str, version: int | None, by_other: bool) -> None:
        memory = self._reader() if by_other else self.memory
        model = self.models.get(key, Model())
        number = len(model.versions) if version is None else version
        wanted = model.versions[number - 1] if 0 < number <= len(model.versions) else None
        try:
            loaded = memory.load(key, version)
        except NotFoundError:
            assert wanted is None
        except HeldError:
            assert model.state == "archived"
        else:
            assert loaded.content == wanted
            assert loaded.version == number
            assert loaded.finding is None
            self.seen = self.entries if by_other else self.seen

    @rule(key=KEYS)
    def look_back(self, key: str) -> None:
        model = self.models.get(key)
        if model is None:
            return
        history = self.memory.history(key)
        assert [entry.version for entry in history if entry.type == "saved"] == list(range(len(model.versions), 0, -1))

    @invariant()
    def lists_what_is_there(self) -> None:
        if not hasattr(self, "memory"):
            return
        for state in ("active", "archived"):
            listing = self.memory.list(states=frozenset({state}))
            assert listing.findings == ()
            assert [item.key for item in listing.items] == sorted(
                key for key, model in self.models.items() if model.state == state
            )

    # What goes wrong.

    @rule()
    def copy(self) -> None:
        self.copies.append((self.bench.snapshot(str(len(self.copies))), self.entries))

    @precondition(lambda self: self.copies)
    @rule(data=st.data())
    def roll_back(self, data: st.DataObject) -> None:
        """Every memory of an older copy is genuine, or refused; then the present comes back."""
        copy, entries = data.draw(st.sampled_from(self.copies))
        present = self._swap_in(copy)
        for name in ("first", "second"):
            with self.bench.memory(name) as memory:
                if entries >= (self.entries if name == "first" else self.seen):
                    continue
                try:
                    memory.list()
                except (RolledBack, Missing):
                    pass
                else:
                    raise AssertionError("an older copy was listed as the present")
                self._serves_nothing_else(memory, present=name == "first")
        self._swap_in(present)

    @rule(place=st.floats(0, 1, exclude_max=True), mask=st.integers(1, 255), side=st.sampled_from(SIDES[:2]))
    def flip(self, place: float, mask: int, side: str) -> None:
        """One byte of the files is changed; then it is changed back."""
        present = self._swap_in(None)
        path = self.bench.path + side
        size = os.path.getsize(path) if os.path.exists(path) else 0
        if size:
            with open(path, "r+b") as file:
                file.seek(int(place * size))
                byte = file.read(1)
                file.seek(-1, os.SEEK_CUR)
                file.write(bytes([byte[0] ^ mask]))
            with or_refused(1, 2), self.bench.memory() as memory:
                self._serves_nothing_else(memory)
        self._swap_in(present)

    def _serves_nothing_else(self, memory: Memory, *, present: bool = True) -> None:
        """What is served is genuine; and the present, but for a reader who had not looked since."""
        for key, model in self.models.items():
            with or_refused(*((1, 2, 3) if model.state == "erased" else (1, 2))):
                loaded = memory.fetch(key)
                assert loaded.content == model.versions[loaded.version - 1]
                assert loaded.version == len(model.versions) or not present

    def _reader(self) -> Memory:
        if self.reader is None:
            self.reader = self.bench.memory("second")
        return self.reader

    def _swap_in(self, copy: str | None) -> str:
        """Put `copy` in the store's place, and return a copy of what was there; with None, only that."""
        had_reader = self.reader is not None
        self.bench.close()
        name = f"present {len(os.listdir(os.path.join(self.root, 'copies'))) if os.path.isdir(os.path.join(self.root, 'copies')) else 0}"
        present = self.bench.snapshot(name)
        if copy is not None:
            self.bench.put_back(copy)
        self.memory = self.bench.memory()
        self.reader = self.bench.memory("second") if had_reader else None
        if copy is None:
            self.bench.close()
        return present


def _shorter(profile: str) -> settings:
    """A third of the examples of a profile, each of up to 30 steps: a step here is worth many."""
    base = settings.get_profile(profile)
    return settings(base, max_examples=max(10, base.max_examples // 3), stateful_step_count=30)


TestAMemoryIsADict = AMemoryIsADict.TestCase
TestAMemoryIsADict.settings = _shorter(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
