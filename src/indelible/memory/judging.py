"""From a verified memory to a delivery or a refusal: the second of the two stages, and what is written down of it.

What a memory stands on is judged with it: a held memory holds what depends on it. Of two that contradict one another
the one that is outranked is held, and between equals nothing is decided: both say so.
"""

from __future__ import annotations

from functools import lru_cache
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from indelible.deliveries import Delivery, Reviewed
from indelible.errors import IntegrityError, NotFoundError, UsageError
from indelible.gate.policy import judge
from indelible.gate.presets import ALONE
from indelible.gate.subject import Subject, claims
from indelible.gate.verdict import Reason
from indelible.memory.results import Held
from indelible.memory.standing import Standing, standing
from indelible.sealed import Sealed, commit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indelible.gate.context import Context
    from indelible.gate.policy import Policy
    from indelible.gate.verdict import Verdict
    from indelible.memory.gating import Gate
    from indelible.memory.reading import Reader
    from indelible.memory.results import Loaded
    from indelible.record.parts import Anchor

READ = 1 << 20
"""Bytes of a text that are looked at for orders."""
DEPTH = 32
"""How far a chain of dependencies is followed; what lies deeper is not known to apply."""


class Judged(NamedTuple):
    """A memory with everything that its verdict rests on."""

    subject: Subject
    standing: Standing
    context: Context
    verdict: Verdict


def subject_of(reader: Reader, loaded: Loaded, stands: Standing) -> Subject:
    """What the conditions see of a memory."""
    said = {**claims(loaded.body), "key": loaded.key}
    if stands.contradicts or stands.doubted_for:
        said["contradicts"] = (*said["contradicts"], *stands.contradicts, *stands.doubted_for)
        said["doubted_for"] = frozenset(stands.doubted_for).difference(stands.contradicts)
    return Subject(
        **said, agent=reader.agent, version=loaded.version, saved_at=loaded.latest.at,
        state=stands.state, replaced_by=stands.replaced_by, review=stands.review, signs=signs_of(loaded.content),
    )  # fmt: skip


