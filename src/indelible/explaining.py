"""Why a memory is handed over here and now, or held; and why one was, at a delivery that was noted.

A delivery is held against the log: the entry that it names must stand there still, with the very hash. That needs no
content, and so it can be said of a memory that was erased since.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import Forked, IntegrityError, NotFoundError
from indelible.gate.policy import outcomes
from indelible.gate.subject import claims
from indelible.gate.verdict import Reason
from indelible.memory.judging import head_of
from indelible.memory.proving import prove
from indelible.memory.surveying import resolving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indelible.deliveries import Delivery
    from indelible.gate.context import Context
    from indelible.gate.policy import Outcome, Policy
    from indelible.memory import Memory, Version
    from indelible.memory.judging import Judged
    from indelible.memory.results import Loaded
    from indelible.record.parts import Anchor

HOLDING = ("anchor-unchanged", "anchor-reverted")
"""Slugs of an anchor that is as it was bound."""
LAST = 5
"""Deliveries of a memory that are shown with it."""


class AnchorState(NamedTuple):
    """One anchor, and what became of it."""

    anchor: Anchor
    state: Reason
    """Its slug is `anchor-unchanged` where it holds."""
    approved: bool = False
    """Whether a reviewer approved the memory with its anchors as they are now, though this one is not as it was bound."""


class Related(NamedTuple):
    """Another memory that has a say in this one."""

    relation: str
    """`depends_on`, `contradicts`, `supersedes` or `superseded_by`."""
    key: str
    state: str
    """`delivered` or `held` under the same policy; `missing`, `tampered`."""


class Why(NamedTuple):
    """Everything that the verdict on a memory rests on."""

    loaded: Loaded
    found: Judged
    mode: str
    outcomes: tuple[Outcome, ...]
    anchors: tuple[AnchorState, ...]
    related: tuple[Related, ...]
    checkpoint: tuple[int, str]
    """Size and root of the head that it was verified against."""
    deliveries: tuple[Delivery, ...]
    """The last ones, the oldest first."""
    command: str
    """What resolves what it is held for; empty where it is not."""


class Erased(NamedTuple):
    """A memory whose content is gone, and whose entries stand."""

    key: str
    entries: tuple[Version, ...]
    """Newest first."""
    checkpoint: tuple[int, str]
    deliveries: tuple[Delivery, ...]


class Checked(NamedTuple):
    """A delivery, held against the log as it is now."""

    delivery: Delivery
    entry: str
    """`stands`; `given-up`, with a store that the owner restored; `altered`, where it is not in the log; `none`, where it names none."""
    now: str
    """What became of the memory: `unchanged`, `newer`, `archived`, `superseded`, `erased`, `unknown`."""
    since: str
    """When that was."""
    proof: tuple[int, int, str, str] | None
    """Index, size, root and leaf hash of the inclusion proof that was verified."""
    text: str
    """`same`, `other`; `gone` with the erasure, or not noted."""
    finding: IntegrityError | None


def key_of(memory: Memory, text: str) -> str:
    """The key that is meant by a key, or by a record's URN.

    Raises:
        NotFoundError: nothing was ever saved under it. IntegrityError: the log cannot be followed.
    """
    with memory.following() as (table, _, _):
        if table.get(text) is not None:
            return text
        rows = table.keys(prefix="") if text.startswith("urn:") else ()
        keys = [key for key, row in rows if row.state != "erased"]
    for key in keys:
        try:
            if claims(memory.fetch(key).body)["id"] == text:
                return key
        except (NotFoundError, IntegrityError):
            continue
    noted = next(memory.gate.journal.read(id=text, last=1), None) if memory.gate.journal is not None else None
    if noted is not None:
        return noted.key
    raise NotFoundError(f"Nothing was ever saved under {text!r} for {memory.agent!r}", key=text, agent=memory.agent)


def why(memory: Memory, key: str, version: int | None = None, *, policy: Policy | None = None) -> Why | Erased:
    """What the verdict on a memory rests on, here and now.

    Raises:
        NotFoundError: nothing was ever saved under it. IntegrityError: it is not what was sealed.
    """
    chosen = policy or memory.gate.policy
    try:
        loaded = memory.fetch(key, version)
    except NotFoundError as error:
        if not error.facts.get("erased"):
            raise
        return Erased(key, memory.history(key), head_of(memory.checkpoint()), _last(memory, key))
    found = memory.judge(key, version, policy=chosen)
    return Why(
        loaded, found, chosen.mode, outcomes(chosen, found.subject, found.context),
        tuple(_anchor(anchor, found) for anchor in found.subject.anchors), tuple(_related(memory, found, chosen)),
        head_of(loaded.note), _last(memory, key), resolving(memory, found, chosen),
    )  # fmt: skip


def why_delivery(memory: Memory, number: int) -> Checked:
    """What is kept of a delivery, and whether the log still says the same.

    Raises:
        NotFoundError: there is none of that number.
    """
    journal = memory.gate.journal
    delivery = journal.get(number) if journal is not None else None
    if delivery is None:
        raise NotFoundError(
            f"There is no delivery {number} of {memory.agent!r} on this machine", remedy="See 'indelible deliveries'"
        )
    try:
        return _check(memory, delivery)
    except IntegrityError as finding:
        return Checked(delivery, "altered", "unknown", "", None, "unknown", finding)


def _check(memory: Memory, delivery: Delivery) -> Checked:
    try:
        entries = memory.history(delivery.key)
    except NotFoundError:
        entries = ()
    entry = next((one for one in entries if one.type == "saved" and one.seq == delivery.seq), None)
    if not delivery.version:
        return Checked(delivery, "none", "unknown", "", None, "unknown", None)
    if entry is None or not _is_same(entry, delivery):
        return _absent(memory, delivery)
    with memory.following() as (_, reading, head):
        prove(memory.store, memory.agent, reading, entry.seq, head)
        proof = (entry.seq, head.size, head.root.hex(), entry.leaf.hex())
    now, since = _became(entry, entries)
    return Checked(delivery, "stands", now, since, proof, _text(memory, delivery), None)


def _is_same(entry: Version, delivery: Delivery) -> bool:
    leaf, content = entry.leaf.hex(), (entry.content or b"").hex()
    return delivery.leaf in ("", leaf) and delivery.commitment in ("", content)


def _absent(memory: Memory, delivery: Delivery) -> Checked:
    """An entry that is not in the log: lawfully only where the owner gave a part of it up."""
    with memory.following() as (table, _, _):
        restored = table.pin is not None and bool(table.pin.restored)
    if restored:
        return Checked(delivery, "given-up", "unknown", "", None, "unknown", None)
    finding = Forked(
        f"Entry {delivery.seq}, from which {delivery.key!r} was delivered, is not in the verified log",
        key=delivery.key, seq=delivery.seq,
    )  # fmt: skip
    return Checked(delivery, "altered", "unknown", "", None, "unknown", finding)


def _became(entry: Version, entries: tuple[Version, ...]) -> tuple[str, str]:
    """What the entries since say, newest first: an erasure takes everything before it, a newer version one's place."""
    since = [one for one in entries if one.seq > entry.seq]
    erased = next((one for one in since if one.type == "erased"), None)
    if erased is not None:
        return "erased", erased.at
    for one in since:
        if one.type in ("archived", "superseded", "saved"):
            return ("newer" if one.type == "saved" else one.type), one.at
        if one.type == "unarchived":
            break
    newer = next((one for one in since if one.type == "saved"), None)
    return ("newer", newer.at) if newer else ("unchanged", entry.at)


