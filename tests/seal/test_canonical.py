"""Canonical JSON against RFC 8785's own vectors, another implementation, and bad input of every kind."""

from __future__ import annotations

import hashlib
import json
import struct
from decimal import Decimal
from enum import IntEnum, StrEnum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from indelible.seal.canonical import MAX_DEPTH, MAX_INT, CanonicalError, dumps, loads

if TYPE_CHECKING:
    from collections.abc import Iterator

BAD = sorted(Path(__file__).parent.joinpath("bad", "json").iterdir())
VECTORS = Path(__file__).parents[1] / "vectors" / "rfc8785"
INPUTS = sorted(VECTORS.joinpath("input").iterdir())
APPENDIX_B = json.loads(VECTORS.joinpath("appendix_b.json").read_bytes())
ES6 = json.loads(VECTORS.joinpath("es6_numbers.json").read_bytes())

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
INTS = st.integers(-MAX_INT, MAX_INT)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
LEAVES = st.none() | st.booleans() | INTS | FLOATS | TEXT
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=20)


def double(bits: str) -> float:
    (value,) = struct.unpack(">d", bytes.fromhex(bits))
    assert isinstance(value, float)
    return value


def es6_sequence() -> Iterator[float]:
    """The doubles of the ES6 test file, in the order that its makers describe."""
    yield from map(double, ES6["first"])
    start = int(ES6["then_from"], 16)
    yield from (double(f"{start + i:016x}") for i in range(ES6["then_count"]))
    block = bytes(32)
    while True:
        block = hashlib.sha256(block).digest()
        yield from (value for value in struct.unpack("<4d", block) if value and abs(value) < float("inf"))


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: path.stem)
def test_the_vectors_of_rfc_8785_come_out_byte_for_byte(path: Path) -> None:
    canonical = dumps(loads(path.read_bytes()))
    assert canonical == VECTORS.joinpath("output", path.name).read_bytes()
    assert canonical == bytes.fromhex(VECTORS.joinpath("outhex", f"{path.stem}.txt").read_text())


@pytest.mark.parametrize(("bits", "text"), APPENDIX_B.items())
def test_the_numbers_of_rfc_8785_appendix_b(bits: str, text: str | None) -> None:
    if text is None:
        with pytest.raises(CanonicalError):
            dumps(double(bits))
    else:
        assert dumps(double(bits)) == text.encode()
        assert dumps(loads(text.encode())) == text.encode()


@pytest.mark.parametrize("count", [1_000, 10_000])
def test_the_es6_number_file_has_the_published_digest(count: int) -> None:
    digest = hashlib.sha256()
    for value in islice(es6_sequence(), count):
        bits = int.from_bytes(struct.pack(">d", value), "big")
        digest.update(f"{bits:x},{dumps(value).decode()}\n".encode())
    assert digest.hexdigest() == ES6["sha256_of_lines"][str(count)]


@given(VALUES)
def test_another_implementation_writes_the_same_bytes(value: object) -> None:
    assert dumps(value) == rfc8785.dumps(value)  # type: ignore[arg-type]


@given(VALUES)
def test_what_was_written_is_read_back_and_written_again_the_same(value: object) -> None:
    canonical = dumps(value)
    assert loads(canonical) == value
    assert dumps(loads(canonical)) == canonical


