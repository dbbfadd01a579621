"""The digest as a value, and the salted commitment."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.errors import UsageError
from indelible.seal.digest import CONTENT_DOMAIN, RECORD_DOMAIN, Digest, commit

HEX = hashlib.sha256(b"hello").hexdigest()
HASHES = st.binary(min_size=32, max_size=32)


def test_a_digest_is_that_of_sha256sum() -> None:
    assert Digest.of(b"hello").hex == HEX
    assert str(Digest.of(b"hello")) == f"sha256:{HEX}"


@given(HASHES)
def test_parsing_is_the_inverse_of_formatting(raw: bytes) -> None:
    digest = Digest(raw)
    assert Digest.parse(str(digest)) == digest
    assert Digest.from_hex(digest.hex).raw == raw


@given(HASHES, HASHES)
def test_digests_are_equal_when_their_bytes_are(one: bytes, two: bytes) -> None:
    assert (Digest(one) == Digest(two)) is (one == two)
    assert (hash(Digest(one)) == hash(Digest(two))) is (hash(one) == hash(two))


@given(HASHES, st.integers(0, 255))
def test_a_flipped_bit_makes_another_digest(raw: bytes, bit: int) -> None:
    flipped = (int.from_bytes(raw, "big") ^ 1 << bit).to_bytes(32, "big")
    assert Digest(raw) != Digest(flipped)


def test_a_digest_never_equals_its_text_or_its_bytes() -> None:
    digest = Digest.of(b"hello")
    assert digest != str(digest)
    assert digest != digest.raw
    assert len({digest, Digest.of(b"hello"), digest.raw}) == 2


def test_a_digest_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Digest.of(b"hello").raw = b""  # type: ignore[misc]


def test_the_repr_of_a_digest_makes_it_again() -> None:
    digest = Digest.of(b"hello")
    assert eval(repr(digest), {"Digest": Digest}) == digest  # noqa: S307 - our own repr


@pytest.mark.parametrize(
    "text",
    [
        "", "sha256:", HEX, f"SHA256:{HEX}", f"sha256:{HEX.upper()}", f"sha256:{HEX[:-1]}", f"sha256:{HEX}0",
        f"sha256:{HEX}\n", f" sha256:{HEX}", f"sha512:{HEX}", f"sha256:{HEX[:-1]}g", f"sha256:{HEX[:-2]} 0",
        f"sha256:{HEX[:-1]}٣", f"sha256:+{HEX[1:]}", f"sha256:0x{HEX[2:]}",
    ],
)  # fmt: skip
def test_another_spelling_of_a_digest_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        Digest.parse(text)


@pytest.mark.parametrize("size", [0, 20, 31, 33, 64])
def test_another_length_is_no_digest(size: int) -> None:
    with pytest.raises(UsageError):
        Digest(bytes(size))


def test_a_commitment_is_the_hash_of_domain_salt_and_data() -> None:
    salt = bytes(range(32))
    expected = hashlib.sha256(b"indelible/content/v1\n" + salt + b"hello").digest()
    assert commit(CONTENT_DOMAIN, salt, b"hello") == expected


def test_a_commitment_of_one_domain_is_not_one_of_another() -> None:
    assert commit(CONTENT_DOMAIN, bytes(32), b"hello") != commit(RECORD_DOMAIN, bytes(32), b"hello")


@pytest.mark.parametrize("size", [0, 31, 33])
def test_a_salt_of_another_length_is_refused(size: int) -> None:
    with pytest.raises(UsageError, match="salt"):
        commit(CONTENT_DOMAIN, bytes(size), b"hello")
