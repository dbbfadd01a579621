"""The tree of RFC 6962 against its definition, and against the vectors of transparency-dev/merkle."""

from __future__ import annotations

import json
from base64 import b64decode
from functools import cache
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.errors import Malformed, UsageError
from indelible.seal.merkle import (
    EMPTY_FRONTIER,
    EMPTY_ROOT,
    Frontier,
    ProofError,
    leaf_hash,
    node_hash,
    prove_consistency,
    prove_inclusion,
    root_of,
    verify_consistency,
    verify_inclusion,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

VECTORS = Path(__file__).parents[1] / "vectors" / "merkle"
INCLUSION = json.loads(VECTORS.joinpath("inclusion.json").read_bytes())
CONSISTENCY = json.loads(VECTORS.joinpath("consistency.json").read_bytes())
TREE = json.loads(VECTORS.joinpath("tree.json").read_bytes())

LARGEST = 70
LEAVES = [leaf_hash(b"%d" % i) for i in range(LARGEST)]
SIZES = st.integers(1, LARGEST)
HASHES = st.binary(min_size=32, max_size=32)


def split(width: int) -> int:
    """The largest power of two below `width`, counted out."""
    power = 1
    while power * 2 < width:
        power *= 2
    return power


@cache
def naive_root(low: int, high: int) -> bytes:
    """MTH of RFC 6962, 2.1, word for word."""
    if high - low == 0:
        return sha256(b"").digest()
    if high - low == 1:
        return LEAVES[low]
    middle = low + split(high - low)
    return sha256(b"\x01" + naive_root(low, middle) + naive_root(middle, high)).digest()


def naive_path(index: int, low: int, high: int) -> list[bytes]:
    """PATH of RFC 6962, 2.1.1."""
    if high - low == 1:
        return []
    middle = low + split(high - low)
    if index < middle:
        return [*naive_path(index, low, middle), naive_root(middle, high)]
    return [*naive_path(index, middle, high), naive_root(low, middle)]


def naive_proof(size: int, low: int, high: int, *, whole: bool) -> list[bytes]:
    """SUBPROOF of RFC 6962, 2.1.2."""
    if size == high:
        return [] if whole else [naive_root(low, high)]
    middle = low + split(high - low)
    if size <= middle:
        return [*naive_proof(size, low, middle, whole=whole), naive_root(middle, high)]
    return [*naive_proof(size, middle, high, whole=False), naive_root(low, middle)]


def reader(size: int) -> Callable[[int, int], bytes]:
    """The stored hashes of a tree of `size` leaves: complete subtrees, and nothing past its end."""

    def read(level: int, index: int) -> bytes:
        low, high = index << level, (index + 1) << level
        assert 0 <= low < high <= size, f"subtree {index} of level {level} is not in a tree of {size}"
        return naive_root(low, high)

    return read


def raw(values: Sequence[str] | None) -> list[bytes]:
    return [b64decode(value) for value in values or ()]


def flipped(data: bytes, bit: int) -> bytes:
    return (int.from_bytes(data, "big") ^ 1 << bit).to_bytes(len(data), "big")


@pytest.mark.parametrize("case", INCLUSION.values(), ids=INCLUSION)
def test_transparency_dev_inclusion(case: dict[str, Any]) -> None:
    leaf, root = b64decode(case["leafHash"] or ""), b64decode(case["root"] or "")
    arguments = leaf, case["leafIdx"], case["treeSize"], raw(case["proof"]), root
    if case["wantErr"]:
        with pytest.raises(ProofError):
            verify_inclusion(*arguments)
    else:
        verify_inclusion(*arguments)


@pytest.mark.parametrize("case", CONSISTENCY.values(), ids=CONSISTENCY)
def test_transparency_dev_consistency(case: dict[str, Any]) -> None:
    roots = b64decode(case["root1"] or ""), b64decode(case["root2"] or "")
    if case["wantErr"]:
        with pytest.raises(ProofError):
            verify_consistency(case["size1"], case["size2"], raw(case["proof"]), *roots)
    else:
        verify_consistency(case["size1"], case["size2"], raw(case["proof"]), *roots)


def test_all_196_vectors_are_there() -> None:
    assert (len(INCLUSION), len(CONSISTENCY)) == (98, 98)


def test_the_hashes_of_the_tree_that_certificate_transparency_publishes() -> None:
    leaves = [leaf_hash(bytes.fromhex(data)) for data in TREE["leaf_inputs"]]
    level = leaves
    for expected in TREE["node_hashes"]:
        assert [node.hex() for node in level] == expected
        level = [node_hash(*level[i : i + 2]) for i in range(0, len(level), 2)] if len(level) > 1 else []
    assert [root_of(leaves[:size]).hex() for size in range(len(leaves) + 1)] == TREE["root_hashes"]


def test_a_leaf_never_hashes_as_a_node() -> None:
    left, right = LEAVES[:2]
    assert leaf_hash(left + right) != node_hash(left, right)


@pytest.mark.parametrize("size", range(LARGEST + 1))
def test_root_and_frontier_are_those_of_the_definition(size: int) -> None:
    frontier = EMPTY_FRONTIER.extend(LEAVES[:size])
    assert frontier.root() == root_of(LEAVES[:size]) == naive_root(0, size)
    assert frontier.size == size
    assert len(frontier.hashes) == size.bit_count()


def test_the_root_of_nothing_is_the_hash_of_nothing() -> None:
    assert EMPTY_FRONTIER.root() == root_of([]) == EMPTY_ROOT == sha256(b"").digest()


@given(st.lists(st.integers(0, LARGEST), max_size=8))
def test_a_frontier_extended_in_parts_is_that_of_the_whole(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), LARGEST]
    frontier = EMPTY_FRONTIER
    for low, high in pairwise(edges):
        frontier = frontier.extend(iter(LEAVES[low:high]))
        assert frontier == EMPTY_FRONTIER.extend(LEAVES[:high])
    assert frontier.root() == naive_root(0, LARGEST)


