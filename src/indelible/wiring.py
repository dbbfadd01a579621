"""From settings to a `Memory`: the one place where stores, followers, keys and trust are put together."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from indelible.entry import origin_of
from indelible.errors import IntegrityError, Missing, NotFoundError, StoreError, UsageError
from indelible.keys.keystore import Keystore
from indelible.memory.facade import Memory
from indelible.settings import here, is_url, now
from indelible.store.follower import Follower, name_of
from indelible.store.places import agents_known, follower_of, known_folder
from indelible.trust import LocalTrust

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from indelible.keeping.directory import StateDirectory
    from indelible.memory.gating import Gate
    from indelible.plain.client import PlainClient
    from indelible.recall.embed import Embedder
    from indelible.seal.note import Signer, Verifier
    from indelible.settings import Settings
    from indelible.store.store import Store

OWNER = "indelible-owner/"
SERVER = "indelible-server/"
REVIEWER = "indelible-reviewer/"
APPROVER = "indelible-approver/"
"""How the names of role keys begin; an agent's key has its log's origin as name."""


def open_memory(settings: Settings, *, agent: str | None = None, create: bool = False, store: Store | None = None,
                signer: Callable[[], Signer] | None = None, door: str = "library", policy: str | None = None,
                gate: Gate | None = None) -> Memory:  # fmt: skip
    """The memory of one agent in the store that the settings name.

    Args:
        agent: another agent than the settings'.
        create: make the store if it is not there.
        store: one that is already open.
        signer: who signs what is saved; by default the agent's own key, made at its first use.
        door: who asks, as the deliveries name it.
        policy: another policy than the settings'.
        gate: how what is loaded is judged; by default as the settings and the current folder have it.

    Raises:
        NotFoundError: there is no store, and this reader knows of none.
        Missing: there is no store where this reader has read one before.
        StoreError, Unchecked: it cannot be used, or not be reached.
    """
    agent = agent or settings.agent
    origin = origin_of(settings.team, agent)
    keys = keystore(settings)
    opened = store or open_store(settings, agent=agent, create=create)
    follower = follower_of(settings.state_dir, settings.config_dir, opened.place, agent)
    return Memory(
        opened,
        follower,
        trust_of(settings, agent, opened),
        agent=agent,
        team=settings.team,
        signer=signer or _Once(keys, origin, follower, opened),
        clock=now,
        gate=gate or (lambda: _gate(settings, agent, door, policy)),
        secrets=settings.secrets,
        attestor=lambda: None if keys.holds(origin) else getattr(opened, "attest", None),
        embedder=lambda: embedder(settings),
    )


def embedder(settings: Settings) -> Embedder:
    """What makes vectors for recall, as the settings name it.

    Raises:
        UsageError: there is no such embedder, or only a clone's settings name one that leads elsewhere. EmbedderFailed: it is not installed.
    """
    from indelible.recall.embed import embedder_of
    from indelible.settings import embedder_key, recall

    chosen = recall(settings)
    secret = embedder_key(chosen)
    return embedder_of(chosen.embedder, endpoint=chosen.endpoint, key=secret.text if secret is not None else "")


def open_state(settings: Settings, *, create: bool = False, door: str = "state") -> StateDirectory:
    """The state directory of this folder, with the memory that its slots are sealed in.

    Args:
        create: make the store if it is not there.
        door: who asks, as the deliveries name it.

    Raises:
        NotFoundError: outside of any repository, where nobody named one; or there is no store.
        UsageError: the store is a server that keeps no log.
        StateSwitched: its slots were sealed under another name than the settings have.
        Missing, StoreError, Unchecked: as `open_memory`.
    """
    from indelible.keeping.directory import StateDirectory
    from indelible.keeping.fitting import HOST_CHARACTERS
    from indelible.state import belonging
    from indelible.state.budget import Room

    if settings.boot.directory is None:
        raise NotFoundError(
            "There is no state directory here: this folder is in no checkout of a repository",
            remedy="Go into one, or name a folder in INDELIBLE_STATE_DIR",
        )
    if settings.remote and is_plain(settings):
        raise UsageError(
            f"{settings.store} keeps no log, so nothing could be held against what was sealed",
            remedy="Use a local store, or an Indelible server",
        )
    belonging.refuse_switched(settings)
    memory = open_memory(settings, create=create, door=door)
    room = Room(settings.boot.budget, HOST_CHARACTERS)
    return StateDirectory(
        memory, settings.boot.directory, settings.boot.namespace, top=settings.checkout, room=room,
        placed=lambda: belonging.remember(settings), fork=fork_here(settings),
    )  # fmt: skip


def fork_here(settings: Settings) -> str:
    """The fork that this process runs in, if it is one of this place; a child that works on another repository is nobody's there."""
    if not settings.fork:
        return ""
    from indelible.forking.places import BETWEEN, forks_folder

    folder = forks_folder(settings)
    return next((one for one in settings.fork.split(BETWEEN) if one and os.path.isdir(os.path.join(folder, one))), "")


def _gate(settings: Settings, agent: str, door: str, policy: str | None) -> Gate:
    """Made when something is first judged: what only verifies waits for none of it."""
    from indelible.deliveries import journal_of
    from indelible.surroundings import gate_of

    folder, environ = here()
    journal = journal_of(settings.state_dir, name_of(settings.store, agent))
    return gate_of(settings, journal, folder=folder, environ=environ, door=door, policy=policy)


