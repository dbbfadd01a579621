"""Which branches some globs mean: the one answer for git's hooks, a host's gate, boot and a repository that receives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indelible.gate.globs import matches

if TYPE_CHECKING:
    from collections.abc import Iterable

HEADS = "refs/heads/"
PROTECTED = ("main", "master")
"""Branches of a receiving repository that take nothing without a receipt, where nobody says which."""


def is_among(ref: str, globs: Iterable[str]) -> bool:
    """Whether a reference is a branch that one of the globs means, by its name without `refs/heads/`.

    Capitals count for nothing: on some file systems `refs/Heads/Main` is `refs/heads/main`.
    """
    name = ref.casefold()
    return name.startswith(HEADS) and any(matches(one.casefold(), name.removeprefix(HEADS)) for one in globs)


def are_all(globs: Iterable[str]) -> bool:
    """Whether these globs are of every branch."""
    return bool({"*", "**"}.intersection(globs))