def _text(memory: Memory, delivery: Delivery) -> str:
    try:
        loaded = memory.fetch(delivery.key, delivery.version)
    except NotFoundError:
        return "gone"
    if delivery.sha256 is None:
        return "not noted"
    return "same" if loaded.sha256 == delivery.sha256 else "other"


def _anchor(anchor: Anchor, found: Judged) -> AnchorState:
    """What became of an anchor; of one that was approved as it is now, nothing is left to be done."""
    one = _state_of(anchor, found)
    if one.state.slug in HOLDING or not _is_approved_so(found):
        return one
    state = one.state._replace(message=f"{one.state.message}; approved as it is now", remedy="")
    return one._replace(state=state, approved=True)


def _is_approved_so(found: Judged) -> bool:
    subject = found.subject
    return bool(
        subject.reviewed
        and subject.review.anchors
        and subject.review.anchors == found.context.world.digest(subject.anchors)
    )


def _state_of(anchor: Anchor, found: Judged) -> AnchorState:
    world, since = found.context.world, found.subject.revision
    explain = getattr(world, "explain", None)
    if explain is not None:  # a reader with files
        return AnchorState(anchor, Reason(*explain(anchor, since if isinstance(since, str) else None)[:3]))
    held = world.check((anchor,))
    return AnchorState(anchor, held[0] if held else Reason("anchor-unchanged", f"{anchor.type} is as it was bound"))


def _related(memory: Memory, found: Judged, policy: Policy) -> Iterator[Related]:
    subject = found.subject
    named = [
        *(("depends_on", key) for key in subject.depends_on), *(("contradicts", key) for key in dict.fromkeys(subject.contradicts)),
        *(("supersedes", key) for key in subject.supersedes),
    ]  # fmt: skip
    for relation, key in [*named, ("superseded_by", subject.replaced_by)] if subject.replaced_by else named:
        yield Related(relation, key, _state(memory, key, policy))


def _state(memory: Memory, key: str, policy: Policy) -> str:
    try:
        return "held" if memory.judge(key, policy=policy).verdict.held else "delivered"
    except NotFoundError:
        return "missing"
    except IntegrityError:
        return "tampered"


def _last(memory: Memory, key: str) -> tuple[Delivery, ...]:
    return tuple(memory.gate.journal.read(key=key, last=LAST)) if memory.gate.journal is not None else ()


def facts_of(context: Context) -> dict[str, object]:
    """What the reader's context was, for people and programs."""
    return {"reader": context.reader, **context.as_dict(), "global": context.admits_global}
