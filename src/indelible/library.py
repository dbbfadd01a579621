"""The library's door: one call to the memory that the settings of this folder name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indelible import settings, wiring

if TYPE_CHECKING:
    from indelible.memory import Memory


def open_memory(*, store: str | None = None, agent: str | None = None, create: bool = False) -> Memory:
    """The memory of `agent` in `store`; by default those that the environment and the repository's settings name.

    Use it in a `with` statement, or close it.

    Args:
        store: the path of a store's file, or a server's http address.
        create: make the store if it is not there.

    Raises:
        NotFoundError: there is no store, and none was ever read there. Missing: there was one.
        UsageError: a setting is off. StoreError, Unchecked: the store cannot be used, or not be reached.
    """
    return wiring.open_memory(settings.load(store=store, agent=agent), create=create)
