"""A receipt says one thing in one form, fits one change, and nobody but an approver signs one."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support import signer_of

from indelible.errors import BadSignature, Malformed, UsageError
from indelible.seal.note import Verifier
from indelible.workflow.receipt import (
    Receipt,
    from_trailer,
    misfit,
    open_receipt,
    parse_receipt,
    receipt_id,
    sign_receipt,
    to_trailer,
)

MINA = signer_of("indelible-approver/mina")
RECEIPT = Receipt(
    "approved-diff", "sha1", "a" * 40, "b" * 40, (), "refs/heads/x", "github.com/Owner/repo", "c" * 64, "d" * 64,
    (("slot:30_critic_summary.md", "e" * 64),), "2026-11-30T17:00:00Z", "2026-12-01T17:00:00Z", "f" * 32,
)  # fmt: skip


class Made(NamedTuple):
    """As much of a change as a receipt is held against."""

    format: str = "sha1"
    base: str = "a" * 40
    tree: str = "b" * 40
    parents: tuple[str, ...] = ()


def verifiers() -> list[Verifier]:
    return [Verifier(MINA.vkey)]


def test_a_receipt_comes_back_as_it_was_signed() -> None:
    note = sign_receipt(RECEIPT, MINA)
    assert open_receipt(note, verifiers()) == (RECEIPT, MINA.name)
    assert len(receipt_id(note)) == 16
    assert from_trailer(to_trailer(note)) == note
    assert "\n" not in to_trailer(note)


IDS = st.text("0123456789abcdef", min_size=40, max_size=40)


@given(
    base=st.one_of(st.just(""), IDS), tree=IDS, parents=st.lists(IDS, max_size=3).map(tuple), branch=st.sampled_from(["", "refs/heads/한글", "refs/heads/a b"]),
    names=st.lists(st.text(st.characters(min_codepoint=33, exclude_categories=["C", "Z"]), min_size=1, max_size=9), unique=True, max_size=4),
)  # fmt: skip
def test_every_receipt_has_one_form(
    base: str, tree: str, parents: tuple[str, ...], branch: str, names: list[str]
) -> None:
    inputs = tuple(sorted((name, "0" * 64) for name in names))
    receipt = RECEIPT._replace(base=base, tree=tree, parents=parents, branch=branch, inputs=inputs)
    assert parse_receipt(sign_receipt(receipt, MINA)) == receipt


@pytest.mark.parametrize(
    "change",
    [
        {"target": "two words"},
        {"target": ""},
        {"base": "a" * 39},
        {"tree": ""},
        {"format": "md5"},
        {"branch": "x"},
        {"branch": "refs/heads/x\ntarget other"},
        {"repository": " a"},
        {"inputs": (("b", "0" * 64), ("a", "0" * 64))},
        {"inputs": (("a", "0"),)},
        {"issued": "yesterday"},
        {"expires": "2026-12-01T17:00:00+01:00"},
        {"nonce": ""},
    ],
)
def test_what_has_no_form_is_not_signed(change: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        sign_receipt(RECEIPT._replace(**change), MINA)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"target approved-diff\n", b""),
        (b"target approved-diff\n", b"target approved-diff\ntarget other\n"),
        (b"indelible/receipt/v1", b"indelible/receipt/v2"),
        (b"format sha1\n", b"format sha1\nmore x\n"),
        (b"nonce", b"input z " + b"0" * 64 + b"\nnonce"),
        (b"parents -", b"parents - -"),
    ],
)
def test_another_spelling_is_no_receipt(before: bytes, after: bytes) -> None:
    note = sign_receipt(RECEIPT, MINA)
    assert before in note
    with pytest.raises((Malformed, BadSignature)):
        open_receipt(note.replace(before, after, 1), verifiers())


def test_an_agents_key_approves_nothing() -> None:
    agent = signer_of("indelible/local/eros")
    with pytest.raises(UsageError, match="not the key of an approver"):
        sign_receipt(RECEIPT, agent)
    from indelible.seal.note import sign_note

    note = sign_note(RECEIPT.format_text(), agent)
    with pytest.raises(BadSignature):
        open_receipt(note, [Verifier(agent.vkey)])


def test_one_byte_more_or_another_key_is_refused() -> None:
    note = bytearray(sign_receipt(RECEIPT, MINA))
    with pytest.raises(BadSignature):
        open_receipt(bytes(note), [Verifier(signer_of("indelible-approver/otto").vkey)])
    for at in range(0, len(note), 7):
        note[at] ^= 1
        with pytest.raises((Malformed, BadSignature)):
            open_receipt(bytes(note), verifiers())
        note[at] ^= 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"base": "1" * 40}, "stood on"),
        ({"base": ""}, "stood on"),
        ({"tree": "1" * 40}, "tree"),
        ({"parents": ("1" * 40,)}, "merged"),
        ({"format": "sha256"}, "stood on"),
    ],
)
def test_another_change_does_not_fit(change: dict[str, object], said: str) -> None:
    assert misfit(RECEIPT, Made()) == ()  # type: ignore[arg-type]
    assert any(said in reason for reason in misfit(RECEIPT, Made(**change)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        ({"now": "2026-12-01T17:00:00Z"}, "expired"),
        ({"now": "2026-11-30T16:54:59Z"}, "went back"),
        ({"branch": ""}, "detached"),
        ({"branch": "refs/heads/y"}, "refs/heads/y"),
        ({"repository": "github.com/Other/repo"}, "Other"),
        ({"inputs": {}}, "slot:30"),
        ({"workflow": "0" * 64}, "workflow"),
        ({"target": "other"}, "target"),
    ],
)
def test_another_place_or_time_does_not_fit(given_: dict[str, object], said: str) -> None:
    good = {
        "now": "2026-11-30T17:00:00Z", "branch": "refs/heads/x", "repository": "github.com/Owner/repo",
        "inputs": dict(RECEIPT.inputs), "workflow": "c" * 64, "target": "approved-diff",
    }  # fmt: skip
    assert misfit(RECEIPT, Made(), **good) == ()  # type: ignore[arg-type]
    assert any(said in reason for reason in misfit(RECEIPT, Made(), **{**good, **given_}))  # type: ignore[arg-type]
