"""What `doctor` looks at: everything that memory on this machine depends on, without changing any of it."""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import IndelibleError, IntegrityError, NotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indelible.settings import Settings
    from indelible.store.pintable import Pin

SAFE_SQLITE = (3, 51, 3)
"""The first release without the WAL-reset corruption fault (sqlite.org/wal.html)."""
BIG_WAL = 64 * 1024 * 1024
NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs", "9p", "afs", "ceph", "glusterfs"})


class Finding(NamedTuple):
    """One thing looked at."""

    slug: str
    state: str
    """`good`, `warning` or `bad`."""
    text: str
    remedy: str = ""


def examine(settings: Settings) -> Iterator[Finding]:
    """Everything, in the order in which one thing stands on another."""
    yield _program()
    yield _sqlite()
    yield _clock(settings)
    yield Finding(
        "agent", "good", f"agent {settings.agent} of team {settings.team}; the store is named by {settings.store_from}"
    )
    yield from _keys(settings)
    yield from _hook_failure(settings)
    if settings.remote:
        yield _server(settings)
        return
    yield from _files(settings)
    yield from _memory(settings)


def _program() -> Finding:
    from indelible import __version__

    return Finding("program", "good", f"indelible {__version__} on Python {sys.version.split()[0]}")


def _sqlite() -> Finding:
    import apsw

    version = apsw.sqlite_lib_version()
    if tuple(map(int, version.split("."))) >= SAFE_SQLITE:
        return Finding("sqlite", "good", f"SQLite {version} (apsw)")
    return Finding(
        "sqlite",
        "bad",
        f"SQLite {version} can corrupt a store that two processes write at once",
        "Install apsw from its wheel: pip install --upgrade apsw",
    )


def _clock(settings: Settings) -> Finding:
    """The clock is off if it is behind a file that this machine wrote earlier."""
    from indelible.settings import now

    newest = max(
        (os.stat(path).st_mtime for path in (settings.store, settings.config_dir) if os.path.exists(path)), default=0
    )
    import time

    if newest > time.time() + 120:
        return Finding(
            "clock",
            "warning",
            f"the clock ({now()}) is behind a file of ours: expiry is judged by it",
            "Set the clock right",
        )
    return Finding("clock", "good", f"the clock says {now()}")


def _keys(settings: Settings) -> Iterator[Finding]:
    from indelible import wiring
    from indelible.entry import origin_of

    origin = origin_of(settings.team, settings.agent)
    keys = wiring.keystore(settings)
    try:
        signer = keys.signer(origin)
    except NotFoundError:
        if keys.verifier(origin) is not None:
            yield Finding(
                "key", "good", f"{settings.agent} has no signing key here: this reader only reads",
                "To save, bring it with INDELIBLE_KEY_FILE or 'indelible key recover FILE'",
            )  # fmt: skip
        else:
            yield Finding(
                "key",
                "warning",
                f"{settings.agent} has no signing key yet",
                "It is made at the first save, or by 'indelible init'",
            )
        return
    except IndelibleError as error:
        yield Finding("key", "bad", error.message, error.remedy)
        return
    yield Finding("key", "good", f"signing key {signer.key_id:08x} of {origin}")


def _hook_failure(settings: Settings) -> Iterator[Finding]:
    from indelible.hooklog import last_failure, log_path

    if failed := last_failure(settings.state_dir, settings.checkout or ""):
        yield Finding(
            "hook-failed", "warning", f"the last hook that failed here: {failed.rstrip('.')}",
            f"Mend what it names; {log_path(settings.state_dir)} has the earlier ones, and may be removed",
        )  # fmt: skip


def _server(settings: Settings) -> Finding:
    from indelible import wiring

    try:
        if wiring.is_plain(settings):
            return Finding(
                "server", "good", f"{settings.store} answers; a plain Memory API, whose checksums and this machine's receipts are all there is"
            )  # fmt: skip
        with wiring.open_memory(settings) as memory, memory.following() as (_, _, head):
            return Finding("server", "good", f"{settings.store} answers; {head.size} entries, followed and verified")
    except IndelibleError as error:
        return Finding("server", "bad", error.message, error.remedy)


