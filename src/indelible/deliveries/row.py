"""One delivery, and the row that keeps it. Never content: digests, names, times, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

FORMAT = 0x494E4401
"""`IND` in ASCII and the number of the format: one look tells whose file this is."""
FORGOTTEN = bytes(32)
"""Written over a digest that is taken away: of the same size, so that SQLite overwrites it where it stands."""

COLUMNS = (
    "at, door, key, version, seq, outcome, agent, reader, id, leaf, commitment, sha256, mode, policy, context, reasons, notes,"
    " review, checkpoint, delivered_as"
)
ADD = f"INSERT INTO delivery({COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"  # noqa: S608 - names, no values
_OUTCOMES = {"verify": "verified", "save": "saved"}


class Reviewed(NamedTuple):
    """The review that counted when a memory was judged."""

    verdict: str
    reviewer: str
    at: str


class Delivery(NamedTuple):
    """One memory handed out, held back, verified or saved. Digests are in hex, and empty where there is none to tell."""

    at: str
    door: str
    key: str
    version: int = 0
    """0 at a plain server, which counts none."""
    seq: int = 0
    outcome: str = "delivered"
    """`delivered`, `held`, `verified` or `saved`."""
    agent: str = ""
    reader: str = ""
    id: str = ""
    """The record's URN."""
    leaf: str = ""
    """Hash of the entry that saved this version."""
    commitment: str = ""
    """The salted one to the content: it says nothing once the salt is gone, and stays."""
    sha256: str | None = None
    """Of the text that was used; None where it is not told, or was taken away when the memory was erased."""
    mode: str = ""
    policy: str = ""
    context: str = "{}"
    """What held when it was judged: canonical JSON."""
    reasons: tuple[tuple[str, str], ...] = ()
    """Slug and message of each."""
    notes: tuple[tuple[str, str], ...] = ()
    review: Reviewed | None = None
    checkpoint: tuple[int, str] | None = None
    """Size and root of the head that it was judged against."""
    delivered_as: str | None = None
    """`reference` or `rule`, of what was delivered."""
    number: int = 0
    """Given by the journal; 0 in one that was not added yet."""

    def as_dict(self) -> dict[str, object]:
        """For `--json`: every member by its name."""
        head = self.checkpoint
        return self._asdict() | {
            "context": _from_json(self.context),
            "reasons": [{"slug": slug, "message": message} for slug, message in self.reasons],
            "notes": [{"slug": slug, "message": message} for slug, message in self.notes],
            "review": None if self.review is None else self.review._asdict(),
            "checkpoint": None if head is None else {"size": head[0], "root": head[1]},
        }


def outcome_of(door: str) -> str:
    """The outcome of a delivery of which no more is known than its door."""
    return _OUTCOMES.get(door, "delivered")


def to_row(one: Delivery) -> tuple[Any, ...]:
    """The columns of a delivery."""
    review, head = one.review, one.checkpoint
    return (
        one.at, one.door, one.key, one.version, one.seq, one.outcome, one.agent, one.reader, one.id,
        bytes.fromhex(one.leaf), bytes.fromhex(one.commitment), bytes.fromhex(one.sha256 or ""), one.mode, one.policy, one.context,
        _to_json(one.reasons), _to_json(one.notes), None if review is None else _to_json(review),
        None if head is None else f"{head[0]} {head[1]}", one.delivered_as,
    )  # fmt: skip


def from_row(row: tuple[Any, ...]) -> Delivery:
    """The inverse of `to_row`, of a row that begins with its number."""
    (
        number, at, door, key, version, seq, outcome, agent, reader, urn, leaf, commitment, digest, mode, policy, context, reasons,
        notes, review, head, delivered_as,
    ) = row  # fmt: skip
    size, _, root = (head or "").partition(" ")
    return Delivery(
        at, door, key, version, seq, outcome, agent, reader, urn, leaf.hex(), commitment.hex(),
        None if digest in {b"", FORGOTTEN} else digest.hex(), mode, policy, context, _pairs(reasons), _pairs(notes),
        None if review is None else Reviewed(*_from_json(review)), (int(size), root) if head else None, delivered_as, number,
    )  # fmt: skip


def _to_json(value: tuple[Any, ...]) -> str:
    if not value:  # a verify must not wait for the whole of json
        return "[]"
    import json

    return json.dumps(value)


def _from_json(text: str) -> Any:  # noqa: ANN401 - the two callers know the shape
    import json

    return json.loads(text)


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    return () if text == "[]" else tuple((slug, message) for slug, message in _from_json(text))
