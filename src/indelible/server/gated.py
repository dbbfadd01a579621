"""`/v1` for what the gate says: judging without handing over, what is held, what was handed out, recall, reviews.

Everything keeps within the keys that the API key is for.
"""

from __future__ import annotations

import json
import os
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING

import msgspec

from indelible.errors import IntegrityError, NotFoundError, UsageError
from indelible.memory.framing import framed
from indelible.record.times import parse_time
from indelible.server import judgements
from indelible.server.answers import answer, beside, decoded, encoded, verdict_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.responses import Response

    from indelible.deliveries import Delivery
    from indelible.memory import Loaded, Memory
    from indelible.memory.recalling import Why
    from indelible.memory.results import Held
    from indelible.memory.standing import Event
    from indelible.server.asking import Ask
    from indelible.server.context import Asked

PAGE, MAX_PAGE = 100, 1_000
LOOKED_AT = 20_000
"""Deliveries that are looked at for one page, where the API key is for some keys only."""
OUTCOMES = ("delivered", "held", "shown", "verified", "saved", "refused")


async def verdict(ask: Ask) -> Response:
    """Judge one memory, and hand nothing over."""
    key, version, how = ask.key(), ask.version(), ask.stands()
    found = await ask.read(lambda memory: memory.judge(key, version, policy=how.policy, context=how.context))
    subject = found.subject
    value = judgements.Judged(
        agent=ask.agent, key=key, version=subject.version, state=subject.state, verdict=verdict_of(found.verdict),
        context={name: str(said) for name, said in found.context.as_dict().items()},
    )  # fmt: skip
    return answer(value)


async def held(ask: Ask) -> Response:
    """What is held here and now, page by page: as many memories are judged for one page as its limit says."""
    prefix, after, states = ask.prefix(), ask.query.get("cursor", ""), ask.states("active,archived,superseded")
    limit, how = ask.number("limit", PAGE, least=1, most=MAX_PAGE), ask.stands()

    def look(memory: Memory) -> tuple[judgements.HeldPage, tuple[IntegrityError, ...]]:
        page = memory.list(prefix=prefix, after=after, limit=limit, states=states - {"erased"})
        findings = list(page.findings)
        items = list(_held(memory, [item.key for item in page.items], how, findings))
        return judgements.HeldPage(held=items, judged=len(page.items), next=page.next), tuple(findings)

    return beside(*await ask.read(look))


def _held(
    memory: Memory, keys: list[str], how: Asked, findings: list[IntegrityError]
) -> Iterator[judgements.HeldMemory]:
    for key in keys:
        try:
            found = memory.judge(key, policy=how.policy, context=how.context)
        except NotFoundError:
            continue  # erased since
        except IntegrityError as finding:
            findings.append(finding)
            continue
        if found.verdict.held:
            yield judgements.HeldMemory(key=key, version=found.subject.version, verdict=verdict_of(found.verdict))


async def deliveries(ask: Ask) -> Response:
    """What was handed out and held back, page by page, the oldest first."""
    after, limit = ask.number("after", 0), ask.number("limit", PAGE, least=1, most=MAX_PAGE)
    key = ask.key() if "key" in ask.query else None
    outcome = ask.query.get("outcome")
    if outcome is not None and outcome not in OUTCOMES:
        raise UsageError(f"outcome is one of {', '.join(OUTCOMES)}", member="outcome")
    since, until = (parse_time(ask.query[name], name) if name in ask.query else None for name in ("since", "until"))

    def read(memory: Memory) -> list[Delivery]:
        found = _journal(memory, after, key, outcome, since, until)
        return list(islice(found, LOOKED_AT if ask.caller.prefix and key is None else limit + 1))

    return answer(_page(await ask.read(read), ask.caller.prefix, limit))


def _journal(
    memory: Memory, after: int, key: str | None, outcome: str | None, since: str | None, until: str | None
) -> Iterator[Delivery]:
    journal = memory.gate.journal
    return iter(()) if journal is None else journal.read(after, key=key, outcome=outcome, since=since, until=until)


def _page(found: list[Delivery], prefix: str, limit: int) -> judgements.Deliveries:
    """As many as fit of those that the API key is for; where there may be more, from which number on."""
    mine = [one for one in found if one.key.startswith(prefix)]
    more = len(mine) > limit
    next_ = mine[limit - 1].number if more else found[-1].number if len(found) == LOOKED_AT else None
    return judgements.Deliveries(deliveries=[_delivery(one) for one in mine[:limit]], next=next_)


