"""The seeds' two paths, so that their unmodified clients go on working.

    POST /memory/save {"agent","key","content"[,"expires_at"]}  ->  {"status":"saved","agent":…,"key":…}
    GET  /memory/load?agent=A[&key=K]                            ->  {"memories":[{"key_name","content",…}]}

What is expired, archived, erased or was never there is no row. A memory that is not what was sealed is never a row:
asked for by its key the answer is a problem (409); in the list of all it is left out, named in `findings`, and the
status is 409 while the rows that are right are there. Content that is not UTF-8 has `content` null and `content_base64`.

`K.sha256` can be read for every `K`. What a client stated under it counts if it was stated after K's present
version and is not about an older version of K; else it is computed from the verified content. So a save that was
cut between its two halves, or crossed another one, is not taken for tampering.
"""

from __future__ import annotations

import asyncio
import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
from starlette.responses import StreamingResponse

from indelible.errors import IntegrityError, NotFoundError
from indelible.memory.entering import is_masked
from indelible.memory.results import Held
from indelible.record import draft
from indelible.record.times import parse_time
from indelible.server import shapes
from indelible.server.answers import NO_STORE, answer, problem_of, row
from indelible.server.problems import MEDIA, finding
from indelible.settings import now

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from starlette.responses import Response

    from indelible.memory import Loaded, Memory, Saved
    from indelible.record import Record
    from indelible.server.asking import Ask

SUFFIX = ".sha256"
_DIGEST = re.compile(rb"\s*(?:sha256:)?[0-9a-fA-F]{64}\s*")
_PAGE = 2_000
_CROSSED = 8
"""How many versions back a stated checksum may be about: saves that cross one another."""
_BREATH = 64
"""Rows between two pauses in which others are served."""


async def save(ask: Ask) -> Response:
    """Save a memory; the server attests it with its own key."""
    body = await ask.body(shapes.Save)
    ask.require_agent(body.agent)
    key = ask.require_key(body.key)
    content = ask.require_size(body.content.encode("utf-8"))
    expires = None if body.expires_at is None else parse_time(body.expires_at, "expires_at")
    saved = await ask.write(lambda memory: _save(memory, key, content, expires))
    return answer(shapes.SavedPlain(agent=ask.agent, key=key, masked=saved.masked or msgspec.UNSET))


def _save(memory: Memory, key: str, content: bytes, expires: str | None) -> Saved:
    """A checksum that a client states for what was masked on its way in is of a text that is nowhere stored: ours takes its place."""
    masked = _masked_subject(memory, key) if _DIGEST.fullmatch(content) else None
    if masked is not None and not _states(content, masked) and not _is_older(memory, masked, _bare(content)):
        content = masked.sha256.encode()
    return memory.save(key, content, record=plain_record(memory, key, content, expires))


def _masked_subject(memory: Memory, key: str) -> Loaded | None:
    about = key.removesuffix(SUFFIX)
    if about in ("", key):
        return None
    try:
        subject = memory.fetch(about)
    except (NotFoundError, IntegrityError):
        return None
    return subject if is_masked(subject.record) else None


def _states(content: bytes, subject: Loaded) -> bool:
    return _bare(content) == subject.sha256.encode()


def _bare(content: bytes) -> bytes:
    return content.strip().lower().removeprefix(b"sha256:")


def plain_record(memory: Memory, key: str, content: bytes, expires: str | None) -> Callable[[Record | None], Record]:
    """What is known about a plain save: what was known before, and the expiry that this save gives, or none."""

    def make(earlier: Record | None) -> Record:
        if earlier is None:
            author = f"agent:{memory.agent}"
            record = draft(
                key, content, now=now(), author=author, agent=memory.agent, team=memory.team, random=os.urandom(10)
            )
        else:
            record = memory.revise(earlier, content)
        return replace(record, validity=replace(record.validity, expires_at=expires))

    return make


