"""The state directory: its files and its log together. Names are fetched when first asked for: a boot imports no writer."""

from __future__ import annotations

from indelible.light import TYPE_CHECKING

if TYPE_CHECKING:
    from indelible.keeping.checking import Inspected, inspect
    from indelible.keeping.directory import Closed, StateDirectory
    from indelible.keeping.repairing import Mended, Repaired
    from indelible.keeping.writing import Altered

_HOMES = {
    "Altered": "writing", "Closed": "directory", "Inspected": "checking", "Mended": "repairing", "Repaired": "repairing",
    "StateDirectory": "directory", "inspect": "checking",
}  # fmt: skip
__all__ = ["Altered", "Closed", "Inspected", "Mended", "Repaired", "StateDirectory", "inspect"]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