@given(SIZES)
def test_appending_one_by_one_is_extending(size: int) -> None:
    frontier = EMPTY_FRONTIER
    for leaf in LEAVES[:size]:
        frontier = frontier.append(leaf)
    assert frontier == EMPTY_FRONTIER.extend(LEAVES[:size])


def test_extending_leaves_the_old_frontier_as_it_was() -> None:
    before = EMPTY_FRONTIER.extend(LEAVES[:7])
    hashes = before.hashes
    before.extend(LEAVES[7:20])
    before.append(LEAVES[7])
    assert before == Frontier(7, hashes)


@given(st.integers(0, 2**64 - 1), st.randoms(use_true_random=False))
def test_a_frontier_is_read_as_it_was_written(size: int, random: Any) -> None:
    frontier = Frontier(size, tuple(random.randbytes(32) for _ in range(size.bit_count())))
    assert Frontier.from_bytes(frontier.to_bytes()) == frontier


@pytest.mark.parametrize(
    "data",
    [b"", b"\0" * 7, b"\0" * 9, b"\0" * 7 + b"\1", b"\0" * 7 + b"\1" + b"x" * 31, b"\0" * 7 + b"\1" + b"x" * 33,
     b"\0" * 7 + b"\3" + b"x" * 32, b"\0" * 8 + b"x" * 32],
)  # fmt: skip
def test_a_frontier_of_another_length_is_refused(data: bytes) -> None:
    with pytest.raises(Malformed):
        Frontier.from_bytes(data)


@pytest.mark.parametrize("size", range(1, LARGEST + 1))
def test_every_leaf_of_every_size_is_proved_as_the_definition_says(size: int) -> None:
    for index in range(size):
        proof = prove_inclusion(index, size, reader(size))
        assert proof == naive_path(index, 0, size)
        verify_inclusion(LEAVES[index], index, size, proof, naive_root(0, size))


@pytest.mark.parametrize("size2", range(1, LARGEST + 1))
def test_every_two_sizes_are_proved_consistent_as_the_definition_says(size2: int) -> None:
    for size1 in range(1, size2 + 1):
        proof = prove_consistency(size1, size2, reader(size2))
        assert proof == naive_proof(size1, 0, size2, whole=True)
        verify_consistency(size1, size2, proof, naive_root(0, size1), naive_root(0, size2))


@given(SIZES, st.data())
def test_an_inclusion_proof_with_any_bit_flipped_is_refused(size: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, size - 1))
    parts = [LEAVES[index], *naive_path(index, 0, size), naive_root(0, size)]
    place = data.draw(st.integers(0, len(parts) - 1))
    parts[place] = flipped(parts[place], data.draw(st.integers(0, 255)))
    leaf, *proof, root = parts
    with pytest.raises(ProofError):
        verify_inclusion(leaf, index, size, proof, root)


@given(SIZES, st.data())
def test_a_consistency_proof_with_any_bit_flipped_is_refused(size2: int, data: st.DataObject) -> None:
    size1 = data.draw(st.integers(1, size2))
    parts = [naive_root(0, size1), *naive_proof(size1, 0, size2, whole=True), naive_root(0, size2)]
    place = data.draw(st.integers(0, len(parts) - 1))
    parts[place] = flipped(parts[place], data.draw(st.integers(0, 255)))
    root1, *proof, root2 = parts
    with pytest.raises(ProofError):
        verify_consistency(size1, size2, proof, root1, root2)


