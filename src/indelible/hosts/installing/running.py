"""What the command line asks for, host by host: each is done whole or not at all, and one that fails keeps no other back."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import IndelibleError, NotFoundError
from indelible.hosts.installing import codextrust, work
from indelible.hosts.installing.bench import Bench, decoded, is_marked
from indelible.hosts.installing.desk import Desk, digest
from indelible.hosts.installing.rule import Rule
from indelible.hosts.installing.targets import SCOPES, TARGETS, file_of, host_of, is_here
from indelible.hosts.installing.traces import Trace, Traces
from indelible.hosts.installing.tracking import is_ignored, is_tracked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from indelible.hosts.host import Host
    from indelible.hosts.installing.desk import Edit, Laid
    from indelible.hosts.installing.targets import Machine
    from indelible.hosts.installing.work import Differs, Wanted


class Done(NamedTuple):
    """What was done for one host, or would be."""

    host: str
    title: str
    scope: str
    edits: tuple[Edit, ...]
    laid: tuple[Laid, ...] = ()
    notes: tuple[str, ...] = ()
    error: IndelibleError | None = None


def chosen(machine: Machine, names: Iterable[str]) -> tuple[Host, ...]:
    """The hosts that are named; else those that are found here.

    Raises:
        UsageError: there is no such host. NotFoundError: none is found.
    """
    hosts = tuple(host_of(name) for name in dict.fromkeys(names)) or found(machine)
    if not hosts:
        raise NotFoundError(
            "No coding agent is found here: none of their programs, and none of their folders",
            remedy=f"Name it: --host with one of {', '.join(TARGETS)}",
        )
    return hosts


def found(machine: Machine) -> tuple[Host, ...]:
    """The hosts that are found here."""
    return tuple(host_of(name) for name in TARGETS if is_here(machine, name))


def scope_of(machine: Machine, scope: str | None) -> str:
    """The scope that is asked for; else the project, where there is one."""
    return scope or SCOPES[machine.top is None]


def install(
    machine: Machine, host: Host, scope: str, wanted: Wanted, *, trust: bool = False, dry_run: bool = False
) -> Done:
    """Install for one host.

    Args:
        trust: write down that Codex is to trust our hooks, which only the user may say.
        dry_run: change nothing.
    """
    try:
        plan = work.install(Bench(machine, host, scope), wanted)
        laid = () if dry_run else plan.lay_down()
    except IndelibleError as error:
        return Done(host.name, host.title, scope, (), error=error)
    notes = (*plan.notes, *_to_know(machine, host, scope, plan.edits))
    done = Done(host.name, host.title, scope, plan.edits, laid, notes)
    if host.name != "codex" or dry_run:
        return done
    try:
        return _trust(machine, done) if trust else _untrusted(machine, done)
    except IndelibleError as error:
        return done._replace(error=error)


def _to_know(machine: Machine, host: Host, scope: str, edits: tuple[Edit, ...]) -> Iterator[str]:
    """What comes with the place that the hooks are put into."""
    name = os.path.relpath(edits[0].path, machine.top) if scope == "project" and edits else ""
    if name and is_tracked(machine.top, edits[0].real):
        yield (
            f"{name} is in git, and names programs of this machine by their path now: keep that out of commits, or "
            f"'indelible hooks uninstall --host {host.name}' and install with --scope user"
        )
    elif name and not is_ignored(machine.top, edits[0].real):
        yield f"{name} names programs of this machine by their path: keep it out of commits"
    other = next(one for one in SCOPES if one != scope)
    if edits and (machine.top is not None or other == "user") and _is_there(machine, host, other):
        yield (
            f"{host.title} has our hooks in the {other}'s settings too, and may call each of them twice: "
            f"'indelible hooks uninstall --host {host.name} --scope {other}'"
        )


def _is_there(machine: Machine, host: Host, scope: str) -> bool:
    """Whether hooks of ours are there, by their words alone."""
    try:
        bench = Bench(machine, host, scope)
        script = (
            next((path for path in work.plugin_files(bench) if path.endswith(".js")), "")
            if bench.target.shape is None
            else ""
        )
        return is_marked(bench.desk.read(script or bench.file))
    except IndelibleError:
        return False


def uninstall(
    machine: Machine, host: Host, scope: str, differs: Differs = lambda *_: False, *, dry_run: bool = False
) -> Done:
    """Take out what is ours, for one host.

    Args:
        differs: whether a file of the project is a memory as well, and not what was sealed.
    """
    try:
        bench = Bench(machine, host, scope)
        plan = work.uninstall(bench, differs)
        edits = plan.edits
        desk = _distrust(machine, bench.file) if host.name == "codex" else None
        edits += desk.edits() if desk is not None else ()
        laid = () if dry_run else (*plan.lay_down(), *(desk.lay_down() if desk is not None else ()))
    except IndelibleError as error:
        return Done(host.name, host.title, scope, (), error=error)
    return Done(host.name, host.title, scope, edits, laid, plan.notes)


def rule_of(memories: tuple[str, ...]) -> Rule:
    """The boot loader's rule, for the memories that the settings name."""
    return Rule(memories)


