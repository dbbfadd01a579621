"""What a memory is judged in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from indelible.gate.verdict import Reason


class Place(Protocol):
    """Where a reader stands. Nothing is asked of git before one of these is."""

    @property
    def repo(self) -> str | None:
        """The repository's identity; None outside of any."""

    @property
    def root(self) -> str | None:
        """The repository's first commit; None where there is none, or only a part of the history."""

    @property
    def revision(self) -> str | None:
        """The commit of HEAD: 40 or 64 hex digits; None before the first."""

    @property
    def branch(self) -> str | None:
        """None where HEAD is detached."""

    @property
    def top(self) -> str | None:
        """The absolute folder of the checkout; where there is none, the folder itself."""

    @property
    def problem(self) -> Reason | None:
        """Why git could not say; then nothing of the above is known."""
