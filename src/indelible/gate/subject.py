"""What is judged: what one version of one memory claims of itself, and what its log says of it.

A claim is read as it came, and what cannot be read is itself judged: a body was verified before it gets here, so it is
what its author signed, and nothing more is known of it than that.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from indelible.record.parts import Anchor, Scope

if TYPE_CHECKING:
    from collections.abc import Mapping

BY_KEY = "key:"
"""What a link's note begins with where it gives the key of its target: ids stay in the store when a key is known."""
CLASSES = ("unknown", "external", "tool", "agent", "user")
"""Classes of origin, the least trusted first."""


@dataclass(frozen=True, slots=True)
class Review:
    """What the judgements of one version come to."""

    value: str = "unreviewed"
    """`unreviewed`, `pending` (assigned), `approved`, `rejected` or `disputed`."""
    by: str = ""
    """Name of the reviewer's key."""
    at: str = ""
    protected: bool = True
    """Whether that key is kept under a passphrase."""
    revision: str = ""
    """The commit that was checked out when it was approved."""
    anchors: str = ""
    """Digest over what its anchors were when it was approved."""
    assigned: str = ""
    """Who is to review it."""
    assigned_by: str = ""
    """Name of the reviewer who said so; empty where it was the agent."""
    doubted: str = ""
    """When somebody who is no reviewer here, such as the agent itself, last disputed it since, without naming what says otherwise."""
    strangers: tuple[str, ...] = ()
    """Key ids of reviewers that this reader does not know: they count for nothing."""


UNREVIEWED = Review()


@dataclass(frozen=True, slots=True)
class Subject:
    """One version of one memory, as the conditions see it."""

    id: str = ""
    key: str = ""
    agent: str = ""
    """Whose log it stands in."""
    version: int = 1
    kind: str = "fact"
    scope: Scope | str | None = None
    """None where it cannot be read; a text where it came as one."""
    revision: object = None
    """The commit that it was written at."""
    valid_from: object = None
    valid_until: object = None
    expires_at: object = None
    review_by: object = None
    saved_at: str = ""
    anchors: tuple[Anchor, ...] = ()
    on_change: str = "hold"
    authority: str = "reference"
    origin: str = "unknown"
    """Class of its origin."""
    crit: tuple[str, ...] = ()
    state: str = "active"
    replaced_by: str = ""
    """Key of the memory that took its place."""
    review: Review = UNREVIEWED
    signs: tuple[str, ...] = ()
    """Why its text reads as an order to the model."""
    depends_on: tuple[str, ...] = ()
    """Ids or keys of memories that it stands on."""
    contradicts: tuple[str, ...] = ()
    """Ids or keys of memories that say otherwise."""
    doubted_for: frozenset[str] = frozenset()
    """Those of them that nobody but the agent, or a stranger, said: what was approved is not outranked for that."""
    supersedes: tuple[str, ...] = ()
    """Ids or keys of memories whose place it takes."""

    @property
    def reviewed(self) -> bool:
        """Whether a reviewer that this reader knows approved this very version."""
        return self.review.value == "approved"

    @property
    def ruled(self) -> bool:
        """Whether a person approved it: whose key no process can use without the passphrase."""
        return self.reviewed and self.review.protected

    @property
    def rank(self) -> int:
        """What outranks what: a reviewed rule 3, another reviewed memory 2, an unreviewed one of the agent's or the user's 1, the rest 0."""
        if self.reviewed:
            return 3 if self.ruled and self.authority == "instruction" else 2
        return int(self.origin in ("agent", "user"))


@lru_cache(maxsize=4096)
def claims(body: bytes) -> Mapping[str, Any]:
    """What a record says of itself, for `Subject`.

    A sealed body is canonical and was verified, so its members need no second parsing; each is looked at by type.
    """
    record = json.loads(body)
    validity, links = _object(record.get("validity")), _list(record.get("links"))
    origin, trust = _object(record.get("origin")), _object(record.get("trust"))
    return {
        "id": _text(record.get("id")), "key": _text(record.get("key")), "kind": _text(record.get("kind")),
        "scope": _scope(record.get("scope")), "revision": origin.get("commit"),
        "valid_from": validity.get("valid_from"), "valid_until": validity.get("valid_until"),
        "expires_at": validity.get("expires_at"), "review_by": validity.get("review_by"),
        "anchors": tuple(map(_anchor, _list(validity.get("anchors")))) if "anchors" in validity else (),
        "on_change": _text(validity.get("on_change")) or "hold", "authority": _text(trust.get("authority")) or "reference",
        "origin": _text(origin.get("class")) or "unknown", "crit": tuple(map(_text, _list(record.get("crit")))),
        "depends_on": targets(links, "depends_on") if links else (), "contradicts": targets(links, "contradicts") if links else (),
        "supersedes": targets(links, "supersedes") if links else (),
    }  # fmt: skip


_SCOPE_TEXTS = ("org", "user", "project", "repo", "branch", "session", "agent", "visibility")


def _scope(value: object) -> Scope | None:
    if not isinstance(value, dict) or not isinstance(value.get("level"), str):
        return None
    texts = {name: value[name] for name in _SCOPE_TEXTS if name in value}
    paths = value.get("paths", [])
    if not all(isinstance(text, str) for text in texts.values()) or not isinstance(paths, list):
        return None
    return Scope(value["level"], paths=tuple(map(_text, paths)), **texts)


def _anchor(value: object) -> Anchor:
    said = _object(value)
    repo, path = said.get("repo"), said.get("path")
    return Anchor(
        _text(said.get("type")),
        _text(said.get("value")),
        None if repo is None else _text(repo),
        None if path is None else _text(path),
    )


def targets(links: object, rel: str) -> tuple[str, ...]:
    """What the links of one relation lead to: a key, where the link's note gives one (`key:KEY`), else an id."""
    return tuple(
        _text(link.get("note"))[len(BY_KEY) :]
        if _text(link.get("note")).startswith(BY_KEY)
        else _text(link.get("target"))
        for link in _list(links)
        if isinstance(link, dict) and link.get("rel") == rel
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def small(record: Mapping[str, Any], *, agent: str) -> Subject:
    """A record in the small form of the seed: `id`, `scope`, `source_revision`, `expires_at`, `reviewed`.

    Only `true` is reviewed: "true", 1 and "yes" are not. A scope that is no text is none.
    """
    scope = record.get("scope")
    review = Review("approved", by="(stated)") if record.get("reviewed") is True else UNREVIEWED
    return Subject(
        id=_text(record.get("id")), key=_text(record.get("id")), agent=agent, scope=scope if isinstance(scope, str) else None,
        revision=record.get("source_revision"), state=_text(record.get("state")) or "active", review=review,
        origin=_text(record.get("origin")) or "agent", valid_from=record.get("valid_from"), valid_until=record.get("valid_until"),
        expires_at=record.get("expires_at"), review_by=record.get("review_by"),
    )  # fmt: skip
