"""The interchange form: what comes in goes out JCS-equal, whatever it holds, and what we write follows the schema."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64decode, b64encode
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from indelible.errors import DigestMismatch, UsageError
from indelible.record import (
    Record,
    Review,
    ReviewEvent,
    State,
    Statements,
    draft,
    from_interchange,
    record_digest,
    to_interchange,
)
from indelible.seal import canonical
from indelible.seal.digest import CONTENT_DOMAIN, commit

VECTORS = Path(__file__).parents[1] / "vectors" / "record"
EXAMPLES = sorted(VECTORS.glob("example-*.json"))
SCHEMA = json.loads(files("indelible").joinpath("schema/record.schema.json").read_bytes())
VALIDATOR = Draft202012Validator(SCHEMA)

MAX = 2**53 - 1
NOW = "2026-11-30T09:00:00Z"
SALT = bytes(range(32))
FRESH = Statements(State("active"), Review("unreviewed"))


def minimal() -> dict[str, Any]:
    value: dict[str, Any] = json.loads((VECTORS / "example-minimal.json").read_bytes())
    return value


def sealed(value: dict[str, Any]) -> dict[str, Any]:
    """The same record with the digests of what it now holds, computed without our own code."""
    content = value["content"]
    if content["text"] is not None:
        raw = content["text"].encode()
        if content.get("encoding") == "base64":
            raw = b64decode(content["text"])
        content["digest"] = "sha256:" + hashlib.sha256(raw).hexdigest()
        if content.get("salt") is not None and "commitment" in content:
            salt = b64decode(content["salt"])
            content["commitment"] = "sha256:" + hashlib.sha256(CONTENT_DOMAIN + salt + raw).hexdigest()
    hashed = {name: member for name, member in value.items() if name not in ("integrity", "stats")}
    value["integrity"]["digest"] = "sha256:" + hashlib.sha256(rfc8785.dumps(hashed)).hexdigest()
    return value


def through_the_body(value: object) -> dict[str, object]:
    record, content, statements = from_interchange(value)
    body = record.to_body()
    again = Record.from_body(body)
    assert again == record
    assert again.to_body() == body
    return to_interchange(again, content, statements)


# ---- records as the schema describes them, and beyond it


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-MAX, MAX) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)
TIMES = st.datetimes().map(lambda at: at.strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0") + "Z")
KEYS = st.text(max_size=128)  # at most four bytes each
STRANGE = {"size": {"bytes": -1}, "unknown": {"key": 1}, "": [], "한글": "\U0001f600", "￿": 1e-7}


def from_schema(node: dict[str, Any], *, beyond: bool) -> st.SearchStrategy[Any]:
    """Values of a part of the schema; `beyond` adds unknown members even where it closes an object."""
    if "$ref" in node:
        name = node["$ref"].rsplit("/", 1)[1]
        return TIMES if name == "time" else from_schema(SCHEMA["$defs"][name], beyond=beyond)
    for choice in ("anyOf", "oneOf"):
        if choice in node:
            return st.one_of(*(from_schema({"type": "string", **part}, beyond=beyond) for part in node[choice]))
    if "enum" in node or "const" in node:
        return st.sampled_from(node.get("enum", [node.get("const")]))
    kinds = node["type"] if isinstance(node["type"], list) else [node["type"]]
    return st.one_of(*(_of_kind(kind, node, beyond=beyond) for kind in kinds))


def _ecma(pattern: str) -> str:
    """The same pattern with Python's meaning of `$` and `.` turned into that of JSON Schema (ECMA-262)."""
    for dots in (".*$", ".+$"):
        pattern = pattern.replace(dots, "[^\n\r\u2028\u2029]" + dots[1:])
    return pattern.replace("$", r"\Z")


def _of_kind(kind: str, node: dict[str, Any], *, beyond: bool) -> st.SearchStrategy[Any]:
    match kind:
        case "null":
            return st.none()
        case "integer":
            return st.integers(node["minimum"], node["maximum"])
        case "number":
            return st.floats(node["minimum"], node["maximum"])
        case "array":
            return st.lists(from_schema(node["items"], beyond=beyond) if "items" in node else JSON, max_size=2)
        case "object":
            return _object(node, beyond=beyond)
        case _ if "pattern" in node:
            return st.from_regex(_ecma(node["pattern"]))
        case _:
            return KEYS if "maxLength" in node else st.text(max_size=20)