def _files(settings: Settings) -> Iterator[Finding]:
    folder = os.path.dirname(settings.store)
    if not os.path.exists(settings.store):
        yield Finding("store", "warning", f"there is no store at {settings.store}", "Run 'indelible init'")
        return
    yield Finding("store", "good", f"the store is {settings.store}, {os.path.getsize(settings.store) >> 10} KiB")
    for path, most in (
        (folder, 0o755),
        (settings.store, 0o600),
        (settings.config_dir, 0o700),
        (settings.state_dir, 0o755),
    ):
        if os.path.exists(path) and stat.S_IMODE(os.stat(path).st_mode) & ~most & 0o777:
            mode = stat.S_IMODE(os.stat(path).st_mode)
            yield Finding(
                "rights",
                "warning",
                f"{path} has mode {mode:o}: others on this machine can reach it",
                f"chmod {most:o} {path}",
            )
    if (kind := _file_system(folder)) in NETWORK:
        yield Finding(
            "file-system",
            "bad",
            f"{folder} lies on {kind}, where SQLite's locks and WAL do not work",
            "Put the store on a local disk, and share it with 'indelible serve'",
        )
    wal = settings.store + "-wal"
    if os.path.exists(wal) and os.path.getsize(wal) > BIG_WAL:
        yield Finding(
            "wal",
            "warning",
            f"{wal} has {os.path.getsize(wal) >> 20} MiB: a reader of long standing keeps it from being folded in",
            "End long readers; the next save folds it in",
        )
    for name in sorted(os.listdir(folder)):
        if name.endswith((".new", ".tmp")):
            yield Finding(
                "leftover",
                "warning",
                f"{os.path.join(folder, name)} is left from a run that was ended",
                "It is read by nothing; the next 'indelible init' or you may remove it",
            )


def _file_system(folder: str) -> str:
    """The kind of file system that holds `folder`, where the system tells (Linux)."""
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="replace") as file:
            mounts = [line.split()[1:3] for line in file]
    except OSError:
        return ""
    real = os.path.realpath(folder)
    under = [(at, kind) for at, kind in mounts if at in {"/", real} or real.startswith(at + "/")]
    return max(under, key=lambda mount: len(mount[0]))[1] if under else ""


def _number(count: int) -> str:
    return "1 memory" if count == 1 else f"{count} memories"


def _in_force(settings: Settings, origin: str, pin: Pin | None) -> Iterator[Finding]:
    """A key of ours that the log has left signs nothing any more: better said here than at the next save."""
    from indelible import wiring

    try:
        own = wiring.keystore(settings).signer(origin).vkey
    except IndelibleError:
        return  # said where the keys are looked at
    if pin is not None and pin.signer and pin.signer != own:
        yield Finding(
            "key", "bad", f"the key in force is {pin.signer.split('+')[-2]}, and the one here is not: saves are refused",
            "Bring it with INDELIBLE_KEY_FILE or 'indelible key recover FILE'; if nobody of yours made it, "
            "run 'indelible incident' and 'indelible key revoke'",
        )  # fmt: skip


def _memory(settings: Settings) -> Iterator[Finding]:
    from indelible import wiring
    from indelible.memory.governing import present_pin

    if not os.path.exists(settings.store):
        return
    try:
        with wiring.open_memory(settings) as memory:
            pin = present_pin(memory)
            said = (
                f"pinned at entry {pin.size} ({pin.origin})" if pin else "not pinned yet: the next read is a first look"
            )
            yield Finding("pin", "good" if pin else "warning", said)
            yield from _in_force(settings, memory.origin, pin)
            listing = memory.list()
            yield (
                Finding("memories", "good", f"{_number(len(listing.items))}, each verified")
                if not listing.findings
                else Finding(
                    "tampered",
                    "bad",
                    "; ".join(finding.message for finding in listing.findings[:3]),
                    "Run 'indelible incident'",
                )
            )
            if memory.warning:
                yield Finding("pin", "warning", memory.warning, "Make the state folder writable")
    except IndelibleError as error:
        yield Finding(
            "tampered" if error.exit_code == IntegrityError.exit_code else "memories",
            "bad",
            error.message,
            error.remedy,
        )
