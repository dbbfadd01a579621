"""`NamedTuple` without `typing`, whose import alone takes a hook as long as all of its own work.

A class under it is made as `typing.NamedTuple` makes it: fields are its annotations in their order, with their defaults,
and what else stands in it comes along. Type checkers are shown the real one.
"""

from __future__ import annotations

from collections import namedtuple

_OWN = frozenset({"__annotations__", "__module__", "__qualname__", "__classcell__"})


class _Fields(type):
    """Makes a tuple of whatever is derived from `NamedTuple`."""

    def __new__(mcs, name: str, bases: tuple[type, ...], members: dict[str, object]) -> type:
        if not bases:
            return super().__new__(mcs, name, bases, members)
        annotated = members.get("__annotations__")
        fields = list(annotated) if isinstance(annotated, dict) else []
        defaults = [members[field] for field in fields if field in members]
        made: type = namedtuple(name, fields, defaults=defaults, module=str(members["__module__"]))  # noqa: PYI024 - what else
        for member, value in members.items():
            if member not in _OWN and member not in fields:
                setattr(made, member, value)
        return made


class NamedTuple(metaclass=_Fields):
    """To be derived from."""