def _object(node: dict[str, Any], *, beyond: bool) -> st.SearchStrategy[Any]:
    known = node.get("properties", {})
    required = {name: from_schema(known[name], beyond=beyond) for name in node.get("required", ())}
    optional = {name: from_schema(part, beyond=beyond) for name, part in known.items() if name not in required}
    whole = st.fixed_dictionaries(required, optional=optional)
    if node.get("additionalProperties", True) is False and not beyond:
        return whole
    if "propertyNames" in node:
        names = st.from_regex(_ecma(node["propertyNames"]["pattern"]))
    else:
        names = (st.sampled_from(sorted(STRANGE)) | st.text(max_size=8)).filter(lambda name: name not in known)
    more = st.dictionaries(names, JSON, max_size=2)
    return st.builds(lambda some, others: {**others, **some}, whole, more)


def _finish(value: dict[str, Any], raw: bytes, salt: bytes) -> dict[str, Any]:
    content = value["content"]
    if content.get("encoding") == "base64" and content["text"] is not None:
        content["text"] = b64encode(raw).decode()
    if content.get("salt") is not None:
        content["salt"] = b64encode(salt).decode()
    return sealed(value)


def records(*, beyond: bool) -> st.SearchStrategy[dict[str, Any]]:
    salts = st.binary(min_size=32, max_size=32)
    return st.builds(_finish, from_schema(SCHEMA, beyond=beyond), st.binary(max_size=20), salts)


@given(records(beyond=True))
def test_any_record_comes_back_unchanged_with_unknown_members_at_every_level(value: dict[str, Any]) -> None:
    assert canonical.dumps(through_the_body(value)) == canonical.dumps(value)


@given(records(beyond=False))
def test_every_export_follows_the_schema(value: dict[str, Any]) -> None:
    VALIDATOR.validate(value)
    out = through_the_body(value)
    VALIDATOR.validate(out)
    assert record_digest(out).hex == value["integrity"]["digest"].removeprefix("sha256:")


@given(records(beyond=True), JSON)
def test_a_record_with_one_member_replaced_is_read_or_refused_by_name(value: dict[str, Any], wrong: object) -> None:
    """Never another exception, never a changed value."""
    for name in sorted(value):
        changed = {**json.loads(json.dumps(value)), name: wrong}
        try:
            out = through_the_body(changed)
        except (UsageError, DigestMismatch):
            continue
        assert canonical.dumps(out) == canonical.dumps(changed)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_shipped_examples_have_the_digest_they_carry_and_come_back(path: Path) -> None:
    value = canonical.loads(path.read_bytes())
    assert isinstance(value, dict)
    VALIDATOR.validate(value)
    assert str(record_digest(value)) == value["integrity"]["digest"]  # type: ignore[index, call-overload]
    assert canonical.dumps(through_the_body(value)) == canonical.dumps(value)


def test_both_examples_are_there() -> None:
    assert [path.stem for path in EXAMPLES] == ["example-full", "example-minimal"]


def test_counters_do_not_move_the_digest() -> None:
    value = minimal()
    assert record_digest({**value, "stats": {"seen_count": 9}}) == record_digest(value)


# ---- members that say nothing, and those that we do not know


@pytest.mark.parametrize(
    ("name", "empty"),
    [
        ("key", None), ("title", None), ("summary", None), ("prev", None), ("tags", []), ("links", []), ("crit", []),
        ("extensions", {}), ("origin", {}), ("validity", {}), ("stats", {}),
    ],
)  # fmt: skip
def test_a_member_that_says_no_more_than_its_absence_stays(name: str, empty: object) -> None:
    value = sealed({**minimal(), name: empty})
    assert through_the_body(value) == value
    record, plain = from_interchange(value).record, from_interchange(minimal()).record
    assert replace(record, unknown=()) == plain


