"""The append-only and immutable attributes of a file system: what keeps even the file's owner from rewriting it.

On Linux (`chattr +a`, `chattr +i`; ioctl FS_IOC_SETFLAGS) only root may set them and only root may take them away, so that an
agent that runs as its user can do neither. On macOS and the BSDs (`chflags uappnd`, `uchg`) the file's owner may do both, and
they stop slips, not intent. What write-once slots get is `immutable`, what append-only ones get is `append-only`; slots that are
replaced get none. Source: ioctl_iflags(2), chflags(2).
"""

from __future__ import annotations

import errno
import os
import stat
import struct

from indelible.errors import AccessDenied, NotFoundError, UsageError
from indelible.state.slot import APPEND_ONLY, WRITE_ONCE, Slot

_GET, _SET = 0x80086601, 0x40086602
"""FS_IOC_GETFLAGS and FS_IOC_SETFLAGS, on machines whose long has 64 bits."""
_IMMUTABLE, _APPEND = 0x10, 0x20
_WITHOUT = frozenset({errno.ENOTTY, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL})
NAMES = {WRITE_ONCE: "immutable", APPEND_ONLY: "append-only"}


class Unsupported(UsageError):
    """The system, or this file system, has no such attributes."""

    slug = "no-attributes"
    exit_code = 1
    remedy = "The files are still 0444, and every boot holds them against the log"


def protect(place: str, slot: Slot, *, on: bool) -> str:
    """Set the attribute that the slot's discipline calls for, or take it away; gives its name, empty where it gets none.

    Raises:
        Unsupported: there are none here. AccessDenied: this user may not. NotFoundError: there is no such file.
    """
    if slot.discipline not in NAMES:
        return ""
    try:
        handle = os.open(place, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError as exc:
        raise NotFoundError(
            f"{place} cannot be opened ({exc.strerror})", remedy="'indelible state check' says why"
        ) from exc
    try:
        _change(handle, place, slot, on=on)
    except OSError as exc:
        raise _refused(place, exc) from exc
    finally:
        os.close(handle)
    return NAMES[slot.discipline]


def _change(handle: int, place: str, slot: Slot, *, on: bool) -> None:
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        raise UsageError(f"{place} is no plain file", remedy="'indelible state repair' puts one there")
    once = slot.discipline == WRITE_ONCE
    if hasattr(os, "chflags"):
        flag = stat.UF_IMMUTABLE if once else stat.UF_APPEND
        flags = getattr(os.fstat(handle), "st_flags", 0)
        os.chflags(handle, flags | flag if on else flags & ~flag)
        return
    try:
        from fcntl import ioctl
    except ImportError as exc:
        raise Unsupported("This system has no attributes of that kind") from exc
    flag = _IMMUTABLE if once else _APPEND
    flags = struct.unpack("l", ioctl(handle, _GET, struct.pack("l", 0)))[0]
    ioctl(handle, _SET, struct.pack("l", flags | flag if on else flags & ~flag))


def _refused(place: str, exc: OSError) -> AccessDenied | Unsupported:
    if exc.errno in _WITHOUT:
        return Unsupported(f"The file system of {place} has no such attributes ({exc.strerror})")
    return AccessDenied(
        f"The attributes of {place} were not changed ({exc.strerror})",
        remedy="Only root may: run it with sudo, with HOME and INDELIBLE_STATE_DIR as they are now", file=place,
    )  # fmt: skip
