"""The exact change: what a commit made now would be, as a base commit and the tree that results. Nothing is written.

Names are fetched when first asked for: whoever only compares changes starts no git.
"""

from __future__ import annotations

from indelible.light import TYPE_CHECKING

if TYPE_CHECKING:
    from indelible.workflow.change.looking import NotBindable
    from indelible.workflow.change.model import Change, Difference, File, difference, missing
    from indelible.workflow.change.opening import Opened, change_of_commit, change_of_index, open_change

_HOMES = {
    "Change": "model", "Difference": "model", "File": "model", "NotBindable": "looking", "Opened": "opening", "change_of_commit": "opening",
    "change_of_index": "opening", "difference": "model", "missing": "model", "open_change": "opening",
}  # fmt: skip
__all__ = [
    "Change",
    "Difference",
    "File",
    "NotBindable",
    "Opened",
    "change_of_commit",
    "change_of_index",
    "difference",
    "missing",
    "open_change",
]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