def _trust(machine: Machine, done: Done) -> Done:
    from shutil import which

    program = which("codex", path=machine.places.search_path)
    if program is None:
        raise NotFoundError(
            "Codex is not on the PATH, and only it knows what it would trust",
            remedy="Start Codex where it is, and say '/hooks'; or put it on the PATH and run it again",
        )
    home = machine.places.folders["codex"]
    folder = machine.top or machine.places.home
    listed = codextrust.ask(program, folder, machine.environ)
    desk = Desk(machine.state_dir, None)
    path = codextrust.config_of(home)
    bom, before = decoded(path, desk.read(path))
    after = codextrust.trusting(before, [hook for hook in listed if hook.trust != "managed"])
    if after != before:
        desk.write(path, bom + after.encode())
    laid = desk.lay_down()
    if laid:
        edit, traces = laid[0].edit, Traces(machine.state_dir)
        known = traces.get(edit.real) or Trace(None if edit.before is None else digest(edit.before), "", laid[0].backup)
        first = known.before if known.after in ("", digest(edit.before or b"")) else ""
        traces.put(edit.real, known._replace(before=first, after=digest(edit.after or b""), hosts=("codex",)))
    done = done._replace(edits=(*done.edits, *(one.edit for one in laid)), laid=(*done.laid, *laid))
    file = os.path.realpath(file_of(machine, done.scope, "codex"))
    if not any(os.path.realpath(hook.source) == file for hook in listed):
        unlisted = IndelibleError(
            f"Codex lists none of the hooks in {file}, so that none of them is trusted: it reads a project's only where its config.toml "
            "trusts the project",
            remedy="Start Codex there, trust the folder, and run it again; or install with --scope user",
        )
        return done._replace(error=unlisted)
    return done


def _distrust(machine: Machine, file: str) -> Desk:
    """Take out what was written down of the hooks in one file."""
    desk = Desk(machine.state_dir, None)
    path = codextrust.config_of(machine.places.folders["codex"])
    content = desk.read(path)
    if content is not None and codextrust.BEGIN.encode() in content:
        bom, text = decoded(path, content)
        left = codextrust.without(text, file)
        restored, original = Traces(machine.state_dir).original(desk.real(path), content)
        whole = restored and codextrust.BEGIN not in left
        desk.write(path, original if whole else bom + left.encode())
    return desk


def _untrusted(machine: Machine, done: Done) -> Done:
    """Say how to trust, unless Codex says that it does already."""
    from indelible.hosts.installing.proving import NOT_ASKED, trust_of

    trusted, why = trust_of(machine, host_of("codex"), file_of(machine, done.scope, "codex"))
    if trusted:
        return done
    said = "Codex skips hooks that it does not trust, without a word: start it, say '/hooks' and trust them"
    if why != NOT_ASKED:
        said += ", or run 'indelible hooks install --host codex --trust'; 'indelible hooks status' asks it"
    return done._replace(notes=(*done.notes, said))
