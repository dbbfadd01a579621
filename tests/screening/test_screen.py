"""What `screen` refuses, masks and lets be."""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.screening.samples import INNOCENT, SECRET

from indelible.errors import NotSaved, SecretRefused
from indelible.screening import Found, screen
from indelible.screening.detecting import detect
from indelible.screening.prefilter import pointed

if TYPE_CHECKING:
    from collections.abc import Sequence

CASES = Path(__file__).resolve().parent.parent / "vectors" / "cases"
FIXTURE = (CASES / "sec_secrets.txt").read_bytes()
BLOCK = FIXTURE[FIXTURE.index(b"-----BEGIN") :]
LINES = [*FIXTURE[: FIXTURE.index(b"-----BEGIN")].splitlines(), BLOCK]
MARK = re.compile(rb"\[masked: [a-z0-9-]+\]")


def kinds(content: bytes | str) -> list[str]:
    data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogateescape")
    try:
        return [] if screen(data, mode="refuse").found == () else ["found and not refused"]
    except SecretRefused as refused:
        return [found.split()[0] for found in str(refused.facts["found"]).split("; ")]


@pytest.mark.parametrize("line", LINES, ids=range(len(LINES)))
def test_every_secret_of_the_field_cases_is_refused_and_nothing_of_it_is_told(line: bytes) -> None:
    with pytest.raises(SecretRefused) as caught:
        screen(line, mode="refuse")
    said = f"{caught.value} {caught.value.facts}".encode()
    assert (caught.value.exit_code, caught.value.http_status, caught.value.slug) == (6, 422, "secret-refused")
    words = [
        word for word in re.split(rb"[\s\"'=:/@]+", line) if len(word) > 7 and word not in (b"password", b"PRIVATE")
    ]
    assert [word for word in words if word in said and word != b"Authorization"] == []
    assert hashlib.sha256(line).hexdigest().encode() not in said


@pytest.mark.parametrize("line", LINES, ids=range(len(LINES)))
def test_every_secret_of_the_field_cases_is_masked_where_it_stands(line: bytes) -> None:
    screened = screen(b"before\n" + line + b"\nafter\n", mode="mask")
    assert len(MARK.findall(screened.content)) == 1
    assert screened.content.startswith(b"before\n")
    assert screened.content.endswith(b"\nafter\n")
    assert [found.where for found in screened.found] == ["content line 2"]
    assert kinds(screened.content) == []


def test_a_private_key_is_masked_from_its_first_line_to_its_last() -> None:
    assert screen(b"a\n" + BLOCK + b"z", mode="mask").content == b"a\n[masked: private-key]\nz"
    cut = BLOCK[: BLOCK.index(b"-----END")] + b"\nThe text goes on.\n"
    assert screen(cut, mode="mask").content == b"[masked: private-key]\n\nThe text goes on.\n"


@pytest.mark.parametrize("line", (CASES / "sec_innocent.txt").read_text(encoding="utf-8").splitlines())
def test_talk_about_secrets_passes_unchanged(line: str) -> None:
    for mode in ("refuse", "mask"):
        assert screen(line.encode(), mode=mode, names={"key": line, "tag": line}) == (line.encode(), ())


@pytest.mark.parametrize("line", SECRET, ids=range(len(SECRET)))
def test_a_secret_of_another_shape_is_found(line: str) -> None:
    assert kinds(line)
    assert kinds(f"# Notes\n\nSome words.\n{line}\n- and more: later\n")


@pytest.mark.parametrize("line", INNOCENT, ids=range(len(INNOCENT)))
def test_placeholders_references_digests_and_public_keys_are_no_secrets(line: str) -> None:
    assert kinds(line) == []


def test_the_pages_of_this_project_pass() -> None:
    root = CASES.parents[2]
    pages = [*root.glob("*.md"), *(root / "docs").rglob("*.md")]
    assert [page.name for page in pages if kinds(page.read_bytes())] == []


@pytest.mark.parametrize("name", ["key", "tag", "title", "source", "reason", "scope"])
@pytest.mark.parametrize("mode", ["refuse", "mask"])
def test_a_secret_in_a_name_is_refused_in_both_modes(name: str, mode: str) -> None:
    with pytest.raises(SecretRefused) as caught:
        screen(b"text", mode=mode, names={"key": "MEMORY.md", name: f"notes {SECRET[2][8:]}"})
    assert caught.value.facts["found"] == f"aws-access-key ({name})"
    assert "mask" not in caught.value.remedy


