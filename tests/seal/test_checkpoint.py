"""Checkpoints against a real one of sum.golang.org, the example of C2SP, and bad ones of every kind."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.errors import Malformed, UsageError
from indelible.seal.checkpoint import MAX_SIZE, Checkpoint, parse, parse_size
from indelible.seal.merkle import EMPTY_ROOT
from indelible.seal.note import Verifier, open_note, parse_note

BAD = sorted(Path(__file__).parent.joinpath("bad", "checkpoint").iterdir())
VECTORS = Path(__file__).parents[1] / "vectors"

ORIGIN = "indelible/local/eros"
LINES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), min_size=1)
ROOTS = st.binary(min_size=32, max_size=32)
CHECKPOINTS = st.builds(Checkpoint, LINES, st.integers(0, MAX_SIZE), ROOTS, st.lists(LINES, max_size=3).map(tuple))


def test_a_checkpoint_of_sum_golang_org_opens() -> None:
    data = VECTORS.joinpath("sumdb", "checkpoint.txt").read_bytes()
    note, _ = open_note(data, [Verifier(VECTORS.joinpath("sumdb", "checkpoint.vkey").read_text().strip())])
    head = parse(note.text)
    assert (head.origin, head.size) == ("go.sum database tree", 35225469)
    assert head.format() == note.text


def test_the_example_of_c2sp_tlog_checkpoint() -> None:
    text = parse_note(VECTORS.joinpath("c2sp", "tlog-checkpoint.txt").read_bytes()).text
    head = parse(text)
    assert (head.origin, head.size, head.extensions) == ("example.com/behind-the-sofa", 20852163, ())
    assert head.format() == text


@given(CHECKPOINTS)
def test_parsing_is_the_inverse_of_formatting(head: Checkpoint) -> None:
    assert parse(head.format()) == head


@given(st.binary() | CHECKPOINTS.map(Checkpoint.format))
def test_any_bytes_are_a_checkpoint_or_malformed(data: bytes) -> None:
    try:
        head = parse(data)
    except Malformed:
        return
    assert head.format() == data


def test_any_byte_flipped_makes_another_checkpoint_or_none() -> None:
    head = Checkpoint(ORIGIN, 1234, EMPTY_ROOT, ("an extension",))
    text = head.format()
    for place in range(len(text)):
        for bit in range(8):
            changed = text[:place] + bytes([text[place] ^ 1 << bit]) + text[place + 1 :]
            try:
                assert parse(changed) != head
            except Malformed:
                continue


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_a_bad_checkpoint_is_refused(path: Path) -> None:
    with pytest.raises(Malformed):
        parse(path.read_bytes())


@pytest.mark.parametrize(
    "head",
    [
        Checkpoint("", 0, EMPTY_ROOT),
        Checkpoint("two\nlines", 0, EMPTY_ROOT),
        Checkpoint("\ud800", 0, EMPTY_ROOT),
        Checkpoint(ORIGIN, -1, EMPTY_ROOT),
        Checkpoint(ORIGIN, MAX_SIZE + 1, EMPTY_ROOT),
        Checkpoint(ORIGIN, True, EMPTY_ROOT),
        Checkpoint(ORIGIN, 0, b""),
        Checkpoint(ORIGIN, 0, bytes(31)),
        Checkpoint(ORIGIN, 0, EMPTY_ROOT, ("",)),
        Checkpoint(ORIGIN, 0, EMPTY_ROOT, ("a\nb",)),
        Checkpoint(ORIGIN, 0, EMPTY_ROOT, ("a", "")),
    ],
    ids=ascii,
)
def test_a_checkpoint_that_would_not_come_back_is_not_written(head: Checkpoint) -> None:
    with pytest.raises(UsageError):
        head.format()


@given(st.integers(0, MAX_SIZE))
def test_a_size_is_read_as_it_was_written(size: int) -> None:
    assert parse_size(str(size)) == size
