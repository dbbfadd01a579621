"""`/v1` for one agent's log: what a client replays, checks and adds to.

Heads, leaves, versions and tiles are given as they are stored: the client's own follower judges them, so this server
is believed in nothing. `/v1/commit` is the other way round: the server's follower judges what the client signed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import Response

from indelible.entry import Noted, check_text, parse_entry, split_leaf
from indelible.erasing import forget_deliveries
from indelible.errors import AccessDenied, BadSignature, ConflictError, NotFoundError, UsageError
from indelible.memory.accepting import Accepted, Change, Mend, accept
from indelible.memory.attesting import attest, parse_review
from indelible.memory.proving import consistency as prove_consistency
from indelible.sealed import Sealed
from indelible.server import shapes
from indelible.server.answers import NO_STORE, answer, done
from indelible.server.apikeys import ERASE, READ

if TYPE_CHECKING:
    from indelible.memory import Memory
    from indelible.server.asking import Ask

MAX_ENTRIES = 1_000
MAX_ROWS = 256
_ENOUGH = 4 * 1024 * 1024
"""Bytes after which an answer of many rows ends: the client asks for the rest."""


async def checkpoint(ask: Ask) -> Response:
    """The head, verified by this server: a C2SP signed note."""
    return Response(await ask.read(lambda memory: memory.checkpoint()), headers=NO_STORE, media_type="text/plain")


async def consistency(ask: Ask) -> Response:
    """Proof that the log as it is continues the one of `old` entries."""
    # A proof from 0 proves nothing, and everything "continues" it.
    old = ask.number("old", 0, least=1)

    def prove(memory: Memory) -> shapes.Consistency:
        with memory.following() as (_, reading, head):
            if head.note is None or old > head.size:
                raise UsageError(f"The log has {head.size} entries, which is less than {old}", member="old")
            hashes = prove_consistency(memory.store, memory.agent, reading, old, head.size)
            return shapes.Consistency(old=old, size=head.size, hashes=hashes, note=head.note.decode())

    return answer(await ask.read(prove))


async def head(ask: Ask) -> Response:
    """The head as stored, and how far the rows go."""

    def look(memory: Memory) -> shapes.Head:
        with memory.store.reading(memory.agent) as reading:
            note = reading.head()
            entries, records = memory.store.extent(memory.agent)
        return shapes.Head(agent=memory.agent, note=note, entries=entries, records=records)

    return answer(await ask.read(look))


async def entries(ask: Ask) -> Response:
    """Leaves as stored, from `start` up to `end`."""
    start = ask.number("start", 0)
    end = min(ask.number("end", start + MAX_ENTRIES), start + MAX_ENTRIES)

    def read(memory: Memory) -> list[bytes]:
        leaves: list[bytes] = []
        size = 0
        with memory.store.reading(memory.agent) as reading:
            for leaf in reading.leaves(start, end):
                leaves.append(leaf)
                size += len(leaf)
                if size > _ENOUGH:
                    break
        return leaves

    return answer(shapes.Entries(start=start, leaves=await ask.read(read)))


async def sealed(ask: Ask) -> Response:
    """Versions as stored, `count` from `seq` on, with the head of the same instant."""
    start, count = ask.number("seq", 0), ask.number("count", 1, least=1, most=MAX_ROWS)

    def read(memory: Memory) -> shapes.SealedRows:
        rows: list[shapes.SealedRow] = []
        size = through = 0
        with memory.store.reading(memory.agent) as reading:
            for seq in range(start, start + count):
                found = reading.sealed(seq)
                through = seq + 1
                if found is not None:
                    rows.append(shapes.SealedRow(seq=seq, salt=found.salt, body=found.body, content=found.content))
                    size += len(found.content) + len(found.body)
                if size > _ENOUGH:
                    break
            return shapes.SealedRows(note=reading.head(), rows=rows, through=through)

    return answer(await ask.read(read))


async def operation(ask: Ask) -> Response:
    """Where an operation stands in the log."""
    op = ask.query["op"]
    check_text(op, "operation id")

    def find(memory: Memory) -> int | None:
        # Under the write lock: a transaction that is under way has then ended, one way or the other.
        with memory.store.writing(memory.agent) as writing:
            return writing.find_op(op)

    return answer(shapes.Operation(op=op, seq=await ask.write(find)))


async def tile(ask: Ask) -> Response:
    """A full tile of 256 hashes (C2SP tlog-tiles)."""
    level, n = ask.number("level", 0, most=8), ask.number("n", 0)
    found = await ask.read(lambda memory: memory.store.tile(memory.agent, level, n))
    if found is None:
        raise NotFoundError(f"There is no full tile {n} of level {level}")
    return Response(
        found, headers={"cache-control": "private, max-age=31536000, immutable"}, media_type="application/octet-stream"
    )


async def keys(ask: Ask) -> Response:
    """Whose signatures this server accepts for the agent's log."""
    return answer(await ask.read(lambda memory: _keys(ask, memory)))


