"""`/v1` for one agent's memories: with proofs, pages, conditions and operation ids.

A client need not trust what it gets here: each version comes with its salt, its leaf and a proof under the signed head.
What this server saves by itself (PUT, DELETE, archive, …) it attests with its own key; a client with a key of its own
sends `/v1/commit` instead (log.py).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from indelible.entry import parse_entry, split_leaf
from indelible.erasing import erase_checksum, forget_deliveries
from indelible.errors import ConflictError, UsageError
from indelible.memory.facade import refusal
from indelible.memory.results import Held
from indelible.record.times import parse_time
from indelible.server import shapes
from indelible.server.answers import answer, beside, decoded, done, encoded, etag, listed, verdict_of
from indelible.server.apikeys import READ
from indelible.server.problems import problem
from indelible.server.wire import plain_record

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.responses import Response

    from indelible.memory import Memory, Saved
    from indelible.memory.results import Loaded
    from indelible.record import Record
    from indelible.seal.proof import TlogProof
    from indelible.server.asking import Ask
    from indelible.server.context import Asked

PAGE, MAX_PAGE = 100, 1_000


async def memories(ask: Ask) -> Response:
    """A page of the memories, in the order of their keys, each verified."""
    prefix, limit, after = ask.prefix(), ask.number("limit", PAGE, least=1, most=MAX_PAGE), ask.query.get("cursor", "")
    states = ask.states("active")
    page = await ask.read(lambda memory: memory.list(prefix=prefix, after=after, limit=limit, states=states))
    return beside(
        shapes.Page(memories=[listed(item) for item in page.items], total=page.total, next=page.next), page.findings
    )


async def memory(ask: Ask) -> Response:
    """One version with its proof."""
    key, version, held, how = ask.key(), ask.version(), ask.flag("held"), ask.stands()
    leaf, proof, loaded = await ask.read(lambda memory: _proved(memory, key, version, how, held=held))
    tag = etag(loaded.sha256)
    encoding, content = encoded(loaded.content)
    value = shapes.Memory(
        agent=ask.agent, key=key, version=loaded.version, state=loaded.latest.state, saved_at=parse_entry(split_leaf(leaf)[0]).at,
        attested=loaded.attested, sha256=loaded.sha256, encoding=encoding, content=content, record=msgspec.Raw(loaded.body),
        salt=loaded.salt, leaf=leaf, proof=proof.format().decode(), verdict=verdict_of(loaded.verdict), delivery=loaded.delivery,
    )  # fmt: skip
    return answer(value, headers={"etag": tag})


def _proved(
    memory: Memory, key: str, version: int | None, how: Asked, *, held: bool
) -> tuple[bytes, TlogProof, Loaded]:
    """The proof first: it says which version, should another one be saved in between."""
    leaf, proof = memory.proof(key, version)
    entry = parse_entry(split_leaf(leaf)[0])
    answer_ = memory.deliver(
        key, getattr(entry, "version", version), policy=how.policy, context=how.context, regardless=held
    )
    if isinstance(answer_, Held):
        raise refusal(answer_)
    return leaf, proof, answer_


async def put(ask: Ask) -> Response:
    """Save a version; the server attests it."""
    key, op, based_on = ask.key(), ask.op(), ask.based_on()
    body = await ask.body(shapes.Put)
    content = ask.require_size(decoded(body.content, body.encoding))
    expires = None if body.expires_at is None else parse_time(body.expires_at, "expires_at")

    def save(memory: Memory) -> Saved:
        plain = plain_record(memory, key, content, expires)
        return memory.save(
            key,
            content,
            record=lambda earlier: _described(plain(earlier), body),
            based_on=based_on,
            reason=body.reason,
            allow_empty=body.allow_empty,
            op=op,
        )

    try:
        return done(await ask.write(save))
    except ConflictError as error:
        # RFC 9110, 13.1.1: a condition in the request's headers that does not hold.
        return problem(
            error if READ in ask.caller.verbs else _without_digest(error),
            412 if based_on is not None and "based_on" in error.facts else None,
        )


def _described(record: Record, body: shapes.Put) -> Record:
    """With the origin and the tags that the request gives."""
    tags = record.tags if body.tags is msgspec.UNSET else body.tags
    origin = record.origin if body.origin is None else replace(record.origin, class_=body.origin)
    return replace(record, origin=origin, tags=tags)


def _without_digest(error: ConflictError) -> ConflictError:
    """What is there is not told to who may not read it: a short memory could be guessed from its digest."""
    if "actual" not in error.facts:
        return error
    return ConflictError("The memory is not the one that this save is based on", based_on=error.facts.get("based_on"))


async def erase(ask: Ask) -> Response:
    """Take every version's content away, and the checksum stated beside it; the proofs stand."""
    key, op, reason = ask.key(), ask.op(), _reason(ask.query.get("reason"))
    return done(await ask.write(lambda memory: _erase(memory, key, reason, op)))


def _erase(memory: Memory, key: str, reason: str | None, op: str | None) -> Saved:
    """An API key for some keys is for the checksum's too: its name begins with the memory's."""
    erased = memory.note("erased", key, reason=reason, op=op)
    also, warnings = erase_checksum(memory, key, reason)
    warnings += forget_deliveries(memory, key, *also)
    left = memory.purge()
    return erased._replace(warnings=(*erased.warnings, *warnings, *((left,) if left else ())))


async def archive(ask: Ask) -> Response:
    """Put a memory away."""
    return await _named(ask, lambda memory, body, op: memory.archive(body.key, reason=body.reason, op=op))


async def unarchive(ask: Ask) -> Response:
    """Bring an archived memory back."""
    return await _named(ask, lambda memory, body, op: memory.unarchive(body.key, reason=body.reason, op=op))


async def _named(ask: Ask, job: Callable[[Memory, shapes.Named, str | None], Saved]) -> Response:
    op, body = ask.op(), await ask.body(shapes.Named)
    ask.require_key(body.key)
    return done(await ask.write(lambda memory: job(memory, body, op)))


async def restore(ask: Ask) -> Response:
    """Save an older version again as the newest."""
    op, body = ask.op(), await ask.body(shapes.Restore)
    ask.require_key(body.key)
    return done(await ask.write(lambda memory: memory.restore(body.key, body.version, reason=body.reason, op=op)))


async def history(ask: Ask) -> Response:
    """What happened to one memory, newest first."""
    key, limit, skip = ask.key(), ask.number("limit", PAGE, least=1, most=MAX_PAGE), ask.number("skip", 0)
    found = await ask.read(lambda memory: memory.history(key))
    events = [
        shapes.Event(
            type=e.type,
            seq=e.seq,
            version=e.version,
            at=e.at,
            by=e.by,
            how=e.how,
            reason=e.reason,
            leaf_hash=e.leaf.hex(),
        )
        for e in found[skip : skip + limit]
    ]
    return answer(shapes.History(key=key, events=events, total=len(found)))


async def proof(ask: Ask) -> Response:
    """The entry that saved a version, and its inclusion in the signed head."""
    key, version = ask.key(), ask.version()
    leaf, proof = await ask.read(lambda memory: memory.proof(key, version))
    return answer(shapes.Proof(leaf=leaf, proof=proof.format().decode()))


def _reason(text: str | None) -> str | None:
    if text is not None and len(text) > 2_000:
        raise UsageError("A reason has at most 2000 characters", member="reason")
    return text
