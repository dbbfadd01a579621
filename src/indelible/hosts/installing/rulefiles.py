"""The rule in the file that a host reads: chosen, shared between hosts, and taken out with the last of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from indelible.hosts.installing import rule
from indelible.hosts.installing.bench import Named

if TYPE_CHECKING:
    from indelible.hosts.installing.bench import Bench
    from indelible.hosts.installing.work import Differs


def put(bench: Bench, words: rule.Rule, differs: Differs) -> list[str]:
    """Put the rule in; gives what a person should know.

    Raises:
        UsageError: the file is no file, or one of the marks is there alone.
    """
    path = chosen(bench)
    if path is None:
        return [f"{bench.host.title} documents no file of rules for a user: the rule is not there"]
    before = bench.desk.read(path)
    with Named(path):
        after = rule.put(before, words)
    bench.desk.write(path, after)
    name = os.path.relpath(path, bench.folder)
    return _unlike(bench, name, after, differs) if after != before else []


def take_out(bench: Bench, differs: Differs) -> list[str]:
    """Take it out of every file that the host may read, unless another host that is installed reads that too; gives what to know.

    Raises:
        UsageError: as `put`.
    """
    said: list[str] = []
    for path in files(bench):
        now = bench.desk.read(path)
        if now is not None and rule.is_in(now):
            _take_out(bench, path, now)
            left = bench.desk.read(path)
            said += _unlike(bench, os.path.relpath(path, bench.folder), left, differs) if left != now else []
    return said


def _unlike(bench: Bench, name: str, content: bytes | None, differs: Differs) -> list[str]:
    """What to know of a file that is a memory as well, where it is not what was sealed any more."""
    if bench.scope == "user" or not differs(name, content):
        return []
    if content is None:
        return [f"{name} is sealed, and the file is gone: 'indelible archive {name}' says that it is meant"]
    return [
        f"{name} is sealed, and is not what was sealed any more: 'indelible save {name} {name}' seals it as it is now"
    ]


def chosen(bench: Bench) -> str | None:
    """The file that the host reads already; else the one that it likes best.

    Claude Code reads AGENTS.md only where there is no CLAUDE.md: making one would hide what stands in the other.
    """
    named = files(bench)
    return next((path for path in named if os.path.lexists(path)), named[0] if named else None)


def files(bench: Bench) -> list[str]:
    """Every file of instructions that the host reads in this scope."""
    names = bench.target.rules if bench.scope == "project" else (bench.target.user_rule,)
    return [os.path.join(bench.folder, *name.split("/")) for name in names if name]


def share(bench: Bench) -> None:
    """A rule that was right already serves this host too."""
    path = chosen(bench)
    real = bench.desk.real(path) if path is not None else ""
    trace = bench.traces.get(real)
    if trace is not None and bench.host.name not in trace.hosts:
        bench.traces.put(real, trace._replace(hosts=(*trace.hosts, bench.host.name)))


def _take_out(bench: Bench, path: str, now: bytes) -> None:
    real = bench.desk.real(path)
    trace = bench.traces.get(real)
    if trace is not None:
        others = tuple(name for name in trace.hosts if name != bench.host.name)
        if others:
            bench.shared += [(real, trace._replace(hosts=others))] if others != trace.hosts else []
            return
    restored, original = bench.traces.original(real, now)
    with Named(path):
        left = original if restored and not rule.is_in(original) else rule.take_out(now)
    is_made = trace is not None and trace.before is None and not (left or b"").strip()
    bench.desk.write(path, None if is_made else left)
