"""Where a memory's original stands in git: told at a save, fetched again at a restore."""

from indelible.gitsource.command import GitFailed, GitMissing, NoRepository, NoSuchBranch, NoSuchPath, NoSuchVersion
from indelible.gitsource.naming import Source, source_of
from indelible.gitsource.original import fetch_original
from indelible.gitsource.search import Original

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
