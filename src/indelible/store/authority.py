"""Who may sign what in one agent's log, as far as it has been folded: the key in force, those before it, servers, the owner.

    entries about memories   the agent's key in force, or a server that attests
    reviewed                 these, or a reviewer; one by a key that nobody knows is passed over, and counts for nothing
    amended                  the owner; one by any other key is passed over likewise
    key-rotated              the key in force, or the owner
    key-revoked, restored    the owner
    the head                 the key in force, or a server that attests

Until a head or a rotation has shown which key is in force, every key that the reader names for the agent may be it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from indelible.entry import PAYLOAD_TYPE, WORDS, Entry, Governed, Judged
from indelible.errors import BadSignature, Forked, Malformed, Unchecked, UsageError
from indelible.seal.note import Verifier, open_note, pae, parse_note

if TYPE_CHECKING:
    from indelible.seal.checkpoint import Checkpoint
    from indelible.store.pintable import Pin


ROOT = 64
"""Hex digits of a root."""


def check_keys(pin: Pin) -> None:
    """Raise unless the keys that a pin names can be read.

    Raises:
        ValueError, UsageError, Malformed: they cannot.
    """
    _parse_revoked(pin.revoked)
    for vkey in f"{pin.signer} {pin.former}".split():
        Verifier(vkey)


class Trust(Protocol):
    """Whose signatures count, looked up by the reader; asked only when there is something new."""

    origin: str

    def agent_keys(self) -> tuple[Verifier, ...]: ...
    def server_keys(self) -> tuple[Verifier, ...]: ...
    def owner_keys(self) -> tuple[Verifier, ...]: ...
    def reviewer_keys(self) -> tuple[Verifier, ...]: ...
    def open_reviewers(self) -> frozenset[int]: ...
    def given_pin(self) -> Checkpoint | None: ...
    def given_by_user(self) -> bool: ...
    def pin_required(self) -> bool: ...
    def proposal(self) -> str: ...


class Authority:
    """Begins with what the pin knows, and learns from the entries about keys."""

    def __init__(self, trust: Trust, pin: Pin | None) -> None:
        self._trust, self.origin = trust, trust.origin
        self.agent = {key.key_id: key for key in trust.agent_keys()}
        self._named = frozenset(key.vkey for key in self.agent.values())
        self.server = {key.key_id: key for key in trust.server_keys()}
        self._owner = {key.key_id: key for key in trust.owner_keys()}
        self._reviewers: dict[int, Verifier] | None = None
        self.signer = pin.signer if pin else ""
        for vkey in f"{pin.signer} {pin.former}".split() if pin else ():
            self._admit(Verifier(vkey))
        self.revoked = _parse_revoked(pin.revoked) if pin else {}
        self._barred: dict[int, int] = dict(self.revoked)
        """What this reader ever knew to be revoked: no restore lets such a key sign a head again, or what it saved be handed out."""
        self.restored: dict[str, Governed | None] = dict.fromkeys(pin.restored.split()) if pin else {}

    def forget(self) -> None:
        """Unlearn what the log said, but for whom it revoked: for following from nothing again."""
        self.signer, self.revoked, self.restored = "", {}, {}

    @property
    def former(self) -> str:
        """The agent's other keys, with spaces between: they sign nothing more, and what they signed stays the agent's."""
        return " ".join(key.vkey for key in self.agent.values() if key.vkey != self.signer)

    @property
    def revoked_text(self) -> str:
        """As a pin holds it."""
        return " ".join(f"{key_id:08x}:{index}" for key_id, index in sorted(self._barred.items()))

    def knows_nobody(self) -> bool:
        return not self.agent and not self.server

    def is_agents(self, note: bytes) -> bool:
        """Whether the agent's key in force did sign the head. What another's head says the agent signed is checked one by one."""
        parsed, keys = parse_note(note), self._in_force()
        return any(
            signature.name == key.name and key.verify_raw(parsed.text, signature.blob)
            for signature in parsed.signatures
            if (key := keys.get(signature.key_id)) is not None and signature.key_id not in self._barred
        )

    def check(self, entry: Entry, body: bytes, signature: bytes) -> None:
        """Raise unless the entry is signed by one who may.

        Raises:
            BadSignature: by a key that is revoked, not trusted for that, or not the one it names.
        """
        key_id = int(entry.by, 16)
        if self.revoked.get(key_id, entry.seq + 1) <= entry.seq and entry.type not in WORDS:
            raise BadSignature(
                f"Entry {entry.seq} of {self.origin} is by the key {entry.by}, which was revoked", seq=entry.seq
            )
        key = self._allowed(entry).get(key_id)
        if key is None and (self._is_vouched_for(entry) or entry.type in WORDS):
            return  # another's reviewer or owner: the log holds what was said, and whoever goes by it asks who it is
        if key is None:
            self._refuse_proposed(f"+{entry.by}+", f"Entry {entry.seq} of {self.origin}")
            raise BadSignature(
                f"Entry {entry.seq} ({entry.type}) of {self.origin} is by the key {entry.by}, which is not trusted for that",
                remedy=self.remedy("If you know that key, 'indelible key trust' it; else treat the store as altered"),
                seq=entry.seq,
            )
        if not key.verify_raw(pae(PAYLOAD_TYPE, body), signature):
            raise BadSignature(
                f"The signature of entry {entry.seq} of {self.origin} is not by the key it names", seq=entry.seq
            )

    def _refuse_proposed(self, mark: str, what: str) -> None:
        """A key that the server or the settings name, and that the user has not spoken of: nothing is known, which is no alarm."""
        proposal = self._trust.proposal()
        if mark in proposal and not any(mark in f"+{key.key_id:08x}+" for key in self.agent.values()):
            raise Unchecked(
                f"{what} is by a key that is named here and not trusted yet, so it cannot be checked", remedy=proposal
            )

    def _allowed(self, entry: Entry) -> dict[int, Verifier]:
        if entry.type == "amended":
            return self._owner
        if isinstance(entry, Judged):
            return self._reviewer_keys() | self._in_force() | self.server
        if not isinstance(entry, Governed):
            return self._in_force() | self.server
        return self._in_force() | self._owner if entry.type == "key-rotated" else self._owner

    def _reviewer_keys(self) -> dict[int, Verifier]:
        """Looked up at the first review that is met: most logs have none."""
        if self._reviewers is None:
            self._reviewers = {key.key_id: key for key in self._trust.reviewer_keys()}
        return self._reviewers

    def _in_force(self) -> dict[int, Verifier]:
        if not self.signer:
            return self.agent
        key = Verifier(self.signer)
        return {key.key_id: key}

    def _is_vouched_for(self, entry: Entry) -> bool:
        """A reader that was told the newest key alone cannot check the rotation to it: the head by that key stands for it."""
        return (
            isinstance(entry, Governed)
            and entry.type == "key-rotated"
            and not self.signer
            and entry.subject in self._named
        )

    def remedy(self, otherwise: str) -> str:
        """What the settings or the server propose, else `otherwise`."""
        return self._trust.proposal() or otherwise

    def learn(self, entry: Governed, digest: bytes, prefix: bytes) -> None:
        """Take in an entry about keys or restores, already checked.

        Args:
            prefix: the root of the entries before it.
        """
        if entry.type == "key-rotated":
            key = _verifier(entry)
            if key.name != self.origin:
                raise BadSignature(
                    f"Entry {entry.seq} hands the log to a key of another name, {key.name}", seq=entry.seq
                )
            self._admit(key)
            self.signer = entry.subject
        elif entry.type == "key-revoked":
            key_id = int(entry.subject, 16)
            self.revoked[key_id] = entry.index
            self._barred[key_id] = min(entry.index, self._barred.get(key_id, entry.index))
        elif entry.subject[ROOT:] != prefix.hex():
            raise Forked(
                f"Entry {entry.seq} of {self.origin} stands behind other entries than the owner signed it for",
                seq=entry.seq,
            )
        else:
            self.restored[digest.hex()] = entry

    def check_head(self, note: bytes, size: int) -> None:
        """Raise unless the head is signed by one who may, and learn which key is in force if that was not known.

        Raises:
            BadSignature: it is not, or a signature under it is wrong.
        """
        gone = {key_id for key_id, index in self._barred.items() if index <= size} | (
            set(self._barred) - set(self.revoked)
        )
        heads = {**self.server, **self._in_force()}
        try:
            _, signatures = open_note(note, tuple(key for key_id, key in heads.items() if key_id not in gone))
        except BadSignature as error:
            for signature in parse_note(note).signatures:
                self._refuse_proposed(f"+{signature.key_id:08x}+", f"The head of {self.origin}")
            error.remedy = self.remedy(error.remedy)
            raise
        signed = {signature.key_id for signature in signatures}
        if not self.signer:
            self.signer = next((key.vkey for key_id, key in self.agent.items() if key_id in signed), "")

    def _admit(self, key: Verifier) -> None:
        self.agent[key.key_id] = key


def _verifier(entry: Governed) -> Verifier:
    try:
        return Verifier(entry.subject)
    except UsageError as exc:
        raise Malformed(f"Entry {entry.seq} hands the log to something that is no key", seq=entry.seq) from exc


def _parse_revoked(text: str) -> dict[int, int]:
    pairs = (item.split(":") for item in text.split())
    return {int(key_id, 16): int(index) for key_id, index in pairs}