def signs_of(content: bytes) -> tuple[str, ...]:
    """Why content reads as an order to the model. A byte that is no text hides none of the others, nor do zeros between letters.

    Of what is longer than `READ` the beginning and the end are read: no context of a model takes more.
    """
    from indelible.gate.shape import signs

    if len(content) > READ:
        content = content[: READ // 2] + b"\n" + content[-READ // 2 :]
    found = signs(content.decode("utf-8", "replace"))
    if b"\0" in content:
        found = tuple(sorted({*found, *signs(content.replace(b"\0", b"").decode("utf-8", "replace"))}))
    return found


def judged(reader: Reader, loaded: Loaded, *, policy: Policy, context: Context) -> Judged:
    """Judge one memory, and what it depends on.

    Raises:
        IntegrityError: an entry about it is not what was sealed.
    """
    return _judged(reader, loaded, policy, context, (), {})


Known = dict[str, "Reason | None"]
"""What came of each memory that something depends on: each is judged once, by however many ways it is reached."""


def _judged(
    reader: Reader, loaded: Loaded, policy: Policy, context: Context, above: tuple[str, ...], known: Known
) -> Judged:
    """As `judged`; `above` has the keys whose dependencies led here."""
    stands = standing(reader, loaded)
    subject = subject_of(reader, loaded, stands)
    verdict = judge(policy, subject, context)
    if policy.mode in ALONE:
        return Judged(subject, stands, context, verdict)
    if subject.depends_on:
        reasons = _dependencies(reader, subject, policy, context, (*above, loaded.key), known)
        verdict = verdict._replace(reasons=verdict.reasons + reasons)
    if subject.contradicts:
        verdict = _weigh(reader, subject, verdict, policy, context)
    if subject.supersedes:
        verdict = verdict._replace(notes=(*verdict.notes, *_unfinished(reader, subject, loaded.seq)))
    return Judged(subject, stands, context, verdict)


def deliver(reader: Reader, loaded: Loaded, gate: Gate, *, regardless: bool = False) -> Loaded | Held:
    """Judge a memory, write down what came of it, and hand it over or not.

    Args:
        regardless: hand a held one over too; that stands in the deliveries.
    """
    context = gate.context(reader.agent, reader.now())
    return noted(judged(reader, loaded, policy=gate.policy, context=context), loaded, gate, regardless=regardless)


def noted(found: Judged, loaded: Loaded, gate: Gate, *, regardless: bool = False) -> Loaded | Held:
    """Write down what came of a judgement, and hand over or not: for whoever judges first and knows later what there is room for."""
    held = found.verdict.held and not regardless
    outcome = "held" if held else "shown" if found.verdict.held else "delivered"
    number = None if gate.journal is None else gate.journal.add(entry_for(found, loaded, gate.door, outcome))
    if held:
        return Held(loaded.key, loaded.version, loaded.seq, found.verdict, number)
    return loaded._replace(verdict=found.verdict, delivery=number)


def entry_for(found: Judged, loaded: Loaded, door: str, outcome: str) -> Delivery:
    """What the deliveries keep of a judgement: digests and reasons, never content."""
    verdict, context, subject = found.verdict, found.context, found.subject
    return Delivery(
        context.now, door, loaded.key, loaded.version, loaded.seq, outcome, subject.agent, context.reader, subject.id,
        found.standing.leaf.hex(), _commitment(loaded), loaded.sha256, verdict.mode, verdict.policy, _said(context, subject.anchors),
        tuple(reason[:2] for reason in verdict.reasons), tuple(note[:2] for note in verdict.notes),
        Reviewed(verdict.review, verdict.reviewer, verdict.reviewed_at) if verdict.reviewer else None,
        head_of(loaded.note), None if verdict.held else verdict.delivered_as,
    )  # fmt: skip


def _said(context: Context, anchors: tuple[Anchor, ...]) -> str:
    """What the deliveries keep of a context. A branch or a session may be called by a secret, which is no more theirs to keep."""
    return _masked(context.as_json(tuple(f"{anchor.type} {anchor.path or ''} {anchor.value}" for anchor in anchors)))


@lru_cache(maxsize=64)
def _masked(text: str) -> str:
    from indelible.screening import MASK, screen

    return screen(text.encode(), mode=MASK).content.decode()


def _commitment(loaded: Loaded) -> str:
    """The salted commitment to the content, in hex."""
    if loaded.version == loaded.latest.version:
        return loaded.latest.content.hex()
    return commit(Sealed(loaded.salt, loaded.body, loaded.content)).content.hex()


@lru_cache(maxsize=64)
def head_of(note: bytes) -> tuple[int, str]:
    """Size and root (64 hex digits) of a checkpoint that was verified before."""
    from indelible.seal.checkpoint import parse
    from indelible.seal.note import parse_note

    head = parse(parse_note(note).text)
    return head.size, head.root.hex()


def replaces(newer: Loaded, older: Loaded) -> bool:
    """Whether a memory says itself that it takes the place of another."""
    return bool({older.key, claims(older.body)["id"]} & set(claims(newer.body)["supersedes"]))


def _unfinished(reader: Reader, subject: Subject, seq: int) -> Iterator[Reason]:
    """What it says that it supersedes, and that is still in force: a save was cut off before it said so there."""
    for key in subject.supersedes:
        _, latest = reader.follower.look(key)
        if key != subject.key and latest is not None and latest.state == "active" and latest.saved_seq < seq:
            yield Reason(
                "supersedes-unfinished",
                f"it says that it supersedes {key!r}, which is still in force",
                f"Save it again with --supersedes {quote(key)}",
            )


def _dependencies(
    reader: Reader, subject: Subject, policy: Policy, context: Context, above: tuple[str, ...], known: Known
) -> tuple[Reason, ...]:
    for key in subject.depends_on:
        if key not in above and key not in known:
            known[key] = None  # while it is looked at
            known[key] = _dependency(reader, key, policy, context, above, known)
    reasons = (known.get(key) for key in subject.depends_on if key not in above)
    return tuple(reason for reason in reasons if reason is not None)


def _dependency(
    reader: Reader, key: str, policy: Policy, context: Context, above: tuple[str, ...], known: Known
) -> Reason | None:
    if len(above) > DEPTH:
        return Reason("dependency-deep", f"what it depends on goes deeper than {DEPTH} memories")
    try:
        verdict = _judged(reader, reader.fetch(key), policy, context, above, known).verdict
    except (NotFoundError, UsageError):
        return Reason(
            "dependency-missing",
            f"it depends on {key!r}, which is not there",
            "Save it again with its dependencies as they are",
        )
    except IntegrityError as error:
        return Reason("dependency-tampered", f"it depends on {key!r}, which is not what was sealed ({error.slug})")
    if not verdict.held:
        return None
    return Reason(
        "dependency-held",
        f"it depends on {key!r}, which is held ({', '.join(verdict.slugs)})",
        f"'indelible why {quote(key)}'",
    )


def _weigh(reader: Reader, subject: Subject, verdict: Verdict, policy: Policy, context: Context) -> Verdict:
    """Show every contradiction; the higher rank holds the lower. What is held itself contradicts nothing."""
    for key in dict.fromkeys(subject.contradicts):
        try:
            loaded = reader.fetch(key)
            other = subject_of(reader, loaded, standing(reader, loaded))
        except (NotFoundError, UsageError, IntegrityError):
            continue
        if other.state != "active" or key == subject.key or judge(policy, other, context).held:
            continue
        words = f"{key!r} says otherwise ({_worded(other)})"
        if other.rank > subject.rank and not (subject.reviewed and key in subject.doubted_for):
            reason = Reason(
                "outranked",
                f"{words} and outranks it ({_worded(subject)})",
                "Have it reviewed, or archive one of the two",
            )
            verdict = verdict._replace(reasons=(*verdict.reasons, reason))
        else:
            verdict = verdict._replace(
                notes=(*verdict.notes, Reason("contradicted", words, "Archive one of the two, or have one reviewed"))
            )
    return verdict


def _worded(subject: Subject) -> str:
    return ("another's unreviewed text", "unreviewed", "reviewed", "a reviewed rule")[subject.rank]
