"""The facade: every door (library, command line, HTTP, import) reads and writes memory through `Memory`.

Names are fetched when first asked for: an opening that only verifies imports no writer.
"""

from __future__ import annotations

from indelible.light import TYPE_CHECKING

if TYPE_CHECKING:
    from indelible.memory.facade import Memory
    from indelible.memory.results import Held, Listed, Listing, Loaded, Saved, Verified, Version

__all__ = ["Held", "Listed", "Listing", "Loaded", "Memory", "Saved", "Verified", "Version"]


def __getattr__(name: str) -> object:
    if name == "Memory":
        from indelible.memory.facade import Memory

        return Memory
    if name in __all__:
        from indelible.memory import results

        return getattr(results, name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