def _keys(ask: Ask, memory: Memory) -> shapes.Keys:
    pin, _ = memory.follower.look("")
    in_force = f"{pin.signer} {pin.former}".split() if pin else []
    named = [key.vkey for key in memory.trust.agent_keys()]
    return shapes.Keys(
        agent=memory.agent, team=memory.team, origin=memory.origin, agent_keys=list(dict.fromkeys(in_force + named)),
        server_keys=[ask.service.signer.vkey],
    )  # fmt: skip


async def enrol(ask: Ask) -> Response:
    """Make the agent's verifier key known to this server: the first time only, since whoever has an API key could change it."""
    body = await ask.body(shapes.Enrol)

    def trust(memory: Memory) -> shapes.Keys:
        known = _keys(ask, memory)
        if body.vkey in known.agent_keys:
            return known
        if known.agent_keys:
            raise _another_key()
        try:
            ask.service.keystore.trust(memory.origin, body.vkey)
        except BadSignature as exc:  # another process was first
            raise _another_key() from exc
        return _keys(ask, memory)

    return answer(await ask.write(trust))


def _another_key() -> ConflictError:
    remedy = "Ask who runs the server to run 'indelible key trust --replace'"
    return ConflictError("Another key is enrolled for this agent", remedy=remedy)


async def commit(ask: Ask) -> Response:
    """Add a transaction that the agent signed, all of it or nothing."""
    body = await ask.body(shapes.Commit)
    if ERASE not in ask.caller.verbs and any(b'"type":"erased"' in change.leaf for change in body.changes):
        raise AccessDenied("This API key does not allow to erase", remedy="Ask who runs the server for one that does")
    changes = tuple(
        Change(change.leaf, None if change.sealed is None else _version(ask, change.sealed)) for change in body.changes
    )
    mends = tuple(Mend(mend.seq, _version(ask, mend.sealed)) for mend in body.mends)

    def take(memory: Memory) -> tuple[Accepted, tuple[str, ...]]:
        return accept(memory, body.expected, changes, body.note, mends), forget_deliveries(memory, *_erased(changes))

    accepted, warnings = await ask.write(take)
    for warning in warnings:
        ask.service.journal.event("deliveries", fault=warning)
    return answer(shapes.Committed(size=accepted.size, repeated=accepted.repeated))


def _erased(changes: tuple[Change, ...]) -> tuple[str, ...]:
    """The keys of what entries that were accepted erase."""
    entries = [parse_entry(split_leaf(change.leaf)[0]) for change in changes]
    return tuple(entry.key for entry in entries if isinstance(entry, Noted) and entry.type == "erased")


async def review(ask: Ask) -> Response:
    """Add a review that a reviewer signed; the head after it is this server's."""
    body = await ask.body(shapes.Review)
    entry = parse_review(body.leaf)
    ask.require_key(entry.key)
    saved = await ask.write(lambda memory: attest(memory, entry, body.leaf))
    return done(saved if READ in ask.caller.verbs else saved._replace(sha256=""))


def _version(ask: Ask, sent: shapes.SealedBytes) -> Sealed:
    return Sealed(sent.salt, sent.body, ask.require_size(sent.content))