@given(SIZES, st.data())
def test_a_proof_with_a_hash_more_or_less_is_refused(size: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, size - 1))
    proof = naive_path(index, 0, size)
    place = data.draw(st.integers(0, len(proof)))
    changed = [*proof[:place], data.draw(HASHES), *proof[place:]]
    if place < len(proof) and data.draw(st.booleans()):
        changed = proof[:place] + proof[place + 1 :]
    with pytest.raises(ProofError):
        verify_inclusion(LEAVES[index], index, size, changed, naive_root(0, size))


def test_a_proof_of_the_wrong_length_is_called_that() -> None:
    path, root, more = naive_path(2, 0, 5), naive_root(0, 5), bytes(32)
    with pytest.raises(ProofError, match="too long"):
        verify_inclusion(LEAVES[2], 2, 5, [*path, more], root)
    with pytest.raises(ProofError, match="too short"):
        verify_inclusion(LEAVES[2], 2, 5, path[:-1], root)
    proof = naive_proof(3, 0, 5, whole=True)
    with pytest.raises(ProofError, match="too long"):
        verify_consistency(3, 5, [*proof, more], naive_root(0, 3), root)
    with pytest.raises(ProofError, match="too short"):
        verify_consistency(3, 5, proof[:-1], naive_root(0, 3), root)


@given(SIZES, st.data())
def test_a_proof_of_one_leaf_is_none_of_another_place(size: int, data: st.DataObject) -> None:
    index, other = data.draw(st.integers(0, size - 1)), data.draw(st.integers(-2, LARGEST))
    proof, root = naive_path(index, 0, size), naive_root(0, size)
    if other != index:
        with pytest.raises(ProofError):
            verify_inclusion(LEAVES[index], other, size, proof, root)


@given(st.integers(1, LARGEST - 1), st.data())
def test_no_proof_makes_a_longer_log_of_a_shorter_one(size2: int, data: st.DataObject) -> None:
    size1 = data.draw(st.integers(size2 + 1, LARGEST))
    with pytest.raises(ProofError):
        verify_consistency(size1, size2, data.draw(st.lists(HASHES)), naive_root(0, size1), naive_root(0, size2))


@given(st.integers(0, LARGEST), st.lists(HASHES), st.sampled_from([EMPTY_ROOT, LEAVES[0]]))
def test_consistency_from_size_0_is_an_error_whatever_is_given(size: int, proof: list[bytes], root1: bytes) -> None:
    with pytest.raises(ProofError):
        verify_consistency(0, size, proof, root1, naive_root(0, size))
    with pytest.raises(UsageError):
        prove_consistency(0, size, reader(size))


@pytest.mark.parametrize("sizes", [(0, 0), (0, 5), (6, 5), (-1, 5), (5, -1), (5, 0)])
def test_sizes_that_prove_nothing_are_refused_by_prover_and_verifier(sizes: tuple[int, int]) -> None:
    with pytest.raises(UsageError):
        prove_consistency(*sizes, reader(LARGEST))
    with pytest.raises(ProofError):
        verify_consistency(*sizes, [], LEAVES[0], LEAVES[0])


@pytest.mark.parametrize(("index", "size"), [(0, 0), (5, 5), (6, 5), (-1, 5), (0, -1)])
def test_a_leaf_outside_the_log_is_refused_by_prover_and_verifier(index: int, size: int) -> None:
    with pytest.raises(UsageError):
        prove_inclusion(index, size, reader(LARGEST))
    with pytest.raises(ProofError):
        verify_inclusion(LEAVES[0], index, size, [], LEAVES[0])


@pytest.mark.parametrize("size", [0, 31, 33, 64])
def test_a_hash_of_another_length_is_refused_wherever_it_stands(size: int) -> None:
    proof, root, wrong = naive_path(2, 0, 5), naive_root(0, 5), bytes(size)
    for arguments in ((wrong, proof, root), (LEAVES[2], proof, wrong), (LEAVES[2], [*proof[:-1], wrong], root)):
        with pytest.raises(ProofError, match="32 bytes"):
            verify_inclusion(arguments[0], 2, 5, arguments[1], arguments[2])
    with pytest.raises(ProofError, match="32 bytes"):
        verify_consistency(5, 6, [LEAVES[5], wrong], naive_root(0, 5), naive_root(0, 6))
    with pytest.raises(ProofError, match="32 bytes"):
        verify_consistency(5, 6, [LEAVES[5]], wrong, naive_root(0, 6))


def test_a_log_as_large_as_can_be_is_answered_at_once() -> None:
    size, proof = 2**63 - 1, [bytes(32)] * 63
    with pytest.raises(ProofError):
        verify_inclusion(bytes(32), size - 1, size, proof, bytes(32))
    with pytest.raises(ProofError):
        verify_consistency(2**62, size, proof, bytes(32), bytes(32))
    assert len(prove_inclusion(0, size, lambda _level, _index: bytes(32))) == 63
