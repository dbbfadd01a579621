"""What a waking agent is told, as a value."""

from __future__ import annotations

from indelible.light import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from indelible.state.directory import Finding

BOOTED, TAMPERED, NO_STATE, EMPTY, HALF, OVER_BUDGET, UNCHECKED = (
    "booted", "tampered", "no-state", "empty-state", "half-state", "over-budget", "unchecked",
)  # fmt: skip

SAYS = {
    BOOTED: "The briefing is whole, verified, and within its budget",
    TAMPERED: "Something is not as it was sealed: the agent is told to stop, and is given no slot",
    NO_STATE: "There is no state directory, and none was ever sealed",
    EMPTY: "The state directory is there, and no slot of it was ever sealed",
    HALF: "There are slots, and the governance was never sealed: half a state never boots as if whole",
    OVER_BUDGET: "Laws and program counter alone do not fit the budget, and are never cut",
    UNCHECKED: "It could not be checked, which is never read as verified",
}
"""Every outcome of a boot."""


class Cut(NamedTuple):
    """Something that was left out of a briefing, or shortened."""

    name: str
    """A slot's file name, or the key of a memory."""
    what: str
    """What is missing, in words: `4963 of 5000 rounds`, `all of it`."""
    left_out: int
    """Bytes of UTF-8 that are missing."""
    command: str
    """Shows the whole."""


class Briefing(NamedTuple):
    """The outcome of a boot."""

    text: str
    """For the agent's context; whatever the outcome, it says what it is."""
    slug: str
    exit_code: int
    findings: tuple[Finding, ...] = ()
    """What is not as it was sealed, or is worth a word."""
    warnings: tuple[str, ...] = ()
    """For the person."""
    order: tuple[str, ...] = ()
    """Names of the slots, as they stand in the text."""
    cut: tuple[Cut, ...] = ()
    digest: str = ""
    """SHA-256 over the lines that `sha256sum` prints for the whole slots, in order; 64 hex digits."""
    mark: str = ""
    """32 hex digits that every boundary carries and that stand nowhere else."""
    tokens: int = 0
    """About how many the text takes."""
    stamps: tuple[tuple[object, ...], ...] = ()
    """Of the slots' files, taken before they were read: equal ones, nothing to verify again."""
    namespace: str = ""
    directory: str | None = None
    verified: int = 0
    """How many slots and named memories were verified."""
    held: int = 0
    """How many rules and scars the gate held back."""
    remedy: str = ""
    """What to do about an outcome that is not `booted`."""
