"""Signed notes: text with signatures under it (c2sp.org/signed-note), Ed25519 only.

    <text, one or more lines>
    <blank line>
    — <key name> <base64(key id || signature)>

    vkey   <name>+<key id, 8 hex>+<base64(0x01 || public key)>
    skey   PRIVATE+KEY+<name>+<key id, 8 hex>+<base64(0x01 || seed)>
    key id SHA-256(name || 0x0A || 0x01 || public key)[:4]

The text of a note means nothing until `open_note` has verified it. Parsers are
the exact inverse of the formatters. `cryptography` is imported at the first
signature made or checked, since parsing and a pinned read need none.
"""

from __future__ import annotations

import os
from binascii import Error as Base64Error
from binascii import a2b_base64, b2a_base64
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import BadSignature, Malformed, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

MAX_SIGNATURES = 64
MAX_NOTE = 1_000_000

_ED25519 = b"\x01"
_KEY_BYTES = 32
_ID_BYTES = 4
_DASH = "— "
_PRIVATE = "PRIVATE+KEY+"
_CONTROLS = bytes(byte for byte in range(0x20) if byte != ord("\n"))


class Signature(NamedTuple):
    """One signature line, not yet verified."""

    name: str
    key_id: int
    blob: bytes
    """What follows the key id: for Ed25519, 64 bytes."""

    def format(self) -> str:
        """The line, without its newline."""
        return f"{_DASH}{self.name} {to_base64(self.key_id.to_bytes(_ID_BYTES, 'big') + self.blob)}"


class Note(NamedTuple):
    """A parsed note. Not verified: see `open_note`."""

    text: bytes
    """With its last newline, without the blank line."""
    signatures: tuple[Signature, ...]

    def format(self) -> bytes:
        """The note as it is kept and sent; `parse_note` is the inverse."""
        lines = "".join(f"{signature.format()}\n" for signature in self.signatures)
        return self.text + b"\n" + lines.encode()


class Verifier:
    """A public key and its name, from a vkey."""

    __slots__ = ("_key", "key_id", "name", "public", "vkey")

    def __init__(self, vkey: str) -> None:
        name, key_id, material = _split_key(vkey, "A verifier key (vkey)")
        self.name, self.key_id, self.public, self.vkey = name, key_id, material, vkey
        self._key: Ed25519PublicKey | None = None
        if key_id != _key_id(name, material):
            raise UsageError("A verifier key (vkey) has a key id that is not its own", name=name)

    def __repr__(self) -> str:
        return f"Verifier({self.vkey!r})"

    def verify_raw(self, message: bytes, signature: bytes) -> bool:
        """Whether these 64 bytes are this key's signature over exactly these bytes."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        if self._key is None:
            self._key = Ed25519PublicKey.from_public_bytes(self.public)
        try:
            self._key.verify(signature, message)
        except InvalidSignature:
            return False
        return True

    def verify(self, text: bytes, signature: Signature) -> None:
        """Check a signature line under `text`.

        Raises:
            BadSignature: it is another key's, or it does not verify.
        """
        same_key = (signature.name, signature.key_id) == (self.name, self.key_id)
        if not same_key or not self.verify_raw(text, signature.blob):
            raise BadSignature(f"The signature of {self.name} does not verify", name=self.name)


class Signer:
    """A private key and its name. Its repr holds no secret."""

    __slots__ = ("_declared_id", "_key", "_key_id", "_public", "_seed", "name")

    def __init__(self, name: str, seed: bytes) -> None:
        _require_name(name)
        if len(seed) != _KEY_BYTES:
            raise UsageError(f"An Ed25519 seed has {_KEY_BYTES} bytes, not {len(seed)}")
        self.name = name
        self._seed = bytes(seed)
        self._declared_id: int | None = None
        self._key: Ed25519PrivateKey | None = None
        self._public = b""
        self._key_id = 0

    @classmethod
    def generate(cls, name: str) -> Signer:
        """A new key from the system's randomness."""
        return cls(name, os.urandom(_KEY_BYTES))

    @classmethod
    def from_skey(cls, skey: str) -> Signer:
        """The exact inverse of `skey`. That the key id is its own is checked at the first use."""
        if not skey.startswith(_PRIVATE):
            raise UsageError("A signer key begins with 'PRIVATE+KEY+'")
        name, key_id, seed = _split_key(skey.removeprefix(_PRIVATE), "A signer key")
        signer = cls(name, seed)
        signer._declared_id = key_id
        return signer

    def __repr__(self) -> str:
        return f"Signer(name={self.name!r})"

    @property
    def key_id(self) -> int:
        """The first four bytes of the hash over name and public key."""
        self._load()
        return self._key_id

    @property
    def public(self) -> bytes:
        """The 32 bytes of the public key."""
        self._load()
        return self._public

    @property
    def vkey(self) -> str:
        """The verifier key to give to others."""
        return f"{self.name}+{self.key_id:08x}+{to_base64(_ED25519 + self.public)}"

    @property
    def skey(self) -> str:
        """The secret, in the text form of Go's x/mod/sumdb/note."""
        return f"{_PRIVATE}{self.name}+{self.key_id:08x}+{to_base64(_ED25519 + self._seed)}"

    def sign_raw(self, message: bytes) -> bytes:
        """The 64 bytes of an Ed25519 signature over exactly these bytes."""
        return self._load().sign(message)

    def sign(self, text: bytes) -> bytes:
        """The signature line under `text`, with its newline."""
        return f"{self.signature(text).format()}\n".encode()

    def signature(self, text: bytes) -> Signature:
        """The signature under `text` as a value."""
        return Signature(self.name, self.key_id, self.sign_raw(text))

    def _load(self) -> Ed25519PrivateKey:
        if self._key is None:
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

            key = Ed25519PrivateKey.from_private_bytes(self._seed)
            public = key.public_key().public_bytes_raw()
            key_id = _key_id(self.name, public)
            if self._declared_id not in (None, key_id):
                raise UsageError("A signer key has a key id that is not its own", name=self.name)
            self._key, self._public, self._key_id = key, public, key_id
        return self._key


