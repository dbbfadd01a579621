"""Stamps: one form, and nothing else is one."""

from __future__ import annotations

import pytest

from indelible.errors import Malformed
from indelible.workflow.stamp import Stamp, format_stamp, parse_stamp

PLAIN = Stamp("7", "begun", "a" * 64, "b" * 64, {"head": "c"}, {"6": "d"}, {}, "2026-01-01T00:00:00Z", "메모")


def test_a_stamp_is_read_as_it_was_written() -> None:
    assert parse_stamp(format_stamp(PLAIN)) == PLAIN


@pytest.mark.parametrize(
    "content",
    [
        b"", b"[]", b"{}", b"\xff", format_stamp(PLAIN) + b"\n", format_stamp(PLAIN).replace(b'"v":1', b'"v":2'),
        format_stamp(PLAIN).replace(b"begun", b"maybe"), format_stamp(PLAIN).replace(b'"note":', b'"Note":'),
        format_stamp(PLAIN).replace(b'{"6":"d"}', b'{"6":7}'), format_stamp(PLAIN).replace(b'{"6":"d"}', b'["6"]'),
        format_stamp(PLAIN).replace(b'"state":"begun"', b'"state":3'),
    ],
)  # fmt: skip
def test_anything_else_is_no_stamp(content: bytes) -> None:
    with pytest.raises(Malformed):
        parse_stamp(content)
