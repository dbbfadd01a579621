"""What a log says about one version of a memory: its state, and what the judgements of it come to.

Read from the entries about its key, from the newest back to the one that saved the version; each is proved by the one
after it. A review counts only if a reviewer's key that this reader trusts did sign it: the log's head proves that the
entry stands there, and not who wrote it. What anybody else disputes is shown, and whom the agent assigns it to gives
way to whom a reviewer does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from indelible.entry import PAYLOAD_TYPE, Judged, Saved, parse_entry, split_leaf, unquote
from indelible.gate.subject import UNREVIEWED, Review
from indelible.memory.pinned import is_revoked, leaf_at
from indelible.seal.note import pae

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indelible.entry import Entry
    from indelible.gate.context import Context
    from indelible.memory.reading import Reader
    from indelible.memory.results import Loaded
    from indelible.record.parts import Anchor

REVIEWER = "indelible-reviewer/"
_VALUES = {"approve": "approved", "reject": "rejected", "dispute": "disputed"}


class Event(NamedTuple):
    """One judgement, as it stands in the log."""

    entry: Judged
    reviewer: str
    """Name of the reviewer whose key signed it; empty where it is by nobody that this reader knows as one."""
    leaf: bytes
    """The entry as it was signed, for whoever would check that."""


class Standing(NamedTuple):
    """Where one version of a memory stands."""

    state: str
    leaf: bytes
    """Leaf hash of the entry that saved it: what judgements of it are bound to."""
    review: Review = UNREVIEWED
    replaced_by: str = ""
    contradicts: tuple[str, ...] = ()
    """Keys of memories that a reviewer said it contradicts."""
    doubted_for: tuple[str, ...] = ()
    """Keys of memories that somebody else said it contradicts: shown, and taking nothing away from what was approved."""
    events: tuple[Event, ...] = ()
    """The judgements of this version, the oldest first."""


def standing(reader: Reader, loaded: Loaded) -> Standing:
    """What the log says about the version that was loaded.

    Raises:
        IntegrityError: an entry about its key is not what was sealed.
    """
    latest = loaded.latest
    if latest.head_seq == loaded.seq:
        return Standing(latest.state, latest.head)
    leaf, said = b"", []
    for digest, entry, body, signature in _said(reader, loaded):
        if entry.seq == loaded.seq:
            leaf = digest
            break
        if isinstance(entry, Judged):
            said.append((entry, body, signature))
    events = tuple(
        Event(entry, _reviewer(reader, loaded.revoked, entry, body, signature), body + signature)
        for entry, body, signature in reversed(said)
        if (entry.type == "superseded" and entry.version == loaded.version) or entry.digest == leaf.hex()
    )
    review = _review(reader, events)
    replaced_by = _replaced_by(events, review)
    state = latest.state if latest.state not in ("active", "superseded") else "superseded" if replaced_by else "active"
    return Standing(
        state,
        leaf,
        review,
        replaced_by,
        _contradicted(events, by_reviewers=True),
        _contradicted(events, by_reviewers=False),
        events,
    )


def _said(reader: Reader, loaded: Loaded) -> Iterator[tuple[bytes, Entry, bytes, bytes]]:
    """Leaf hash, entry, body and signature of each entry about the key, from the newest back."""
    seq: int | None = loaded.latest.head_seq
    expected = loaded.latest.head
    with reader.store.reading(reader.agent) as reading:
        while seq is not None:
            leaf = leaf_at(reading, reader.origin, seq, expected, key=loaded.key)
            body, signature = split_leaf(leaf)
            entry = parse_entry(body)
            yield expected, entry, body, signature
            seq, expected = getattr(entry, "prev_seq", None), bytes.fromhex(getattr(entry, "prev", None) or "")


def _reviewer(reader: Reader, revoked: str, entry: Judged, body: bytes, signature: bytes) -> str:
    """The name of the reviewer who signed an entry; empty where that is nobody this reader knows as one."""
    key = reader.reviewers.get(int(entry.by, 16))
    if key is None or is_revoked(entry.by, entry.seq, revoked):
        return ""
    known = reader.signed.get(signature)
    if known is None:  # remembered for as long as the memory is open: a signature takes as long as ten loads
        known = reader.signed[signature] = body if key.verify_raw(pae(PAYLOAD_TYPE, body), signature) else b""
    return key.name if known == body else ""


def last_approved(reader: Reader, loaded: Loaded) -> int | None:
    """The number of the newest version before the one that was loaded which a reviewer approved, and nobody took that back.

    Raises:
        IntegrityError: an entry about its key is not what was sealed.
    """
    decided: dict[str, str] = {}
    for digest, entry, body, signature in _said(reader, loaded):
        if entry.type == "erased":
            return None
        if isinstance(entry, Judged) and entry.verdict in _VALUES and entry.digest not in decided:
            if _reviewer(reader, loaded.revoked, entry, body, signature):
                decided[entry.digest] = entry.verdict
        elif isinstance(entry, Saved) and entry.version < loaded.version and decided.get(digest.hex()) == "approve":
            return entry.version
    return None


def _review(reader: Reader, events: tuple[Event, ...]) -> Review:
    review = UNREVIEWED
    strangers: dict[str, None] = {}
    for entry, reviewer, _ in events:
        if entry.type != "reviewed":
            continue
        if entry.verdict == "assign":
            review = _assigned(review, entry, reviewer)
        elif reviewer:
            review = _decided(reader, review, entry, reviewer)
        elif entry.verdict == "dispute":
            review = review if entry.subject else replace(review, doubted=entry.at)
        else:
            strangers[entry.by] = None
    return review if not strangers else replace(review, strangers=tuple(strangers))


def _assigned(review: Review, entry: Judged, reviewer: str) -> Review:
    if not reviewer and (review.assigned_by or review.value == "approved"):
        return review  # the agent's word moves neither a reviewer's assignment nor what was approved
    value = "pending" if review.value == "unreviewed" else review.value
    return replace(review, value=value, assigned=entry.subject or "", assigned_by=name_of(reviewer))


def _decided(reader: Reader, review: Review, entry: Judged, reviewer: str) -> Review:
    revision, anchors = parse_seen(entry.subject if entry.verdict == "approve" else None)
    protected = entry.method == "human" and int(entry.by, 16) not in reader.open_reviewers
    if entry.verdict == "approve" and not protected and review.protected and review.value in _VALUES.values():
        return review  # what anything that runs as the reviewer's user can sign takes a person's word neither back nor its place
    return Review(
        _VALUES[entry.verdict], name_of(reviewer), entry.at, protected, revision, anchors, review.assigned,
        review.assigned_by,
    )  # fmt: skip


def name_of(reviewer: str) -> str:
    """A reviewer's name, from that of the key."""
    return unquote(reviewer.removeprefix(REVIEWER))


