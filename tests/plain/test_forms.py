from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.errors import Malformed, UsageError
from indelible.plain.forms import Embedded, Unreadable, check, dated_key, embed, parse_embedded, read_checksum
from indelible.seal.digest import Digest

VECTORS = Path(__file__).resolve().parents[1] / "vectors"
SAVED_AT, SOURCE, BRANCH = "2026-06-10T17:43:56Z", "moosjiny/mujoco/agents/rudex/MEMORY.md", "claude/rudex-al1f1n"
TEXT = "# 기억\n다음: 배포\n"
HEX = hashlib.sha256(TEXT.encode()).hexdigest()


def embedded(text: str | bytes = TEXT) -> bytes:
    return embed(text, saved_at=SAVED_AT, source=SOURCE, branch=BRANCH).encode()


def changed(**members: object) -> bytes:
    """The embedded form with members replaced; `...` takes one out."""
    value = json.loads(embedded()) | members
    return json.dumps({name: one for name, one in value.items() if one is not ...}, ensure_ascii=False).encode()


def test_the_embedded_form_is_written_as_the_seed_writes_it() -> None:
    seed = {"text": TEXT, "checksum": "sha256:" + HEX, "saved_at": SAVED_AT, "source": SOURCE, "branch": BRANCH}
    assert embedded() == json.dumps(seed, ensure_ascii=False).encode()


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"])))
def test_what_was_embedded_comes_out_again_and_matches(text: str, branch: str) -> None:
    content = embed(text, saved_at=SAVED_AT, source=SOURCE, branch=branch).encode()
    assert parse_embedded(content) == Embedded(text, Digest.of(text.encode()), SAVED_AT, SOURCE, branch)
    assert check(content).state is True
    assert check(content, Digest.of(content).hex).state is True


@pytest.mark.parametrize(
    "name", ["int_crlf", "int_separators", "int_loneCR", "int_nfc", "int_nfd", "int_empty", "int_two_nl"]
)
def test_no_byte_changes_inside_the_embedded_form(name: str) -> None:
    data = (VECTORS / "cases" / f"{name}.md").read_bytes()
    parts = parse_embedded(embedded(data))
    assert parts is not None
    assert parts.text.encode() == data
    assert parts.checksum == Digest.of(data)


@pytest.mark.parametrize("text", [b"\xff\xfe", "half \ud800"])
def test_text_that_is_not_utf8_is_not_embedded(text: str | bytes) -> None:
    with pytest.raises(UsageError, match="UTF-8"):
        embedded(text)


@given(st.data())
def test_any_changed_character_of_the_embedded_text_is_found(data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(TEXT) - 1))
    letter = data.draw(st.characters(exclude_categories=["Cs"]).filter(lambda one: one != TEXT[at]))
    verdict = check(changed(text=TEXT[:at] + letter + TEXT[at + 1 :]))
    assert (verdict.state, verdict.reason) in ((False, "digest-mismatch"), (False, "line-endings"))


@pytest.mark.parametrize(
    "stated",
    [
        HEX,
        HEX.upper(),
        f"sha256:{HEX}",
        f"SHA256:{HEX}",
        f"{HEX}\n",
        f"{HEX}\r\n",
        f" {HEX} ",
        f"\n{HEX[:20]}{HEX[20:].upper()}\n",
    ],
)
def test_a_checksum_is_a_value_and_has_spellings(stated: str) -> None:
    assert read_checksum(stated) == Digest.from_hex(HEX)
    assert check(TEXT.encode(), stated).state is True


@pytest.mark.parametrize(
    ("stated", "why"),
    [
        ("", "empty"),
        (" \n", "empty"),
        (HEX[:63], "63 hex digits"),
        (HEX + "0", "65 hex digits"),
        (f"sha256:{HEX[:63]}", "63 hex digits"),
        ("sha256:", "not 64 hex digits"),
        ("sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709", "another algorithm (sha1)"),
        ("md5:d41d8cd98f00b204e9800998ecf8427e", "another algorithm (md5)"),
        (f"sha3-256:{HEX}", "another algorithm (sha3-256)"),
        ("d41d8cd98f00b204e9800998ecf8427e", "32 hex digits"),
        (HEX[:-1] + "g", "not 64 hex digits"),
        (HEX[:-1] + "٠", "not 64 hex digits"),
        (f"{HEX}  MEMORY.md", "not 64 hex digits"),
        (f"\u2028{HEX}", "not 64 hex digits"),
        ("null", "not 64 hex digits"),
    ],
)
def test_a_checksum_that_cannot_be_read_is_not_a_missing_one(stated: str, why: str) -> None:
    found = read_checksum(stated)
    assert isinstance(found, Unreadable)
    assert why in found.why
    verdict = check(TEXT.encode(), stated)
    assert (verdict.state, verdict.reason) == (False, "checksum-unreadable")
    assert why in verdict.message


@pytest.mark.parametrize("stated", ["", HEX[:63], f"sha1:{HEX[:40]}", None, 5, [HEX]])
def test_an_embedded_checksum_that_cannot_be_read_is_not_a_missing_one(stated: object) -> None:
    verdict = check(changed(checksum=stated))
    assert (verdict.state, verdict.reason) == (False, "checksum-unreadable")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"# prose",
        TEXT.encode(),
        b"[1, 2]",
        b'{"a": 1}',
        b'{"text": 5}',
        b'{"checksum": "crc"}',
        b"{not json",
        b"\xff\xfe",
        b"null",
        b'"text"',
    ],
)
def test_other_content_is_not_of_the_embedded_form(content: bytes) -> None:
    assert parse_embedded(content) is None
    assert (check(content).state, check(content).reason) == (None, "no-checksum")
    assert check(content, Digest.of(content).hex).state is True