async def delivery(ask: Ask) -> Response:
    """One delivery, by its number."""
    number = ask.number("number", 0, least=1)
    found = await ask.read(lambda memory: None if memory.gate.journal is None else memory.gate.journal.get(number))
    if found is None or not found.key.startswith(ask.caller.prefix):
        raise NotFoundError(
            f"There is no delivery {number}", remedy="/v1/deliveries lists what there is", number=number
        )
    return answer(_delivery(found))


def _delivery(one: Delivery) -> judgements.Delivery:
    context = {name: str(said) for name, said in json.loads(one.context).items()}
    return msgspec.convert(one.as_dict() | {"context": context}, judgements.Delivery)


async def recall(ask: Ask) -> Response:
    """Memories that are near to a query: each verified, judged, and handed over or held."""
    how, body = ask.stands(), await ask.body(judgements.Recall)
    prefix = ask.within(body.prefix)
    since, until = (
        parse_time(text, name) if text else "" for name, text in (("since", body.since), ("until", body.until))
    )
    found = await ask.read(
        lambda memory: memory.recall(
            body.query, limit=body.limit, tags=body.tags, kinds=body.kinds, levels=body.levels, prefix=prefix, since=since,
            until=until, policy=how.policy, context=how.context,
        )
    )  # fmt: skip
    delivered = [_recalled(loaded, why, body) for loaded, why in zip(found.delivered, found.why, strict=True)]
    held = [_kept(one) for one in found.held]
    value = judgements.Recalled(delivered=delivered, held=held, withheld=found.withheld, warnings=list(found.warnings))
    return beside(value, found.findings)


def _recalled(loaded: Loaded, why: Why, body: judgements.Recall) -> judgements.RecalledMemory:
    encoding, content = encoded(loaded.content)
    return judgements.RecalledMemory(
        key=loaded.key, version=loaded.version, sha256=loaded.sha256, encoding=encoding, content=content,
        fenced=framed(loaded, os.urandom, about=body.query, characters=body.characters), verdict=verdict_of(loaded.verdict),
        delivery=loaded.delivery, score=why.score, channels=judgements.Channels(**why.channels._asdict()), gap=why.gap, similar=list(why.similar),
    )  # fmt: skip


def _kept(one: Held) -> judgements.RecalledHeld:
    return judgements.RecalledHeld(
        key=one.key, version=one.version, verdict=verdict_of(one.verdict), delivery=one.delivery
    )


async def identify(ask: Ask) -> Response:
    """Which memory a text is a copy of, and how sure that is; nothing of the memory is handed over."""
    body = await ask.body(judgements.Identify)
    text, prefix = decoded(body.content, body.encoding), ask.within(body.prefix)
    found = await ask.read(lambda memory: memory.identify(text, prefix=prefix))
    noise = found.noise
    value = judgements.Identified(
        certainty=found.certainty.value,
        originals=[judgements.Original(**one._asdict()) for one in found.originals],
        gap=_finite(found.gap), energy=_finite(found.energy),
        noise=None if noise is None else judgements.CopyNoise(noise.bits, noise.compared, noise.rate, noise.lost),
        identical=found.identical, longer=found.longer, also=list(found.also),
    )  # fmt: skip
    return beside(value, () if found.finding is None else (found.finding,))


def _finite(number: float) -> float | None:
    return number if isfinite(number) else None


async def reviews(ask: Ask) -> Response:
    """What was decided about the present version of a memory, and what it comes to."""
    key = ask.key()
    found = await ask.read(lambda memory: memory.judge(key))
    stands = found.standing
    review = judgements.VerdictReview(stands.review.value, stands.review.by or None, stands.review.at or None)
    value = judgements.Reviews(
        key=key, version=found.subject.version, review=review, reviews=[_judgement(event) for event in stands.events]
    )
    return answer(value)


def _judgement(event: Event) -> judgements.Judgement:
    entry = event.entry
    return judgements.Judgement(
        type=entry.type, verdict=entry.verdict, seq=entry.seq, at=entry.at, by=entry.by, reviewer=event.reviewer or None,
        method=entry.method, subject=entry.subject, reason=entry.reason, leaf=event.leaf,
    )  # fmt: skip
