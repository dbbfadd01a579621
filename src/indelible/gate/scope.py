"""Whether a memory applies where its reader stands, and how a save names where that is.

Names are compared whole: `demo/app` is not `demo`, nor `demo/app-2`, nor `demo/app/sub`. Only a host is compared in
lower case. What the place cannot tell holds the memory, as another place does; each says what was missing or different.
A scope is metadata, so that its reasons may name it.
"""

from __future__ import annotations

import json
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from indelible.errors import UsageError
from indelible.gate.globs import matches
from indelible.gate.identity import ROOT, fold_host, owner_in, parse_identity
from indelible.gate.verdict import Reason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indelible.gate.context import Place
    from indelible.record import Scope

FACTS = ("org", "user", "project", "session")
"""Levels whose value is a fact that the reader's settings state."""
_IN_REPOSITORY = ("repo", "branch", "path")
_NONE: Mapping[str, str] = MappingProxyType({})

_NOT_ADMITTED = Reason(
    "scope-global-not-admitted",
    "it is for every place, and such memories are not admitted here",
    "Set 'global = true' in .indelible/config.toml, or INDELIBLE_GLOBAL=1",
)
_MISSING = {
    "agent": ("which agent reads", "Name one with --agent or INDELIBLE_AGENT"),
    "repo": ("which repository this is", "Go to a folder of a git repository, or name one: repo:github.com/owner/repo"),
    "branch": ("which branch this is: HEAD is detached, or this is no repository", "Check a branch out"),
    **{
        name: (f"which {name} this is", f"Set '{name}' under [here] in .indelible/config.toml, or INDELIBLE_{name.upper()}")
        for name in FACTS
    },
}  # fmt: skip
_NAMES = {"repo": "repository", "org": "organisation"}


def in_scope(
    scope: Scope, *, reader: str, place: Place, facts: Mapping[str, str], admits_global: bool, paths: tuple[str, ...] = ()
) -> Reason | None:  # fmt: skip
    """Why a memory of that scope does not apply here; None: it applies.

    Args:
        reader: the agent.
        facts: org, user, project and session, as far as they are known.
        admits_global: whether memories of no place apply.
        paths: the files that it is about, from the top of the checkout with forward slashes. Without any, a memory of
            some paths applies in the whole of their repository.
    """
    if scope.level == "global":
        return (
            None if admits_global else _NOT_ADMITTED._replace(remedy=place.remedies.get("global", _NOT_ADMITTED.remedy))
        )
    if scope.level == "agent":
        return _compared("agent", scope.agent, reader or None)
    if scope.level in FACTS:
        return _compared(scope.level, getattr(scope, scope.level), _fact(scope.level, place, facts), place)
    if scope.level not in _IN_REPOSITORY:
        return Reason("scope-unknown", f"its scope is of a level that is not known here, {_quoted(scope.level)}")
    if (scope.repo or scope.level == "repo") and (reason := _repository(scope.repo, place)):
        return reason
    if scope.level == "branch":
        return _compared("branch", scope.branch, place.branch, place)
    return _paths(scope.paths, paths) if scope.level == "path" else None


def resolve_scope(scope: Scope, place: Place, *, reader: str = "", facts: Mapping[str, str] = _NONE) -> Scope:
    """The scope as it is saved: what was left out is what is here, and a repository's address is its identity.

    Raises:
        UsageError: what was left out is not known here; a repository is named by an address that names none.
    """
    if scope.level in _IN_REPOSITORY:
        branch = scope.branch if scope.level != "branch" or scope.branch else _here("branch", place.branch, place)
        repo = _named(scope.repo, place) if scope.repo else _here("repo", place.repo, place)
        return replace(scope, repo=repo, branch=branch)
    if scope.level == "agent" and not scope.agent:
        return replace(scope, agent=_here("agent", reader or None, place))
    if scope.level in FACTS and not getattr(scope, scope.level):
        found: dict[str, Any] = {scope.level: _here(scope.level, _fact(scope.level, place, facts), place)}
        return replace(scope, **found)
    return scope


def _compared(level: str, wanted: str | None, actual: str | None, place: Place | None = None) -> Reason | None:
    if not wanted:
        return _incomplete(level)
    if actual is None:
        return _unknown(level, wanted, place)
    return None if wanted == actual else _differs(level, wanted, actual)


def _repository(wanted: str | None, place: Place) -> Reason | None:
    if not wanted:
        return _incomplete("repo")
    if place.repo is None:
        return _unknown("repo", wanted, place)
    if fold_host(wanted) == fold_host(place.repo):
        return None
    if not wanted.startswith(ROOT) or place.repo.startswith(ROOT):
        return _differs("repo", wanted, place.repo)
    # Saved before the repository had a remote.
    if place.root is None:
        return Reason(
            "scope-unknown",
            f"it is for the repository {_quoted(wanted)}, and the first commit of this one is not known",
            place.remedies.get("root", "A shallow clone has it after 'git fetch --unshallow'"),
        )
    return None if wanted == f"{ROOT}{place.root}" else _differs("repo", wanted, place.repo)


def _paths(globs: tuple[str, ...], paths: tuple[str, ...]) -> Reason | None:
    if not globs:
        return _incomplete("path")
    if not paths or any(matches(glob, path) for glob in globs for path in paths):
        return None
    return _differs("path", " ".join(globs), " ".join(paths))


def _fact(level: str, place: Place, facts: Mapping[str, str]) -> str | None:
    derived = owner_in(place.repo) if level == "org" and not facts.get("org") and place.repo else None
    return facts.get(level) or derived


def _incomplete(level: str) -> Reason:
    name = _NAMES.get(level, level)
    return Reason(
        "scope-incomplete", f"its scope is a {name}, and it does not say which", f"Save it again with --scope {level}:…"
    )


def _unknown(level: str, wanted: str, place: Place | None) -> Reason:
    missing, remedy = _MISSING[level]
    problem = place.problem if place is not None else None
    remedy = place.remedies.get(level, remedy) if place is not None else remedy
    said = f"it is for the {_NAMES.get(level, level)} {_quoted(wanted)}, and it is not known {missing}"
    return Reason("scope-unknown", f"{said} ({problem.message})", problem.remedy) if problem else Reason("scope-unknown", said, remedy)  # fmt: skip


def _differs(level: str, wanted: str, actual: str) -> Reason:
    name = _NAMES.get(level, level)
    return Reason("scope", f"it is for the {name} {_quoted(wanted)}, and this is {_quoted(actual)}")


def _here(level: str, actual: str | None, place: Place) -> str:
    if actual:
        return actual
    missing, remedy = _MISSING[level]
    said = f"--scope {level}: it is not known {missing}"
    if (problem := place.problem) is not None:
        raise UsageError(f"{said} ({problem.message})", remedy=problem.remedy)
    raise UsageError(said, remedy=remedy)


def _named(text: str, place: Place) -> str:
    identity = parse_identity(text)
    if not identity:
        raise UsageError(
            "--scope: the address names no repository", remedy="Name it as host/owner/repo, without user and password"
        )
    # `owner/repo` said in a clone of it means this one.
    return place.repo if "/" in identity and place.repo and place.repo.partition("/")[2] == identity else identity


def _quoted(text: str) -> str:
    head = text if len(text) <= 200 else f"{text[:199]}…"
    return json.dumps(head, ensure_ascii=not head.isprintable())