def objects(value: object, path: str = "") -> dict[str, dict[str, Any]]:
    """The record and the objects in it that the schema describes, by path."""
    if isinstance(value, list):
        return {k: v for index, item in enumerate(value) for k, v in objects(item, f"{path}[{index}]").items()}
    if not isinstance(value, dict) or path in ("extensions", "stats"):
        return {}
    inner = [objects(member, f"{path}.{name}".lstrip(".")) for name, member in value.items()]
    return {path: value} | {k: v for found in inner for k, v in found.items()}


FULL: dict[str, Any] = json.loads((VECTORS / "example-full.json").read_bytes())
FULL["origin"]["foreign"] = {"format": "lorekit", "id": "7"}
FULL["content"] |= {"salt": b64encode(SALT).decode(), "commitment": "sha256:" + "0" * 64}


@pytest.mark.parametrize("path", objects(FULL))
@pytest.mark.parametrize(("name", "strange"), STRANGE.items())
def test_an_unknown_member_of_any_name_stays_where_it_was(path: str, name: str, strange: object) -> None:
    value = json.loads(json.dumps(FULL))
    objects(value)[path][name] = strange
    value = sealed(value)
    assert through_the_body(value) == value


def test_a_member_too_deep_to_be_sealed_is_refused() -> None:
    deep = json.loads("[" * 62 + "]" * 62)
    value = sealed({**minimal(), "x": deep})
    assert through_the_body(value) == value
    value = sealed({**minimal(), "x": [deep]})
    with pytest.raises(UsageError, match="64 levels"):
        through_the_body(value)


def test_an_explicit_default_encoding_stays() -> None:
    value = minimal()
    value["content"]["encoding"] = "utf-8"
    value = sealed(value)
    assert through_the_body(value) == value
    assert from_interchange(value).record.encoding == "utf-8"


def test_numbers_that_rfc_8785_cannot_hold_stay_as_their_tokens() -> None:
    data = json.dumps(minimal()).replace('"spec"', '"x": {"n": 12345678901234567890, "f": 0.1, "e": 1e999}, "spec"')
    value = canonical.loads(data.encode())
    assert isinstance(value, dict)
    assert value["x"] == {"n": "12345678901234567890", "f": 0.1, "e": "1e999"}
    assert through_the_body(sealed(value))["x"] == value["x"]


def test_a_known_member_that_was_set_later_wins_over_the_empty_one_that_came() -> None:
    record, content, statements = from_interchange(sealed({**minimal(), "title": None}))
    titled = Record.from_body(replace(record, title="now it has one").to_body())
    assert to_interchange(titled, content, statements)["title"] == "now it has one"


def test_a_later_minor_version_is_read_and_a_later_major_version_refused() -> None:
    value = sealed({**minimal(), "spec": "indelible/1.7", "mood": "calm"})
    assert through_the_body(value) == value
    with pytest.raises(UsageError, match=re.escape('spec: "indelible/2.0" is not a format that this version reads')):
        from_interchange(sealed({**minimal(), "spec": "indelible/2.0"}))


# ---- content


def test_content_that_is_not_utf_8_goes_out_as_base64_and_comes_back() -> None:
    content = b"\xff\x00caf\xe9\r\n"
    record = draft("blob", content, agent="eros", author="agent:eros", now=NOW, random=bytes(10))
    value = to_interchange(record, content, FRESH)
    VALIDATOR.validate(value)
    assert value["content"]["encoding"] == "base64"  # type: ignore[index]
    assert from_interchange(value)[:2] == (record, content)


@pytest.mark.parametrize("content", [b"", b"\n", b"a\r\nb\r", "\ufeff한글 e\u0301 \u2028\x85\x0c\x00".encode()])
def test_content_bytes_come_back_as_they_were(content: bytes) -> None:
    record = draft("MEMORY.md", content, agent="eros", author="agent:eros", now=NOW, random=bytes(10))
    assert from_interchange(to_interchange(record, content, FRESH)).content == content


