"""A delivered memory as it is put before a model: in a frame that its text cannot imitate, with its provenance above it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indelible.gate.fence import fence, readable
from indelible.gate.verdict import RULE, as_argument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from indelible.memory.results import Loaded
    from indelible.recall.excerpt import Excerpt


def framed(loaded: Loaded, entropy: Callable[[int], bytes], *, about: str = "", characters: int = 0) -> str:
    """What was delivered, for a model's context.

    Args:
        entropy: `entropy(n)` gives n random bytes.
        about: a question: of a text that is cut, the part that has most of its words is given.
        characters: at most so many of the text; 0 for all. A rule is given whole.
    """
    verdict = loaded.verdict
    rule = verdict is not None and verdict.delivered_as == RULE
    text = readable(loaded.content, loaded.record.media_type)
    header = tuple(_header(loaded))
    if characters and not rule:
        from indelible.recall.excerpt import excerpt

        part = excerpt(about, text, characters)
        if not part.whole:
            text, header = part.text, (*header, ("part", _part(loaded.key, part)))
    return fence(text, header, rule=rule, entropy=entropy)


def _part(key: str, part: Excerpt) -> str:
    return (
        f"characters {part.start + 1:,} to {part.end:,} of {part.size:,}; 'indelible load {as_argument(key)}' gives all"
    )


def _header(loaded: Loaded) -> Iterator[tuple[str, str]]:
    record, verdict = loaded.record, loaded.verdict
    yield "key", loaded.key
    yield "id", record.id
    yield "by", record.updated.by if record.updated is not None else record.created.by
    yield "version", f"{loaded.version}, saved {loaded.latest.at}, attested by {loaded.attested}"
    yield "origin", record.origin.class_ or "unknown"
    yield "kind", record.kind
    if verdict is not None:
        by = f" by {verdict.reviewer} at {verdict.reviewed_at}" if verdict.reviewer else ""
        yield "review", f"{verdict.review}{by}"
        for note in verdict.notes:
            yield "note", note.message
