"""A process that a test starts on a bench: it does one thing and says what came of it, one JSON object a line.

worker.py '{"root": …, "agent": …, "reader": …}' VERB [ARGUMENT…]
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import TYPE_CHECKING, Any

from tests.support import Bench

if TYPE_CHECKING:
    from collections.abc import Callable

from indelible.errors import IndelibleError


def say(**facts: Any) -> None:
    """One line, out at once: what is printed is acknowledged."""
    os.write(1, (json.dumps(facts) + "\n").encode())


def content_of(key: str) -> bytes:
    """What a worker saves under `key`: a test knows it without being told."""
    return f"{key}의 내용 ".encode() * 8


def save(bench: Bench, reader: str, name: str, count: str) -> None:
    """Save `count` memories named after `name`, each acknowledged when it is saved."""
    memory = bench.memory(reader)
    for number in range(int(count)):
        saved = memory.save(f"{name}-{number}", content_of(f"{name}-{number}"), op=f"op-{name}-{number}")
        say(saved=saved.key, version=saved.version, repeated=saved.repeated, warnings=saved.warnings)


def insist(bench: Bench, reader: str, name: str, count: str) -> None:
    """Like `save`, but say each error and try the same operation again, three times."""
    memory = bench.memory(reader)
    for number in range(int(count)):
        for _ in range(3):
            try:
                saved = memory.save(f"{name}-{number}", content_of(f"{name}-{number}"), op=f"op-{name}-{number}")
            except IndelibleError as error:
                say(error=type(error).__name__, exit=error.exit_code, slug=error.slug, message=str(error))
            else:
                say(saved=saved.key, version=saved.version, repeated=saved.repeated)
                break


def one(bench: Bench, reader: str, key: str) -> None:
    """What a one-shot command does: open, save one memory, close."""
    with bench.memory(reader) as memory:
        say(saved=memory.save(key, content_of(key), op=f"op-{key}").key)


def nothing(bench: Bench, reader: str) -> None:
    """Open and close: what the process costs without memory."""
    bench.memory(reader).close()


def load(bench: Bench, reader: str, key: str, count: str = "1") -> None:
    """What a one-shot command does: open, load, close."""
    with bench.memory(reader) as memory:
        for _ in range(int(count)):
            loaded = memory.load(key)
            say(loaded=key, sha256=loaded.sha256, finding=loaded.finding is not None)


def read(bench: Bench, reader: str, seconds: str) -> None:
    """Load and list without rest, and count what was refused."""
    memory = bench.memory(reader)
    end = time.monotonic() + float(seconds)
    loads = 0
    say(ready=True)
    while time.monotonic() < end:
        if memory.load("first").finding is not None:
            say(error="finding", slug="", message="a load came with a finding")
        loads += 1
        if loads % 100 == 0 and (found := memory.list(prefix="first").findings):
            say(error="finding", slug=found[0].slug, message=str(found[0]))
    say(loads=loads)


def hold(bench: Bench, reader: str, seconds: str) -> None:
    """Hold the store's write lock, as a long writer does, for `seconds` or until a line comes in."""
    with bench.memory(reader).store.writing(bench.agent):
        say(held=True)
        if float(seconds):
            time.sleep(float(seconds))
        else:
            sys.stdin.readline()


def starve(bench: Bench, reader: str, limit: str, spare: str) -> None:
    """Save under a limit of the system that does not suffice, and again without it."""
    import resource
    import signal

    with bench.memory(reader) as warm:
        warm.save("k", b"warm")  # what is imported at a first save is not what is to fail
    memory = bench.memory(reader)
    which = getattr(resource, limit)
    before = resource.getrlimit(which)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    handles = len(os.listdir("/proc/self/fd")) if limit == "RLIMIT_NOFILE" else 0
    resource.setrlimit(which, (handles + int(spare), before[1]))
    try:
        say(saved=memory.save("k", os.urandom(100_000)).key, version=1)
    except IndelibleError as error:
        say(error=type(error).__name__, exit=error.exit_code, slug=error.slug, message=str(error))
    resource.setrlimit(which, before)
    say(loaded=memory.load("first").key)
    say(saved=memory.save("k", content_of("k")).key, version=memory.load("k").version)


def die_before_pin(bench: Bench, reader: str, key: str) -> None:
    """Be killed after the store's commit and before the pin is kept."""
    memory = bench.memory(reader)
    commit = memory.store._commit  # type: ignore[attr-defined]

    def commit_and_die(*args: Any) -> None:
        commit(*args)
        os._exit(77)

    memory.store._commit = commit_and_die  # type: ignore[attr-defined]
    memory.save(key, content_of(key), op=f"op-{key}")


def die_upgrading(bench: Bench, reader: str) -> None:
    """Open an older store with a program whose last step kills the process."""
    from indelible.store import opening, schema

    steps = (*schema.STEPS, "CREATE TABLE newer (id INTEGER) STRICT; SELECT die();")
    vars(opening).update(STEPS=steps, FORMAT=len(steps))
    connect = opening._open

    def deadly(*args: Any, **options: Any) -> Any:
        connection = connect(*args, **options)
        connection.create_scalar_function("die", lambda *_: os._exit(78))
        return connection

    vars(opening).update(_open=deadly)
    bench.memory(reader)


VERBS: dict[str, Callable[..., None]] = {
    function.__name__: function
    for function in (save, insist, one, nothing, load, read, hold, starve, die_before_pin, die_upgrading)
}


def main() -> int:
    """Exit code as the product's: 0, or that of the error, which is said."""
    settings = json.loads(sys.argv[1])
    reader = settings.pop("reader")
    try:
        VERBS[sys.argv[2]](Bench(**settings), reader, *sys.argv[3:])
    except IndelibleError as error:
        say(error=type(error).__name__, exit=error.exit_code, slug=error.slug, message=str(error))
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
