"""A store behind an Indelible server, over its `/v1`. The follower judges what it says, as it does with a file.

A read is one request where nothing is new. A write is sent whole, signed, and says which head it builds upon: where
another writer was first the server refuses it, and `HeadMoved` has the caller follow and sign again. What was sent is
read back before it counts as saved. The API key goes to this one address, no redirect is followed, and everything ends
within a time and a size.
"""

from __future__ import annotations

from collections import OrderedDict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, Self
from urllib.parse import urlsplit

from indelible.errors import AccessDenied, NotSaved, OutcomeUnknown, Unreachable
from indelible.seal.note import to_base64
from indelible.sealed import Sealed
from indelible.store.replies import (
    bytes_of,
    check_commit,
    check_done,
    is_ours,
    list_of,
    number_of,
    read_document,
    slug_of,
    unreachable,
)
from indelible.store.session import Session
from indelible.store.store import HeadMoved, Snapshot
from indelible.store.wire import NoAnswer, Wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import httpx

    from indelible.store.store import Reading, Writing
    from indelible.store.wire import Reply

READ_SECONDS = 10.0
WRITE_SECONDS = 30.0
_LEAVES = 1_000
_TILES = 1_024
_TILE_BYTES = 256 * 32


class RemoteStore:
    """One agent's log at one server.

    Args:
        base: `https://host[:port][/path]`.
        agent: the agent that the API key belongs to.
        api_key: sent to that address alone.
        vkey: the agent's verifier key, asked for where the server does not know it yet, and then enrolled there.
        transport: an httpx transport, in place of the network.
    """

    def __init__(
        self,
        base: str,
        agent: str,
        api_key: str,
        *,
        vkey: Callable[[], str] | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._wire = Wire(base, api_key, transport=transport, timeout=READ_SECONDS)
        self._writes = Wire(base, api_key, transport=transport, timeout=WRITE_SECONDS)
        self.host, self.place, self.agent, self.vkey = self._wire.host, _place(self._wire.base), agent, vkey
        self._tiles: OrderedDict[tuple[int, int], bytes] = OrderedDict()
        self._extent: tuple[int, int] | None = None

    def agents(self) -> tuple[str, ...]:
        """This agent, if it has a log there; a key shows no other one's."""
        return () if self.look()[0] is None else (self.agent,)

    def peek(self, agent: str, seq: int | None) -> Snapshot:
        self._require(agent)
        if seq is None:
            return Snapshot(self.look()[0], None)
        note, rows, _ = self.rows(seq, 1)
        return Snapshot(note, rows.get(seq))

    @contextmanager
    def reading(self, agent: str) -> Iterator[Reading]:
        self._require(agent)
        session = Session(self)
        self._extent = session.extent
        try:
            yield session
        finally:
            self._extent = None

    @contextmanager
    def writing(self, agent: str) -> Iterator[Writing]:
        """Everything is sent at the end of the block.

        Raises:
            HeadMoved: another writer was first. NotSaved, AccessDenied, UsageError: nothing was saved.
            OutcomeUnknown: it may have been saved; a repeat of the operation is safe.
        """
        self._require(agent)
        session = Session(self)
        yield session
        if session.changes:
            self._commit(session)

    def tile(self, agent: str, level: int, n: int) -> bytes | None:
        """A full tile; one that was fetched is kept, since it never changes."""
        self._require(agent)
        kept = self._tiles.get((level, n))
        if kept is not None:
            return kept
        reply = self._get(f"/v1/tile/{level}/{n}", {})
        if reply.status == 404:
            return None
        if reply.status != 200:
            read_document(reply, self.host)
        if len(reply.body) != _TILE_BYTES:
            raise Unreachable(f"Not checked: {self.host} gave a tile of {len(reply.body)} bytes")
        self._tiles[level, n] = reply.body
        if len(self._tiles) > _TILES:
            self._tiles.popitem(last=False)
        return reply.body

    def extent(self, agent: str) -> tuple[int, int]:
        """As of the reading that is under way, so that a save in between does not look like a stray row."""
        self._require(agent)
        return self._extent or self.look()[1]

    def settle(self, *, purge: bool = False) -> None:
        """Nothing to do here: the server settles what it repeats and what it erases."""

    def server_keys(self) -> tuple[str, ...]:
        """The verifier keys with which this server says that it attests: a proposal, not a reason to trust."""
        return tuple(
            key for key in list_of(self.document("/v1/keys", {}), "server_keys", self.host) if isinstance(key, str)
        )

    def enrol(self, vkey: str) -> None:
        """Make the agent's verifier key known to the server, the first time.

        Raises:
            ConflictError: another one is enrolled.
        """
        read_document(_twice(lambda: self._writes.post("/v1/keys", {"vkey": vkey})), self.host)

    def close(self) -> None:
        self._wire.close()
        self._writes.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def document(self, path: str, params: Mapping[str, str]) -> dict[str, object]:
        """The JSON object at `path`."""
        return read_document(self._get(path, params), self.host, about_memory=path != "/v1/keys")

    def rows(self, seq: int, count: int) -> tuple[bytes | None, dict[int, Sealed], int]:
        """The head, the versions among `count` entries from `seq` on, and up to where was looked."""
        found = self.document("/v1/sealed", {"seq": str(seq), "count": str(count)})
        rows: dict[int, Sealed] = {}
        for row in list_of(found, "rows", self.host):
            members = row if isinstance(row, dict) else {}
            salt, body, content = (bytes_of(members, name, self.host) for name in ("salt", "body", "content"))
            rows[number_of(members, "seq", self.host)] = Sealed(salt, body, content)
        return _note(found, self.host), rows, number_of(found, "through", self.host)

    def look(self) -> tuple[bytes | None, tuple[int, int]]:
        """The head, and how far the rows go."""
        found = self.document("/v1/head", {})
        if isinstance(found.get("agent"), str) and found["agent"] != self.agent:
            raise AccessDenied(
                f"The API key at {self.host} is for {found['agent']!r}, not for {self.agent!r}",
                remedy="Name that agent with --agent, or use the key of this one",
                agent=self.agent,
            )
        return _note(found, self.host), (number_of(found, "entries", self.host), number_of(found, "records", self.host))

    def _require(self, agent: str) -> None:
        if agent != self.agent:
            raise AccessDenied(
                f"The API key at {self.host} is for {self.agent!r}, not for {agent!r}",
                remedy="Name that agent with --agent",
                agent=agent,
            )

    def _get(self, path: str, params: Mapping[str, str]) -> Reply:
        return _twice(lambda: self._wire.get(path, params))

    def _commit(self, session: Session) -> None:
        body = session.body()
        reply = self._send("/v1/commit", body, session.op)
        if slug_of(reply) == "not-enrolled" and self.vkey is not None:
            self.enrol(self.vkey())
            reply = self._send("/v1/commit", body, session.op)
        if slug_of(reply) == "head-moved":
            raise HeadMoved
        check_commit(reply, self.host, session.end, session.op)
        self._read_back(session)

    def attest(self, leaf: bytes, seq: int, op: str) -> None:
        """Hand in a review that was signed for the present head; the server signs the head after it.

        Raises:
            HeadMoved: another writer was first. NotSaved, AccessDenied, UsageError: it was not taken.
            OutcomeUnknown: it may have been taken; a repeat of the operation is safe.
        """
        reply = self._send("/v1/review", {"leaf": to_base64(leaf)}, op)
        if slug_of(reply) == "head-moved":
            raise HeadMoved
        check_done(reply, self.host, op)
        try:
            handed_out = tuple(self.leaves(seq, seq + 1)) == (leaf,)
        except Unreachable as exc:
            raise _unknown(exc.message, op) from exc
        if not handed_out:
            raise _unknown(f"{self.host} says that it saved, and does not hand it out", op)

    def hand_in(self, note: bytes, op: str, reason: str | None = None) -> None:
        """Hand in a receipt that an approver signed; that it stands in the log is for the caller to see.

        Args:
            op: the operation id that belongs to it.

        Raises:
            NotSaved, AccessDenied, UsageError: it was not taken. OutcomeUnknown: it may have been; the same one again is safe.
        """
        check_done(self._send("/v1/receipt", {"note": to_base64(note), "reason": reason}, op), self.host, op)

    def _send(self, path: str, body: dict[str, object], op: str) -> Reply:
        """Send it; once more where the connection broke, since the operation id makes one of two."""
        for attempt in (1, 2):
            try:
                return self._writes.post(path, body)
            except NoAnswer as gone:
                if not gone.sent and attempt == 1:
                    raise NotSaved(f"Not saved: {gone.words}", remedy="Keep the content and save it again") from gone
                if gone.late or attempt == 2:
                    raise _unknown(gone.words, op) from gone
        raise AssertionError

    def _read_back(self, session: Session) -> None:
        """What the server says that it saved has to be what it hands out."""
        try:
            leaves = tuple(self.leaves(session.size, session.end))
            saved = {seq: sealed for seq, (_, sealed) in enumerate(session.changes, session.size) if sealed is not None}
            rows = self.rows(session.size, session.end - session.size)[1] if saved else {}
        except Unreachable as exc:
            raise _unknown(exc.message, session.op) from exc
        if leaves != tuple(leaf for leaf, _ in session.changes) or any(
            rows.get(seq) != sealed for seq, sealed in saved.items()
        ):
            raise _unknown(f"{self.host} says that it saved, and does not hand it out", session.op)

    def leaves(self, start: int, end: int) -> Iterator[bytes]:
        """Leaves in order, page after page; ends early where one is missing."""
        while start < end:
            found = self.document("/v1/entries", {"start": str(start), "end": str(min(end, start + _LEAVES))})
            page = list_of(found, "leaves", self.host)
            if not page or number_of(found, "start", self.host) != start:
                return
            for leaf in page[: end - start]:
                yield bytes_of({"leaf": leaf}, "leaf", self.host)
            start += len(page)


def detect(base: str, *, transport: httpx.BaseTransport | None = None) -> Literal["indelible", "plain"]:
    """Whether the server at `base` is an Indelible one, or one that only speaks the seeds' form. No API key is sent.

    Raises:
        Unreachable: it does not answer.
    """
    wire = Wire(base, None, transport=transport, timeout=READ_SECONDS)
    try:
        reply = wire.get("/healthz", {})
    except NoAnswer as gone:
        raise unreachable(gone) from gone
    finally:
        wire.close()
    if 300 <= reply.status < 400:
        read_document(reply, wire.host)
    return "indelible" if is_ours(reply) else "plain"


def _twice(ask: Callable[[], Reply]) -> Reply:
    """Ask what may be asked twice; the second time where a connection that was kept open had been closed at the other end."""
    try:
        return ask()
    except NoAnswer as gone:
        if not gone.sent or gone.late:
            raise unreachable(gone) from gone
    try:
        return ask()
    except NoAnswer as gone:
        raise unreachable(gone) from gone


def _note(found: Mapping[str, object], host: str) -> bytes | None:
    return None if found.get("note") is None else bytes_of(dict(found), "note", host)


def _unknown(words: str, op: str) -> OutcomeUnknown:
    return OutcomeUnknown(
        f"Not known to be saved: {words}",
        remedy="Repeat it with the same --op-id: that makes one version either way",
        op=op,
    )


def _place(base: str) -> str:
    """The address in one spelling: a reader knows a log by it."""
    parts = urlsplit(base)
    return parts._replace(scheme=parts.scheme.lower(), netloc=parts.netloc.lower()).geturl()
