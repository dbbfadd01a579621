"""Facts about the environment: a variable by the digest of its value, never the value; system, machine and Python in clear."""

from __future__ import annotations

import sys
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

UNSET = "unset"


def fact(name: str, environ: Mapping[str, str]) -> str:
    """What holds now: of `os`, `arch` or `python`, else of the variable of that name."""
    if name == "os":
        return sys.platform
    if name == "arch":
        import platform

        return platform.machine().lower()
    if name == "python":
        return f"{sys.version_info.major}.{sys.version_info.minor}"
    value = environ.get(name)
    return UNSET if value is None else f"sha256:{sha256(value.encode('utf-8', 'surrogateescape')).hexdigest()}"
