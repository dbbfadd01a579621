"""Proofs are checked by somebody who has never seen this program: with hashlib and an Ed25519 verifier alone."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import TYPE_CHECKING

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from indelible.errors import IndelibleError, NotFoundError
from indelible.memory.proving import consistency
from indelible.seal import merkle
from indelible.seal.note import Verifier
from indelible.seal.proof import parse

if TYPE_CHECKING:
    from tests.support import Bench

    from indelible.memory import Memory


def stranger_verifies(leaf: bytes, proof: bytes, vkey: str) -> dict[str, object]:
    """C2SP tlog-proof, tlog-checkpoint and signed-note by the letter, sharing no line with the product."""
    head, _, note = proof.decode().partition("\n\n")
    lines = head.split("\n")
    assert lines[0] == "c2sp.org/tlog-proof@v1"
    index = int(next(line for line in lines if line.startswith("index ")).removeprefix("index "))
    path = [base64.b64decode(line) for line in lines[lines.index(f"index {index}") + 1 :]]
    text, _, signatures = note.partition("\n\n")
    name, key_id, key = vkey.split("+", 2)
    signature = next(line.split(" ")[2] for line in signatures.split("\n") if line.startswith(f"— {name} "))
    blob = base64.b64decode(signature)
    assert blob[:4].hex() == key_id
    Ed25519PublicKey.from_public_bytes(base64.b64decode(key)[1:]).verify(blob[4:], f"{text}\n".encode())
    origin, size, root = text.split("\n")[:3]
    assert origin == name
    node, last, result = index, int(size) - 1, hashlib.sha256(b"\0" + leaf).digest()
    for other in path:
        assert last > 0
        if node % 2 or node == last:
            result = hashlib.sha256(b"\1" + other + result).digest()
            while node % 2 == 0 and node:
                node, last = node >> 1, last >> 1
        else:
            result = hashlib.sha256(b"\1" + result + other).digest()
        node, last = node >> 1, last >> 1
    assert last == 0
    assert base64.b64decode(root) == result
    body, kind = leaf[:-64], b"application/vnd.indelible.entry.v1+json"
    Ed25519PublicKey.from_public_bytes(base64.b64decode(key)[1:]).verify(
        leaf[-64:], b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(body), body)
    )
    entry: dict[str, object] = json.loads(body)
    return entry


def stranger_opens(content: bytes, salt: bytes, body: bytes, entry: dict[str, object]) -> bool:
    """Both commitments, by the letter of the format."""
    return (
        hashlib.sha256(b"indelible/content/v1\n" + salt + content).hexdigest() == entry["content"]
        and hashlib.sha256(b"indelible/record/v1\n" + salt + body).hexdigest() == entry["record"]
    )


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 9, 255, 256, 257, 300, 513])
def test_a_stranger_verifies_every_kind_of_place_in_the_log(bench: Bench, memory: Memory, size: int) -> None:
    for number in range(size):
        memory.save(f"k{number}", b"content %d" % number)
    for number in {0, 1, size // 2, 255, 256, size - 2, size - 1} & set(range(size)):
        leaf, proof = memory.proof(f"k{number}")
        entry = stranger_verifies(leaf, proof.format(), bench.signer.vkey)
        assert (entry["key"], entry["seq"], entry["version"]) == (f"k{number}", number, 1)
        loaded = memory.load(f"k{number}")
        assert stranger_opens(loaded.content, loaded.salt, loaded.body, entry)
        assert not stranger_opens(loaded.content + b" ", loaded.salt, loaded.body, entry)
        parse(proof.format()).verify(merkle.leaf_hash(leaf), (Verifier(bench.signer.vkey),), bench.origin)


def test_a_proof_says_nothing_for_another_leaf_key_or_size(bench: Bench, memory: Memory) -> None:
    for number in range(6):
        memory.save(f"k{number}", b"x")
    leaf, proof = memory.proof("k3")
    other, _ = memory.proof("k4")
    verifiers = (Verifier(bench.signer.vkey),)
    with pytest.raises(IndelibleError):
        proof.verify(merkle.leaf_hash(other), verifiers, bench.origin)
    with pytest.raises(IndelibleError):
        proof.verify(merkle.leaf_hash(leaf), verifiers, "indelible/local/other")
    with pytest.raises((AssertionError, InvalidSignature)):
        stranger_verifies(other, proof.format(), bench.signer.vkey)
    with pytest.raises((AssertionError, InvalidSignature)):
        stranger_verifies(leaf, proof.format().replace(b"index 3", b"index 2"), bench.signer.vkey)


def test_an_older_version_has_a_proof_of_its_own(bench: Bench, memory: Memory) -> None:
    for content in (b"one", b"two", b"three"):
        memory.save("k", content)
    memory.archive("k")
    for version in (1, 2, 3):
        leaf, proof = memory.proof("k", version)
        assert stranger_verifies(leaf, proof.format(), bench.signer.vkey)["version"] == version
    leaf, proof = memory.proof("k")
    assert stranger_verifies(leaf, proof.format(), bench.signer.vkey)["version"] == 3
    with pytest.raises(NotFoundError):
        memory.proof("k", 4)


def test_a_head_is_a_consistent_continuation_of_every_one_before(memory: Memory) -> None:
    roots = {}
    for number in range(270):
        memory.save(f"k{number}", b"x")
        with memory.following() as (_, _, head):
            roots[head.size] = head.root
    with memory.following() as (_, reading, head):
        for old in (1, 2, 3, 4, 127, 128, 255, 256, 257, 269, 270):
            proof = consistency(memory.store, memory.agent, reading, old, head.size)
            merkle.verify_consistency(old, head.size, proof, roots[old], head.root)
        with pytest.raises(IndelibleError):
            consistency(memory.store, memory.agent, reading, 0, head.size)
