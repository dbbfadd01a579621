"""SQLite's errors become ours, once, at this boundary."""

from __future__ import annotations

import apsw

from indelible.errors import (
    Busy,
    DiskFull,
    IndelibleError,
    IntegrityError,
    Missing,
    NotSaved,
    ReadOnly,
    StoreError,
    StrayRows,
)


class mapped:  # noqa: N801 - reads as a word in a with statement
    """A context in which an `apsw.Error` leaves as an `IndelibleError` that names `path`."""

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, apsw.Error):
            raise translate(error, self.path) from error


def translate(error: apsw.Error, path: str) -> IndelibleError:
    """The class that says what the caller may conclude; `NotSaved` only where nothing was committed."""
    detail = str(error).split("\n")[0][:120]
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return Busy(f"The store {path} is locked by another process", path=path)
    if isinstance(error, apsw.FullError):
        return DiskFull(f"The disk that holds {path} is full", path=path)
    if isinstance(error, apsw.ReadOnlyError):
        return ReadOnly(f"The store {path} cannot be written here ({detail})", path=path)
    if isinstance(error, apsw.NotADBError):
        return StoreError(
            f"{path} is not an Indelible store",
            remedy="Name the right file, or move this one aside and run 'indelible init'",
            path=path,
            not_a_store=True,
        )
    if isinstance(error, apsw.ConstraintError):
        return StrayRows(
            f"The store {path} holds a row where the next entry goes ({detail}): somebody wrote past the log", path=path
        )
    if isinstance(error, apsw.CorruptError):
        damaged = IntegrityError(f"The store {path} is damaged: {detail}", path=path)
        damaged.slug = "store-damaged"
        return damaged
    if isinstance(error, apsw.SQLError) and "no such" in detail:
        return Missing(f"A table of the store {path} is gone ({detail})", path=path)
    if isinstance(error, apsw.CantOpenError):
        return StoreError(
            f"The store {path} cannot be opened ({detail})",
            remedy="Check that the file and its folder exist and are yours",
            path=path,
        )
    if isinstance(error, apsw.IOError):
        return NotSaved(
            f"The disk reported an error on {path} ({detail})",
            remedy="Check the disk; then run 'indelible verify'",
            path=path,
        )
    return StoreError(f"The store {path} could not be used ({detail})", remedy="Run 'indelible doctor'", path=path)
