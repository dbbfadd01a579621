"""Where a command is run, as the gate sees it: what `doctor --scope` says, and what `save --scope` fills in."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from indelible.cli import common
from indelible.cli.output import OK, WARN, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indelible.cli.drafting import Told
    from indelible.cli.session import Session
    from indelible.gate.place import GitPlace
    from indelible.settings import Settings

UNSETTLED = "This repository has no remote and no first commit that is known: once it has, its identity, and so the scope of this memory, is another one"


def place_here() -> GitPlace:
    """The place of the working folder."""
    from indelible.gate.place import GitPlace

    return GitPlace(os.getcwd(), os.environ)


def placed(options: Told, settings: Settings) -> Told:
    """The options of a save, with a scope that names what it left out.

    Raises:
        UsageError: that is not known here.
    """
    if options.scope is None:
        return options
    from indelible.gate.scope import resolve_scope

    return options._replace(
        scope=resolve_scope(options.scope, place_here(), reader=settings.agent, facts=settings.facts)
    )


def unsettled(options: Told) -> list[str]:
    """A warning where the scope is a repository that will have another identity soon."""
    from indelible.gate.identity import is_provisional

    scope = options.scope
    return [UNSETTLED] if scope is not None and scope.repo and is_provisional(scope.repo) else []


def stand(session: Session) -> int:
    """Say in which scope and repository this folder stands, and by which rule. Exit 1 where git cannot tell."""
    settings, place = common.settings_of(session), place_here()
    for line in _lines(settings, place):
        session.output.line(visible(line))
    problem, code = place.problem, int(place.problem is not None)
    session.output.document({
        "ok": not code, "exit_code": code, "slug": "scope", "scope": None if code else _scope(settings, place), "repo": place.repo, "rule": _rule(place),
        "remote": place.remote or None, "root": place.root, "branch": place.branch, "revision": place.revision, "top": place.top,
        "reader": settings.agent, "team": settings.team, "facts": _facts(settings, place), "global": settings.admits_global,
        "policy": settings.policy, "problem": problem and problem._asdict(),
    })  # fmt: skip
    return code


def _lines(settings: Settings, place: GitPlace) -> Iterator[str]:
    if problem := place.problem:
        yield f"{WARN} {problem.message}: nothing is known of the repository here. {problem.remedy}"
    else:
        yield f"{OK} {f'repository {place.repo}' if place.repo else 'no repository'}; the scope here is {_scope(settings, place)}"
        yield f"   {_rule(place)}"
        if place.repo:
            yield f"{OK} branch {place.branch or 'none: HEAD is detached'}, revision {place.revision or 'none yet'}, top {place.top}"
    yield f"{OK} reader {settings.agent} of team {settings.team}, policy {settings.policy}"
    known = ", ".join(f"{name} {text}" for name, text in _facts(settings, place).items())
    yield f"{OK} {known or 'no org, user, project or session is stated'}"
    yield f"{OK} global memories are {'admitted' if settings.admits_global else 'not admitted (global = true, or INDELIBLE_GLOBAL=1)'}"


def _scope(settings: Settings, place: GitPlace) -> str:
    return f"repo:{place.repo}" if place.repo else f"agent:{settings.agent}"


def _facts(settings: Settings, place: GitPlace) -> dict[str, str]:
    """What is stated, and the organisation that the repository's name tells."""
    from indelible.gate.identity import owner_in

    org = owner_in(place.repo) if place.repo else None
    return {**({"org": org} if org else {}), **settings.facts}


def _rule(place: GitPlace) -> str:
    """Why the identity is what it is, and who shares it."""
    share = "worktrees share it, a submodule has its own"
    if place.problem is not None or place.repo is None:
        return "Outside of a repository only the agent's own memory, and what is stated below, decides"
    if place.remote:
        return f"By the address of the remote '{place.remote}' (origin, else upstream, else the first by name): every clone of it shares this; {share}"
    if place.root:
        return f"By the first commit, since no remote has an address: every copy of this history shares this; {share}"
    return f"By the path of git's folder, since there is no remote and no first commit that is known: it is this folder's alone; {share}"
