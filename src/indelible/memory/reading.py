"""The one funnel for reads: follow, find, verify, and only then hand out."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from indelible.entry import Judged, Noted, check_text, origin_of, parse_entry, split_leaf
from indelible.entry import Saved as SavedEntry
from indelible.errors import IndelibleError, IntegrityError, Malformed, NotFoundError, StrayRows, UsageError
from indelible.memory.pinned import hand_out, is_revoked, leaf_at, read_pinned
from indelible.memory.results import Listed, Listing, Loaded, Version
from indelible.sealed import Commitments
from indelible.store.follow import UNVOUCHED, follow, mark_of
from indelible.store.pintable import Latest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self, TypeAlias

    from indelible.memory.gating import Gate
    from indelible.memory.indexed import Indexed
    from indelible.memory.slotted import Kept, SealedSlot
    from indelible.recall.embed import Embedder
    from indelible.seal.note import Signer, Verifier
    from indelible.sealed import Sealed
    from indelible.store.authority import Trust
    from indelible.store.follow import Head
    from indelible.store.follower import Follower, Glance, Pin, Table
    from indelible.store.store import Reading, Store

    Attestor: TypeAlias = Callable[[bytes, int, str], None]
    """Takes a leaf, the number of its entry, and its operation id."""


class Reader:
    """One agent's memory in one store, as this reader can check it.

    Args:
        signer: called when something is first signed; readers never call it.
        clock: the time now, RFC 3339 UTC in whole seconds.
        entropy: `entropy(n)` gives n random bytes.
        gate: how what is loaded is judged, or what makes that when it is first needed; by default as the agent itself, where there are
            no files.
        secrets: what is done about a secret in what is to be saved: `refuse`, `mask` or `allow`.
        embedder: gives what makes vectors for recall; by default nothing does.
        indexes: whether a save adds to the index; else the next recall does.
        attestor: gives who takes a review and signs the head after it, where the agent's key is not at hand; None where it is.
    """

    def __init__(  # noqa: PLR0913 - each a part that is put in
        self, store: Store, follower: Follower, trust: Trust, *, agent: str, team: str,
        signer: Callable[[], Signer], clock: Callable[[], str], entropy: Callable[[int], bytes] = os.urandom,
        gate: Gate | Callable[[], Gate] | None = None,
        secrets: str = "refuse",
        attestor: Callable[[], Attestor | None] = lambda: None,
        indexes: bool = True,
        embedder: Callable[[], Embedder] | None = None,
    ) -> None:  # fmt: skip
        self.store, self.follower, self.trust = store, follower, trust
        self.agent, self.team, self.origin = agent, team, origin_of(team, agent)
        self._signer, self._clock, self._entropy, self._attestor = signer, clock, entropy, attestor
        self._gate = gate
        self.signed: dict[bytes, bytes] = {}
        """Signatures under judgements that were checked, and the entries that they are under."""
        self._reviewers: dict[int, Verifier] | None = None
        self.secrets, self.indexes = secrets, indexes
        self._embedder = embedder
        self._open_reviewers: frozenset[int] | None = None
        self._begun = False
        self._indexed: Indexed | None = None
        self._mark: str | None = None

    def beside(self, trust: Trust) -> Self:
        """The same memory with another trust and an empty table, in a file of its own."""
        return type(self)(
            self.store, self.follower.beside(), trust, agent=self.agent, team=self.team,
            signer=self._signer, clock=self._clock, entropy=self._entropy, gate=self._gate, secrets=self.secrets,
            attestor=self._attestor, indexes=self.indexes, embedder=self._embedder,
        )  # fmt: skip

    @property
    def gate(self) -> Gate:
        """How what is loaded is judged."""
        from indelible.memory.gating import Gate

        if not isinstance(self._gate, Gate):
            self._gate = Gate() if self._gate is None else self._gate()
        return self._gate

    @gate.setter
    def gate(self, gate: Gate) -> None:
        self._gate = gate

    def end_gate(self) -> None:
        """Close the deliveries, if any were kept."""
        from indelible.memory.gating import Gate

        if isinstance(self._gate, Gate) and self._gate.journal is not None:
            self._gate.journal.close()

    def embedder(self) -> Embedder:
        """What makes vectors for recall."""
        from indelible.recall.embed import NoEmbedder

        return NoEmbedder() if self._embedder is None else self._embedder()

    @property
    def indexed(self) -> Indexed:
        """What recall searches in, and a save adds to."""
        if self._indexed is None:
            from indelible.memory.indexed import Indexed

            self._indexed = Indexed(self)
        return self._indexed

    def end_index(self) -> None:
        """Close the index, if it was used."""
        if self._indexed is not None:
            self._indexed.close()
            self._indexed = None

    @property
    def reviewers(self) -> dict[int, Verifier]:
        """The keys whose judgement counts, by key id."""
        if self._reviewers is None:
            self._reviewers = {key.key_id: key for key in self.trust.reviewer_keys()}
        return self._reviewers

    def look_again(self) -> None:
        """Ask anew who counts as a reviewer: for whoever keeps a memory open for long, and has trusted or dropped one since."""
        self._reviewers = None

    @property
    def open_reviewers(self) -> frozenset[int]:
        """Ids of those of them that lie here under no passphrase."""
        if self._open_reviewers is None:
            self._open_reviewers = self.trust.open_reviewers()
        return self._open_reviewers

    @property
    def _given(self) -> str:
        """The mark of the pin that the settings give, read once."""
        if self._mark is None:
            given = self.trust.given_pin()
            self._mark = mark_of(given) if given is not None else ""
        return self._mark

    def now(self) -> str:
        """The time by this memory's clock, RFC 3339 UTC."""
        return self._clock()

    @property
    def warning(self) -> str:
        """What to say aloud about this reader's own pin; empty when all is well."""
        return self.follower.warning

    def fetch(self, key: str, version: int | None = None) -> Loaded:
        """The bytes saved under `key`, verified, and not judged: whether they apply is for `load` to say.

        Args:
            version: an older one; None for the present one.

        Raises:
            IntegrityError: altered, missing, rolled back, forked, badly signed.
            NotFoundError: nothing was ever saved under this key, or it was erased.
            Unchecked: it could not be checked.
        """
        check_text(key, "key")
        if version is None:
            loaded = read_pinned(self.store, self.follower, self.agent, key, self._given)
            if loaded is not None and not (loaded.pin_origin in UNVOUCHED and self.trust.pin_required()):
                return loaded
        known = self.follower.look(key)
        try:
            return self._follow_and_fetch(key, version)
        except IntegrityError as finding:
            if version is not None:
                raise
            return self._serve_what_is_known(key, *known, finding)

    def _follow_and_fetch(self, key: str, version: int | None) -> Loaded:
        with self.following() as (table, reading, _):
            latest, pin = table.get(key), table.pin
            if version is not None and latest is not None and version != latest.version:
                return self._fetch_older(key, version, latest, table, reading)
            sealed = reading.sealed(latest.saved_seq) if latest else None
        return hand_out(key, self.agent, latest, sealed, pin)

    def _serve_what_is_known(
        self, key: str, pin: Glance | None, latest: Latest | None, finding: IntegrityError
    ) -> Loaded:
        """One bad place must not hide everything: a key that matches this reader's own table is served, with the finding."""
        if (
            pin is None
            or latest is None
            or finding.facts.get("key") == key
            or (self._given and pin.given != self._given)
        ):
            raise finding
        try:
            sealed = self.store.peek(self.agent, latest.saved_seq).sealed
            return hand_out(key, self.agent, latest, sealed, pin)._replace(finding=finding)
        except (IntegrityError, NotFoundError):
            raise finding from None

    def _fetch_older(self, key: str, version: int, latest: Latest, table: Table, reading: Reading) -> Loaded:
        pin, state = table.pin, "active"
        for entry in self._walk(key, latest, reading):
            if entry.type == "erased":  # everything before it
                state = "erased"
            if pin is not None and entry.content and entry.record and entry.version == version:
                then = Latest(
                    entry.seq, entry.leaf, entry.seq, version, entry.content, entry.record, state, entry.by, entry.at
                )
                return hand_out(key, self.agent, then, reading.sealed(entry.seq), pin)._replace(latest=latest)
        raise NotFoundError(f"{key!r} has no version {version}; the latest is {latest.version}", key=key)

    def slots(self, namespace: str) -> tuple[SealedSlot, ...]:
        """The open slots of a state directory, verified, in the order of their names.

        That each came there as its discipline allows is for `check_disciplines` to say.

        Raises:
            IntegrityError: one of them, or the log, is not what was sealed.
        """
        return self.kept(namespace).slots

    def kept(self, namespace: str) -> Kept:
        """As `slots`, with the slots that are closed.

        Raises:
            IntegrityError: one of them, or the log, is not what was sealed.
        """
        from indelible.memory.slotted import follow_slots, read_pinned_slots

        found = read_pinned_slots(self.store, self.follower, self.agent, namespace, self._given)
        vouched = found and found.slots and found.slots[0].loaded.pin_origin not in UNVOUCHED
        return found if found and (vouched or not self.trust.pin_required()) else follow_slots(self, namespace)

    def remains(self, key: str) -> tuple[Sealed, Commitments] | None:
        """What is left of the newest version, NOT verified, with what it has to match: for a restore to learn from."""
        check_text(key, "key")
        with self.following() as (table, reading, _):
            latest = table.get(key)
            sealed = reading.sealed(latest.saved_seq) if latest is not None else None
        return None if latest is None or sealed is None else (sealed, Commitments(latest.content, latest.record))

    def history(self, key: str) -> tuple[Version, ...]:
        """Everything the log says about `key`, newest first, each entry verified by the one after it.

        Raises:
            NotFoundError: nothing was ever saved under this key.
            IntegrityError: the log or an entry of it is not what was sealed.
        """
        check_text(key, "key")
        with self.following() as (table, reading, _):
            latest = table.get(key)
            if latest is None:
                raise NotFoundError(f"Nothing is saved under {key!r} for {self.agent!r}", key=key, agent=self.agent)
            return tuple(self._walk(key, latest, reading, table.pin.revoked if table.pin else ""))

    def _walk(self, key: str, latest: Latest, reading: Reading, revoked: str = "") -> Iterator[Version]:
        seq: int | None = latest.head_seq
        expected = latest.head
        while seq is not None:
            leaf = leaf_at(reading, self.origin, seq, expected, key=key)
            entry = parse_entry(split_leaf(leaf)[0])
            yield _version(entry, expected, revoked)
            if not isinstance(entry, (SavedEntry, Noted, Judged)):
                raise Malformed(f"Entry {seq} of {self.origin} is not about a key", seq=seq, key=key)
            seq, expected = entry.prev_seq, bytes.fromhex(entry.prev or "")

    def list(
        self,
        *,
        prefix: str = "",
        after: str = "",
        limit: int | None = None,
        states: frozenset[str] = frozenset({"active"}),
    ) -> Listing:
        """Memories in the order of their keys, each verified whole; what fails is named in `findings`.

        Raises:
            IntegrityError: the log could not be followed.
        """
        if limit is not None and limit < 1:
            raise UsageError(f"A page of {limit} memories shows none", remedy="Use a limit of 1 or more")
        for text in filter(None, (prefix, after)):
            check_text(text, "prefix")
        items: list[Listed] = []
        findings: list[IntegrityError] = []
        with self.following() as (table, reading, head):
            rows = [row for row in table.keys(prefix=prefix) if row[1].state in states]
            pin = table.pin
            self.follower.keep(table)  # what follows may take long, and needs the store's snapshot alone
            findings.extend(self._strays(head))
            page = [row for row in rows if row[0] > after][:limit]
            for key, latest in page:
                try:
                    items.append(self._listed(key, latest, reading, pin))
                except IntegrityError as finding:
                    findings.append(finding)
        more = bool(page) and page[-1][0] < rows[-1][0]
        return Listing(tuple(items), tuple(findings), len(rows), page[-1][0] if more else None)

    def _listed(self, key: str, latest: Latest, reading: Reading, pin: Pin | None) -> Listed:
        if latest.state == "erased":
            return Listed(key, latest.version, latest.state, latest.at, 0, "", "", b"")
        loaded = hand_out(key, self.agent, latest, reading.sealed(latest.saved_seq), pin)
        return Listed(
            key,
            latest.version,
            latest.state,
            latest.at,
            len(loaded.content),
            loaded.sha256,
            loaded.attested,
            loaded.body,
        )

    def _strays(self, head: Head) -> Iterator[IntegrityError]:
        entries, records = self.store.extent(self.agent)
        for name, end in (("entries", entries), ("records", records)):
            if end > head.size:
                yield StrayRows(
                    f"The store holds {name} of {self.agent!r} up to {end - 1} that its signed head, at {head.size}, does not cover",
                    remedy="They are never served; 'indelible audit' lists them",
                    agent=self.agent,
                    table=name,
                )

    def following(self, *, signatures: bool = False) -> Following:
        """A context: the table locked, the store's snapshot taken after it, and the log followed to its head."""
        return Following(self, signatures=signatures)


