"""Times as clients spell them, turned into the one spelling that records hold.

    2026-11-30T09:00:00+09:00, 2026-11-30 00:00:00Z, 20261130T000000Z   ->   2026-11-30T00:00:00Z

A time without a zone, and a day without a time, are refused: their meaning would depend on the machine.
A fraction of a second counts as the whole second after it, so that nothing expires early.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

from indelible.errors import UsageError

_TIME = re.compile(
    r"([0-9]{4})(-?)([0-9]{2})\2([0-9]{2})[Tt ]([0-9]{2})(:?)([0-9]{2})\6([0-9]{2})(?:[.,]([0-9]{1,9}))?(?:[Zz]|([+-])([0-9]{2}):?([0-9]{2}))"
)
_LAST_ZONE = 23 * 60 + 59


def parse_time(text: str, what: str) -> str:
    """`text` as RFC 3339 in UTC and whole seconds.

    Raises:
        UsageError: no time, no zone, or one that is not in the calendar.
    """
    found = _TIME.fullmatch(text)
    if found is None:
        raise _refuse(text, what, "is no time with a zone")
    year, _, month, day, hour, _, minute, second, fraction, sign, zone_hours, zone_minutes = found.groups()
    zone = int(zone_hours or 0) * 60 + int(zone_minutes or 0)
    if zone > _LAST_ZONE or int(zone_minutes or 0) > 59:
        raise _refuse(text, what, "has a zone that there is not")
    try:
        shift = timezone(timedelta(minutes=-zone if sign == "-" else zone))
        local = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second), tzinfo=shift)
        at = local.astimezone(UTC) + timedelta(seconds=1 if (fraction or "").strip("0") else 0)
    except (ValueError, OverflowError) as exc:
        raise _refuse(text, what, "is not in the calendar") from exc
    return f"{at.year:04}-{at.month:02}-{at.day:02}T{at.hour:02}:{at.minute:02}:{at.second:02}Z"


def _refuse(text: str, what: str, fault: str) -> UsageError:
    shown = text if len(text) <= 40 and text.isprintable() else f"{len(text)} characters"
    return UsageError(
        f"{what}: {shown!r} {fault}",
        remedy="Write it as 2026-11-30T09:00:00Z or 2026-11-30T18:00:00+09:00",
        member=what,
    )
