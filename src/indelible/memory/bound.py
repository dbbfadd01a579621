"""Which keys are bound by a discipline, and how the facts of the workflow are written. Slots have a module of their own.

    state/…                       slots: `disciplining.py`
    flow/workflow.toml            every version is the owner's
    flow/receipt/ID               written once, with `receipt-issued`
    scar/SCAR-AREA-NN             written once, with `scar`; after that every version is the owner's
    flow/…                        written anew at will, with `stamped`

Their own verbs write them, and none that is for any memory: what is put away, or put in another's place, binds nobody any more.
"""

from __future__ import annotations

from indelible.errors import DisciplineError
from indelible.light import TYPE_CHECKING
from indelible.state.slot import slot_of_key

if TYPE_CHECKING:
    from indelible.store.pintable import Latest

WORKFLOW = "flow/workflow.toml"
RECEIPT, SCAR, FLOW = "flow/receipt/", "scar/", "flow/"
FACTS = (FLOW, SCAR)
"""How every key of a fact of the workflow begins."""
BOUND = ("state/", *FACTS)
"""How every key begins that a discipline may bind."""
AMENDED = "amended"
_BY_VERBS = "'indelible flow', 'approve' and 'scar' write there; save what you have to say under a key of its own"


def is_amendable(key: str) -> bool:
    """Whether the owner may put another text there, in its own name."""
    return key == WORKFLOW or key.startswith(SCAR) or slot_of_key(key) is not None


def check_record(key: str, latest: Latest | None, said: str) -> None:
    """Whether a version may be sealed there together with that saying.

    Args:
        latest: what is there, whatever its state; None where nothing ever was.
        said: the type of the entry beside it; empty for a plain save.

    Raises:
        DisciplineError: another one belongs there, or none.
    """
    if not key.startswith(FACTS):
        return
    if key == WORKFLOW:
        wanted = AMENDED
    elif key.startswith(RECEIPT):
        wanted = "receipt-issued"
    elif key.startswith(SCAR):
        wanted = "scar" if latest is None else AMENDED
    else:
        wanted = "stamped"
    if said != wanted:
        who = "the owner's to write" if wanted == AMENDED else "a fact of the workflow"
        raise DisciplineError(f"{key!r} is {who}, and no plain memory", remedy=_BY_VERBS, key=key, slot=key)
    if key.startswith(RECEIPT) and latest is not None:
        raise DisciplineError(f"{key!r} is a receipt, and is written once", remedy=_BY_VERBS, key=key, slot=key)


def check_putting_away(kind: str, key: str) -> None:
    """Whether `archived`, `unarchived`, `erased` or `superseded` may be said of it.

    Raises:
        DisciplineError: it may not.
    """
    if not key.startswith(FACTS):
        return
    is_kept = key == WORKFLOW or key.startswith((RECEIPT, SCAR))
    if kind in ("archived", "unarchived", "superseded") or (kind == "erased" and is_kept):
        raise DisciplineError(
            f"{key!r} is a fact of the workflow, and stays in force", key=key, slot=key,
            remedy="A scar is retired by the owner: 'indelible scar retire'; a receipt runs out by itself",
        )  # fmt: skip
