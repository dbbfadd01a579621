"""What `review show` puts before a reviewer. Lines of a memory's own text begin with `| `, so that none of them passes for one of ours."""

from __future__ import annotations

from difflib import unified_diff
from shlex import quote
from typing import TYPE_CHECKING

from indelible.cli import common
from indelible.cli.output import BAD, OK, WARN, shown, visible
from indelible.cli.reviewers import APPROVE, with_signer
from indelible.errors import NotFoundError
from indelible.explaining import HOLDING, Erased, why
from indelible.gate.verdict import as_argument
from indelible.memory.standing import last_approved, name_of
from indelible.memory.surveying import review_states

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from indelible.cli.session import Session
    from indelible.explaining import Why
    from indelible.gate.verdict import Reason
    from indelible.memory import Memory
    from indelible.memory.results import Loaded
    from indelible.memory.standing import Event


def show(session: Session, memory: Memory, key: str) -> None:
    """Say all that a reviewer has to see of a memory.

    Raises:
        NotFoundError: nothing is there, or it was erased. IntegrityError: it is not what was sealed.
    """
    seen, before = _looked_up(memory, key)
    for line in _lines_of(seen, before):
        session.output.line(line)
    settings, assigned = common.settings_of(session), seen.found.subject.review.assigned
    if review_states(seen.found)[0] == "approved":
        session.output.line(f"{OK} approved as it is now")
    else:
        command = f"{APPROVE}--digest {seen.found.standing.leaf.hex()} {as_argument(key)}"
        session.output.line(f"Next: {with_signer(settings, command, assigned)}")
    resolving = with_signer(settings, seen.command, assigned) or None
    session.output.document(_document(seen, before) | {"command": resolving})


def lines_for(memory: Memory, key: str) -> Iterator[str]:
    """What `show` says of a memory, for one who is asked about it."""
    return _lines_of(*_looked_up(memory, key))


def _looked_up(memory: Memory, key: str) -> tuple[Why, Loaded | None]:
    seen = why(memory, key)
    if isinstance(seen, Erased):
        raise NotFoundError(f"{key!r} was erased", remedy=f"'indelible why {quote(key)}' says when", key=key)
    number = last_approved(memory, seen.loaded)
    return seen, memory.fetch(key, number) if number is not None else None


def _lines_of(seen: Why, before: Loaded | None) -> Iterator[str]:
    yield from (*_about(seen), *_judgement(seen), *_changes(seen.loaded, before), *_text(seen.loaded))


def _about(seen: Why) -> Iterator[str]:
    loaded, subject, record = seen.loaded, seen.found.subject, seen.loaded.record
    yield f"{shown(loaded.key)} (version {loaded.version}, {seen.found.subject.state}): {', '.join(review_states(seen.found))}"
    yield f"  text      sha256:{loaded.sha256}, {len(loaded.content)} bytes"
    yield f"  entry     {loaded.seq}, {seen.found.standing.leaf.hex()}"
    yield f"  record    {visible(record.id)}"
    yield f"  saved     {loaded.latest.at}, signed by {loaded.by} ({loaded.attested})"
    act = record.updated or record.created
    yield f"  by        {visible(act.by)}, origin {subject.origin}{_source(record.origin)}"
    yield f"  says      {record.kind}, {subject.authority}, scope {visible(scope_in_words(record.scope))}"
    times = {name: getattr(record.validity, name) for name in ("valid_from", "valid_until", "expires_at", "review_by")}
    if any(times.values()):
        yield "  times     " + ", ".join(f"{name} {visible(str(at))}" for name, at in times.items() if at)


def _source(origin: object) -> str:
    parts = [getattr(origin, name, None) for name in ("repo", "commit", "path")]
    return "".join(f", {visible(str(part))}" for part in parts if part)


def scope_in_words(scope: object) -> str:
    """A scope on one line: its level and what it names."""
    level = getattr(scope, "level", None)
    if level is None:
        return str(scope)
    names = ("org", "user", "project", "repo", "branch", "session", "agent", "visibility")
    said = [f"{name} {value}" for name in names if (value := getattr(scope, name))]
    paths = [f"paths {' '.join(getattr(scope, 'paths', ()))}"] if getattr(scope, "paths", ()) else []
    return ", ".join([level, *said, *paths])


def _judgement(seen: Why) -> Iterator[str]:
    verdict = seen.found.verdict
    yield f"{WARN if verdict.held else OK} {'held' if verdict.held else f'delivered as {verdict.delivered_as}'} under {verdict.mode}"
    yield from reasons(verdict.reasons)
    yield from reasons(verdict.notes)
    for anchor, state, approved in seen.anchors:
        mark = OK if state.slug in HOLDING else WARN if approved else BAD
        yield f"  {mark} {anchor.type} {visible(anchor.path or '')}: {visible(state.message)}"
    for one in seen.related:
        yield f"  {one.relation.replace('_', ' ')} {shown(one.key)} ({one.state})"
    for event in seen.found.standing.events:
        yield f"  {event_in_words(event)}"


def reasons(said: Iterable[Reason]) -> Iterator[str]:
    """Each on a line of its own."""
    for reason in said:
        yield f"  {reason.slug}: {visible(reason.message)}"


def event_in_words(event: Event) -> str:
    """One judgement: when, what, by whom."""
    entry = event.entry
    who = name_of(event.reviewer) if event.reviewer else f"key {entry.by}, no reviewer here"
    about = f" {visible(entry.subject)}" if entry.subject and entry.verdict != "approve" else ""
    why_ = f": {visible(entry.reason)}" if entry.reason else ""
    return f"{entry.at}  {entry.verdict}{about} by {visible(who)} ({entry.method}, entry {entry.seq}){why_}"


def _changes(loaded: Loaded, before: Loaded | None) -> Iterator[str]:
    if before is None:
        yield "No version before it was approved"
        return
    yield f"Changed since version {before.version}, which was approved:"
    old, new = _lines(before.content), _lines(loaded.content)
    changed = list(unified_diff(old, new, "", "", lineterm=""))[2:]
    yield from (f"| {line}" for line in changed or ["(the text is the same; what is said of it may not be)"])


def _text(loaded: Loaded) -> Iterator[str]:
    yield f"The text of version {loaded.version}:"
    yield from (f"| {line}" for line in _lines(loaded.content))
    yield "End of the text"


def _lines(content: bytes) -> list[str]:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return [f"({len(content)} bytes that are no text; 'indelible load' gives them)"]
    return [visible(line) for line in text.split("\n")]


def _document(seen: Why, before: Loaded | None) -> dict[str, object]:
    from indelible.cli.explaining import document_of

    said = document_of(seen)
    text = "\n".join(_lines(seen.loaded.content))
    changed = None if before is None else "\n".join(list(_changes(seen.loaded, before))[1:])
    return said | {
        "ok": True, "exit_code": 0, "slug": "shown", "states": list(review_states(seen.found)), "text": text, "changed": changed,
        "approved_version": before and before.version,
    }  # fmt: skip