def format_seen(context: Context, anchors: tuple[Anchor, ...]) -> str | None:
    """What an approval says it was looked at against: the commit, and a digest over what the anchors are now."""
    import json

    seen = {"anchors": context.world.digest(anchors) if anchors else "", "revision": context.place.revision or ""}
    known = {name: text for name, text in seen.items() if text}
    return json.dumps(known, sort_keys=True, separators=(",", ":")) if known else None


def parse_seen(subject: str | None) -> tuple[str, str]:
    """The commit and the digest of anchors that an approval names; empty where it names none, or nothing that can be read."""
    import json

    try:
        seen = json.loads(subject or "{}")
    except (ValueError, RecursionError):
        return "", ""
    said = (seen.get("revision"), seen.get("anchors")) if isinstance(seen, dict) else ()
    revision, anchors = (text if isinstance(text, str) else "" for text in said or ("", ""))
    return revision, anchors


def _replaced_by(events: tuple[Event, ...], review: Review) -> str:
    """What took its place. What a reviewer approved gives way to a reviewer's word only, not to the agent's own."""
    approved = review.value == "approved"
    words = [event.entry for event in events if event.entry.type == "superseded" and (event.reviewer or not approved)]
    return (words[-1].subject or "") if words else ""


def _contradicted(events: tuple[Event, ...], *, by_reviewers: bool) -> tuple[str, ...]:
    """Keys of memories that somebody said it contradicts."""
    named = (
        event.entry.subject
        for event in events
        if event.entry.verdict == "dispute" and event.entry.subject and bool(event.reviewer) is by_reviewers
    )
    return tuple(dict.fromkeys(named))
