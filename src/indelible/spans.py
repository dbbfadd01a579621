"""Spans of time as people write them: `30d`, `12h`, `2w`, `45m`."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_SPAN = re.compile(r"([0-9]{1,5})([mhdw])")


def parse_span(text: str) -> timedelta | None:
    """The span that `text` names; None where it names none."""
    span = _SPAN.fullmatch(text)
    return timedelta(**{UNITS[span[2]]: int(span[1])}) if span else None


def shifted(at: str, span: timedelta) -> str:
    """An RFC 3339 time in UTC, moved; the last one there is where it would lie behind that, the first where it would lie before."""
    try:
        moved = datetime.fromisoformat(at) + span
    except OverflowError:
        return "9999-12-31T23:59:59Z" if span > timedelta() else "0001-01-01T00:00:00Z"
    return f"{moved.replace(tzinfo=None).isoformat(timespec='seconds')}Z"
