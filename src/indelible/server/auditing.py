"""`GET /v1/audit`: the caller's log read a second time, from the bytes up, by code that shares nothing with the first reading."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from starlette.responses import Response

from indelible.audit import audit as read_again
from indelible.errors import Busy, IntegrityError
from indelible.seal import checkpoint
from indelible.seal.note import parse_note
from indelible.server import shapes
from indelible.server.answers import NO_STORE, answer
from indelible.server.problems import MEDIA, members

if TYPE_CHECKING:
    from indelible.audit import Finding, Report
    from indelible.memory import Memory
    from indelible.seal.checkpoint import Checkpoint
    from indelible.seal.note import Verifier
    from indelible.server.asking import Ask


class _Known(NamedTuple):
    """What this server believes about one log, which an audit starts from."""

    origin: str
    keys: tuple[Verifier, ...]
    owners: tuple[Verifier, ...]
    reviewers: tuple[Verifier, ...]
    pin: Checkpoint | None


async def audit(ask: Ask) -> Response:
    """Read everything again; one audit at a time. Status 409, with the whole report, where something is wrong."""
    service = ask.service
    if service.auditing:
        raise Busy("An audit is under way", remedy="Try again when it has ended")
    service.auditing = True
    try:
        known = await ask.read(_know)
        report = await asyncio.to_thread(_run, service.settings.store, ask.agent, known)
    finally:
        service.auditing = False
    return _answer(report, service.settings.store)


def _know(memory: Memory) -> _Known:
    pin, _ = memory.follower.look("")
    head = checkpoint.parse(parse_note(pin.note).text) if pin is not None and pin.note else None
    trust = memory.trust
    keys = (*trust.agent_keys(), *trust.server_keys())
    return _Known(memory.origin, keys, trust.owner_keys(), trust.reviewer_keys(), head)


def _run(path: str, agent: str, known: _Known) -> Report:
    return read_again(
        path, verifiers=lambda _, origin: known.keys if origin == known.origin else (), owners=known.owners, reviewers=known.reviewers,
        pins=lambda _: known.pin, agents=(agent,),
    )  # fmt: skip


def _answer(report: Report, path: str) -> Response:
    found = [msgspec.Raw(msgspec.json.encode(_shown(finding, path))) for finding in report.findings]
    log = report.agents[0] if report.agents else None
    value = shapes.Audited(
        ok=report.ok, size=log.size if log else 0, keys=log.keys if log else 0, versions=log.versions if log else 0,
        signed_by=list(log.signed_by) if log else [], findings=found,
    )  # fmt: skip
    if report.ok:
        return answer(value)
    problem = members(IntegrityError("The audit found that this log or its store is not what was sealed"))
    body = msgspec.json.encode({**problem, **{name: getattr(value, name) for name in value.__struct_fields__}})
    return Response(body, status_code=409, headers=NO_STORE, media_type=MEDIA)


def _shown(finding: Finding, path: str) -> dict[str, object]:
    """A finding without the server's folders."""
    return {
        name: text.replace(path, os.path.basename(path)) if isinstance(text, str) else text
        for name, text in finding.as_dict().items()
    }
