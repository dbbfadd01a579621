"""`NamedTuple` without `typing`, whose import alone takes a hook as long as all of its own work.

A class under it is made as `typing.NamedTuple` makes it: fields are its annotations in their order, with their defaults,
and what else stands in it comes along. Type checkers are shown the real one.
"""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_OWN = frozenset({"__annotations__", "__module__", "__qualname__", "__classcell__"})


# Its arguments are plain at run time only, where a type checker looks for literals.
_make: Callable[..., type] = namedtuple  # noqa: PYI024 - this is what `typing` stands in front of


class _Fields(type):
    """Makes a tuple of whatever is derived from `NamedTuple`."""

    def __new__(mcs, name: str, bases: tuple[type, ...], members: dict[str, object]) -> type:
        if not bases:
            return super().__new__(mcs, name, bases, members)
        annotated = members.get("__annotations__")
        fields = list(annotated) if isinstance(annotated, dict) else []
        defaults = [members[field] for field in fields if field in members]
        made = _make(name, fields, defaults=defaults, module=members["__module__"])
        for member, value in members.items():
            if member not in _OWN and member not in fields:
                setattr(made, member, value)
        return made


class NamedTuple(metaclass=_Fields):
    """To be derived from."""
