"""A slot: one numbered file of the state directory, with the discipline that its number gives it.

    00 to 29   write-once    the laws: 00_governance.md, 10_ticket.md, 20_plan_approved.md
    30 to 89   append-only   what was tried and rejected: 30_critic_summary.md
    90 to 99   replaceable   the program counter: 99_next_action.md

Every slot is sealed as a memory, under the key `state/NN_name.md`. The state directory of a worktree, or one that lies
elsewhere, has a namespace of its own between the two: `state/worktree/NAME/NN_name.md`, `state/at/NAME/NN_name.md`.
What a ticket left when it was closed is one record beside them: `state/closed/20260610T174356Z-DEMO-12`.
Source: seed 004 (init.d for agents).
"""

from __future__ import annotations

from indelible.errors import DisciplineError, UsageError
from indelible.light import TYPE_CHECKING, NamedTuple, sha256
from indelible.state.stamps import is_slot_name

if TYPE_CHECKING:
    from collections.abc import Collection

ROOT = "state"
"""The namespace of a repository's own state directory, and the beginning of every other one."""
WRITE_ONCE, APPEND_ONLY, REPLACEABLE = "write-once", "append-only", "replaceable"
GOVERNANCE, TICKET, PLAN, CRITIC, NEXT = (
    "00_governance.md", "10_ticket.md", "20_plan_approved.md", "30_critic_summary.md", "99_next_action.md",
)  # fmt: skip
KNOWN = (GOVERNANCE, TICKET, PLAN, CRITIC, NEXT)
"""The slots that have templates, and that may be named by their number alone."""
LAWS = 10
"""Slots below it are laws: they hold for every ticket, and closing one leaves them in force."""
MAX_SLOT = 5_000_000
"""Bytes of one slot."""
GONE = ("archived", "erased")
"""States of a slot's key in which its number is free again."""

NO_CHECKLIST = f"{NEXT} has no checklist of the life cycle ('indelible state template 99' shows one)"


class Slot(NamedTuple):
    """One slot, by its file name."""

    number: int
    name: str

    @property
    def discipline(self) -> str:
        """`write-once`, `append-only` or `replaceable`."""
        return WRITE_ONCE if self.number < 30 else APPEND_ONLY if self.number < 90 else REPLACEABLE

    @property
    def is_law(self) -> bool:
        """Whether it stays in force when a ticket is closed."""
        return self.number < LAWS


def parse_name(name: str) -> Slot | None:
    """The slot of a file name, or None where it is none: a leftover of an editor, a temporary file, a folder's name."""
    return Slot(int(name[:2]), name) if is_slot_name(name) else None


def named(text: str) -> Slot:
    """The slot that a user names: `20_plan_approved.md`, or `20` for one of the known ones.

    Raises:
        UsageError: it is none.
    """
    if len(text) == 2 and text.isascii() and text.isdigit():
        known = next((name for name in KNOWN if name.startswith(text)), None)
        if known is None:
            raise UsageError(f"Slot {text} has no name of its own", remedy=f"Give it one: {text}_name.md")
        text = known
    slot = parse_name(text)
    if slot is None:
        raise UsageError(
            f"{text!r} is no slot's name",
            remedy="Two digits, an underline, then a-z, A-Z, 0-9, '.', '_' or '-', and .md: 40_review_notes.md",
        )
    return slot


def key_of(namespace: str, name: str) -> str:
    """The key under which a slot is sealed."""
    return f"{namespace}/{name}"


def slot_of_key(key: str) -> tuple[str, Slot] | None:
    """Namespace and slot of a key, or None where it is no slot's: then no discipline binds it."""
    namespace, _, name = key.rpartition("/")
    slot = parse_name(name) if _is_namespace(namespace) else None
    return (namespace, slot) if slot else None


def _is_namespace(name: str) -> bool:
    root, *more = name.split("/")
    return root == ROOT and (not more or (len(more) == 2 and more[0] in ("worktree", "at") and bool(more[1])))


def check_namespace(text: str) -> str:
    """`text`, if slots can be sealed there.

    Raises:
        UsageError: they cannot.
    """
    if not _is_namespace(text):
        raise UsageError(
            f"{text!r} is no namespace of a state directory", remedy="It is state, state/worktree/NAME or state/at/NAME"
        )
    return text


def closed_key(namespace: str, at: str, ticket: str = "", taken: Collection[str] = ()) -> str:
    """The key of the record that a closing makes.

    Args:
        at: RFC 3339 in UTC, whole seconds.
        ticket: the ticket's name, if it has one.
        taken: keys of the records that there are; of two closings within one second the later one has a number behind it.
    """
    stamp = at.replace("-", "").replace(":", "")
    key = f"{namespace}/closed/{stamp}" + (f"-{ticket}" if ticket else "")
    return next(one for one in (key, *(f"{key}.{number}" for number in range(2, len(taken) + 3))) if one not in taken)


def namespace_of_closed(key: str) -> str | None:
    """The namespace whose closing the memory under `key` records; None where it is no such record."""
    namespace, closed, name = key.rpartition("/closed/")
    return namespace if closed and name and "/" not in name and _is_namespace(namespace) else None


def check_text(slot: Slot, content: bytes) -> None:
    """Whether that can be the text of a slot: what a model is to read is text, and there is some.

    Raises:
        UsageError: it is empty, too long, or not UTF-8.
    """
    if len(content) > MAX_SLOT:
        raise UsageError(
            f"{slot.name} would have {len(content)} bytes; the limit is {MAX_SLOT}",
            remedy="Keep what is needed after every compaction there, and save the rest as a memory", slot=slot.name,
        )  # fmt: skip
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as exc:
        raise UsageError(
            f"{slot.name} is not UTF-8 at byte {exc.start}, and a slot is text that a model reads",
            remedy="Write it as UTF-8", slot=slot.name,
        ) from exc  # fmt: skip
    if not text.strip():
        raise UsageError(
            f"{slot.name} would be empty",
            remedy=f"'indelible state template {slot.name}' shows its form" if slot.name in KNOWN else "Give it a text",
            slot=slot.name,
        )


def check_change(slot: Slot, before: bytes | None, after: bytes) -> None:
    """Whether `after` may follow `before` (None: the slot is free).

    Raises:
        DisciplineError: the discipline of the slot forbids it. It names the SHA-256 of what stands there.
    """
    if before is None or slot.discipline == REPLACEABLE:
        return
    if slot.discipline == WRITE_ONCE:
        raise refusal(
            slot, before, "is written already, and is written once",
            f"Only the owner amends it: 'indelible state amend {slot.name} FILE --reason TEXT'",
        )  # fmt: skip
    if not after.startswith(before) or len(after) == len(before):
        raise refusal(
            slot, before, "is append-only: what stands there stays, byte for byte",
            f"Add to it: 'indelible state append {slot.name} FILE'",
        )  # fmt: skip


def refusal(slot: Slot, before: bytes | None, words: str, remedy: str) -> DisciplineError:
    """The error that a discipline forbids something, with the digest of what stands there."""
    digest = sha256(before).hexdigest() if before is not None else None
    said = f" (sha256:{digest})" if digest else ""
    return DisciplineError(f"{slot.name} {words}{said}", remedy=remedy, slot=slot.name, sha256=digest)


def has_checklist(content: bytes) -> bool:
    """Whether a program counter has a box of a checklist; boot asks it, and does not read the rest."""
    return any(box in content for box in (b"[ ]", b"[x]", b"[X]"))
