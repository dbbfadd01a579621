"""The library's door: one call to the memory that the settings of this folder name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indelible import settings, wiring
from indelible.entry import quote
from indelible.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy import float32
    from numpy.typing import NDArray

    from indelible.comparing import Report
    from indelible.keeping import StateDirectory
    from indelible.keys import Keystore
    from indelible.memory import Memory
    from indelible.seal.note import Signer


def open_memory(*, store: str | None = None, agent: str | None = None, create: bool = False) -> Memory:
    """The memory of `agent` in `store`; by default those that the environment and the repository's settings name.

    Use it in a `with` statement, or close it.

    Args:
        store: the path of a store's file, or a server's http address.
        create: make the store if it is not there.

    Raises:
        NotFoundError: there is no store, and none was ever read there. Missing: there was one.
        UsageError: a setting is off. StoreError, Unchecked: the store cannot be used, or not be reached.
    """
    return wiring.open_memory(settings.load(store=store, agent=agent), create=create)


def open_state(*, store: str | None = None, agent: str | None = None, create: bool = False) -> StateDirectory:
    """The state directory of the current folder, its slots sealed in the memory of `agent` in `store`.

    Use it in a `with` statement, which closes the memory: `close()` ends a ticket.

    Args:
        store: the path of a store's file, or a server's http address.
        create: make the store if it is not there.

    Raises:
        NotFoundError: the folder is in no repository, and INDELIBLE_STATE_DIR names none; or there is no store.
        UsageError: a setting is off. StoreError, Unchecked: the store cannot be used, or not be reached.
    """
    return wiring.open_state(settings.load(store=store, agent=agent), create=create, door="library")


def similarity(
    agents: Iterable[str] = (), *, store: str | None = None, passages: int = 5,
    embed: Callable[[list[str]], NDArray[float32]] | None = None, embedder: str = "",
) -> Report:  # fmt: skip
    """How alike the memories of agents of one store are, held against what earlier comparisons found; and remember it.

    Args:
        agents: by default all that the store holds.
        store: the path of a store's file, or a server's http address; of a server the agents have to be named.
        passages: how many of each pair are named; of a pair in alarm four times as many.
        embed: a model, `embed(texts)` giving (len(texts), d) numbers; without one vectors are made of n-grams.
        embedder: its name and version, which the history keeps: one model's past is not held against another's.

    Raises:
        NotFoundError: there is no store, or a named agent has no log in it. UsageError: a setting or the model is off.
        StoreError, Unchecked: the store cannot be used, or a named agent cannot be read.
    """
    from indelible.comparing import compare

    found = settings.load(store=store)
    return compare(found, agents, now=settings.now(), passages=passages, embed=embed, embedder=embedder)


def open_reviewer(name: str | None = None, *, passphrase: str | None = None) -> Signer:
    """The key of the reviewer `name`, for `memory.review(…, by=…)`; by default the only one here.

    Args:
        passphrase: that of the key; by default the one in INDELIBLE_PASSPHRASE_FILE. Never typed here.

    Raises:
        NotFoundError: there is none. UsageError: there are several.
        AccessDenied: the passphrase is missing or wrong.
    """
    known = settings.load()
    keys = wiring.keystore(known)
    chosen = reviewer_key(keys, name)
    try:
        is_protected = keys.is_protected(chosen)
    except NotFoundError as error:
        raise none_here(f"The key of the reviewer {name!r} is not here") from error
    if is_protected and passphrase is None and known.passphrase_file is not None:
        passphrase = settings.passphrase(known).text
    said = passphrase
    return keys.signer(chosen, None if said is None else lambda _name: said)


def reviewer_key(keys: Keystore, name: str | None) -> str:
    """The name that the key of a reviewer has; without a name, of the only one here.

    Raises:
        NotFoundError: there is none. UsageError: there are several.
    """
    return role_key(keys, wiring.REVIEWER, name)


def role_key(keys: Keystore, role: str, name: str | None) -> str:
    """As `reviewer_key`, of any role that people have.

    Args:
        role: how the names of its keys begin.
    """
    if name is not None:
        return f"{role}{quote(name)}"
    held, word = held_of(keys, role), role.removeprefix("indelible-").rstrip("/")
    if not held:
        raise none_here(f"There is no {word}'s key here", word)
    if len(held) > 1:
        names = ", ".join(found.removeprefix(role) for found in held)
        raise UsageError(f"Several {word}s' keys are here: {names}", remedy="Say which with --as NAME, or by its name")
    return held[0]


def held_reviewers(keys: Keystore) -> list[str]:
    """The names of the reviewers' keys whose private halves are here."""
    return held_of(keys, wiring.REVIEWER)


def held_of(keys: Keystore, role: str) -> list[str]:
    """As `held_reviewers`, of any role."""
    found = []
    for name in keys.names():
        if name.startswith(role):
            try:
                keys.is_protected(name)
            except NotFoundError:
                continue  # its public half alone
            found.append(name)
    return found


def none_here(words: str, role: str = "reviewer") -> NotFoundError:
    """The error that a reviewer's key is not here."""
    return NotFoundError(
        words,
        remedy=f"'indelible key create --role {role}' makes one; a person's, with a passphrase that no agent knows",
    )
