"""The strict reading of a record's body: JSON in its canonical form (RFC 8785), parsed, written again and compared.

Most bodies of a log differ in a few values and in nothing else. So from a body that passed, a *form* is made: an
expression that is its text, with a place wherever a string or an integer stands, for canonical strings and integers
alone. Names, their order and their nesting are in the form to the letter; what matches it is as canonical as the body
that it came from, and costs a fifth.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from indelible.audit.grammar import INSIDE, Fault, unescape
from indelible.errors import UsageError
from indelible.seal import canonical

_STRING = f'"{INSIDE}"'
_INT = r"(?:0|-?[1-9][0-9]{0,14})"
_TOKEN = re.compile(rf"{_STRING}|-?[0-9][0-9.e+-]*|true|false|null|[{{}}\[\]:,]")
_MAX_FORMS, _MAX_BODY = 16, 4096
"""Beyond so many forms, and in so long a body, the whole way is taken."""
_ASKED = {
    ("", "key", _STRING): f'"(?P<key>{INSIDE})"',
    ("", "revision", _INT): f"(?P<revision>{_INT})",
    ("", "size", "bytes", _INT): f"(?P<size>{_INT})",
}
"""Path, kind and place of each value that is asked for."""


Stated: TypeAlias = tuple[object, object, object]
"""Key, revision and bytes of content as a body has them; None for what it does not mention."""


class Bodies:
    """Reads the bodies of one log, and learns their forms."""

    def __init__(self) -> None:
        self._forms: list[re.Pattern[str]] = []

    def parse(self, data: bytes) -> Stated:
        """What a body says.

        Raises:
            Fault: it is not canonical JSON, or no object.
        """
        try:
            text = data.decode()
        except UnicodeDecodeError as exc:
            raise Fault("it is not UTF-8") from exc
        for form in self._forms:
            if match := form.fullmatch(text):
                return _read(match)
        stated = _parse(data)
        if len(self._forms) < _MAX_FORMS and len(text) <= _MAX_BODY:
            form = _learn(text)
            if _read(form.fullmatch(text)) == stated:
                self._forms.append(form)
        return stated


def _read(match: re.Match[str] | None) -> Stated:
    key, revision, size = match.group("key", "revision", "size") if match else (None, None, None)
    name = unescape(key) if key and "\\" in key else key
    return name, int(revision) if revision else None, int(size) if size else None


def _parse(data: bytes) -> Stated:
    """The whole way."""
    try:
        value = canonical.loads(data)
        same = canonical.dumps(value) == data
    except UsageError as exc:
        raise Fault("it is not JSON to rely on") from exc
    if not same or not isinstance(value, dict):
        raise Fault("it is not an object in canonical JSON")
    size = value.get("size")
    return value.get("key"), value.get("revision"), size.get("bytes") if isinstance(size, dict) else None


def _learn(text: str) -> re.Pattern[str]:
    """The form of a body that is canonical."""
    parts: list[str] = []
    path: list[str] = []
    name, asked = "", dict(_ASKED)
    tokens = _TOKEN.findall(text)
    for token, after in zip(tokens, [*tokens[1:], ""], strict=True):
        is_name = after == ":"
        kind = _STRING if token[0] == '"' and not is_name else _INT if re.fullmatch(_INT, token) else ""
        parts.append(asked.pop((*path, name, kind), kind) or re.escape(token))
        if is_name:
            name = token[1:-1]
        elif token in ("{", "["):
            path.append(name)
        elif token in ("}", "]"):
            path.pop()
    return re.compile("".join([*parts, *(f"(?:{place}(?!))?" for place in asked.values())]))
