"""hooks: install, uninstall, status, plugin, statusline; those of git itself are in `githooking`."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING

import click

from indelible.cli import common, flowgit, githooking
from indelible.cli.hooksaying import say_done, say_standing
from indelible.cli.output import BAD, OK, WARN, visible
from indelible.errors import NotFoundError, UsageError
from indelible.hosts.host import NAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from indelible.cli.session import Session
    from indelible.examining import Finding
    from indelible.hosts.installing.proving import Standing
    from indelible.hosts.installing.running import Done
    from indelible.hosts.installing.targets import Machine
    from indelible.settings import Settings


_NO_STORE = "There is no store here yet, so that these hooks have nothing to tell or guard: 'indelible init' makes one"


def complete_host(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Hosts whose names begin so, for the shell."""
    from indelible.hosts.installing.targets import TARGETS

    return [name for name in TARGETS if name.startswith(incomplete)]


def complete_plugin(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Hosts that take a folder, for the shell."""
    from indelible.hosts.installing.plugins import KINDS

    return [name for name in KINDS if name.startswith(incomplete)]


def _host_option(default: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option(
        "--host", "hosts", metavar="HOST", multiple=True, shell_complete=complete_host,
        help=f"A coding agent: {', '.join(NAMES)}. Any number of times. [{default}]",
    )  # fmt: skip


host_option = _host_option("those that are found here")
_scope_option = click.option(
    "--scope", type=click.Choice(("project", "user")), help="Whose settings. [project; user outside of a repository]"
)
_dry_run_option = click.option("--dry-run", is_flag=True, help="Change nothing; print what would change.")
_git_option = click.option("--git", "of_git", is_flag=True, help="Git's own hooks in this repository, and no host's.")


@click.group(cls=common.Group)
def hooks() -> None:
    """The hooks of coding agents: briefing after each start and compaction, guard before writes. And those of git."""


@hooks.command()
@host_option
@_scope_option
@_dry_run_option
@click.option(
    "--trust",
    is_flag=True,
    help="Write into Codex's config.toml that it is to trust these hooks, as '/hooks' in it would.",
)
@click.option("--no-rule", is_flag=True, help="Leave AGENTS.md, CLAUDE.md and GEMINI.md alone.")
@click.option("--no-statusline", is_flag=True, help="Leave the host's status line alone.")
@_git_option
@click.option(
    "--receive",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="With --git: the hook of a repository that receives, which takes approved commits only.",
)
@flowgit.approver_option
@flowgit.approvers_option
@click.option(
    "--protect",
    metavar="BRANCH",
    multiple=True,
    help="With --receive: a branch (a glob) that is protected. Any number of times. [main, master]",
)
@flowgit.repository_option
@click.pass_obj
def install(  # noqa: PLR0917 - click's call
    session: Session, /, hosts: tuple[str, ...], scope: str | None, receive: str | None, vkeys: tuple[str, ...], file: str | None,
    protect: tuple[str, ...], repositories: tuple[str, ...], **flags: bool,
) -> int:  # fmt: skip
    """Put our hooks into the settings of coding agents, or with --git into git. What others put there stays; a second run adds nothing."""
    if flags.pop("of_git"):
        _refuse_beside_git(hosts, scope, **flags)
        return githooking.install(session, receive, vkeys, file, protect, repositories)
    if receive or vkeys or file or protect or repositories:
        raise UsageError(
            "--receive, --approver, --approvers, --protect and --repository are about git's hooks",
            remedy="Say --git as well",
        )
    from indelible.hosts.installing import running

    settings, machine = _here(session)
    chosen = running.chosen(machine, hosts)
    if flags["trust"] and "codex" not in [host.name for host in chosen]:
        raise UsageError("--trust is about Codex, the one host that wants it", remedy="Say --host codex as well")
    done = install_for(settings, machine, chosen, scope, **flags)
    no_store = () if settings.remote or os.path.exists(settings.store) else (_NO_STORE,)
    notes = (*no_store, *_unreachable(machine))
    done = [one._replace(notes=(*one.notes, *notes)) for one in done[:1]] + done[1:]
    return _report(session, done, dry_run=flags["dry_run"], verb="installed")


def _refuse_beside_git(hosts: tuple[str, ...], scope: str | None, **flags: bool) -> None:
    said = [name for name, given in {"host": bool(hosts), "scope": scope is not None, **flags}.items() if given]
    if said:
        raise UsageError(
            f"--git is about git's own hooks, and --{said[0].replace('_', '-')} is not", remedy="Leave one of them out"
        )


def _unreachable(machine: Machine) -> tuple[str, ...]:
    from indelible.hosts.installing import calling

    return tuple(filter(None, (calling.unreachable(machine.programs, machine.places.search_path),)))


def install_for(
    settings: Settings, machine: Machine, hosts: Iterable[Any], scope: str | None = None, *, trust: bool = False,
    no_rule: bool = False, no_statusline: bool = False, dry_run: bool = False,
) -> list[Done]:  # fmt: skip
    """Install for each of those hosts."""
    from indelible.hosts.installing import running
    from indelible.hosts.installing.work import Wanted

    rule = None if no_rule else running.rule_of(settings.boot.memories)
    wanted = Wanted(rule, not no_statusline, lambda name, content: _differs(settings, name, content))
    where = running.scope_of(machine, scope)
    return [running.install(machine, host, where, wanted, trust=trust, dry_run=dry_run) for host in hosts]


def _differs(settings: Settings, key: str, content: bytes | None) -> bool:
    """Whether there is a memory of that key with another text; where that is not known, nothing is said of it."""
    from indelible import wiring
    from indelible.errors import IndelibleError

    if settings.remote or not os.path.exists(settings.store):
        return False
    try:
        with wiring.open_memory(settings) as memory:
            sealed = memory.fetch(key)
            return sealed.latest.state == "active" and sealed.content != content
    except IndelibleError:
        return False


@hooks.command()
@_host_option("all of them")
@_scope_option
@_dry_run_option
@_git_option
@click.option("--receive", metavar="DIR", help="With --git: of a repository that receives.")
@click.pass_obj
def uninstall(
    session: Session, /, hosts: tuple[str, ...], scope: str | None, receive: str | None, *, dry_run: bool, of_git: bool
) -> int:
    """Take our hooks, rules and status line out again, and nothing else."""
    if receive is not None and not of_git:
        raise UsageError("--receive is about git's hooks", remedy="Say --git as well")
    if of_git:
        _refuse_beside_git(hosts, scope, dry_run=dry_run)
        return githooking.uninstall(session, receive)
    from indelible.hosts.installing import running
    from indelible.hosts.installing.targets import TARGETS, host_of

    settings, machine = _here(session, strict=False)
    where = running.scope_of(machine, scope)
    done = [
        running.uninstall(machine, host_of(name), where, lambda *one: _differs(settings, *one), dry_run=dry_run)
        for name in hosts or TARGETS
    ]
    return _report(
        session, done if hosts else [one for one in done if one.edits or one.error], dry_run=dry_run, verb="uninstalled"
    )


@hooks.command()
@_host_option("all of them")
@_scope_option
@click.pass_obj
def status(session: Session, hosts: tuple[str, ...], scope: str | None) -> int:
    """Whether the hooks are there, in today's words, really fire, and are trusted: each is run, or its host is asked.

    Exit 1 where one that is installed does not work, one that was named is not installed, or the settings are broken; 3 where there is none.
    """
    from indelible.hooklog import last_failure

    settings, fault = common.settings_or_spare(session)
    failed = last_failure(
        settings.state_dir, settings.checkout or ""
    )  # before the gates are tried, which may fail as well
    settings, machine = machine_of(settings, strict=False)
    found = standings(settings, machine, hosts, scope)
    shown = [one for one in found if one.installed or one.problems or hosts]
    for one in shown:
        say_standing(session, one)
    if fault is not None:
        session.output.line(f"{BAD} {visible(str(fault))}")
    if failed:
        session.output.line(f"{WARN} the last hook that failed here: {visible(failed)}")
    wrong = [one for one in shown if not one.works and (one.installed or one.problems)]
    wrong += [one for one in shown if hosts and not any(other.installed for other in shown if other.host == one.host)]
    of_git, broken = githooking.say_standing(session, settings) if not hosts else (None, False)
    if not shown and fault is None and of_git is None:
        raise NotFoundError("No hooks are installed here", remedy="Put them in with 'indelible hooks install'")
    code = int(bool(wrong) or broken or fault is not None)
    warnings = _unreachable(machine)
    for warning in warnings:
        session.output.aside(f"{WARN} {visible(warning)}")
    session.output.document({
        "ok": not code, "exit_code": code, "slug": "hooks-broken" if code else "hooks", "warnings": list(warnings),
        "hosts": [{**one._asdict(), "works": one.works} for one in shown], "git": of_git, "last_failure": failed or None,
        "settings": fault.as_dict() if fault is not None else None,
    })  # fmt: skip
    return code


def standings(
    settings: Settings, machine: Machine, hosts: Iterable[str] = (), scope: str | None = None
) -> list[Standing]:
    """How each host stands, in each scope that there is here."""
    from indelible.hosts.installing import proving
    from indelible.hosts.installing.targets import SCOPES, TARGETS, host_of

    scopes = [one for one in SCOPES if scope in (None, one) and (one == "user" or machine.top is not None)]
    guarded = settings.boot.directory or os.path.dirname(settings.store)
    protected = settings.store if not settings.remote else os.path.join(guarded, "00_governance.md")
    return [
        proving.stand(machine, host_of(name), one, protected)
        for name in hosts or TARGETS
        for one in scopes or [scope or "user"]
    ]


@hooks.command()
@click.argument("host", shell_complete=complete_plugin)
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False))
@click.pass_obj
def plugin(session: Session, host: str, folder: str) -> None:
    """Write HOST's plugin or extension into DIR: Claude Code, Gemini CLI, Qwen Code, OpenCode, OpenClaw."""
    from indelible.cli.outputs import refuse_ours, write_output
    from indelible.hosts.installing import plugins
    from indelible.hosts.installing.desk import make_parents
    from indelible.hosts.installing.targets import host_of

    settings, machine = _here(session)
    top = os.path.abspath(folder)
    files = plugins.plugin_of(host_of(host), machine.programs.hook)
    for name, content in files.items():
        path = os.path.join(top, *name.split("/"))
        refuse_ours(settings, path)
        make_parents(os.path.dirname(path))
        write_output(settings, path, content, mode=0o644)
        session.output.line(f"{OK} {path}")
    session.output.line(f"Next: {plugins.NEXT[host].format(folder=shlex.quote(top))}")
    session.output.document(
        {"ok": True, "exit_code": 0, "slug": "plugin", "host": host, "folder": top, "files": sorted(files)}
    )


@hooks.command()
@click.pass_obj
def statusline(session: Session) -> None:
    """One line for the status line of a host: what was verified and held at the last boot, and what changed since."""
    from indelible.cli.glancing import look

    found = look(sys.stdin)
    session.output.give(found.line)
    session.output.document({"ok": True, "exit_code": 0, "slug": "statusline", **found._asdict()})


def _here(session: Session, *, strict: bool = True) -> tuple[Settings, Machine]:
    """The settings, and the machine as the installer sees it.

    Args:
        strict: our own programs must be there.
    """
    return machine_of(common.settings_of(session), strict=strict)


def prepared(settings: Settings, hosts: tuple[str, ...]) -> Callable[[], list[Done]]:
    """What installs for those hosts, each of which is known.

    Raises:
        UsageError: there is no such host. NotFoundError: our own programs are not there.
    """
    if not hosts:
        return list
    from indelible.hosts.installing import running

    machine = machine_of(settings)[1]
    named = running.chosen(machine, hosts)
    return lambda: install_for(settings, machine, named)


def findings(settings: Settings) -> list[Finding]:
    """What `doctor` says of the hosts that are found here."""
    from indelible.examining import Finding
    from indelible.hosts.installing import running

    machine = machine_of(settings, strict=False)[1]
    here = [host.name for host in running.found(machine)]
    found = []
    for one in standings(settings, machine, here):
        name = f"{one.title} ({one.scope})"
        if one.works and one.warnings:
            found.append(Finding("hooks", "warning", f"{name}: hooks installed, current, fire; {one.warnings[0]}"))
        elif one.works:
            trusted = ", trusted" if one.trusted else ""
            found.append(Finding("hooks", "good", f"{name}: hooks installed, current, fire{trusted}"))
        elif one.installed or one.problems:
            text, _, remedy = (one.problems[0] if one.problems else "its hooks do not fire").partition(". ")
            found.append(Finding("hooks", "bad", f"{name}: {text}", remedy))
    with_hooks = {finding.text.partition(" (")[0] for finding in found}
    bare = [host for host in running.found(machine) if host.title not in with_hooks]
    found += [
        Finding("hooks", "warning", f"{host.title} is here, and has no hooks of ours", f"Run 'indelible hooks install --host {host.name}'")
        for host in bare
    ]  # fmt: skip
    found += [Finding("hooks", "warning", *said.split(": ", 1)) for said in (_unreachable(machine) if here else ())]
    return [*found, *githooking.findings(settings)]


def machine_of(settings: Settings, *, strict: bool = True) -> tuple[Settings, Machine]:
    """As `_here`, of settings that are known."""
    from indelible.hosts.installing import calling
    from indelible.hosts.installing.targets import Machine
    from indelible.settings import here
    from indelible.settings.hosting import host_places

    environ = here()[1]
    places = host_places(environ)
    try:
        programs = calling.locate(sys.executable, places.search_path)
    except NotFoundError:
        if strict:
            raise
        programs = calling.Programs(calling.HOOK, calling.MAIN)
    return settings, Machine(
        places, settings.checkout or settings.repository_top, settings.state_dir, programs, environ
    )


def _report(session: Session, done: list[Done], *, dry_run: bool, verb: str) -> int:
    """Say what became of each host, and give the exit code: the first error's."""
    for one in done:
        say_done(session, one, dry_run=dry_run, verb=verb)
    if not done:
        session.output.line(f"{OK} there is nothing of ours here")
    errors = [one.error for one in done if one.error is not None]
    code = errors[0].exit_code if errors else 0
    slug = errors[0].slug if errors else {"installed": "hooks-installed", "uninstalled": "hooks-uninstalled"}[verb]
    session.output.document({
        "ok": not code, "exit_code": code, "slug": slug, "dry_run": dry_run, "hosts": list(map(as_dict, done)),
    })  # fmt: skip
    return code


def as_dict(one: Done) -> dict[str, object]:
    """What was done for one host, for a program."""
    return {
        "host": one.host, "scope": one.scope, "files": [edit.path for edit in one.edits],
        "backups": {laid.edit.path: laid.backup for laid in one.laid if laid.backup}, "notes": list(one.notes),
        "error": one.error.as_dict() if one.error is not None else None,
    }  # fmt: skip


def say_all(session: Session, done: Iterable[Done]) -> None:
    """Say what became of each host."""
    for one in done:
        say_done(session, one, dry_run=False, verb="installed")
