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
_N, _R, _P = 1 << 15, 8, 1
_FIXED: dict[str, object] = {
    "cipher": "chacha20-poly1305", "kdf": "scrypt", "n": _N, "p": _P, "r": _R, "version": 1,
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
        return canonical.dumps({**self.header(), "sealed": to_base64(self.sealed)}).decode()

    def open(self, passphrase: str) -> Signer:
        """The key.

        Raises:
            AccessDenied: the passphrase is wrong, or the file was altered.
        """
        context = canonical.dumps(self.header())
        signer = Signer.from_skey(_decrypt(passphrase, self.salt, self.nonce, self.sealed, context).decode())
        if (signer.name, signer.vkey) != (self.name, self.vkey):
            raise AccessDenied(f"The key file of {self.name} holds another key", name=self.name)
        return signer

    def header(self) -> dict[str, object]:
        values = {"name": self.name, "nonce": to_base64(self.nonce), "salt": to_base64(self.salt), "vkey": self.vkey}
        return {**_FIXED, **values}


def seal(signer: Signer, passphrase: str) -> SealedKey:
    """Put a key under a passphrase.

    Raises:
        UsageError: the passphrase is empty.
    """
    draft = SealedKey(signer.name, signer.vkey, os.urandom(_SALT), os.urandom(_NONCE), b"")
    context = canonical.dumps(draft.header())
    return draft._replace(sealed=_encrypt(passphrase, draft.salt, draft.nonce, signer.skey.encode(), context))


def parse(text: str) -> SealedKey:
    """The exact inverse of `SealedKey.format`.

    Raises:
        UsageError: anything else, or a form that this version does not know.
    """
    value = canonical.loads(text.encode())
    if not isinstance(value, dict) or value.keys() != {*_FIXED, *_TEXTS}:
        raise UsageError("That is no sealed key of a form known here", remedy="Upgrade indelible")
    if any(value[name] != fixed for name, fixed in _FIXED.items()):
        raise UsageError("The key is sealed in another way than is known here", remedy="Upgrade indelible")
    name, nonce, salt, sealed, vkey = (str(value[member]) for member in _TEXTS)
    try:
        key = SealedKey(name, vkey, *map(from_base64, (salt, nonce, sealed)))
    except Malformed as exc:
        raise UsageError("The sealed key is damaged") from exc
    if key.format() != text or (len(key.salt), len(key.nonce)) != (_SALT, _NONCE):
        raise UsageError("The sealed key is damaged")
    return key


def encrypt(passphrase: str, plain: bytes, context: bytes) -> bytes:
    """Encrypt `plain`, bound to `context`: salt || nonce || ciphertext."""
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
        raise AccessDenied(
            "The passphrase is wrong, or what it protects was altered",
            remedy="Try again; INDELIBLE_PASSPHRASE_FILE names the file that it is read from",
        ) from exc


def _stretched(passphrase: str, salt: bytes) -> bytes:
    from unicodedata import normalize

    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    try:
        secret = normalize("NFC", passphrase).encode()
    except UnicodeEncodeError as exc:
        raise UsageError("The passphrase is not UTF-8 text") from exc
    return Scrypt(salt=salt, length=32, n=_N, r=_R, p=_P).derive(secret)