def test_with_allow_nothing_is_looked_at() -> None:
    assert screen(FIXTURE, mode="allow", names={"key": "AKIADEMODEMODEMODEMO"}) == (FIXTURE, ())


def test_places_count_lines_with_any_ending() -> None:
    content = b"a\r\nb\rc\npassword: hunter2x\r\nd\r\npassword: hunter3x"
    assert screen(content, mode="mask").found == (
        Found("password", "content line 4"),
        Found("password", "content line 6"),
    )


def test_bytes_that_are_no_utf8_are_searched_and_kept() -> None:
    content = b"\xff\xfe caf\xe9\npassword: hunter2x\xe9\n\x80\x81"
    assert screen(content, mode="mask").content == b"\xff\xfe caf\xe9\npassword: [masked: password]\xe9\n\x80\x81"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_secret_in_another_encoding_is_refused_and_cannot_be_masked(encoding: str) -> None:
    for mode in ("refuse", "mask"):
        with pytest.raises(SecretRefused):
            screen("# 메모\npassword: hunter2x\n".encode(encoding), mode=mode)


def test_text_inside_json_that_states_its_checksum_is_not_masked_into_a_lie() -> None:
    content = b'{"text": "password: hunter2x", "checksum": "sha256:00", "saved_at": ""}'
    with pytest.raises(SecretRefused):
        screen(content, mode="mask")


def test_where_nothing_can_be_looked_for_nothing_is_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "indelible.screening.detecting", None)
    assert screen(b"plain words", mode="refuse").found == ()
    with pytest.raises(NotSaved, match="could not be looked for secrets"):
        screen(b"password: hunter2x", mode="mask")


def test_several_secrets_are_told_with_their_places_and_the_rest_are_counted() -> None:
    with pytest.raises(SecretRefused, match="and 2 more"):
        screen(b"password: hunter2x\n" * 7, mode="refuse")


PIECES = st.one_of(
    st.sampled_from([line.encode("utf-8", "surrogateescape") for line in SECRET if "\0" not in line]),
    st.sampled_from([line.encode() for line in INNOCENT]),
    st.binary(max_size=20),
    st.text(max_size=20).map(lambda text: text.encode("utf-8", "ignore")),
)
TEXTS = st.lists(st.tuples(PIECES, st.sampled_from([b"\n", b" ", b"\r\n", b""])), max_size=6).map(
    lambda parts: b"".join(piece + after for piece, after in parts)
)


def masked(content: bytes) -> bytes | None:
    """None where it can only be refused."""
    try:
        return screen(content, mode="mask").content
    except SecretRefused:
        return None


def stands_in(pieces: Sequence[bytes], content: bytes) -> bool:
    """Whether `content` is `pieces` with something between each two of them."""
    first, *middle, last = pieces
    at = len(first)
    for piece in middle:
        at = content.find(piece, at + 1)
        if at < 0:
            return False
        at += len(piece)
    return content.startswith(first) and content.endswith(last) and at <= len(content) - len(last)


@given(TEXTS)
def test_masking_leaves_everything_outside_the_marks_as_it_was(content: bytes) -> None:
    after = masked(content)
    if after is not None and after != content:
        assert stands_in(MARK.split(after), content)


@given(TEXTS)
def test_masked_text_is_masked_no_further(content: bytes) -> None:
    after = masked(content)
    assert after is None or screen(after, mode="refuse") == (after, ())


@given(TEXTS)
def test_the_prefilter_points_at_every_line_in_which_something_would_be_found(content: bytes) -> None:
    text = content.decode("utf-8", "surrogateescape")
    at = pointed(text, content.lower().decode("utf-8", "surrogateescape"))
    starts = [0, *(found.end() for found in re.finditer(r"\r\n|[\n\r]", text) if found.end() < len(text))]
    every = [start for start in starts if text[start : start + 1] not in ("", "\r", "\n")]
    assert set(detect(text, every)) == set(detect(text, at))
