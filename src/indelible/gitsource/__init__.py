"""Where a memory's original stands in git: told at a save, fetched again at a restore. Names are fetched when first asked for."""

from __future__ import annotations

from indelible.light import TYPE_CHECKING

if TYPE_CHECKING:
    from indelible.gitsource.command import GitFailed, GitMissing, NoRepository, NoSuchBranch, NoSuchPath, NoSuchVersion
    from indelible.gitsource.naming import Source, source_of
    from indelible.gitsource.original import fetch_original
    from indelible.gitsource.search import Original

_HOMES = {
    "GitFailed": "command", "GitMissing": "command", "NoRepository": "command", "NoSuchBranch": "command", "NoSuchPath": "command",
    "NoSuchVersion": "command", "Original": "search", "Source": "naming", "fetch_original": "original", "source_of": "naming",
}  # fmt: skip
__all__ = [
    "GitFailed",
    "GitMissing",
    "NoRepository",
    "NoSuchBranch",
    "NoSuchPath",
    "NoSuchVersion",
    "Original",
    "Source",
    "fetch_original",
    "source_of",
]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
