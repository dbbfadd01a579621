"""Spans of time as people write them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from indelible.spans import parse_span, shifted


def test_each_unit_is_what_it_says() -> None:
    assert [parse_span(text) for text in ("45m", "12h", "30d", "2w", "0d")] == [
        timedelta(minutes=45), timedelta(hours=12), timedelta(days=30), timedelta(weeks=2), timedelta(),
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["", "d", "90", "-1d", "1.5d", "90 d", "90D", "1y", "٣d", "100000d", "90d\n"])
def test_what_is_no_span_is_none(text: str) -> None:
    assert parse_span(text) is None


def test_a_time_is_moved_in_utc_and_never_past_the_ends_of_the_calendar() -> None:
    assert shifted("2028-02-28T23:00:00Z", timedelta(days=1)) == "2028-02-29T23:00:00Z"
    assert shifted("2026-01-01T00:00:00Z", -timedelta(days=1)) == "2025-12-31T00:00:00Z"
    assert shifted("2026-01-01T00:00:00Z", timedelta(weeks=99_999) * 5) == "9999-12-31T23:59:59Z"
    assert shifted("2026-01-01T00:00:00Z", -timedelta(weeks=99_999) * 2) == "0001-01-01T00:00:00Z"
