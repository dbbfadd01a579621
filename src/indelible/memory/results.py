"""What reading and writing memory hands out. Everything here was verified first."""

from __future__ import annotations

from indelible.light import TYPE_CHECKING, NamedTuple, sha256

if TYPE_CHECKING:
    from indelible.errors import IntegrityError
    from indelible.gate.verdict import Verdict
    from indelible.memory.outcomes import Held, Listed, Listing, Saved, Version
    from indelible.record import Record
    from indelible.store.follower import Latest

__all__ = ["Held", "Listed", "Listing", "Loaded", "Saved", "Verified", "Version", "attested", "compare", "unify"]


class Loaded(NamedTuple):
    """One version of one memory: the very bytes that were saved."""

    key: str
    version: int
    content: bytes
    body: bytes
    salt: bytes
    latest: Latest
    """The present of its key, which for an older version is a later one."""
    seq: int
    """The entry that saved this version."""
    pin_origin: str
    """`first-use` means that a rollback before this reader's first look could not be seen."""
    by: str
    """Key id of who signed this version."""
    signers: str
    """The agent's own verifier keys, as text, with spaces between; the one in force first."""
    note: bytes
    """The checkpoint that it was verified against."""
    revoked: str
    """`keyid:index` pairs, with spaces between: keys that are not trusted from that entry on."""
    finding: IntegrityError | None = None
    """Set when the log could not be followed, and this memory still matches what was followed before."""
    verdict: Verdict | None = None
    """What the gate said; None for what was only fetched, and not judged."""
    delivery: int | None = None
    """Its number in the deliveries; None where none are kept."""

    @property
    def sha256(self) -> str:
        """64 hex digits, computed from the verified bytes and never read from a column."""
        return sha256(self.content).hexdigest()

    @property
    def record(self) -> Record:
        """What is known about it."""
        from indelible.record import Record

        return Record.from_body(self.body)

    @property
    def attested(self) -> str:
        """`agent` where the agent's own key signed it, `server` where a server attested it."""
        return attested(self.by, self.signers)

    @property
    def checksum_ok(self) -> bool:
        """The seed's state. A sealed memory that was handed out is always True: False is raised, None (never had one) is for plain stores."""
        return True


def attested(by: str, signers: str) -> str:
    """`agent` where `by`, the key id of an entry, is that of one of the vkeys in `signers`; else `server`."""
    return "agent" if f"+{by}+" in signers else "server"


class Verified(NamedTuple):
    """What `verify` found out about a memory, and about a local copy of it."""

    loaded: Loaded
    local: str
    """`""` without a local copy; else `same`, `line-endings` or `different`."""
    local_sha256: str = ""


def compare(loaded: Loaded, local: bytes | None) -> Verified:
    """Hold a local copy against the sealed one, telling line endings from edits."""
    if local is None:
        return Verified(loaded, "")
    if local == loaded.content:
        return Verified(loaded, "same", loaded.sha256)
    kind = "line-endings" if unify(local) == unify(loaded.content) else "different"
    return Verified(loaded, kind, sha256(local).hexdigest())


def unify(data: bytes) -> bytes:
    """Line endings of every kind as newlines: for comparing only, never for keeping."""
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def __getattr__(name: str) -> object:
    """What a read needs none of: each class takes as long to make as ten loads."""
    if name in __all__:
        from indelible.memory import outcomes

        return getattr(outcomes, name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
