"""One delivery, and the row that keeps it. Never content: digests, names, times, and why."""

from __future__ import annotations

from indelible.errors import Unchecked
from indelible.light import TYPE_CHECKING, NamedTuple

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


class Altered(Unchecked):
    """A row that this program did not write so: what it says of a delivery is not known."""

    remedy = "Somebody wrote to the file of deliveries; the memories themselves are checked by 'indelible audit'"

    def __init__(self, number: object) -> None:
        super().__init__(f"Delivery {number!r} was altered and cannot be read", number=number)


class Reviewed(NamedTuple):
    """The review that counted when a memory was judged."""

    verdict: str
    reviewer: str
    at: str


class Delivery(NamedTuple):
    """One memory handed out, held back, verified or saved, or a write that was refused. Digests are in hex, and empty where there is none to tell."""

    at: str
    door: str
    key: str
    version: int = 0
    """0 at a plain server, which counts none."""
    seq: int = 0
    outcome: str = "delivered"
    """`delivered`, `held`, `verified` or `saved`; `refused` where a slot's discipline kept a write out."""
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
    """The inverse of `to_row`, of a row that begins with its number.

    Raises:
        Altered: it is no row that `to_row` makes.
    """
    try:
        return _parsed(row)
    except (ValueError, TypeError, AttributeError, RecursionError) as exc:
        raise Altered(row[0]) from exc


def _parsed(row: tuple[Any, ...]) -> Delivery:
    (
        number, at, door, key, version, seq, outcome, agent, reader, urn, leaf, commitment, digest, mode, policy, context, reasons,
        notes, review, head, delivered_as,
    ) = row  # fmt: skip
    _require(int, number, version, seq)
    _require(str, at, door, key, outcome, agent, reader, urn, mode, policy, context, reasons, notes)
    _require(str, *(text for text in (review, head, delivered_as) if text is not None))
    _require(bytes, leaf, commitment, digest)
    _require(dict, _from_json(context))
    return Delivery(
        at, door, key, version, seq, outcome, agent, reader, urn, leaf.hex(), commitment.hex(),
        None if digest in {b"", FORGOTTEN} else digest.hex(), mode, policy, context, _pairs(reasons), _pairs(notes),
        None if review is None else _reviewed(review), None if head is None else _head(head), delivered_as, number,
    )  # fmt: skip


def _require(kind: type, *values: object) -> None:
    for value in values:
        if not isinstance(value, kind):
            raise TypeError(kind.__name__)


def _reviewed(text: str) -> Reviewed:
    verdict, reviewer, at = _texts(_from_json(text))
    return Reviewed(verdict, reviewer, at)


def _head(text: str) -> tuple[int, str]:
    size, root = text.split(" ")
    bytes.fromhex(root)
    return int(size), root


def _to_json(value: tuple[Any, ...]) -> str:
    if not value:  # a verify must not wait for the whole of json
        return "[]"
    import json

    return json.dumps(value)


def _from_json(text: str) -> Any:  # noqa: ANN401 - the two callers know the shape
    if text == "{}":
        return {}
    import json

    text.encode()
    value = json.loads(text)
    json.dumps(value, ensure_ascii=False).encode()  # half of a surrogate pair could be said nowhere
    return value


def _texts(value: object) -> list[str]:
    _require(list, value)
    assert isinstance(value, list)  # noqa: S101 - it was required
    _require(str, *value)
    return value


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    if text == "[]":
        return ()
    pairs = _from_json(text)
    _require(list, pairs)
    return tuple((slug, message) for slug, message in map(_texts, pairs))