def sign_note(text: bytes, *signers: Signer) -> bytes:
    """The note of `text` under the signatures of all `signers`.

    Raises:
        UsageError: no signer, or a text that no parser would give back.
    """
    if not (signers and text.endswith(b"\n") and _is_text(text)):
        raise UsageError("A note is UTF-8 text without control characters that ends in a newline, and has a signer")
    return Note(text, tuple(signer.signature(text) for signer in signers)).format()


def parse_note(data: bytes) -> Note:
    """The exact inverse of `Note.format`; verifies nothing.

    Raises:
        Malformed: anything but a note of at most 1 MB with 1 to 64 signatures.
    """
    if len(data) > MAX_NOTE:
        raise Malformed(f"A signed note is longer than {MAX_NOTE} bytes")
    # The last blank line divides, since the text may have blank lines of its own.
    blank = data.rfind(b"\n\n")
    if blank < 0 or not data.endswith(b"\n") or not _is_text(data):
        raise Malformed("A signed note is not text, a blank line and signature lines")
    lines = data[blank + 2 : -1].decode().split("\n")
    if len(lines) > MAX_SIGNATURES:
        raise Malformed(f"A signed note has more than {MAX_SIGNATURES} signatures")
    return Note(data[: blank + 1], tuple(map(_parse_signature, lines)))


def open_note(data: bytes, verifiers: Iterable[Verifier]) -> tuple[Note, tuple[Signature, ...]]:
    """Parse a note and verify it; unknown keys are ignored, as the format demands.

    Returns:
        The note, and the signatures that verified, one for each key.

    Raises:
        Malformed: it does not parse.
        BadSignature: a known key's signature fails, or no known key signed.
    """
    note = parse_note(data)
    known = {(verifier.name, verifier.key_id): verifier for verifier in verifiers}
    verified: dict[tuple[str, int], Signature] = {}
    for signature in note.signatures:
        identity = (signature.name, signature.key_id)
        if identity in known:
            known[identity].verify(note.text, signature)
            verified.setdefault(identity, signature)
    if not verified:
        signed_by = ", ".join(signature.name for signature in note.signatures)
        raise BadSignature("A signed note bears no signature of a key trusted for it", signed_by=signed_by)
    return note, tuple(verified.values())


def pae(payload_type: str, body: bytes) -> bytes:
    """The pre-authentication encoding of DSSE v1: what is signed when it is not a note."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(body), body)


def to_base64(raw: bytes) -> str:
    """Standard base64 (RFC 4648, section 4) with its padding."""
    return b2a_base64(raw, newline=False).decode("ascii")


def from_base64(text: str) -> bytes:
    """The exact inverse of `to_base64`: no spaces, no spare bits, no missing padding.

    Raises:
        Malformed: another spelling, even one of the same bytes.
    """
    try:
        raw = a2b_base64(text)
    except (Base64Error, ValueError) as exc:
        raise Malformed("A value is not standard base64") from exc
    if to_base64(raw) != text:
        raise Malformed("A value is base64 in a spelling that is not the standard one")
    return raw


def _parse_signature(line: str) -> Signature:
    name, space, encoded = line.removeprefix(_DASH).partition(" ")
    if not (line.startswith(_DASH) and space and _is_name(name)):
        raise Malformed("A signed note has a line among its signatures that is none")
    raw = from_base64(encoded)
    if len(raw) <= _ID_BYTES:
        raise Malformed("A signed note has a signature without bytes", name=name)
    return Signature(name, int.from_bytes(raw[:_ID_BYTES], "big"), raw[_ID_BYTES:])


def _split_key(text: str, what: str) -> tuple[str, int, bytes]:
    """Name, key id and the 32 bytes of a key that is written as `name+id+base64`."""
    name, _, rest = text.partition("+")
    hex_id, _, encoded = rest.partition("+")
    _require_name(name)
    try:
        material, key_id = from_base64(encoded), int(hex_id, 16)
    except (Malformed, ValueError) as exc:
        raise UsageError(f"{what} is 'name+id+base64'; this one is damaged", name=name) from exc
    if f"{key_id:08x}" != hex_id:
        raise UsageError(f"{what} has a key id that is not 8 lower-case hex digits", name=name)
    if material[:1] != _ED25519 or len(material) != 1 + _KEY_BYTES:
        raise UsageError(f"{what} is not of the Ed25519 kind (0x01 and 32 bytes)", name=name)
    return name, key_id, material[1:]


def _key_id(name: str, public: bytes) -> int:
    return int.from_bytes(sha256(name.encode() + b"\n" + _ED25519 + public).digest()[:_ID_BYTES], "big")


def _is_name(name: str) -> bool:
    return name.split() == [name] and "+" not in name and _is_text(name.encode())


def _require_name(name: str) -> None:
    try:
        good = _is_name(name)
    except UnicodeEncodeError:
        good = False
    if not good:
        raise UsageError("A key's name has at least one character, and no space, '+' or control character")


def _is_text(data: bytes) -> bool:
    """Whether this is UTF-8 without control characters other than newline."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return len(data.translate(None, _CONTROLS)) == len(data)