class Following:
    """`with reader.following() as (table, reading, head)`."""

    def __init__(self, reader: Reader, *, signatures: bool) -> None:
        self._reader, self._signatures = reader, signatures
        self._followed: Table | None = None

    def __enter__(self) -> tuple[Table, Reading, Head]:
        reader = self._reader
        self._table = reader.follower.locked()
        table = self._table.__enter__()
        try:
            self._snapshot = reader.store.reading(reader.agent)
            reading = self._snapshot.__enter__()
            head = follow(table, reading, reader.trust, signatures=self._signatures)
            self._followed = table
            return table, reading, head
        except BaseException as exc:
            self.__exit__(type(exc), exc, exc.__traceback__)
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        judged = isinstance(error, IndelibleError) and not isinstance(error, IntegrityError)
        if judged and self._followed is not None and not self._followed.released:
            self._reader.follower.keep(self._followed)  # "nothing there" is an answer too, from a log that was verified
        try:
            if getattr(self, "_snapshot", None) is not None:
                self._snapshot.__exit__(kind, error, trace)  # type: ignore[arg-type]
        finally:
            self._table.__exit__(kind, error, trace)  # type: ignore[arg-type]


def _version(entry: object, leaf: bytes, revoked: str) -> Version:
    if isinstance(entry, SavedEntry):
        how, content, record = entry.how, bytes.fromhex(entry.content), bytes.fromhex(entry.record)
    elif isinstance(entry, (Noted, Judged)):
        how, content, record = "", None, None
    else:
        raise IndelibleError("The history of a key led to an entry about the log itself")
    return Version(
        entry.type,
        entry.seq,
        entry.version,
        entry.at,
        entry.by,
        how,
        entry.reason,
        entry.op,
        is_revoked(entry.by, entry.seq, revoked),
        leaf,
        content,
        record,
    )
