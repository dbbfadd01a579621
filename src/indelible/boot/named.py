"""The memories that the settings name: verified at every boot, and held against their local files."""

from __future__ import annotations

import os
import stat

from indelible.light import TYPE_CHECKING
from indelible.memory.results import compare
from indelible.settings.repository import within
from indelible.state.directory import Finding

if TYPE_CHECKING:
    from indelible.boot.source import Source
    from indelible.memory.results import Loaded
    from indelible.settings import Settings

EDITED = "memory-edited"
MAX_FILE = 64 << 20


def check_named(settings: Settings, source: Source) -> tuple[tuple[Finding, ...], tuple[str, ...], int]:
    """What is wrong with them, what is worth a word, and how many were verified.

    Raises:
        IntegrityError: one of them is not what was sealed.
    """
    findings: list[Finding] = []
    warnings: list[str] = []
    verified = 0
    for key in settings.boot.memories:
        local, loaded = _local(settings, key), source.verified(key)
        verified += loaded is not None
        if loaded is None:
            if local is not None:
                warnings.append(f"{key} is here and was never sealed: 'indelible adopt {key}' takes it in")
        elif loaded.latest.state != "active":
            warnings.append(f"{key} is {loaded.latest.state}: what is sealed is no longer handed out")
        elif local is not None:
            _compare(key, loaded, local, findings, warnings)
    return tuple(findings), tuple(warnings), verified


def _compare(key: str, loaded: Loaded, local: bytes, findings: list[Finding], warnings: list[str]) -> None:
    kind = compare(loaded, local).local
    if kind != "same" and b'"checksum"' in loaded.content:
        from indelible.stating import compare_text

        kind = compare_text(loaded, local).local
    if kind == "different":
        remedy = f"'indelible diff {key} {key}' shows where; if it was meant, 'indelible save {key} {key}' seals it"
        text = f"{key}: the local file is not what was sealed (version {loaded.version})"
        findings.append(Finding(EDITED, key, text, remedy))
    elif kind == "line-endings":
        warnings.append(f"{key}: the local file differs from the sealed copy in line endings only")


def _local(settings: Settings, key: str) -> bytes | None:
    """The file of that name in the checkout. Settings come with a clone: nothing above it is looked at, and no device is."""
    if settings.checkout is None:
        return None
    path = os.path.abspath(os.path.join(settings.checkout, key))
    if path == settings.checkout or not within(settings.checkout, path):
        return None
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError):
        return None
    with os.fdopen(handle, "rb") as file:
        return file.read(MAX_FILE) if stat.S_ISREG(os.fstat(handle).st_mode) else None
