"""No byte of a store's rows can be another one without the audit saying so."""

from __future__ import annotations

import shutil
from contextlib import closing
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.audit.stores import copy_of, look, pin_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support import Bench

COLUMNS = [
    "log.note",
    "log.agent",
    "entry.leaf",
    "record.salt",
    "record.body",
    "record.content",
    "tile.hashes",
    "op.op",
]


@pytest.fixture(scope="module")
def scratch(filled: Bench, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A copy of the filled store, which every example puts right again."""
    return copy_of(filled, tmp_path_factory.mktemp("flipped"))


def flip(bench: Bench, column: str, row: int, place: int, bit: int) -> bytes:
    """Change one bit of one value, and return what the value was before."""
    table, _, name = column.partition(".")
    with closing(apsw.Connection(bench.path)) as connection:
        execute: Callable[..., Any] = connection.execute
        count = execute(f"SELECT count(*) FROM {table}").fetchall()[0][0]
        key = "log, op" if table == "op" else "log, level, n" if table == "tile" else "id"
        limits = f"ORDER BY {key} LIMIT 1 OFFSET {row % count}"
        value, kind, *keys = execute(
            f"SELECT CAST({name} AS BLOB), typeof({name}), {key} FROM {table} {limits}"
        ).fetchall()[0]
        changed = bytearray(value)
        changed[place % len(value)] ^= 1 << bit
        where = " AND ".join(f"{one} = ?" for one in key.split(", "))
        execute(f"UPDATE {table} SET {name} = CAST(? AS {kind}) WHERE {where}", (bytes(changed), *keys))
    return bytes(value)


@pytest.mark.parametrize("column", COLUMNS)
@settings(max_examples=25)
@given(row=st.integers(0, 300), place=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_a_flipped_bit_is_reported(filled: Bench, scratch: Bench, column: str, row: int, place: int, bit: int) -> None:
    shutil.copy(filled.path, scratch.path)
    flip(scratch, column, row, place, bit)
    report = look(scratch, pin=pin_of(filled), agents=["eros"])
    assert not report.ok


@settings(max_examples=40)
@given(place=st.integers(0, 2**31), bit=st.integers(0, 7))
def test_a_flipped_bit_anywhere_in_the_file_never_ends_the_audit(
    filled: Bench, scratch: Bench, place: int, bit: int
) -> None:
    with open(filled.path, "rb") as file:
        data = bytearray(file.read())
    data[place % len(data)] ^= 1 << bit
    with open(scratch.path, "wb") as file:
        file.write(data)
    report = look(scratch, pin=pin_of(filled), agents=["eros"])
    assert isinstance(report.as_dict(), dict)


@settings(max_examples=15)
@given(start=st.integers(0, 2**31), length=st.integers(1, 20_000))
def test_a_torn_file_never_ends_the_audit(filled: Bench, scratch: Bench, start: int, length: int) -> None:
    with open(filled.path, "rb") as file:
        data = bytearray(file.read())
    at = start % len(data)
    torn = b"\xa5" * len(data[at : at + length])
    with open(scratch.path, "wb") as file:
        file.write(data[:at] + torn + data[at + len(torn) :])
    assert isinstance(look(scratch, pin=pin_of(filled), agents=["eros"]).as_dict(), dict)


@settings(max_examples=15)
@given(end=st.integers(0, 2**31))
def test_a_file_that_was_cut_is_reported(filled: Bench, scratch: Bench, end: int) -> None:
    with open(filled.path, "rb") as file:
        data = file.read()
    with open(scratch.path, "wb") as file:
        file.write(data[: end % len(data)])
    assert not look(scratch, pin=pin_of(filled), agents=["eros"]).ok


def test_the_copy_is_as_good_as_the_store(filled: Bench, tmp_path: Path) -> None:
    """So that what the other tests find comes from what they changed."""
    assert look(copy_of(filled, tmp_path), pin=pin_of(filled)).findings == ()
