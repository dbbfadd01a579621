"""A stamp: what is remembered of a step that was taken, so that nobody takes it twice. Canonical JSON (RFC 8785).

    {"at":"2026-11-30T17:00:00Z","definition":"2c26…","inputs":{"head":"5f0c…"},"needs":{"6":"77aa…"},"note":"","outputs":{},
     "state":"begun","target":"7","v":1,"workflow":"9a1b…"}

`begun` is written before a step and `done` or `failed` behind it. Between the two a step with effects outside of the
repository may have happened; `undone` is a person's word that it did not. Digests only, and a note for people.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import Malformed, UsageError
from indelible.seal import canonical

if TYPE_CHECKING:
    from collections.abc import Mapping

BEGUN, DONE, FAILED, UNDONE = "begun", "done", "failed", "undone"
STATES = (BEGUN, DONE, FAILED, UNDONE)
MOST_NOTE = 500
"""Characters of a note."""
_VERSION = 1
_TEXTS = ("at", "definition", "note", "state", "target", "workflow")
_TABLES = ("inputs", "needs", "outputs")


class Stamp(NamedTuple):
    """What was said of one target."""

    target: str
    """Its id."""
    state: str
    definition: str
    """Of the target, then."""
    workflow: str
    """SHA-256 of the workflow, then."""
    inputs: Mapping[str, str]
    """Name and digest of each; empty for one that was not there."""
    needs: Mapping[str, str]
    """Id of each prerequisite, and the digest of what it had made."""
    outputs: Mapping[str, str]
    at: str
    """RFC 3339 in UTC; for people: nothing is judged by it."""
    note: str = ""


def stamp_key(namespace: str, target: str) -> str:
    """The key under which the stamps of a target are sealed."""
    return f"flow/stamp/{namespace}/{target}"


def format_stamp(stamp: Stamp) -> bytes:
    """The one form of a stamp."""
    members: dict[str, canonical.Json] = {name: getattr(stamp, name) for name in _TEXTS}
    for name in _TABLES:
        members[name] = dict(getattr(stamp, name))
    return canonical.dumps({**members, "v": _VERSION})


def parse_stamp(content: bytes) -> Stamp:
    """The exact inverse of `format_stamp`.

    Raises:
        Malformed: it is no stamp in its one form.
    """
    try:
        found = canonical.loads(content)
    except UsageError as exc:
        raise Malformed(f"A stamp cannot be read: {exc.message}") from exc
    if not isinstance(found, dict) or set(found) != {*_TEXTS, *_TABLES, "v"} or found["v"] != _VERSION:
        raise Malformed(
            "A stamp does not have its members, or is of a newer version", remedy="Bring this program up to date"
        )
    at, definition, note, state, target, workflow = (_text(found[name]) for name in _TEXTS)
    inputs, needs, outputs = (_table(found[name]) for name in _TABLES)
    stamp = Stamp(target, state, definition, workflow, inputs, needs, outputs, at, note)
    if stamp.state not in STATES or format_stamp(stamp) != content:
        raise Malformed("A stamp is not in its one form")
    return stamp


def _text(value: canonical.Json) -> str:
    if not isinstance(value, str):
        raise Malformed("A stamp has a member that is no text")
    return value


def _table(value: canonical.Json) -> dict[str, str]:
    if not isinstance(value, dict):
        raise Malformed("A stamp has a member that is no table of texts")
    return {name: _text(one) for name, one in value.items()}
