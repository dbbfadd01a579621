"""What a plain server's reply means, for a load and for a save.

A reply that is no answer raises `NoAnswer`, which the client words: `Not checked` for a load, `Not saved` for a save.
"""

from __future__ import annotations

import json

from indelible.errors import AccessDenied
from indelible.store.wire import NoAnswer, Reply

_TAKEN = (200, 201)
_TOLD = 60


def read_memories(reply: Reply) -> list[object]:
    """The rows of a load's reply, as they came.

    Raises:
        NoAnswer: it is no answer to a load. AccessDenied: the server refuses the key.
    """
    if reply.status in (401, 403):
        raise AccessDenied(
            f"Not checked: the server refuses the API key ({reply.status})", remedy="Check the key and its agent"
        )
    if reply.status != _TAKEN[0]:
        raise NoAnswer(_off(reply), sent=True)
    found = _object(reply)
    if found.get("error"):
        raise NoAnswer(f"the server reports an error: {_told(found['error'])}", sent=True)
    memories = found.get("memories")
    if not isinstance(memories, list):
        raise NoAnswer("its reply has no list of memories: this is not the Memory API", sent=True)
    return memories


def read_refusal(reply: Reply) -> str:
    """Why a save was certainly refused; empty if the server says that it took it.

    Raises:
        NoAnswer: neither can be said. AccessDenied: the server refuses the key.
    """
    if reply.status in (401, 403):
        raise AccessDenied(
            f"Not saved: the server refuses the API key ({reply.status})", remedy="Check the key and its agent"
        )
    if 300 <= reply.status < 500:
        return _off(reply)
    if reply.status not in _TAKEN:
        raise NoAnswer(_off(reply), sent=True)
    found = _object(reply)
    return f"the server reports an error: {_told(found['error'])}" if found.get("error") else ""


def _off(reply: Reply) -> str:
    if 300 <= reply.status < 400:
        return f"the server answers with a redirect ({reply.status}), which is not followed: the API key goes to no other address"
    if reply.status == 202:
        return "the server only queued it (202)"
    return f"the server answered {reply.status}"


def _object(reply: Reply) -> dict[str, object]:
    """The JSON object of a reply, read in the only way it can be read.

    Raises:
        NoAnswer: it is none: empty, a page, a member twice, NaN, too deep.
    """
    try:
        value = json.loads(reply.body.decode(), object_pairs_hook=_once, parse_constant=_refuse)
    except (ValueError, RecursionError) as exc:
        what = "is empty" if not reply.body.strip() else "is not JSON that can be read in one way"
        raise NoAnswer(f"its reply ({reply.status}) {what}", sent=True) from exc
    if not isinstance(value, dict):
        raise NoAnswer(f"its reply ({reply.status}) is not a JSON object", sent=True)
    return value


def _told(error: object) -> str:
    """What a server says is wrong, as far as it can be shown: one short printable line."""
    if isinstance(error, dict):
        error = error.get("message") or error.get("code")
    text = str(error) if isinstance(error, (str, int)) else ""
    return text if text.isprintable() and 0 < len(text) <= _TOLD else "no reason that can be shown"


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a member twice")
    return value


def _refuse(token: str) -> object:
    raise ValueError(token)