def test_json_with_a_text_and_no_checksum_is_a_legacy_save() -> None:
    parts = parse_embedded(changed(checksum=...))
    assert parts is not None
    assert parts.checksum is None
    assert check(changed(checksum=...)).state is None


def test_what_was_not_recorded_is_empty() -> None:
    parts = parse_embedded(changed(saved_at=..., source=None, branch=...))
    assert parts is not None
    assert (parts.saved_at, parts.source, parts.branch) == ("", "", "")


def test_members_that_are_not_ours_do_not_matter() -> None:
    assert check(changed(model="opus", score=0.1, nested={"text": 1})).state is True


BROKEN = {
    "cut off": embedded()[:60],
    "cut in a character": embedded("한글" * 40)[:40],
    "text twice": embedded()[:-1] + b', "text": "other"}',
    "checksum twice": embedded()[:-1] + f', "checksum": "sha256:{HEX}"}}'.encode(),
    "half a surrogate pair": changed(text=...)[:-1] + b', "text": "\\ud800"}',
    "half a surrogate pair elsewhere": embedded()[:-1] + b', "note": "\\udfff"}',
    "NaN": embedded()[:-1] + b', "note": NaN}',
    "deep": embedded()[:-1] + b', "note": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "byte-order mark": b"\xef\xbb\xbf" + embedded(),
    "something behind": embedded() + b"x",
    "text gone": changed(text=...),
    "text a number": changed(text=5),
    "branch a list": changed(branch=[]),
    "saved_at a number": changed(saved_at=1),
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=list(BROKEN))
def test_a_broken_embedded_form_is_not_taken_for_one_that_never_had_a_checksum(content: bytes) -> None:
    with pytest.raises(Malformed):
        parse_embedded(content)
    assert (check(content).state, check(content).reason) == (False, "malformed")


@pytest.mark.parametrize("content", BROKEN.values(), ids=list(BROKEN))
def test_a_detached_checksum_vouches_for_content_that_only_looks_like_the_embedded_form(content: bytes) -> None:
    assert check(content, Digest.of(content).hex).state is True


def test_a_text_edited_inside_the_json_is_found_though_the_detached_checksum_was_made_anew() -> None:
    content = changed(text="다른 기억")
    verdict = check(content, Digest.of(content).hex)
    assert (verdict.state, verdict.reason) == (False, "digest-mismatch")


def test_only_line_endings_are_told_from_an_edit() -> None:
    crlf = TEXT.replace("\n", "\r\n").encode()
    assert check(crlf, HEX).reason == "line-endings"
    assert check(TEXT.encode(), Digest.of(crlf).hex).reason == "line-endings"
    assert check(crlf + b"!", HEX).reason == "digest-mismatch"
    assert check(changed(text=crlf.decode())).reason == "line-endings"


def test_final_newlines_count() -> None:
    three = [(VECTORS / "cases" / f"int_{name}.md").read_bytes() for name in ("nonl", "lf", "two_nl")]
    states = [check(one, Digest.of(other).hex).state for one in three for other in three]
    assert states == [True, False, False, False, True, False, False, False, True]


def test_composed_and_decomposed_hangul_are_two_contents() -> None:
    nfc, nfd = ((VECTORS / "cases" / f"int_{name}.md").read_bytes() for name in ("nfc", "nfd"))
    assert check(nfc, Digest.of(nfc).hex).state is check(nfd, Digest.of(nfd).hex).state is True
    assert check(nfd, Digest.of(nfc).hex).state is False


def test_an_empty_memory_has_a_checksum_like_any_other() -> None:
    assert check(b"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855").state is True
    assert check(b"", "").state is False


@pytest.mark.parametrize(
    ("name", "day", "key"),
    [
        ("MEMORY_MD", "2026-06-10", "MEMORY_MD_20260610"),
        ("MEMORY.md", "20260610", "MEMORY_MD_20260610"),
        ("/home/a/b.c/MEMORY.md", "2024-02-29", "MEMORY_MD_20240229"),
        ("C:\\notes\\메모.md", "2026-06-10", "메모_MD_20260610"),
        ("notes.local.txt", "2026-06-10", "notes.local_TXT_20260610"),
        ("CLAUDE", "2026-06-10", "CLAUDE_20260610"),
    ],
)
def test_a_dated_key_is_made_from_a_file_name_and_a_day(name: str, day: str, key: str) -> None:
    assert dated_key(name, day) == key


@pytest.mark.parametrize(
    "day", ["", "2026-02-29", "10.06.2026", "2026-6-1", "٢٠٢٦-٠٦-١٠", "2026-06-10T00:00:00Z", "0000-01-01"]
)
def test_what_is_no_day_makes_no_key(day: str) -> None:
    with pytest.raises(UsageError, match="not a day"):
        dated_key("MEMORY.md", day)


@pytest.mark.parametrize("name", ["", "/tmp/"])
def test_a_dated_key_needs_a_name(name: str) -> None:
    with pytest.raises(UsageError, match="name"):
        dated_key(name, "2026-06-10")
