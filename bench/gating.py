"""What judging costs: one memory that depends on 20 files, and ten thousand over 500 files, from the store, git asked once.

The ten thousand are read and verified as `indelible held` does it, each with two anchors, every fourth approved by a reviewer,
whose signature is checked. The CPU time is that of this process and of every git that it starts.
"""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import product
import workload
from ratios import interleave, repeat
from table import Row

from indelible.gate.anchors.capturing import capture
from indelible.gate.context import Context
from indelible.gate.place import GitPlace
from indelible.gate.policy import judge
from indelible.gate.presets import PRESETS
from indelible.gate.subject import Subject
from indelible.gate.world import FileWorld
from indelible.memory.gating import Gate
from indelible.memory.judging import judged
from indelible.memory.surveying import survey
from indelible.record import draft
from indelible.record.parts import Anchor, Scope, Validity
from indelible.settings import now

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from indelible.memory import Memory
    from indelible.record import Record

FILES, ANCHORS, CALLS, APPROVED = 500, 20, 300, 4
ANCHORED = PRESETS["anchored"]


def rows(folder: str, count: int) -> Iterator[Row]:
    """In a git repository made for it, with the store beside it."""
    repository = os.path.join(folder, "repository")
    _make(repository)
    time.sleep(2.5)  # what was written a moment ago is read again at each look, as git does it too
    place = GitPlace(repository, os.environ)
    world = FileWorld(place, os.environ, {})
    anchors = tuple(capture(name, world.files, repository)[0] for name in _names())
    yield _one(anchors[:ANCHORS], Context(product.AGENT, now(), place, world))
    yield _many(folder, repository, anchors, count)


def _one(anchors: tuple[Anchor, ...], context: Context) -> Row:
    scope = Scope("repo", repo=context.place.repo)
    subject = replace(Subject(), agent=product.AGENT, scope=scope, anchors=anchors, origin="agent", saved_at=now())
    assert not judge(ANCHORED, subject, context).held
    times = interleave({"one": repeat(lambda _: judge(ANCHORED, subject, context), CALLS)})["one"]
    what = f"judging one memory, anchors of {ANCHORS} files, warm, CPU"
    return Row(what, times.micros(), "<= 1 ms", times.least <= 1e-3)


def _many(folder: str, repository: str, anchors: tuple[Anchor, ...], count: int) -> Row:
    def context(agent: str, now: str) -> Context:
        return Context(agent, now, place, FileWorld(place, os.environ, {}))

    place = GitPlace(repository, os.environ)
    with product.open_memory(folder, create=True, gate=Gate(context=context)) as memory:
        _fill(memory, anchors, count)
    with product.open_memory(folder, gate=Gate(context=context)) as memory:
        loaded = [memory.fetch(workload.key(number)) for number in range(count)]
        here = context(product.AGENT, now())
        times = [
            _cpu(lambda: [judged(memory, one, policy=ANCHORED, context=here).verdict.held for one in loaded])
            for _ in ("the first time", "warm")
        ]
    with product.open_memory(folder, gate=Gate(context=context)) as memory:
        reading = _cpu(lambda: [one.found[0].verdict.held for one in survey(memory, (ANCHORED,), [])])
    return Row(
        f"judging {count:,} memories, two anchors each over {FILES} files, every fourth approved; CPU, git's with it",
        f"{times[1]:.2f} s warm; with reading and verifying them {reading:.2f} s; {times[0]:.2f} s where each text is new",
        "<= 1 s", times[1] <= 1,
    )  # fmt: skip


def _cpu(work: Callable[[], list[bool]]) -> float:
    """Seconds of this process and of what it started; nothing may have been held."""
    begun = os.times()
    held = work()
    ended = os.times()
    assert not any(held)
    return sum(ended[:4]) - sum(begun[:4])


def _fill(memory: Memory, anchors: tuple[Anchor, ...], count: int) -> None:
    for number in range(count):
        key, content = workload.key(number), workload.content(number, 500)
        two = (anchors[number % FILES], anchors[number * 7 % FILES])
        memory.save(key, content, record=lambda _, key=key, content=content, two=two: _record(key, content, two))  # type: ignore[misc]
        if number % APPROVED == 0:
            memory.review(key, "approve", by=product.REVIEWER)


def _record(key: str, content: bytes, anchors: tuple[Anchor, ...]) -> Record:
    author = f"agent:{product.AGENT}"
    made = draft(key, content, agent=product.AGENT, author=author, now=now(), random=os.urandom(10), team=product.TEAM)
    return replace(made, validity=Validity(anchors=anchors))


def _names() -> list[str]:
    return [f"src/file{number:03}.py" for number in range(FILES)]


def _make(repository: str) -> None:
    os.makedirs(os.path.join(repository, "src"))
    old = time.time() - 3600  # as most files: not written a moment ago
    for number, name in enumerate(_names()):
        path = os.path.join(repository, name)
        with open(path, "wb") as file:
            file.write(workload.content(number, 4_000))
        os.utime(path, (old, old))
    quiet = ("-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "begun")):
        subprocess.run(["git", *quiet, *words], cwd=repository, check=True)
