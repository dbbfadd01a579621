"""Install and uninstall for one host: its hooks, its status line, its rule, laid on a desk and then down, in one go."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import UsageError
from indelible.hosts.host import AFTER_TOOL, PROMPT, START
from indelible.hosts.installing import merging, plugins, rulefiles, statuslines
from indelible.hosts.installing.bench import Bench, is_marked
from indelible.hosts.installing.calling import caller
from indelible.hosts.installing.desk import digest
from indelible.hosts.installing.traces import Trace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indelible.hosts.host import Host
    from indelible.hosts.installing.desk import Edit, Laid
    from indelible.hosts.installing.rule import Rule


Differs = Callable[[str, bytes | None], bool]
"""Whether a file of the project, by its name from the top, is a memory as well, and was not sealed with these bytes."""


class Wanted(NamedTuple):
    """What an installation is to have."""

    rule: Rule | None
    """None to leave the instruction files alone."""
    statusline: bool = True
    differs: Differs = lambda *_: False


class Plan(NamedTuple):
    """What would be done for one host, in one scope."""

    edits: tuple[Edit, ...]
    lay_down: Callable[[], tuple[Laid, ...]]
    notes: tuple[str, ...]
    """What a person should know, or still do."""


def install(bench: Bench, wanted: Wanted) -> Plan:
    """Put everything in that is missing or not as it is now.

    Raises:
        UsageError: a file is broken, has comments that the host would choke on, or is no file.
    """
    if bench.target.shape is None:
        _put_plugin(bench)
    else:
        made = bench.target.shape(bench.host, caller(bench.machine.programs.hook, bench.host.name))
        bench.change(bench.file, lambda text: merging.merge(text, made))
    notes = statuslines.put(bench) if wanted.statusline else []
    if wanted.rule is not None:
        notes += rulefiles.put(bench, wanted.rule, wanted.differs)
    return Plan(bench.desk.edits(), lambda: _lay_down(bench), (*notes, *_notes(bench)))


def uninstall(bench: Bench, differs: Differs) -> Plan:
    """Take out what is ours, and nothing else.

    Raises:
        UsageError: a file is broken.
    """
    notes: list[str] = []
    if bench.target.shape is None:
        notes = _take_plugin_out(bench)
    else:
        bench.take_out(bench.file, merging.take_out)
    statuslines.take_out(bench)
    notes += rulefiles.take_out(bench, differs)
    return Plan(bench.desk.edits(), lambda: _lift(bench), tuple(notes))


def plugin_files(bench: Bench) -> dict[str, bytes]:
    """The files of a host's plugin, by where they belong."""
    files = plugins.plugin_of(bench.host, bench.machine.programs.hook)
    if bench.host.name == "opencode":
        return {bench.file: files[plugins.OPENCODE_FILE]}
    return {os.path.join(bench.file, *name.split("/")): content for name, content in files.items()}


def after_compaction(host: Host) -> str:
    """What is so of a host that has no event after compaction."""
    purposes = {one.purpose for one in host.hooked}
    channels = [word for purpose, word in ((PROMPT, "prompt"), (AFTER_TOOL, "tool result")) if purpose in purposes]
    channels = channels or ["model call"] * (START in purposes)  # a start that fires before each of them
    again = f"the briefing is given again at the next {' or '.join(channels)}"
    how = again if channels else "no hook can give it again"
    return f"{host.title} has no event after compaction: {how}, and the rule in its instruction file says to run 'indelible boot'"


def _put_plugin(bench: Bench) -> None:
    for path, content in plugin_files(bench).items():
        if bench.desk.read(path) is not None and not _is_our_plugin(bench):
            raise UsageError(
                f"{path} is there, and was not written by us", remedy="Move it away, and run it again", file=path
            )
        bench.desk.write(path, content)


def _take_plugin_out(bench: Bench) -> list[str]:
    if not _is_our_plugin(bench):
        return [f"{bench.file} was not written by us, and stays"]
    for path in plugin_files(bench):
        bench.desk.write(path, None)
    return []


def _is_our_plugin(bench: Bench) -> bool:
    script = next(path for path in plugin_files(bench) if path.endswith(".js"))
    content = bench.desk.before(script)
    return content is None or plugins.is_ours(content)


def _lay_down(bench: Bench) -> tuple[Laid, ...]:
    folders = {edit.path: _missing(edit.real) for edit in bench.desk.edits()}
    laid = bench.desk.lay_down()
    for one in laid:
        _remember(bench, one, folders[one.edit.path])
    rulefiles.share(bench)
    return laid


def _remember(bench: Bench, laid: Laid, folders: tuple[str, ...]) -> None:
    edit, trace = laid.edit, bench.traces.get(laid.edit.real)
    before, after = None if edit.before is None else digest(edit.before), digest(edit.after or b"")
    made = bench.made.get(edit.path, ())
    if trace is None or before is None:  # what was known of a file that is gone says nothing of this one
        first = "" if is_marked(edit.before) else before
        trace = Trace(first, after, laid.backup, made, (bench.host.name,), folders)
    else:
        trace = trace._replace(
            before=trace.before if trace.after == before else "", after=after, made=tuple(dict.fromkeys((*trace.made, *made))),
            hosts=tuple(dict.fromkeys((*trace.hosts, bench.host.name))), folders=(*folders, *trace.folders),
        )  # fmt: skip
    bench.traces.put(edit.real, trace)


def _lift(bench: Bench) -> tuple[Laid, ...]:
    laid = bench.desk.lay_down()
    for one in laid:
        trace = bench.traces.get(one.edit.real)
        bench.traces.forget(one.edit.real)
        for folder in trace.folders if trace is not None and one.edit.after is None else ():
            _remove_empty(folder)
    for real, trace in bench.shared:
        bench.traces.put(real, trace)
    return laid


def _notes(bench: Bench) -> Iterator[str]:
    if note := bench.target.notes.get(bench.scope):
        yield note
    if not bench.target.fires_after_compaction:
        yield after_compaction(bench.host)


def _missing(real: str) -> tuple[str, ...]:
    """Folders above a file that are not there yet, the innermost first."""
    missing = []
    folder = os.path.dirname(real)
    while folder and not os.path.lexists(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    return tuple(missing)


def _remove_empty(folder: str) -> None:
    try:
        os.rmdir(folder)
    except OSError:
        return
