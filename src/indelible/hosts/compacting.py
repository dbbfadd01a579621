"""A context is about to be compacted: what the state was, noted once for each state, and that the briefing will be missing.

    {state folder}/snapshots/{digest of the directory's path}/{digest of the state}.json

The sealed copies are in the store; a snapshot says which of them held at the time, with the program counter in full. The
newest thirty-two are kept.
"""

from __future__ import annotations

import json
import os

from indelible.errors import IndelibleError
from indelible.files import create_file, make_folder, remove
from indelible.hosts.host import Reply
from indelible.hosts.ledger import NO_STATE
from indelible.state.stamps import stamps_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from indelible.hosts.host import Event
    from indelible.hosts.ledger import Ledger
    from indelible.hosts.world import World

KEPT = 32
_MOST_COUNTER = 64 * 1024
_MOST_SLOT = 5_000_001


def before_compaction(event: Event, world: World, now: str) -> Reply:
    """Take the snapshot, if this state has none yet. Nothing is ever held up."""
    if not world.host.renewed_by:
        world.owe_elsewhere(event)
    ledger = world.ledger(event)
    if ledger is None or ledger.slug == NO_STATE:
        return Reply()
    taken, said = _snapshot(event, world, ledger, now)
    owed = (
        ledger.owed or not world.host.renewed_by
    )  # a host that says "before" at every model call has a transcript that tells
    if taken != ledger.snapshot or owed != ledger.owed:
        said = world.change(event, lambda old: old._replace(snapshot=taken, owed=owed)) or said
    return Reply(warning=said)


def _snapshot(event: Event, world: World, ledger: Ledger, now: str) -> tuple[str, str]:
    """The state's digest, and what to tell the person."""
    names = [str(stamp[0]) for stamp in stamps_of(ledger.directory)] if ledger.directory else []
    if not names:
        return ledger.snapshot, ""
    from hashlib import sha256

    bodies = {name: _bytes(os.path.join(ledger.directory, name)) for name in names}
    slots = [{"name": name, "sha256": sha256(body).hexdigest(), "size": len(body)} for name, body in bodies.items()]
    digest = sha256(json.dumps(slots).encode()).hexdigest()
    if digest == ledger.snapshot:
        return digest, ""
    counter = bodies[names[-1]][:_MOST_COUNTER] if names[-1] >= "90" else b""
    document = {
        "at": now, "host": world.host.name, "session": event.session, "why": event.source, "directory": ledger.directory,
        "slots": slots, "next": counter.decode("utf-8", "replace"),
    }  # fmt: skip
    folder = os.path.join(world.state_dir, "snapshots", sha256(os.fsencode(ledger.directory)).hexdigest()[:16])
    try:
        make_folder(folder)
        create_file(os.path.join(folder, f"{digest}.json"), json.dumps(document, indent=1).encode())
        _sweep(folder)
    except (IndelibleError, OSError) as error:
        return ledger.snapshot, f"no snapshot before the compaction: {error}"
    return digest, ""


def _bytes(path: str) -> bytes:
    """What stands in a slot's file, if it is one."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as file:
            return file.read(_MOST_SLOT)
    except OSError:
        return b""


def _sweep(folder: str) -> None:
    aged = sorted(
        (entry.stat().st_mtime_ns, entry.path) for entry in os.scandir(folder) if entry.name.endswith(".json")
    )
    for _, path in aged[:-KEPT]:
        remove(path)
