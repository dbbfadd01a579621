"""Where a memory's original stands in git: told at a save, fetched again at a restore."""

from indelible.gitsource.naming import Source, source_of
from indelible.gitsource.original import Original, fetch_original

__all__ = ["Original", "Source", "fetch_original", "source_of"]