@pytest.mark.parametrize("text", ["eA", "eA==\n", " eA==", "eA= =", "eB==", "é", "eA==eA=="])
def test_base64_that_could_be_written_otherwise_is_refused(text: str) -> None:
    value = minimal()
    value["content"] |= {"encoding": "base64", "text": text}
    with pytest.raises(UsageError, match=r"^content\.text: is not base64"):
        from_interchange(value)


def test_a_tombstone_keeps_the_digest_of_what_is_gone() -> None:
    value = minimal()
    value["content"]["text"] = None
    value["state"] = {"value": "deleted", "reason": "on request"}
    value = sealed(value)
    imported = from_interchange(value)
    assert imported.content is None
    assert imported.record.digest == value["content"]["digest"]
    assert imported.record.size is None
    assert through_the_body(value) == value


def test_content_whose_digest_nobody_knows_cannot_be_exported() -> None:
    record = draft("MEMORY.md", b"x", agent="eros", author="agent:eros", now=NOW, random=bytes(10))
    with pytest.raises(UsageError, match=r"^content: is gone"):
        to_interchange(record, None, FRESH)


def test_content_that_is_not_what_the_record_says_is_not_exported() -> None:
    record = draft("MEMORY.md", b"x", agent="eros", author="agent:eros", now=NOW, random=bytes(10))
    with pytest.raises(UsageError, match=r"^content: byte 1 is not UTF-8"):
        to_interchange(record, b"x\xff", FRESH)


# ---- statements


def test_the_statements_of_the_log_go_out_and_come_back() -> None:
    content = b"x"
    digest = "sha256:" + hashlib.sha256(content).hexdigest()
    said = Statements(
        State("archived", at=NOW, by="human:lead", reason="merged"),
        Review("approved", (ReviewEvent("human:lead", NOW, "approve", digest, method="human"),)),
        prev="sha256:" + "0" * 64,
        stats=(("seen_count", b"4"),),
        salt=SALT,
        commitment="sha256:" + commit(CONTENT_DOMAIN, SALT, content).hex(),
        integrity=(("signatures", b"[]"),),
    )
    record = draft("MEMORY.md", content, agent="eros", author="agent:eros", now=NOW, random=bytes(10))
    value = to_interchange(record, content, said)
    VALIDATOR.validate(value)
    assert from_interchange(value) == (record, content, said)


def test_state_and_review_are_not_in_what_the_author_signs() -> None:
    full = canonical.loads((VECTORS / "example-full.json").read_bytes())
    body = canonical.loads(from_interchange(full).record.to_body())
    assert isinstance(body, dict)
    assert Record.RESERVED.isdisjoint(body)
    assert b"approved" not in canonical.dumps(body)


def test_a_statement_that_the_schema_does_not_allow_is_not_exported() -> None:
    record = draft("MEMORY.md", b"x", agent="eros", author="agent:eros", now=NOW, random=bytes(10))
    with pytest.raises(UsageError, match=r'^state\.value: "gone" is none of draft, active'):
        to_interchange(record, b"x", Statements(State("gone"), Review("unreviewed")))


# ---- faults


@pytest.mark.parametrize("part", ["digest", "commitment"])
def test_content_that_is_not_what_its_digests_say_is_refused(part: str) -> None:
    value = minimal()
    value["content"] |= {"salt": b64encode(SALT).decode(), "commitment": "sha256:" + "0" * 64}
    value = sealed(value)
    value["content"][part] = "sha256:" + "1" * 64
    hashed = {name: member for name, member in value.items() if name != "integrity"}
    value["integrity"]["digest"] = "sha256:" + hashlib.sha256(rfc8785.dumps(hashed)).hexdigest()
    with pytest.raises(DigestMismatch, match="content"):
        from_interchange(value)


def test_a_record_changed_after_its_export_is_refused() -> None:
    with pytest.raises(DigestMismatch, match="changed after it was exported"):
        from_interchange({**minimal(), "kind": "decision"})


FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"scope": {"level": "galaxy"}}, 'scope.level: "galaxy" is none of global, org, user, project, repo, branch, path'),
    ({"scope": {}}, "scope.level: is missing"),
    ({"scope": []}, "scope: a list is not an object"),
    ({"scope": {"level": "path", "paths": ["a", 3]}}, "scope.paths[1]: 3 is not text"),
    ({"revision": 0}, "revision: 0 is no whole number from 1 to 9007199254740991"),
    ({"revision": True}, "revision: true is no whole number"),
    ({"revision": "1"}, 'revision: "1" is no whole number'),
    ({"kind": "rumour"}, 'kind: "rumour" is not one of fact, decision'),
    ({"id": "42"}, 'id: "42" is not a URN'),
    ({"key": "k" * 513}, "key: 513 bytes are too many: a key has at most 512 bytes of UTF-8"),
    ({"key": "가" * 171}, "key: 513 bytes are too many"),
    ({"key": "\ud800"}, "key: character 0 is half of a surrogate pair"),
    ({"tags": ["a\udc80"]}, "tags[0]: character 1 is half of a surrogate pair"),
    ({"created": {"by": "me", "at": NOW}}, 'created.by: "me" is no actor'),
    ({"created": {"by": "human:a\nb", "at": NOW}}, "created.by: "),
    ({"created": {"by": "unknown", "at": "yesterday"}}, 'created.at: "yesterday" is not a time in UTC as RFC 3339'),
    ({"validity": {"anchors": [{"type": "moon", "value": "1"}]}}, 'validity.anchors[0].type: "moon" is none of git-c'),
    ({"origin": {"commit": "HEAD"}}, 'origin.commit: "HEAD" is not a git commit'),
    ({"origin": {"foreign": {"format": "x"}}}, "origin.foreign.id: is missing"),
    ({"origin": {"class": "angel"}}, 'origin.class: "angel" is none of user, agent, tool, external, unknown'),
    (
        {"trust": {"level": "claimed", "authority": "reference", "confidence": 1.5}},
        "trust.confidence: 1.5 is no number",
    ),
    ({"links": [{"rel": "refines"}]}, "links[0].target: is missing"),
    ({"extensions": {"local": 1}}, 'extensions: "local" is not a name in reverse-DNS form'),
    ({"review": {"value": "approved", "events": [{}]}}, "review.events[0].at: is missing"),
    ({"prev": "sha256:00"}, 'prev: "sha256:00" is not sha256: and 64 lower-case hex digits'),
    ({"stats": 4}, "stats: 4 is not an object"),
    ({"integrity": {"canon": "mine", "digest": "sha256:" + "0" * 64}}, 'integrity.canon: "mine" is none of RFC8785'),
    ({"content": {"media_type": "text/plain", "digest": "sha256:" + "0" * 64}}, "content.text: is missing"),
]


@pytest.mark.parametrize(("change", "words"), FAULTS, ids=[words for _, words in FAULTS])
def test_a_fault_is_named_with_what_was_found_and_what_is_allowed(change: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as caught:
        from_interchange({**minimal(), **change})
    assert caught.value.message.startswith(words)
    assert caught.value.facts["member"] == words.split(":", 1)[0]
    assert caught.value.exit_code == 64
    str(caught.value).encode()


@pytest.mark.parametrize("name", ["spec", "id", "revision", "kind", "content", "scope", "created", "state", "review",
                                  "trust", "integrity"])  # fmt: skip
def test_every_required_member_is_missed(name: str) -> None:
    value = minimal()
    del value[name]
    with pytest.raises(UsageError, match=f"^{name}: is missing"):
        from_interchange(value)


@pytest.mark.parametrize("value", [None, [], "{}", 3, True])
def test_what_is_no_object_is_no_record(value: object) -> None:
    with pytest.raises(UsageError, match=r"^record: .* is not an object"):
        from_interchange(value)


def test_no_message_shows_content_or_a_salt() -> None:
    value = minimal()
    value["content"] |= {"text": "hunter2", "encoding": "base64", "salt": "hunter2"}
    for part in ("text", "salt"):
        with pytest.raises(UsageError) as caught:
            from_interchange(value)
        assert "hunter2" not in str(caught.value)
        value["content"][part] = "eA=="
