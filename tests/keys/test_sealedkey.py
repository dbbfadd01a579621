"""Keys under a passphrase: opened by it alone, and by none if a byte of the file was changed."""

from __future__ import annotations

import json
from functools import lru_cache
from unicodedata import normalize

import pytest

from indelible.errors import AccessDenied, UsageError
from indelible.keys import sealedkey
from indelible.seal.note import Signer

PHRASE = "열려라 참깨"


@lru_cache(maxsize=1)
def sealed() -> tuple[Signer, sealedkey.SealedKey]:
    signer = Signer("indelible-owner/mina", bytes(range(32)))
    return signer, sealedkey.seal(signer, PHRASE)


def test_the_passphrase_opens_the_key() -> None:
    signer, key = sealed()
    assert key.open(PHRASE).skey == signer.skey


def test_the_same_passphrase_typed_on_another_keyboard_opens_it_too() -> None:
    assert sealed()[1].open(normalize("NFD", PHRASE)).name == "indelible-owner/mina"


@pytest.mark.parametrize("phrase", ["열려라 참깨 ", "", "\ud800"])
def test_another_passphrase_does_not(phrase: str) -> None:
    with pytest.raises((AccessDenied, UsageError)) as caught:
        sealed()[1].open(phrase)
    assert caught.value.exit_code in (1, 64)


def test_an_empty_passphrase_protects_nothing_and_is_refused() -> None:
    with pytest.raises(UsageError, match="empty"):
        sealedkey.seal(sealed()[0], "")


def test_the_text_has_one_spelling_and_does_not_show_the_key() -> None:
    signer, key = sealed()
    text = key.format()
    assert sealedkey.parse(text) == key
    assert "\n" not in text
    assert signer.skey.rpartition("+")[2] not in text
    for other in (f" {text}", text.replace(",", ", "), text.replace('"p":1', '"p":1.0')):
        with pytest.raises(UsageError):
            sealedkey.parse(other)


@pytest.mark.parametrize("member", ["name", "vkey", "salt", "nonce", "sealed"])
def test_no_member_can_be_exchanged(member: str) -> None:
    other = sealedkey.seal(Signer("indelible-owner/other", bytes(32)), PHRASE)
    with pytest.raises(AccessDenied):
        sealed()[1]._replace(**{member: getattr(other, member)}).open(PHRASE)


@pytest.mark.parametrize("change", [
    {"n": 1 << 30}, {"version": 2}, {"kdf": "none"}, {"extra": 1}, {"salt": "AA=="}, {"nonce": "!"}, {"sealed": 5}, {"name": None},
])  # fmt: skip
def test_a_form_that_is_not_ours_is_refused_before_any_work_is_done(change: dict[str, object]) -> None:
    text = json.dumps({**json.loads(sealed()[1].format()), **change}, sort_keys=True, separators=(",", ":"))
    with pytest.raises(UsageError):
        sealedkey.parse(text)


@pytest.mark.parametrize("text", ["{", "{}", "[]", '{"version":1}', "null"])
def test_anything_else_is_no_sealed_key(text: str) -> None:
    with pytest.raises(UsageError):
        sealedkey.parse(text)
