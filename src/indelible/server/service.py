"""What the server's handlers share: API keys, memories, limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from indelible.entry import quote
from indelible.errors import UsageError
from indelible.gate.presets import policy_of
from indelible.keys import Keystore
from indelible.server.apikeys import ApiKeys
from indelible.server.bodies import Intake
from indelible.server.rooms import Rooms
from indelible.settings import is_url
from indelible.wiring import SERVER, keystore, open_store

if TYPE_CHECKING:
    from indelible.seal.note import Signer
    from indelible.server.journal import Journal
    from indelible.settings import Settings

CONTENT_LIMIT = 4 * 1024 * 1024
"""Bytes of one memory."""
PATIENCE = 30.0
"""Seconds that a body may take to come."""


@dataclass(slots=True)
class Service:
    """One running server."""

    settings: Settings
    keys: ApiKeys
    keystore: Keystore
    rooms: Rooms
    journal: Journal
    signer: Signer
    """The server's own key: it attests plain saves."""
    intake: Intake
    limit: int
    """Bytes of one memory."""
    auditing: bool = False

    def close(self) -> None:
        self.rooms.close()
        self.keys.close()
        self.journal.close()


def open_service(
    settings: Settings, host_name: str, journal: Journal, *, limit: int = CONTENT_LIMIT, patience: float = PATIENCE
) -> Service:
    """The parts of a server; the store and the server's own key are made if they are not there.

    Raises:
        UsageError: the settings name a server for a store, or a policy that there is not.
        StoreError, NotSaved, Missing: the store cannot be used.
    """
    if is_url(settings.store):
        raise UsageError(f"The store is a server itself, {settings.store}", remedy="Name a file with --store")
    policy_of(settings.policy)  # a name that there is not is said at the start, and not to every client
    open_store(settings, create=True).close()
    signer = server_key(settings, host_name)
    rooms = Rooms(settings, lambda: signer, lambda warning: journal.event("deliveries", fault=warning))
    return Service(
        settings, ApiKeys(settings.config_dir), keystore(settings), rooms, journal, signer, Intake(patience), limit
    )


def server_key(settings: Settings, host_name: str) -> Signer:
    """The key with which this server attests, made at its first start; a host that was renamed keeps it."""
    keys = Keystore(keystore(settings).folder)
    held = [name for name in keys.names() if name.startswith(SERVER)]
    return keys.signer(held[0]) if held else keys.create(SERVER + quote(host_name or "local"), "server")
