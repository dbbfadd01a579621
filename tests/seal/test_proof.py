"""An entry's proof in a file of its own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.errors import BadSignature, IndelibleError, Malformed, UsageError
from indelible.seal.checkpoint import Checkpoint
from indelible.seal.merkle import ProofError, leaf_hash, prove_inclusion, root_of
from indelible.seal.note import Signer, Verifier, sign_note
from indelible.seal.proof import MAX_PROOF, TlogProof, parse

if TYPE_CHECKING:
    from collections.abc import Callable

BAD = sorted(Path(__file__).parent.joinpath("bad", "proof").iterdir())
EXAMPLE = Path(__file__).parents[1] / "vectors" / "c2sp" / "tlog-proof_elided.txt"

ORIGIN = "example.com/log"
LOG = Signer(ORIGIN, bytes(range(32)))
STRANGER = Signer(ORIGIN, bytes(range(1, 33)))
LEAVES = [leaf_hash(b"%d" % i) for i in range(11)]
HEAD = Checkpoint(ORIGIN, len(LEAVES), root_of(LEAVES))
HASHES = st.binary(min_size=32, max_size=32)


def read(level: int, index: int) -> bytes:
    return root_of(LEAVES[index << level : (index + 1) << level])


def proof_of(index: int, signer: Signer = LOG, extra: bytes | None = None) -> TlogProof:
    hashes = tuple(prove_inclusion(index, len(LEAVES), read))
    return TlogProof(index, hashes, sign_note(HEAD.format(), signer), extra)


NOTE = proof_of(0).checkpoint_note
PROOFS = st.builds(
    TlogProof,
    st.integers(0, 2**63 - 1),
    st.lists(HASHES, max_size=63).map(tuple),
    st.just(NOTE),
    st.none() | st.binary(),
)


@pytest.mark.parametrize("index", range(len(LEAVES)))
@pytest.mark.parametrize("extra", [None, b"", b"a path in a tree of files"])
def test_a_proof_verifies_offline_after_a_trip_through_its_file(index: int, extra: bytes | None) -> None:
    proof = parse(proof_of(index, extra=extra).format())
    assert proof == proof_of(index, extra=extra)
    assert proof.verify(LEAVES[index], [Verifier(LOG.vkey)], ORIGIN) == HEAD


def test_the_file_is_laid_out_as_c2sp_has_it() -> None:
    lines = proof_of(3, extra=b"hello").format().decode().split("\n")
    assert lines[:3] == ["c2sp.org/tlog-proof@v1", "extra aGVsbG8=", "index 3"]
    assert lines[7:9] == ["", ORIGIN]


@given(PROOFS)
def test_parsing_is_the_inverse_of_formatting(proof: TlogProof) -> None:
    assert parse(proof.format()) == proof


@given(st.binary() | PROOFS.map(TlogProof.format))
def test_any_bytes_are_a_proof_or_malformed(data: bytes) -> None:
    try:
        proof = parse(data)
    except Malformed:
        return
    assert proof.format() == data


def test_any_byte_of_a_proof_flipped_is_caught() -> None:
    data = proof_of(6).format()
    for place in range(len(data)):
        for mask in (1, 0x20, 0x80):
            changed = data[:place] + bytes([data[place] ^ mask]) + data[place + 1 :]
            with pytest.raises((Malformed, BadSignature, ProofError)):
                parse(changed).verify(LEAVES[6], [Verifier(LOG.vkey)], ORIGIN)


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_a_bad_proof_is_refused(path: Path) -> None:
    with pytest.raises(Malformed):
        parse(path.read_bytes())


def test_the_example_of_c2sp_is_refused_since_its_signatures_are_left_out() -> None:
    """Its lines are well made; where the document writes `[...]`, a real signature must stand."""
    example = EXAMPLE.read_bytes()
    assert b"[...]" in example
    with pytest.raises(Malformed, match="base64"):
        parse(example)
    head = example[: example.index("— example.com/fancylog".encode())]
    whole = head + NOTE[NOTE.index("—".encode()) :]
    proof = parse(whole)
    assert (proof.index, len(proof.hashes)) == (73894, 5)
    assert proof.format() == whole


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda: proof_of(6, STRANGER).verify(LEAVES[6], [Verifier(LOG.vkey)], ORIGIN), BadSignature),
        (lambda: proof_of(6).verify(LEAVES[6], [], ORIGIN), BadSignature),
        (lambda: proof_of(6).verify(LEAVES[6], [Verifier(LOG.vkey)], "example.com/other"), ProofError),
        (lambda: proof_of(6).verify(LEAVES[5], [Verifier(LOG.vkey)], ORIGIN), ProofError),
        (lambda: proof_of(6).verify(LEAVES[6][:31], [Verifier(LOG.vkey)], ORIGIN), ProofError),
    ],
    ids=["another_key_of_that_name", "no_key_is_trusted", "another_log", "another_entry", "no_leaf_hash"],
)
def test_a_proof_of_something_else_is_refused(change: Callable[[], object], error: type[IndelibleError]) -> None:
    with pytest.raises(error):
        change()


@pytest.mark.parametrize(
    "proof",
    [
        TlogProof(-1, (), NOTE),
        TlogProof(2**63, (), NOTE),
        TlogProof(0, (bytes(31),), NOTE),
        TlogProof(0, (bytes(32),) * 64, NOTE),
        TlogProof(0, (), b""),
        TlogProof(0, (), b"\n" + NOTE),
        TlogProof(0, (), NOTE + b"more\n"),
        TlogProof(0, (), NOTE, b"x" * MAX_PROOF),
        TlogProof(0, (), sign_note(b"no checkpoint\n", LOG)),
        TlogProof(0, [bytes(32)], NOTE),  # type: ignore[arg-type]
    ],
    ids=range(10),
)
def test_a_proof_that_would_not_come_back_is_not_written(proof: TlogProof) -> None:
    with pytest.raises(UsageError):
        proof.format()
