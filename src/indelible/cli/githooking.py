"""hooks … --git: git's own hooks, in this repository, or in one that receives."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from indelible.cli import common
from indelible.cli.output import BAD, OK, WARN, visible
from indelible.errors import IndelibleError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indelible.cli.session import Session
    from indelible.examining import Finding
    from indelible.githooks.installing import Installation
    from indelible.gitsource.command import Git
    from indelible.settings import Settings

_HOW = {"new": "there was none before", "written": "beside what stands in it", "called": "calls the one that was there"}


def install(
    session: Session, receive: str | None, vkeys: tuple[str, ...], file: str | None, protect: tuple[str, ...],
    repositories: tuple[str, ...] = (),
) -> int:  # fmt: skip
    """Put git's hooks in: here, or into a repository that receives.

    Raises:
        UsageError: the words do not go together.
    """
    if receive is not None:
        return install_receiving(session, receive, vkeys, file, protect, repositories)
    if vkeys or file or protect or repositories:
        raise UsageError(
            "--approver, --approvers, --protect and --repository are about a repository that receives",
            remedy="Say --receive DIR as well",
        )
    return install_here(session)


def install_here(session: Session) -> int:
    """Put git's hooks into the repository of the current folder."""
    from indelible.githooks.installing import install

    settings, git, folder, environ = _place(session)
    done = install(
        git, folder, _program(environ), state_dir=settings.state_dir, configs=_configs(environ), branches=_guarded(settings, environ) or ()
    )  # fmt: skip
    _say(session, done, "installed", settings)
    _warn_of_nobody(session, settings)
    return 0


def _warn_of_nobody(session: Session, settings: Settings) -> None:
    """From here on nothing is committed unless somebody can say yes."""
    from indelible import wiring

    if not wiring.approvers(settings):
        session.output.aside(
            f"{WARN} nobody can approve yet, so nothing can be committed: 'indelible key create --role approver' makes a key for that, "
            "or 'indelible key trust VKEY' names one that is kept elsewhere"
        )


def install_receiving(
    session: Session, folder: str, vkeys: tuple[str, ...], file: str | None, protect: tuple[str, ...],
    repositories: tuple[str, ...] = (),
) -> int:  # fmt: skip
    """Put `pre-receive`, and who may approve, into a repository that receives."""
    from indelible.files import make_folder, replace_file
    from indelible.githooks import receiving, scripts
    from indelible.githooks.installing import install
    from indelible.githooks.places import find_places
    from indelible.seal.note import Verifier

    settings, git, _, environ = _place(session)
    places = find_places(git, folder)
    path = os.path.join(places.common, receiving.NAME)
    terms = receiving.read_terms(file or path) if file or os.path.exists(path) else receiving.Terms(())
    added = [key for key in map(Verifier, vkeys) if key.vkey not in {one.vkey for one in terms.approvers}]
    terms = terms._replace(approvers=(*terms.approvers, *added), protected=protect or terms.protected)
    if repositories:
        terms = terms._replace(repositories=tuple(dict.fromkeys(map(receiving.repository_named, repositories))))
    if not os.path.exists(path):
        terms = terms._replace(baseline=_tips(git, places.common, terms.protected))
    if not terms.approvers:
        raise UsageError(
            "A repository that receives has to know who may approve", remedy="Say --approver VKEY, or --approvers FILE"
        )
    make_folder(os.path.dirname(path))
    replace_file(path, terms.format(), mode=0o644)
    done = install(git, folder, _program(environ), state_dir=settings.state_dir, events=(scripts.RECEIVE,))
    if places.bare and not places.configured:  # a setting of the pusher's account could point git elsewhere
        git.must(places.common, "config", "core.hooksPath", "hooks")
    _say(session, done, "installed", settings)
    session.output.line(f"   who may approve stands in {visible(path)}")
    return 0


def uninstall(session: Session, receive: str | None) -> int:
    """Take git's hooks out: of the repository of the current folder, or of one that receives; who may approve there is kept."""
    from indelible.githooks.installing import uninstall as take_out
    from indelible.githooks.places import find_places

    settings, git, folder, _ = _place(session)
    done = take_out(git, receive or folder, state_dir=settings.state_dir)
    places = find_places(git, receive or folder)
    if receive is not None and places.bare and places.configured == "hooks":  # as it was set when they were put in
        git.must(places.common, "config", "--unset", "core.hooksPath")
    _say(session, done, "uninstalled", settings)
    return 0


