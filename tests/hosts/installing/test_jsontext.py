"""JSON edited as text: what others wrote stays, character for character."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.errors import UsageError
from indelible.hosts.installing import jsontext

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)
NEW = {"hooks": {"Stop": [{"command": "새 'c'"}], "Start": [{"n": [1]}]}, "version": 1}


@given(VALUES, st.sampled_from([None, 1, 2, "\t"]))
def test_what_is_parsed_is_what_json_says(value: object, indent: int | str | None) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    document = jsontext.parse(text)
    assert document.value(document.root) == value
    assert document.is_strict


@given(st.dictionaries(st.text(max_size=6), VALUES, max_size=4), st.sampled_from([None, 2, "\t"]))
def test_what_is_put_in_is_there_and_the_rest_is_as_it_was(value: dict[str, object], indent: int | str | None) -> None:
    for name in ("hooks", "version"):
        value.pop(name, None)
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    added = jsontext.add(text, NEW)
    assert json.loads(added) == {**value, **NEW}
    assert jsontext.cut(added, [("hooks",), ("version",)]) == (text if value else "{}")


LAYOUTS = {
    "one_line": '{"a": 1}',
    "tight": '{"a":[1,2]}',
    "spaces": '{\n    "a": 1\n}\n',
    "tabs": '{\n\t"a": {\n\t\t"b": []\n\t}\n}',
    "crlf": '{\r\n  "a": 1\r\n}\r\n',
    "line_comment": '{\n  "a": 1, // why\n  "b": 2 // and why\n}\n',
    "comment_at_the_end": '{\n  "a": 1\n  // nothing more\n}\n',
    "block_comment": '{ "a": 1 /* , "b": 2 */ }',
    "trailing_comma": '{\n  "a": [1, 2,],\n}\n',
    "comma_in_a_comment": '{\n  "a": 1 // x, y\n}\n',
    "marks_in_a_text": '{\n  "a": "}],{[ // /* \\" "\n}\n',
    "hooks_there": '{\n  "hooks": {\n    "Stop": [\n      {"command": "x"}\n    ]\n  }\n}\n',
    "hooks_on_one_line": '{"hooks": {"Stop": [{"command": "x"}]}}',
    "no_indentation": '{\n"hooks": {\n"Stop": [\n{"command": "x"}\n]\n}\n}',
}


@pytest.mark.parametrize("text", LAYOUTS.values(), ids=LAYOUTS)
def test_what_was_put_in_and_taken_out_leaves_the_very_bytes(text: str) -> None:
    before = jsontext.parse(text)
    stop = before.find(("hooks", "Stop"))
    added = jsontext.add(text, NEW)
    paths: list[jsontext.Path] = [
        ("version",),
        *([("hooks",)] if stop is None else [("hooks", "Stop", 1), ("hooks", "Start")]),
    ]
    assert added != text
    assert jsontext.cut(added, paths) == text
    assert "\r\n" not in text or "\n" not in added.replace("\r\n", "")


def test_only_what_is_added_differs_and_its_indentation_is_the_files_own() -> None:
    text = '{\n\t"model": "x",\n\t"hooks": {\n\t\t"Stop": []\n\t}\n}\n'
    assert jsontext.add(text, {"hooks": {"Stop": [{"command": "c"}]}}) == (
        '{\n\t"model": "x",\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{\n\t\t\t\t"command": "c"\n\t\t\t}\n\t\t]\n\t}\n}\n'
    )


def test_a_scalar_that_is_there_stays() -> None:
    assert jsontext.add('{"version": 3}', {"version": 1}) == '{"version": 3}'


def test_another_value_is_put_in_the_place_of_one() -> None:
    text = '{\n  "a": [ {"x": 1}, 2 ], // c\n  "b": 3\n}'
    assert jsontext.put(text, {("a", 0): {"y": 2}}) == '{\n  "a": [ {"y": 2}, 2 ], // c\n  "b": 3\n}'


def test_elements_are_taken_out_of_the_middle_and_from_the_front() -> None:
    assert json.loads(jsontext.cut("[1, 2, 3, 4]", [(0,), (2,)])) == [2, 4]
    assert jsontext.cut("[\n  1,\n  2, // two\n  3\n]", [(0,)]) == "[\n  2, // two\n  3\n]"
    assert jsontext.cut("[1]", [(0,)]) == "[]"
    assert jsontext.cut("[1]", [(5,), ("a",)]) == "[1]"


BROKEN = {
    "nothing": "", "space": " \n", "half": '{"a": ', "comma_first": "{,}", "two_values": "{} {}", "no_colon": '{"a" 1}', "no_comma": '{"a":1 "b":2}',
    "single_quotes": "{'a': 1}", "name_bare": "{a: 1}", "nan": '{"a": NaN}', "octal": '{"a": 012}', "control": '{"a": "\x01"}',
    "escape": r'{"a": "\x"}', "closed_otherwise": '{"a": [}', "comment_open": "{} /* ", "two_commas": "[1,,2]", "word": "[truex]",
}  # fmt: skip


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_broken_json_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(UsageError, match=r"line \d+, column \d+"):
        jsontext.parse(text)


def test_the_place_is_where_it_breaks() -> None:
    with pytest.raises(UsageError) as told:
        jsontext.parse('{\n  "a": 1,\n  "b" 2\n}')
    assert (told.value.facts["line"], told.value.facts["column"]) == (3, 7)


def test_what_is_nested_without_end_is_refused_and_not_run_into() -> None:
    with pytest.raises(UsageError, match="nested too deeply"):
        jsontext.parse("[" * 100_000)


@pytest.mark.parametrize("text", ['{"hooks": []}', '{"hooks": "x"}', "[]", "7"])
def test_another_kind_of_value_where_ours_belongs_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no object at"):
        jsontext.add(text, {"hooks": {"Stop": [1]}})


def test_a_member_that_stands_twice_on_our_way_is_refused() -> None:
    with pytest.raises(UsageError, match="twice"):
        jsontext.add('{"hooks": {}, "hooks": {}}', {"hooks": {"Stop": [1]}})
