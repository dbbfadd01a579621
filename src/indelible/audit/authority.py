"""Who may sign what in one log, as it stands at one entry of it.

The reader's own configuration names the keys; what the log says of them counts only once it is itself signed by a key
that may say it: a rotation by an agent's key or the owner, a revocation or a restore by the owner alone.

    agent's key     its name is the log's origin: entries, a rotation, the head
    server's key    any other that the reader names for this agent: entries that it attests, the head
    owner's key     entries, amended (which nobody else's is), all three about the log itself; never the head
    reviewer's key  reviewed and superseded, and nothing else; a review by a key that nobody knows counts for nothing

Once the log names the key in force, an earlier one signs no head any more. A reader may know that key alone: then the
entries of the key before it cannot be checked one by one, and the head stands for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indelible.audit.grammar import PAYLOAD_TYPE, SIGNATURE_SIZE, Entry, Fault
from indelible.errors import UsageError
from indelible.seal.note import Note, Verifier, pae

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_OWNERS_ALONE = frozenset({"key-revoked", "store-restored"})
_JUDGED = frozenset({"reviewed", "superseded"})
AMENDED = "amended"
_WORDS = frozenset({"reviewed", AMENDED})
"""What counts for nothing where it is by a key that nobody here knows for it."""
GOVERNED = _OWNERS_ALONE | {"key-rotated"}

_FINE = ("", "")


class Authority:
    """The keys of one log, changed by the entries that speak of keys.

    Args:
        origin: the log's.
        keys: of the agent and of servers, as the reader knows them.
        owners: the owner's.
        reviewers: of those whose judgement counts.
        rotations: reads every `key-rotated` of the log; asked once, and only if a key is met that nobody knows.
    """

    def __init__(
        self,
        origin: str,
        keys: Iterable[Verifier],
        owners: Iterable[Verifier],
        reviewers: Iterable[Verifier],
        rotations: Callable[[], Iterable[Entry]],
    ) -> None:
        self.origin = origin
        known = {_id(key): key for key in keys}
        self._agent = {key_id: key for key_id, key in known.items() if key.name == origin}
        self._servers = {key_id: key for key_id, key in known.items() if key.name != origin}
        self._owners = {_id(key): key for key in owners}
        self._reviewers = {_id(key): key for key in reviewers}
        self._named = frozenset(key.vkey for key in self._agent.values())
        self._rotations = rotations
        self._left: dict[str, int] | None = None
        """Key id to the entry that handed the log from that key, unknown here, to one that is known; None until asked."""
        self._in_force = ""
        self._seen: set[str] = set()
        self._retired: set[str] = set()
        self._revoked: dict[str, tuple[int, int]] = {}
        """Key id to the first entry no longer trusted, and the entry that says so."""

    @property
    def knows_nobody(self) -> bool:
        """No key at all is known that may sign this log."""
        return not self._agent and not self._servers

    @property
    def has_revoked(self) -> bool:
        """Whether the owner ever took a key's power away."""
        return bool(self._revoked)

    def judge(self, entry: Entry, leaf: bytes) -> tuple[str, str]:
        """Slug and words of what is wrong with the signing of an entry; both empty if nothing is."""
        if entry.by in self._revoked and entry.seq >= self._revoked[entry.by][0] and entry.type not in _WORDS:
            return (
                "revoked-key",
                f"is by the key {entry.by}, which was revoked from entry {self._revoked[entry.by][0]} on",
            )
        key = self._allowed(entry)
        if key is None and entry.type == AMENDED:
            return (
                "unknown-owner",
                f"is an amendment by the key {entry.by}, which is no owner's that is known here and counts for nothing",
            )
        if key is None and entry.type not in _OWNERS_ALONE and entry.seq <= self._left_at(entry.by):
            return "unchecked-signature", ""
        if key is None and entry.type == "reviewed":
            return (
                "unknown-reviewer",
                f"is a review by the key {entry.by}, which is unknown here and counts for nothing",
            )
        if key is None:
            return "unknown-key", f"is by the key {entry.by}, which is not trusted for a {entry.type!r}"
        if not _verifies(key, leaf):
            return "bad-signature", f"is not signed by the key {entry.by} that it names"
        if entry.by in self._retired and entry.by not in self._owners:
            return "retired-key", f"is by the key {entry.by}, after the log was handed to another one"
        self._seen.add(entry.by)
        return _FINE

    def is_revoked_since(self, key_id: str, seq: int) -> bool:
        """Whether the owner said, after this entry was made, that its key was not to be trusted any more then."""
        first, said = self._revoked.get(key_id, (0, 0))
        return first <= seq < said

    def _allowed(self, entry: Entry) -> Verifier | None:
        by, kind = entry.by, entry.type
        if kind in _OWNERS_ALONE or kind == AMENDED:
            return self._owners.get(by)
        key = self._agent.get(by) or self._owners.get(by)
        if key is None and kind in _JUDGED:
            key = self._reviewers.get(by)
        return key or (None if kind in GOVERNED else self._servers.get(by))

    def _left_at(self, key_id: str) -> int:
        if self._left is None:
            self._left = {entry.by: entry.seq for entry in self._rotations() if entry.subject in self._named}
        return self._left.get(key_id, -1)

    def obey(self, entry: Entry) -> None:
        """Take a change of keys in, from an entry whose signature was verified.

        Raises:
            Fault: what it hands the log to is no key of this log.
        """
        if entry.type == "key-rotated":
            self._rotate(entry.subject)
        elif entry.type == "key-revoked":
            self._revoked[entry.subject] = (entry.bound, entry.seq)

    def _rotate(self, vkey: str) -> None:
        try:
            key = Verifier(vkey)
        except UsageError as exc:
            raise Fault("it hands the log to something that is no verifier key") from exc
        if key.name != self.origin:
            raise Fault(f"it hands the log to a key of another name, {key.name!r}")
        new = _id(key)
        self._retired = (self._retired | (self._seen & self._agent.keys())) - {new}
        self._agent[new] = key
        self._in_force = new

    def judge_head(self, note: Note, size: int) -> tuple[tuple[str, ...], list[tuple[str, str]]]:
        """`(who signed the head, what is wrong with that)`."""
        known = {(key.name, key_id): key for key_id, key in (self._servers | self._agent).items()}
        signed: list[str] = []
        false: list[tuple[str, str]] = []
        idle: list[tuple[str, str]] = []
        for signature in note.signatures:
            key_id = f"{signature.key_id:08x}"
            key = known.get((signature.name, key_id))
            if key is None:
                idle.append(
                    ("unknown-key", f"The head is signed by {signature.name}+{key_id}, which is not trusted for it")
                )
            elif not key.verify_raw(note.text, signature.blob):
                false.append(("bad-signature", f"The head is not signed by {key.name}+{key_id}, as it says it is"))
            elif self._revoked.get(key_id, (size + 1, 0))[0] <= size:
                idle.append(("revoked-key", f"The head is signed by the key {key_id}, which was revoked"))
            elif self._in_force and key_id in self._agent and key_id != self._in_force:
                idle.append(("unknown-key", f"The head is signed by the key {key_id}, from which the log was taken"))
            else:
                signed.append(f"{key.name}+{key_id}")
        return tuple(signed), false if signed else [*false, *idle]


def _verifies(key: Verifier, leaf: bytes) -> bool:
    return key.verify_raw(pae(PAYLOAD_TYPE, leaf[:-SIGNATURE_SIZE]), leaf[-SIGNATURE_SIZE:])


def _id(key: Verifier) -> str:
    return f"{key.key_id:08x}"
