"""Memory for AI agents that can be checked before it is believed.

    from indelible import open_memory

This door imports nothing by itself: each name is fetched when it is first asked
for, so that a hook which needs one error class does not pay for the whole product.
"""

from __future__ import annotations

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from indelible.errors import (
        AccessDenied,
        BadSignature,
        Blocked,
        Busy,
        ConflictError,
        Contradicted,
        DigestMismatch,
        DisciplineError,
        DiskFull,
        EmbedderChanged,
        EmbedderFailed,
        Forked,
        HeldError,
        IndelibleError,
        IndexDamaged,
        IntegrityError,
        Malformed,
        Missing,
        NotFoundError,
        NotPermitted,
        NotSaved,
        OriginRaised,
        OutcomeUnknown,
        PinLost,
        ReadOnly,
        RevokedKey,
        RolledBack,
        SecretRefused,
        StateSwitched,
        StoreError,
        StrayRows,
        Unchecked,
        Unreachable,
        UsageError,
    )
    from indelible.keeping import StateDirectory
    from indelible.library import open_memory, open_reviewer, open_state, similarity
    from indelible.memory import Memory

__all__ = [
    "AccessDenied",
    "BadSignature",
    "Blocked",
    "Busy",
    "ConflictError",
    "Contradicted",
    "DigestMismatch",
    "DisciplineError",
    "DiskFull",
    "EmbedderChanged",
    "EmbedderFailed",
    "Forked",
    "HeldError",
    "IndelibleError",
    "IndexDamaged",
    "IntegrityError",
    "Malformed",
    "Memory",
    "Missing",
    "NotFoundError",
    "NotPermitted",
    "NotSaved",
    "OriginRaised",
    "OutcomeUnknown",
    "PinLost",
    "ReadOnly",
    "RevokedKey",
    "RolledBack",
    "SecretRefused",
    "StateDirectory",
    "StateSwitched",
    "StoreError",
    "StrayRows",
    "Unchecked",
    "Unreachable",
    "UsageError",
    "__version__",
    "open_memory",
    "open_reviewer",
    "open_state",
    "similarity",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        message = f"module 'indelible' has no attribute {name!r}"
        raise AttributeError(message)
    if name == "Memory":
        from indelible.memory import Memory

        return Memory
    if name == "StateDirectory":
        from indelible.keeping import StateDirectory

        return StateDirectory
    if name in ("open_memory", "open_reviewer", "open_state", "similarity"):
        from indelible import library

        return getattr(library, name)
    from indelible import errors

    return getattr(errors, name)


def __dir__() -> list[str]:
    return list(__all__)
