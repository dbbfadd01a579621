"""Dataclasses to JSON objects and back: one walk, driven by the `Annotated` rule beside each field.

A class has two forms, which differ only in where the members go that it does not know (`unknown`):

- *wire*, the interchange form: between the known members, as they came;
- *body*, what is sealed: in one member `unknown`, so that a name can never come to mean something else later, and
  nothing else may be there.

A member that is written although it says no more than its absence (`"key": null`, `"tags": []`) is kept among the
unknown ones too: leaving it out would change the digest of the record.

A field without a rule is not part of either form; one marked `BODY_ONLY` is not part of the wire form.
"""

import dataclasses
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, cast, get_args, get_origin, get_type_hints

from indelible.record.rules import NEVER, Fault, Members, Rule, list_of, shown, write_members
from indelible.seal import canonical

Form = Literal["body", "wire"]
BODY_ONLY = object()

T = TypeVar("T")

_SHAPES: "dict[tuple[type, Form], Shape]" = {}


class Nested(NamedTuple):
    """A field that holds a value of another such class, or a tuple of them."""

    kind: type
    many: bool = False


class _Member(NamedTuple):
    """A known member: where it is kept and how it is read and written."""

    name: str
    attribute: str
    rule: Rule
    default: object
    """`NEVER` for a required member."""


class Shape:
    """How one class is read from its wire form and written in it."""

    def __init__(self, kind: type, members: Iterable[_Member], reserved: frozenset[str]) -> None:
        self._make = cast("Callable[..., object]", kind)
        members = tuple(members)
        self._known = {m.name: (m.attribute, m.rule.read, type(m.rule.empty), m.rule.empty) for m in members}
        self.required = frozenset(m.attribute for m in members if m.default is NEVER)
        self._out = [(m.name, m.default, m.rule.write) for m in members]
        self._get = attrgetter(*(m.attribute for m in members), "unknown")
        self._reserved = reserved

    def read(self, value: object, given: dict[str, object] | None = None) -> object:
        """Return the value of the class that the JSON object `value` stands for, or raise `Fault`.

        Args:
            value: The object, if it is one.
            given: Fields that are not members of it.
        """
        if type(value) is not dict:
            raise Fault(shown(value), "is not an object")
        known = {} if given is None else given
        strange: list[str] = []
        for name, raw in value.items():
            member = self._known.get(name)
            if member is None:
                strange.append(name)
                continue
            attribute, read_member, blank, empty = member
            if type(raw) is blank and raw == empty:
                strange.append(name)
                continue
            try:
                known[attribute] = read_member(raw)
            except Fault as fault:
                raise fault.under(name) from None
        if not known.keys() >= self.required:
            raise Fault("", "is missing", min(self.required - known.keys()).rstrip("_"))
        if strange:
            known["unknown"] = self._keep(value, strange)
        return self._make(**known)

    def write(self, value: object) -> dict[str, object]:
        """Return the JSON object that stands for `value`."""
        *known, unknown = self._get(value)
        out = self._spread(unknown) if unknown else {}
        for (name, default, write), member in zip(self._out, known, strict=True):
            if member is not default and member != default:
                out[name] = member if write is None else write(member)
        return out

    def is_foreign(self, name: str, raw: object) -> bool:
        """Tell whether the class would keep this member as an unknown one."""
        if name not in self._known:
            return name not in self._reserved
        _, _, blank, empty = self._known[name]
        return type(raw) is blank and raw == empty

    def _keep(self, value: dict[str, object], strange: list[str]) -> Members:
        return tuple(sorted((name, canonical.dumps(value[name])) for name in strange))

    def _spread(self, unknown: Members) -> dict[str, object]:
        return write_members(unknown)


class _BodyShape(Shape):
    """The same for the sealed form."""

    def __init__(self, kind: type, members: Iterable[_Member], wire: Shape) -> None:
        super().__init__(kind, members, frozenset())
        self._wire = wire

    def _keep(self, value: dict[str, object], strange: list[str]) -> Members:
        for name in strange:
            if name != "unknown":
                raise Fault(shown(value[name]), "has no place in a sealed record", name)
        return keep_foreign(self._wire, value["unknown"], "unknown")

    def _spread(self, unknown: Members) -> dict[str, object]:
        return {"unknown": write_members(unknown)}


def keep_foreign(wire: Shape, value: object, path: str) -> Members:
    """Return the members of the object `value`, none of which `wire` may know, or raise `Fault`."""
    if type(value) is not dict or not value:
        raise Fault(shown(value), "is not an object with members", path)
    for name, raw in value.items():
        if not wire.is_foreign(name, raw):
            raise Fault(shown(name), "is a known member and cannot stand among the unknown ones", path)
    return tuple(sorted((name, canonical.dumps(raw)) for name, raw in value.items()))


def shape_of(kind: type, form: Form) -> Shape:
    """Return the shape of a dataclass in one of its forms, made once."""
    shape = _SHAPES.get((kind, form))
    if shape is None:
        shape = _SHAPES[kind, form] = _make_shape(kind, form)
    return shape


def _make_shape(kind: type, form: Form) -> Shape:
    hints = get_type_hints(kind, include_extras=True)
    fields = dataclasses.fields(kind)
    members = [
        _member(field, get_args(hints[field.name])[1:], form) for field in fields if _has_rule(hints, field, form)
    ]
    if form == "body":
        return _BodyShape(kind, members, shape_of(kind, "wire"))
    return Shape(kind, members, getattr(kind, "RESERVED", frozenset()))


def _has_rule(hints: dict[str, Any], field: "dataclasses.Field[Any]", form: Form) -> bool:
    hint = hints[field.name]
    return get_origin(hint) is Annotated and (form == "body" or BODY_ONLY not in get_args(hint))


def _member(field: "dataclasses.Field[Any]", metadata: tuple[object, ...], form: Form) -> _Member:
    rule = metadata[0]
    if isinstance(rule, Nested):
        inner = shape_of(rule.kind, form)
        one = Rule(inner.read, NEVER if inner.required else {}, inner.write)
        rule = list_of(one) if rule.many else one
    default = NEVER if field.default is dataclasses.MISSING else field.default
    return _Member(field.name.rstrip("_"), field.name, cast("Rule", rule), default)


def read(kind: type[T], form: Form, value: object) -> T:
    """Return the value of class `kind` that the JSON object `value` stands for.

    Raises:
        UsageError: A member is missing or holds what it may not; the error names it.
    """
    try:
        return cast("T", shape_of(kind, form).read(value))
    except Fault as fault:
        raise fault.as_usage() from None


def write(value: object, form: Form) -> dict[str, object]:
    """Return the JSON object that stands for `value`."""
    return shape_of(type(value), form).write(value)
