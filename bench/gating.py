"""What judging costs: one memory that depends on 20 files, and ten thousand of them over 500 files, git asked once."""

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
from indelible.gitsource import command
from indelible.record.parts import Anchor, Scope
from indelible.settings import now

if TYPE_CHECKING:
    from collections.abc import Iterator

FILES, ANCHORS, CALLS = 500, 20, 300
OLD = time.time() - 3600
"""When the files were last changed: long ago, as most files were."""


def rows(folder: str, records: int) -> Iterator[Row]:
    """In a git repository made for it."""
    _repository(folder)
    place = GitPlace(folder, os.environ)
    world = FileWorld(place, os.environ, {})
    context = Context(product.AGENT, now(), place, world)
    anchors = tuple(_anchor(world, name) for name in _names())
    one = _subject(anchors[:ANCHORS], place.repo or "")
    anchored = PRESETS["anchored"]
    assert not judge(anchored, one, context).held
    times = interleave({"one": repeat(lambda _: judge(anchored, one, context), CALLS)})["one"]
    yield Row(
        f"judging one memory, anchors of {ANCHORS} files, CPU, warm", times.micros(), "<= 1 ms", times.least <= 1e-3
    )
    many = [_subject((anchors[n % FILES], anchors[n * 7 % FILES]), place.repo or "") for n in range(records)]
    seconds, asked = _all(folder, many)
    yield Row(
        f"judging {records:,} memories, two anchors each over {FILES} files, from nothing, CPU with git's",
        f"{seconds:.2f} s; git run {asked} times", "<= 1 s for 10,000", seconds <= 1,
    )  # fmt: skip


def _all(folder: str, many: list[Subject]) -> tuple[float, int]:
    """Seconds of this process and of git, and how often git was started."""
    asked = 0
    run = command.Git.run

    def counting(self: command.Git, *args: object, **said: object) -> command.Ended:
        nonlocal asked
        asked += 1
        return run(self, *args, **said)  # type: ignore[arg-type]

    command.Git.run = counting  # type: ignore[method-assign, assignment]
    try:
        begun = os.times()
        place = GitPlace(folder, os.environ)
        context = Context(product.AGENT, now(), place, FileWorld(place, os.environ, {}))
        held = sum(judge(PRESETS["anchored"], subject, context).held for subject in many)
        ended = os.times()
    finally:
        command.Git.run = run  # type: ignore[method-assign]
    assert not held
    return sum(ended[:4]) - sum(begun[:4]), asked


def _subject(anchors: tuple[Anchor, ...], repo: str) -> Subject:
    scope = Scope("repo", repo=repo)
    return replace(
        Subject(), key="k", agent=product.AGENT, scope=scope, anchors=anchors, origin="agent", saved_at=now()
    )


def _names() -> list[str]:
    return [f"src/file{number:03}.py" for number in range(FILES)]


def _anchor(world: FileWorld, name: str) -> Anchor:
    (anchor,) = capture(name, world.files, world.files.top)
    return anchor


def _repository(folder: str) -> None:
    os.makedirs(os.path.join(folder, "src"))
    for number, name in enumerate(_names()):
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(workload.content(number, 4_000))
        os.utime(path, (OLD, OLD))
    quiet = ("-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "begun")):
        subprocess.run(["git", *quiet, *words], cwd=folder, check=True)