@given(VALUES, st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_every_spelling_of_a_value_has_one_canonical_form(value: object, ascii_only: bool, indent: int | str) -> None:
    spelt = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert dumps(loads(spelt.encode())) == dumps(value)


@given(st.dictionaries(TEXT, st.integers(0, 9)))
def test_members_are_ordered_by_utf_16_unit(value: dict[str, int]) -> None:
    read = loads(dumps(value))
    assert isinstance(read, dict)
    assert list(read) == sorted(value, key=lambda key: key.encode("utf-16-be"))


def test_a_member_beyond_the_bmp_comes_before_one_at_its_end() -> None:
    assert dumps({"\ufb33": 1, "😀": 2}) == '{"😀":2,"\ufb33":1}'.encode()
    assert dumps([{"\ufb33": 1, "😀": 2}]) == '[{"😀":2,"\ufb33":1}]'.encode()


class Colour(StrEnum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


def test_tuples_and_members_of_enumerations_are_written_as_what_they_hold() -> None:
    assert dumps((Colour.RED, Level.HIGH, {Colour.RED: ()})) == b'["red",3,{"red":[]}]'


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_bad_json_is_refused_in_one_sentence(path: Path) -> None:
    with pytest.raises(CanonicalError) as caught:
        loads(path.read_bytes())
    assert caught.value.slug == "bad-json"
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[{"a":'])
def test_nesting_of_100000_is_refused_and_does_not_crash(opening: bytes) -> None:
    with pytest.raises(CanonicalError, match="nested"):
        loads(opening * 100_000)


def test_many_quotes_after_an_open_text_are_refused_at_once() -> None:
    """Were each of them tried as the start of a text, this would take hours."""
    with pytest.raises(CanonicalError):
        loads(b"[" * 60 + b'"' + b'\\"[]' * 1_000_000)


def test_an_exponent_too_long_to_read_is_refused() -> None:
    with pytest.raises(CanonicalError, match="too long"):
        loads(b"1e" + b"0" * 10_000 + b"1")


def test_a_deeply_nested_value_is_refused_when_it_is_written() -> None:
    value: object = "core"
    for _ in range(100_000):
        value = [value]
    with pytest.raises(CanonicalError, match="nested"):
        dumps(value)


def test_a_value_that_holds_itself_is_refused() -> None:
    value: dict[str, object] = {}
    value["self"] = [value]
    with pytest.raises(CanonicalError, match="nested"):
        dumps(value)


@pytest.mark.parametrize("leaf", ["1", "1.5", '"]]]["'])
def test_nesting_of_64_is_read_and_written(leaf: str) -> None:
    text = ("[" * MAX_DEPTH + leaf + "]" * MAX_DEPTH).encode()
    assert dumps(loads(text)) == text


def test_brackets_inside_text_are_no_nesting() -> None:
    text = dumps(["[{" * 1_000 + '"\\' + "[" * 1_000, "\\", "[" * 100])
    assert dumps(loads(text)) == text


@pytest.mark.parametrize(
    "value",
    [
        float("nan"), float("inf"), [float("-inf")], MAX_INT + 1, -MAX_INT - 1, [2**64], {1: 2}, {None: 1}, {True: 1},
        {1.5: 1}, {"a": 1, 2: 3}, {(): 1}, "\ud83d", ["\ude00"], {"\udfff": 1}, {"😀": 1, "\ud83d": 2}, b"bytes", {1},
        {"a": b""}, 1j, Decimal(1), "\ud83d\ude00",
    ],
    ids=ascii,
)  # fmt: skip
def test_what_json_cannot_carry_is_refused(value: object) -> None:
    with pytest.raises(CanonicalError):
        dumps(value)


def test_what_is_no_value_of_json_at_all_is_refused() -> None:
    for value in (object(), [object()]):
        with pytest.raises(CanonicalError):
            dumps(value)


@pytest.mark.parametrize(
    "token",
    [
        "9007199254740992", "9007199254740993", "-9007199254740992", "12345678901234567890", "1152921504606846976",
        "18446744073709551615", "1e400", "-1e400", "1" + "0" * 400, "9" * 5_000, "1e-400", "-1e-400",
        "0.1234567890123456789", "3.14159265358979323846264338327950288", "123456789.123456789123",
    ],
    ids=lambda token: token[:24],
)  # fmt: skip
def test_a_number_that_rfc_8785_cannot_hold_keeps_its_token_as_text(token: str) -> None:
    # 2**53 itself is not among the integers that I-JSON calls safe, though the double holds it.
    expected = float(token) if token.lstrip("-") == "9007199254740992" else token
    assert loads(token.encode()) == expected
    assert loads(f'{{"n":[{token}]}}'.encode()) == {"n": [expected]}


@pytest.mark.parametrize(
    ("token", "value"),
    [
        ("0", 0), ("-0", 0), ("-0.0", 0), ("0.000", 0), ("0e99", 0), ("1.0", 1), ("1E30", 1e30), ("4.50", 4.5),
        ("9007199254740991", MAX_INT), ("-9007199254740991", -MAX_INT), ("100000000000000000000", 1e20),
        ("1152921504606847000", 2.0**60), ("333333333.33333329", 333333333.3333333), ("1e-7", 1e-7), ("5e-324", 5e-324),
        ("0.10000000000000000000", 0.1), ("1.7976931348623157e+308", 1.7976931348623157e308),
    ],
)  # fmt: skip
def test_a_number_that_a_double_names_is_read_as_a_number(token: str, value: float) -> None:
    read = loads(token.encode())
    assert not isinstance(read, str)
    assert read == value
    assert dumps(loads(dumps(read))) == dumps(read)


@given(st.integers())
def test_an_integer_is_never_rounded_in_silence(value: int) -> None:
    read = loads(str(value).encode())
    assert Decimal(dumps(read).strip(b'"').decode()) == value


@given(st.binary() | TEXT.map(str.encode) | VALUES.map(dumps))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        value = loads(data)
    except CanonicalError:
        return
    assert dumps(loads(dumps(value))) == dumps(value)


def test_long_numbers_cost_no_more_than_they_weigh() -> None:
    """A number of a million digits is one token, not a million multiplications."""
    token = "7" * 1_000_000
    assert loads(f"[{token},0.{token},{token}.{token}]".encode()) == [token, f"0.{token}", f"{token}.{token}"]
