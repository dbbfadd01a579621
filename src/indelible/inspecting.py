"""An audit as the settings have it: which keys, which pins, which store."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from indelible import wiring
from indelible.audit import AgentReport, Finding, Report, audit
from indelible.entry import origin_of
from indelible.errors import IntegrityError, NotFoundError, PinLost, UsageError
from indelible.seal import checkpoint
from indelible.seal.note import parse_note
from indelible.store.places import follower_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from indelible.keeping import Inspected
    from indelible.seal.checkpoint import Checkpoint
    from indelible.seal.note import Verifier
    from indelible.settings import Settings


def inspect(
    settings: Settings,
    *,
    signatures: bool = True,
    agents: Iterable[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Report:
    """Audit the store that the settings name with this reader's keys and pins.

    Raises:
        NotFoundError: there is no store, and this reader knows of none. Unchecked: the server does not answer.
    """
    if settings.remote and wiring.is_plain(settings):
        raise UsageError(
            "A plain Memory API server has no log to audit",
            remedy="'indelible verify KEY' checks what can be checked there",
        )
    if settings.remote:
        return _inspect_remote(settings, signatures=signatures)
    if not os.path.lexists(settings.store):
        raise wiring.gone(settings, settings.agent) or NotFoundError(
            f"There is no store at {settings.store}", remedy="Run 'indelible init' to make one"
        )
    _require_store(settings)
    keys = wiring.KeyFolder(wiring.keystore(settings))

    def verifiers(agent: str, origin: str) -> tuple[Verifier, ...]:
        return (
            (*wiring.trust_of(settings, agent).agent_keys(), *keys.servers())
            if origin == origin_of(settings.team, agent)
            else ()
        )

    def pins(agent: str) -> Checkpoint | None:
        own, given = pin_of(settings, agent), wiring.trust_of(settings, agent).given_pin()
        if settings.require_pin and own is None and given is None:
            raise PinLost(
                f"A pin is required, and there is none for {agent!r}",
                remedy="Give one with INDELIBLE_PIN or 'indelible pin set FILE'",
            )
        return max((pin for pin in (own, given) if pin is not None), key=lambda pin: pin.size, default=None)

    return audit(
        settings.store,
        verifiers=verifiers,
        owners=keys.owners(),
        reviewers=keys.reviewers(),
        pins=pins,
        signatures=signatures,
        progress=progress,
        agents=agents,
    )


def _inspect_remote(settings: Settings, *, signatures: bool) -> Report:
    """A server's file cannot be read from here: everything it says is followed from nothing and verified, by the code that reads."""
    findings: list[Finding] = []
    size, root, keys, versions = 0, "", 0, 0
    with wiring.open_memory(settings) as memory:
        origin = memory.origin
        try:
            fresh = memory.beside(memory.trust)
            try:
                with fresh.following(signatures=signatures) as (table, _, head):
                    size, root, keys = head.size, head.root.hex(), table.count()
                    versions = sum(row.version for _, row in table.keys())  # noqa: SIM118 - a table is no dict
            finally:
                fresh.follower.forget()
            findings += [_finding(settings, error) for error in memory.list().findings]
        except IntegrityError as error:
            findings.append(_finding(settings, error))
    report = AgentReport(settings.agent, origin, size, root, keys, versions, (), tuple(findings))
    return Report(settings.store, (report,), ())


def _finding(settings: Settings, error: IntegrityError) -> Finding:
    key, seq = error.facts.get("key"), error.facts.get("seq")
    return Finding(
        error.slug,
        "error",
        settings.agent,
        seq if isinstance(seq, int) else None,
        key if isinstance(key, str) else None,
        error.message,
        error.remedy,
    )


def _require_store(settings: Settings) -> None:
    """A file that never was a store of this reader's, or is of a newer format, is not called altered."""
    try:
        wiring.open_store(settings).close()
    except IntegrityError:
        return  # the audit says what is wrong with it


def pin_of(settings: Settings, agent: str) -> Checkpoint | None:
    """The head that this reader last accepted; None where it never had one.

    Raises:
        PinLost: it had one, and lost it.
    """
    follower = follower_of(settings.state_dir, settings.config_dir, settings.store, agent)
    try:
        glance, _ = follower.look("")
    finally:
        follower.close()
    return checkpoint.parse(parse_note(glance.note).text) if glance is not None and glance.note else None


def is_pinned(settings: Settings) -> bool:
    """Whether a rollback of the agent's log could be seen from here. A pin that was lost is a finding of its own."""
    follower = follower_of(settings.state_dir, settings.config_dir, settings.store, settings.agent)
    try:
        return follower.look("")[0] is not None
    except PinLost:
        return True
    finally:
        follower.close()


def inspect_state(settings: Settings) -> Inspected | None:
    """The state directory of this folder, held against the log; None where there is none, or nothing to hold it against.

    Raises:
        IntegrityError: the log, or a slot in it, is not what was sealed. Unchecked: the server does not answer.
    """
    if settings.boot.directory is None or (settings.remote and wiring.is_plain(settings)):
        return None
    try:
        with wiring.open_state(settings, door="doctor") as directory:
            found = directory.check()
    except NotFoundError:
        return None
    return found if found.slots else None
