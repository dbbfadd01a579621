"""A private key under a passphrase: what the owner, a reviewer or an approver has.

    {"cipher":"chacha20-poly1305","kdf":"scrypt","n":32768,"name":…,"nonce":…,"p":1,"r":8,
     "salt":…,"sealed":…,"version":1,"vkey":…}

Canonical JSON (RFC 8785) on one line. `sealed` is the skey text, encrypted under
scrypt(passphrase, salt); all other members are its associated data, so that none can
be exchanged. A passphrase is taken in its composed form (NFC), as two keyboards may
type the same letters in two forms.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from indelible.errors import AccessDenied, Malformed, UsageError
from indelible.seal import canonical
from indelible.seal.note import Signer, from_base64, to_base64

_SALT = 16
_NONCE = 12
_FIXED: dict[str, object] = {
    "cipher": "chacha20-poly1305", "kdf": "scrypt", "n": 1 << 15, "p": 1, "r": 8, "version": 1,
}  # fmt: skip
_TEXTS = ("name", "nonce", "salt", "sealed", "vkey")


class SealedKey(NamedTuple):
    """A parsed sealed key. Name and vkey are the file's word until it is opened."""

    name: str
    vkey: str
    salt: bytes
    nonce: bytes
    sealed: bytes

    def format(self) -> str:
        """The text of the file; `parse` is the inverse."""
        return canonical.dumps({**self._header(), "sealed": to_base64(self.sealed)}).decode()

    def open(self, passphrase: str) -> Signer:
        """The key.

        Raises:
            AccessDenied: the passphrase is wrong, or the file was altered.
        """
        context = canonical.dumps(self._header())
        signer = Signer.from_skey(_decrypt(passphrase, self.salt, self.nonce, self.sealed, context).decode())
        if (signer.name, signer.vkey) != (self.name, self.vkey):
            raise AccessDenied(f"The key file of {self.name} holds another key", name=self.name)
        return signer

    def _header(self) -> dict[str, object]:
        values = {"name": self.name, "nonce": to_base64(self.nonce), "salt": to_base64(self.salt), "vkey": self.vkey}
        return {**_FIXED, **values}


def is_sealed(text: str) -> bool:
    """Whether a key file's text is a sealed key rather than a bare one."""
    return text.startswith("{")


def seal(signer: Signer, passphrase: str) -> SealedKey:
    """Put a key under a passphrase.

    Raises:
        UsageError: the passphrase is empty.
    """
    draft = SealedKey(signer.name, signer.vkey, os.urandom(_SALT), os.urandom(_NONCE), b"")
    context = canonical.dumps(draft._header())
    return draft._replace(sealed=_encrypt(passphrase, draft.salt, draft.nonce, signer.skey.encode(), context))


def parse(text: str) -> SealedKey:
    """The exact inverse of `SealedKey.format`.

    Raises:
        UsageError: anything else, or a form that this version does not know.
    """
    value = canonical.loads(text.encode())
    if not isinstance(value, dict) or not isinstance(value.get("version"), int):
        raise UsageError("A sealed key is a JSON object with a version")
    if value["version"] != _FIXED["version"]:
        raise UsageError("A sealed key is of a newer version", remedy="Upgrade indelible")
    if value.keys() != {*_FIXED, *_TEXTS} or any(value[name] != fixed for name, fixed in _FIXED.items()):
        raise UsageError("A sealed key has members that this version does not know", remedy="Upgrade indelible")
    texts = [value[name] for name in _TEXTS]
    try:
        name, nonce, salt, sealed, vkey = texts
        key = SealedKey(str(name), str(vkey), *(from_base64(str(part)) for part in (salt, nonce, sealed)))
    except Malformed as exc:
        raise UsageError("A sealed key is damaged") from exc
    if key.format() != text or (len(key.salt), len(key.nonce)) != (_SALT, _NONCE):
        raise UsageError("A sealed key is damaged")
    return key


def encrypt(passphrase: str, plain: bytes, context: bytes) -> bytes:
    """salt || nonce || ciphertext of `plain`, bound to `context`."""
    salt, nonce = os.urandom(_SALT), os.urandom(_NONCE)
    return salt + nonce + _encrypt(passphrase, salt, nonce, plain, context)


def decrypt(passphrase: str, blob: bytes, context: bytes) -> bytes:
    """The inverse of `encrypt`.

    Raises:
        AccessDenied: the passphrase is wrong, or the bytes were altered.
    """
    salt, nonce, sealed = blob[:_SALT], blob[_SALT : _SALT + _NONCE], blob[_SALT + _NONCE :]
    return _decrypt(passphrase, salt, nonce, sealed, context)


def _encrypt(passphrase: str, salt: bytes, nonce: bytes, plain: bytes, context: bytes) -> bytes:
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    if not passphrase:
        raise UsageError("The passphrase is empty", remedy="Choose one that nobody guesses")
    return ChaCha20Poly1305(_stretched(passphrase, salt)).encrypt(nonce, plain, context)


def _decrypt(passphrase: str, salt: bytes, nonce: bytes, sealed: bytes, context: bytes) -> bytes:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    try:
        return ChaCha20Poly1305(_stretched(passphrase, salt)).decrypt(nonce, sealed, context)
    except (InvalidTag, ValueError) as exc:
        raise AccessDenied("The passphrase is wrong, or what it protects was altered") from exc


def _stretched(passphrase: str, salt: bytes) -> bytes:
    from unicodedata import normalize

    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    try:
        secret = normalize("NFC", passphrase).encode()
    except UnicodeEncodeError as exc:
        raise UsageError("The passphrase is not UTF-8 text") from exc
    return Scrypt(salt=salt, length=32, n=1 << 15, r=8, p=1).derive(secret)
