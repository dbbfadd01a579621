"""The exact change: what a commit made now would be, as a base commit and the tree that results. Nothing is written."""

from __future__ import annotations

from indelible.workflow.change.looking import NotBindable
from indelible.workflow.change.model import Change, Difference, File, difference, missing
from indelible.workflow.change.opening import Opened, change_of_commit, change_of_index, open_change

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
