"""Canonical JSON (RFC 8785), written and strictly read.

`dumps` writes the one spelling that is hashed and signed. `loads` reads any
spelling of I-JSON and refuses what two readers could take in two ways: bytes
that are not UTF-8, a member twice, NaN and Infinity, lone surrogates, nesting
of more than 64 levels. `dumps(loads(dumps(x))) == dumps(x)`.

A number that RFC 8785 cannot hold keeps its raw token as a string: an integer
that an IEEE double would round, a number beyond the doubles, and a fraction of
more digits than the 17 that name a double.
"""

from __future__ import annotations

import json
import re
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, TypeAlias

from indelible.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

MAX_DEPTH = 64
MAX_INT = 2**53 - 1

_INFINITY = float("inf")
_LITERALS = {None: "null", True: "true", False: "false"}
_LAST_BMP = "\uffff"
_SAFE_TOKEN = len(str(-MAX_INT))
_DOUBLE_DIGITS = 17
_PLAIN_UP_TO = 21
_PLAIN_DOWN_TO = -6

_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, check_circular=False
)
# A text without its closing quote runs to the end, lest every quote in it be tried as an opening one.
_STRUCTURE = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?+|[\[\]{}]', re.DOTALL)


class CanonicalError(UsageError):
    """Bytes that are no JSON to rely on, or a value that JSON cannot carry."""

    slug = "bad-json"


def dumps(value: object) -> bytes:
    """The canonical JSON of `value`: dicts with text keys, lists, tuples, text, numbers, booleans, None.

    Raises:
        CanonicalError: another type, NaN or Infinity, an integer beyond 2**53 - 1, a lone surrogate,
            a key that is not text, or nesting of more than 64 levels.
    """
    text = _ENCODER.encode(value) if _are_plain((value,), 0) else _encode(value, 0)
    try:
        return text.encode()
    except UnicodeEncodeError as exc:
        raise CanonicalError("A text holds half of a surrogate pair, which no JSON can carry") from exc


def loads(data: bytes) -> Json:
    """The value of JSON text.

    Raises:
        CanonicalError: see the head of this file.
    """
    try:
        text = data.decode()
        _require_depth(text)
        value: Json = _DECODER.decode(text)
    except UnicodeDecodeError as exc:
        raise CanonicalError("JSON is not UTF-8") from exc
    except json.JSONDecodeError as exc:
        raise CanonicalError(f"This is not JSON, from line {exc.lineno}, column {exc.colno} on") from exc
    except ValueError as exc:
        raise CanonicalError("JSON holds a number that is too long to read") from exc
    if "\\ud" in text or "\\uD" in text:
        dumps(value)
    return value


def _are_plain(items: Iterable[object], depth: int) -> bool:
    """Whether the C encoder writes these as RFC 8785 does; it differs in floats and in some orders of keys."""
    for item in items:
        kind = type(item)
        if kind is str or item is None or kind is bool:
            continue
        if isinstance(item, int):
            if not -MAX_INT <= item <= MAX_INT:
                return False
        elif depth >= MAX_DEPTH:
            return False
        elif isinstance(item, dict):
            if not _has_plain_keys(item) or not _are_plain(item.values(), depth + 1):
                return False
        elif not isinstance(item, (list, tuple)) or not _are_plain(item, depth + 1):
            return False
    return True


def _has_plain_keys(value: dict[str, object]) -> bool:
    """Whether all keys are text whose order by code point is that by UTF-16 unit (RFC 8785, 3.2.3)."""
    try:
        keys = "".join(value)
    except TypeError:
        return False
    return keys.isascii() or max(keys) <= _LAST_BMP


def _encode(value: object, depth: int) -> str:
    """The canonical text of any value, the slow way."""
    if value is None or isinstance(value, bool):
        return _LITERALS[value]
    if isinstance(value, str):
        return encode_basestring(value)
    if isinstance(value, int):
        return _encode_int(value)
    if isinstance(value, float):
        return _encode_float(value)
    if depth >= MAX_DEPTH:
        raise CanonicalError(f"JSON is nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, dict):
        return _encode_object(value, depth + 1)
    if isinstance(value, (list, tuple)):
        return f"[{','.join(_encode(item, depth + 1) for item in value)}]"
    raise CanonicalError(f"JSON cannot carry a value of type {type(value).__name__}")


def _encode_object(value: dict[object, object], depth: int) -> str:
    members: list[tuple[bytes, str, object]] = []
    for key, item in value.items():
        if not isinstance(key, str):
            raise CanonicalError(f"A member's name in JSON is text, not {type(key).__name__}")
        members.append((key.encode("utf-16-be", "surrogatepass"), key, item))
    members.sort(key=lambda member: member[0])
    return f"{{{','.join(f'{encode_basestring(key)}:{_encode(item, depth)}' for _, key, item in members)}}}"


def _encode_int(value: int) -> str:
    if not -MAX_INT <= value <= MAX_INT:
        raise CanonicalError("An integer beyond 2**53 - 1 is not safe in JSON; carry it as a string")
    return int.__repr__(value)


def _encode_float(value: float) -> str:
    """The text of a double as ECMAScript writes it (RFC 8785, 3.2.2.3)."""
    if not abs(value) < _INFINITY:
        raise CanonicalError("JSON has no NaN and no Infinity")
    # Python and ECMAScript find the same shortest digits; only the layout differs.
    digits, point = _digits(float.__repr__(abs(value)))
    count, sign = len(digits), "-" if value < 0 else ""
    if not digits:
        return "0"
    if count <= point <= _PLAIN_UP_TO:
        return f"{sign}{digits}{'0' * (point - count)}"
    if 0 < point <= _PLAIN_UP_TO:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if _PLAIN_DOWN_TO < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if count > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{point - 1:+d}"


def _digits(number: str) -> tuple[str, int]:
    """The significant digits of an unsigned number token, and where the point is: 0.digits * 10**point."""
    mantissa, _, exponent = number.lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(digits) - len(fraction) + int(exponent or 0)
    return digits.rstrip("0"), point if digits else 0


def _read_int(token: str) -> int | float | str:
    if len(token) <= _SAFE_TOKEN:
        value = int(token)
        if -MAX_INT <= value <= MAX_INT:
            return value
    return _read_number(token, least_digits=0)


def _read_fraction(token: str) -> float | str:
    return _read_number(token, least_digits=_DOUBLE_DIGITS)


def _read_number(token: str, least_digits: int) -> float | str:
    """The double that a token names, or the token: if it is finer than `least_digits` and not that double's own."""
    value = float(token)
    if abs(value) == _INFINITY:
        return token
    digits, point = _digits(token.lstrip("-"))
    if (digits, point) == _digits(repr(abs(value))):
        return value
    return value if value and len(digits) <= least_digits else token


def _read_object(pairs: list[tuple[str, Json]]) -> Json:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise CanonicalError("JSON names a member of an object twice")
    return value


def _refuse_constant(token: str) -> Json:
    raise CanonicalError(f"JSON has no {token}")


def _require_depth(text: str) -> None:
    """Refuse deep nesting before the recursive parser meets it."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    depth = 0
    for match in _STRUCTURE.finditer(text):
        token = match.group()
        depth += (token in ("[", "{")) - (token in ("]", "}"))
        if depth > MAX_DEPTH:
            raise CanonicalError(f"JSON is nested deeper than {MAX_DEPTH} levels")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_read_object, parse_int=_read_int, parse_float=_read_fraction, parse_constant=_refuse_constant
)
