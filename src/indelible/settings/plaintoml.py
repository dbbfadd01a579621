"""The plainest settings files, read without `tomllib`, which takes a quarter of the start of Python.

    # a comment on a line of its own
    agent = "default"
    require_pin = true
    [agents]
    "rudex" = "indelible/roops/rudex+0a1b2c3d+AQ…"

TOML's own grammar gives these lines one meaning. Whatever else stands in a file, however slight (an escape, a number, a comment
behind a value, a name that comes twice), is left to `tomllib`.
"""

from __future__ import annotations

_BARE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_SWITCHES = {"true": True, "false": False}


def plain_members(text: str) -> dict[str, object] | None:
    """What `tomllib.loads(text)` gives, or None where it must be asked."""
    members: dict[str, object] = {}
    section = members
    for line in text.split("\n"):
        if not line or (line[0] == "#" and _is_plain(line)):
            continue
        if line[0] == "[":
            name = line[1:-1]
            if line[-1] != "]" or not _is_bare(name) or name in members:
                return None
            section = {}
            members[name] = section
            continue
        key, equals, value = line.partition(" = ")
        name = _quoted(key) or (key if _is_bare(key) else "")
        found = _SWITCHES.get(value, _quoted(value))
        if not equals or not name or found is None or name in section:
            return None
        section[name] = found
    return members


def _quoted(text: str) -> str | None:
    """What stands in quotes, with nothing in it that means something else."""
    inside = text[1:-1]
    plain = len(text) > 1 and text[0] == text[-1] == '"' and '"' not in inside and "\\" not in inside
    return inside if plain and _is_plain(inside) else None


def _is_bare(name: str) -> bool:
    return bool(name) and _BARE.issuperset(name)


def _is_plain(text: str) -> bool:
    return not text or text.isprintable()