def findings(settings: Settings) -> list[Finding]:
    """What `doctor` says of git's hooks here; nothing where there are none, and none are wanted."""
    from indelible.examining import Finding
    from indelible.githooks.standing import stand
    from indelible.gitsource.command import Git
    from indelible.settings import here

    folder, environ = here()
    if settings.checkout is None:
        return []
    try:
        found = stand(Git(environ, 60.0), folder, environ, _guarded(settings, environ))
    except IndelibleError as error:
        return [Finding("git-hooks", "warning", f"git's hooks cannot be looked at: {error.message}", error.remedy)]
    if not found.installed:
        return []
    if found.works:
        return [
            Finding("git-hooks", "good", f"git's hooks ({', '.join(found.hooks)}) stand in {found.folder} and fire")
        ]
    return [Finding("git-hooks", "bad", *_halves(problem)) for problem in found.problems]


def say_standing(session: Session, settings: Settings) -> tuple[dict[str, object] | None, bool]:
    """Say how git's hooks stand; a document of it, None where there are none; and whether something is wrong."""
    found = findings(settings)
    for one in found:
        mark = OK if one.state == "good" else BAD if one.state == "bad" else WARN
        session.output.line(f"{mark} {visible(one.text)}" + (f". {visible(one.remedy)}" if one.remedy else ""))
    wrong = any(one.state == "bad" for one in found)
    return ({"works": not wrong, "said": [one.text for one in found]} if found else None), wrong


def _place(session: Session) -> tuple[Settings, Git, str, Mapping[str, str]]:
    from indelible.gitsource.command import Git
    from indelible.settings import here

    folder, environ = here()
    return common.settings_of(session), Git(environ, 60.0), folder, environ


def _program(environ: Mapping[str, str]) -> str:
    from indelible.hosts.installing.calling import locate
    from indelible.settings.hosting import host_places

    return locate(sys.executable, host_places(environ).search_path).main


def _configs(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The user's own files of git settings."""
    from indelible.settings.folders import home

    below = home(environ)
    chosen = environ.get("GIT_CONFIG_GLOBAL")
    xdg = environ.get("XDG_CONFIG_HOME") or os.path.join(below, ".config")
    return (chosen,) if chosen else (os.path.join(below, ".gitconfig"), os.path.join(xdg, "git", "config"))


def _guarded(settings: Settings, environ: Mapping[str, str]) -> tuple[str, ...] | None:
    """Local branches that the workflow guards, as globs; None where that cannot be told."""
    from indelible.stepping.desk import open_desk

    try:
        with open_desk(settings, environ) as desk:
            return tuple(desk.workflow.guard.branches)
    except IndelibleError:
        return None


def _tips(git: Git, folder: str, protected: tuple[str, ...]) -> tuple[str, ...]:
    from indelible.gitsource.lines import names_of
    from indelible.workflow.branches import HEADS, is_among

    names = names_of(git.must(folder, "for-each-ref", "--format=%(objectname) %(refname)", HEADS))
    return tuple(dict.fromkeys(oid for oid, name in names if is_among(name, protected)))


def _say(session: Session, done: Installation, what: str, settings: Settings) -> None:
    for one in done.hooks:
        state = (_HOW[one.how] if what == "installed" else "as it was before") if one.changed else "stands already"
        kept = f" (before: {visible(one.backup)})" if one.backup else ""
        session.output.line(f"{OK} {one.event}: {state}  {visible(one.path)}{kept}")
    if done.mode == "before" and what == "installed":
        session.output.line(f"   core.hooksPath is {visible(done.places.hooks)} now, whose hooks call those of before")
    warnings = []
    if what == "installed" and not settings.remote and not os.path.exists(settings.store) and not done.places.bare:
        warnings.append(
            "There is no store here yet, so that these hooks refuse every commit: 'indelible init' makes one"
        )
    for note in warnings:
        session.output.aside(f"{WARN} {visible(note)}")
    slug = f"git-hooks-{what}"
    session.output.document({
        "ok": True, "exit_code": 0, "slug": slug, "mode": done.mode, "changed": done.changed, "notes": warnings,
        "hooks": [one._asdict() for one in done.hooks],
    })  # fmt: skip


def _halves(problem: str) -> tuple[str, str]:
    text, _, remedy = problem.rpartition("; ")
    return (text, remedy) if text else (problem, "")