def trust_of(settings: Settings, agent: str, store: Store | None = None) -> LocalTrust:
    """Whose signatures count for one agent's log: the key folder's. What others propose is only told to the user."""
    from_server = getattr(store, "server_keys", tuple)

    def proposed() -> tuple[str, ...]:
        named = (settings.agents.get(agent), settings.servers.get(settings.store), *from_server())
        return tuple(dict.fromkeys(filter(None, named)))

    return LocalTrust(
        origin_of(settings.team, agent), KeyFolder(keystore(settings)), proposed=proposed,
        pin=settings.pin or "", pin_by_user=settings.pin_from != "repository", require_pin=settings.require_pin,
    )  # fmt: skip


def open_store(settings: Settings, *, agent: str | None = None, create: bool = False) -> Store:
    """The store that the settings name, for one agent."""
    agent = agent or settings.agent
    if is_url(settings.store):
        from indelible.settings import api_key
        from indelible.store.remote import RemoteStore

        secret = api_key(settings, agent)
        origin, keys = origin_of(settings.team, agent), keystore(settings)
        return RemoteStore(settings.store, agent, secret.text, vkey=lambda: keys.ensure(origin).vkey)
    from indelible.store.sqlite import SqliteStore

    try:
        return SqliteStore(settings.store, create=create)
    except (NotFoundError, StoreError) as error:
        raise (gone(settings, agent) if _is_gone(error) else None) or error from error


def is_plain(settings: Settings) -> bool:
    """Whether the server that the settings name has the seeds' plain wire form and nothing more."""
    from indelible.store.remote import detect

    return detect(settings.store) == "plain"


@contextmanager
def open_plain(settings: Settings) -> Iterator[PlainClient]:
    """The plain server that the settings name, with this machine's receipts."""
    from indelible.plain.client import PlainClient
    from indelible.plain.receipts import Receipts
    from indelible.settings import api_key, now

    receipts = Receipts(os.path.join(settings.state_dir, "receipts.db"), now)
    secret = api_key(settings, settings.agent)
    client = PlainClient(settings.store, settings.agent, secret.text, receipts=receipts, secrets=settings.secrets)
    try:
        yield client
    finally:
        client.close()


def keystore(settings: Settings) -> Keystore:
    """The user's key folder, with INDELIBLE_KEY_FILE before it."""
    return Keystore(os.path.join(settings.config_dir, "keys"), key_file=settings.key_file)


def approvers(settings: Settings) -> tuple[Verifier, ...]:
    """Whose receipts count on this machine."""
    return KeyFolder(keystore(settings)).approvers()


class KeyFolder:
    """Verifier keys by role, from the key folder."""

    def __init__(self, keys: Keystore) -> None:
        self._keys = keys

    def verifiers(self, name: str) -> tuple[Verifier, ...]:
        return self._keys.verifiers(name)

    def owners(self) -> tuple[Verifier, ...]:
        return self._of_role(OWNER)

    def servers(self) -> tuple[Verifier, ...]:
        return self._of_role(SERVER)

    def reviewers(self) -> tuple[Verifier, ...]:
        return self._of_role(REVIEWER)

    def approvers(self) -> tuple[Verifier, ...]:
        """Whose receipts count here."""
        return self._of_role(APPROVER)

    def open_reviewers(self) -> frozenset[int]:
        held = {name for name in self._keys.names() if name.startswith(REVIEWER)}
        return frozenset(key.key_id for key in self.reviewers() if key.name in held and self._is_open(key.name))

    def _is_open(self, name: str) -> bool:
        try:
            return not self._keys.is_protected(name)
        except NotFoundError:
            return False  # only its public half is here

    def _of_role(self, prefix: str) -> tuple[Verifier, ...]:
        names = {*self._keys.names(), *self._keys.trusted_names()}
        return tuple(key for name in sorted(names) if name.startswith(prefix) for key in self._keys.verifiers(name))


class _Once:
    """The agent's own signing key, read or made at its first use and kept."""

    def __init__(self, keys: Keystore, origin: str, follower: Follower, store: Store) -> None:
        self._keys, self._origin, self._follower, self._store = keys, origin, follower, store
        self._signer: Signer | None = None

    def __call__(self) -> Signer:
        if self._signer is None:
            self._signer = self._find()
        return self._signer

    def _find(self) -> Signer:
        """A lost key is not silently replaced: a log that the agent has signed before goes on under its key, or by `key rotate`."""
        try:
            return self._keys.signer(self._origin)
        except NotFoundError as error:
            pin, _ = self._follower.look("")
            if (pin is not None and pin.signer) or self._is_signed():
                raise NotFoundError(
                    f"The signing key of {self._origin} is not here, and its log was signed before",
                    remedy="Bring it back with 'indelible key recover FILE' or INDELIBLE_KEY_FILE; if it is lost for good, "
                    "the owner hands the log to a new one with 'indelible key revoke --from-seq N'",
                ) from error
            return self._keys.ensure(self._origin)

    def _is_signed(self) -> bool:
        """Whether an agent's key signed the log as it stands in the store: this machine is new, and the log is not."""
        from indelible.seal.note import parse_note

        head = self._store.peek(self._follower.agent, None).note
        return head is not None and any(one.name == self._origin for one in parse_note(head).signatures)


def _is_gone(error: NotFoundError | StoreError) -> bool:
    return isinstance(error, NotFoundError) or bool(error.facts.get("not_a_store"))


def gone(settings: Settings, agent: str) -> IntegrityError | None:
    """A store that this reader has read before, whosever memory in it, and that is no longer one, is not a new beginning."""
    place, known = settings.store, known_folder(settings.config_dir)
    agents = [agent] if os.path.exists(os.path.join(known, name_of(place, agent))) else agents_known(known, place)
    if not agents:
        return None
    return Missing(
        f"The store {place} is gone, or is no store any more; this reader has read memory of {' and '.join(map(repr, agents))} from it",
        place=place,
        agent=agents[0],
    )
