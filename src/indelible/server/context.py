"""Where a request says that its reader stands, and by which policy it wants to be judged.

The server has none of the reader's files: a memory with anchors is held here as `anchor-unknown`, and a client that has
the files judges for itself. What is not said is not known: without `repo` the reader is in no repository.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from indelible.entry import check_text
from indelible.errors import UsageError
from indelible.gate.context import Context
from indelible.gate.identity import parse_identity
from indelible.gate.place import GivenPlace
from indelible.gate.presets import ALONE, policy_of
from indelible.memory.gating import NoWorld
from indelible.server.operation import Param

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indelible.gate.policy import Policy
    from indelible.memory.gating import Where

FACTS = ("session", "project", "user", "org")
PARAMS = (
    Param(
        "policy",
        "By what it is judged: a preset, or conditions with commas between; by default as the operator has it, which is anchored where nothing is set",
    ),
    Param("repo", "The repository that the reader is in: its remote's address, or host/owner/repo"),
    Param("revision", "The commit that is checked out there: 40 or 64 hex digits"),
    Param("branch", "The branch that is checked out there"),
    Param(
        "path",
        "The file that is worked on, from the top of the checkout; without it, memories of paths apply in their repository",
    ),
    *(Param(name, f"The reader's {name}") for name in FACTS),
)
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_NO_WORLD = NoWorld()
_REMEDIES = {
    "repo": "Say repo=host/owner/repo",
    "root": "Say repo=root:COMMIT, its first commit, if the repository has no remote",
    "branch": "Say branch=NAME",
    "revision": "Say revision=COMMIT, the commit that is checked out",
    "global": "Ask who runs the server: it is for its settings to say",
    **{name: f"Say {name}=NAME" for name in FACTS},
}
"""What a request can do where it did not say something."""


class Asked(NamedTuple):
    """How one request wants to be judged."""

    policy: Policy
    context: Where


def asked(query: Mapping[str, str], *, policy: str, admits_global: bool) -> Asked:
    """What the query says of policy and place.

    Args:
        policy: what is judged by where the query names none: the operator's word, and so any.
        admits_global: whether this server hands out memories of no place; its operator's settings say so.

    Raises:
        UsageError: a policy that there is not, or that is not for this door; a place that is none.
    """
    place = GivenPlace(
        repo=_repo(query.get("repo")), revision=_revision(query.get("revision")), branch=_text(query, "branch"),
        remedies=_REMEDIES,
    )  # fmt: skip
    paths = _paths(query)
    facts = {name: text for name in FACTS if (text := _text(query, name)) is not None}

    def stands(agent: str, now: str) -> Context:
        return Context(agent, now, place, _NO_WORLD, facts, admits_global, paths=paths)

    return Asked(_policy(query["policy"]) if "policy" in query else policy_of(policy), stands)


def _policy(text: str) -> Policy:
    if text.strip() in ALONE:
        raise UsageError(
            "A policy that lets almost everything through is not taken here",
            remedy="Name another; one memory that is held can be seen with held=1, and the deliveries say so",
            member="policy",
        )
    return policy_of(text)


def _repo(text: str | None) -> str | None:
    if text is None:
        return None
    check_text(text, "repo")
    identity = parse_identity(text)
    if not identity:
        raise UsageError(
            "repo is an address that names no repository", remedy="Name it as host/owner/repo", member="repo"
        )
    return identity


def _revision(text: str | None) -> str | None:
    if text is not None and not _COMMIT.fullmatch(text):
        raise UsageError(
            "revision is no whole commit id", remedy="Give what 'git rev-parse HEAD' prints", member="revision"
        )
    return text


def _paths(query: Mapping[str, str]) -> tuple[str, ...]:
    path = _text(query, "path")
    if path is None:
        return ()
    if set(path.split("/")) & {"", ".", ".."}:
        raise UsageError(
            "path is no file's path from the top of the checkout", remedy="Say it as path=src/app.py", member="path"
        )
    return (path,)


def _text(query: Mapping[str, str], name: str) -> str | None:
    text = query.get(name)
    if text is not None:
        check_text(text, name)
    return text