async def load(ask: Ask) -> Response:
    """Hand out one memory, or all that the API key is for."""
    if "key" not in ask.query:
        return await _load_all(ask)
    found, finding_ = await _find(ask, ask.key())
    return _rows([] if found is None else [found], finding_)


def _rows(rows: list[shapes.Row], error: IntegrityError | None) -> Response:
    """One good row is served with status 200 even when the log around it is not right: that is said beside it."""
    return answer(shapes.Rows(memories=rows, findings=msgspec.UNSET if error is None else [finding(error)]))


async def _find(ask: Ask, key: str) -> tuple[shapes.Row | None, IntegrityError | None]:
    """The row of one key, and what is wrong with the log around it."""
    loaded = await _load(ask, key)
    about = key.removesuffix(SUFFIX)
    if about not in ("", key) and about.startswith(ask.caller.prefix):
        # The statement is looked at before the memory: were it the other way round, a save in between would look wrong.
        subject = await _load(ask, about)
        if subject is not None and not await _counts(ask, loaded, subject):
            return _computed(key, subject), subject.finding
    if loaded is None:
        return None, None
    return row(loaded), loaded.finding


async def _load(ask: Ask, key: str) -> Loaded | None:
    try:
        answer = await ask.load(key)
    except NotFoundError:
        return None
    return None if isinstance(answer, Held) else answer


async def _counts(ask: Ask, stated: Loaded | None, subject: Loaded) -> bool:
    """Whether what a client stated is about the present version of `subject`."""
    if stated is None or stated.seq < subject.seq:
        return False
    if _states(stated.content, subject):
        return True
    return not await ask.read(lambda memory: _is_older(memory, subject, _bare(stated.content)))


def _is_older(memory: Memory, subject: Loaded, text: bytes) -> bool:
    for version in range(subject.version - 1, max(0, subject.version - 1 - _CROSSED), -1):
        try:
            if memory.fetch(subject.key, version).sha256.encode() == text:
                return True
        except NotFoundError:  # erased
            continue
    return False


def _computed(key: str, subject: Loaded) -> shapes.Row:
    return shapes.Row(key_name=key, content=subject.sha256, updated_at=subject.latest.at, computed=True)


async def _load_all(ask: Ask) -> Response:
    """Verify everything first, so that the status is known; then send row after row, so that memory stays bounded."""
    keys, findings = await ask.read(lambda memory: _survey(memory, ask.caller.prefix))
    bad = {error.facts.get("key") for error in findings}
    stream = _stream(ask, [key for key in keys if key not in bad and key.removesuffix(SUFFIX) not in bad], findings)
    media = MEDIA if findings else "application/json"
    return StreamingResponse(stream, status_code=409 if findings else 200, headers=NO_STORE, media_type=media)


def _survey(memory: Memory, prefix: str) -> tuple[list[str], tuple[IntegrityError, ...]]:
    keys: list[str] = []
    findings: dict[str, IntegrityError] = {}
    after: str | None = ""
    while after is not None:
        page = memory.list(prefix=prefix, after=after, limit=_PAGE)
        keys += [item.key for item in page.items]
        findings.update((error.message, error) for error in page.findings)
        after = page.next
    return keys, tuple(findings.values())


async def _stream(ask: Ask, keys: list[str], findings: tuple[IntegrityError, ...]) -> AsyncIterator[bytes]:
    """The document in pieces. A row that fails now was right a moment ago: the answer then ends in the middle."""
    yield b'{"memories":['
    comma = b""
    for count, key in enumerate(keys):
        found, _ = await _find(ask, key)
        if found is not None:
            yield comma + msgspec.json.encode(found)
            comma = b","
        if count % _BREATH == 0:
            await asyncio.sleep(0)
    rest = {"findings": [finding(error) for error in findings], **problem_of(findings)} if findings else {}
    yield b"]" + (b"," + msgspec.json.encode(rest)[1:] if rest else b"}")
