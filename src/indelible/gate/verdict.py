"""What a judgement is made of."""

from __future__ import annotations

from typing import NamedTuple


class Reason(NamedTuple):
    """Why a memory is held, or why something could not be told. Never content."""

    slug: str
    """Stable, in kebab-case."""
    message: str
    remedy: str = ""
