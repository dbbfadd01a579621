"""After an alarm: what was altered, since when at the earliest, what was handed out since, and the way back."""

from __future__ import annotations

import os
import shlex
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from indelible import wiring
from indelible.deliveries import Delivery, journal_of
from indelible.errors import IndelibleError, IntegrityError, NotFoundError, Unchecked
from indelible.inspecting import inspect, inspect_state
from indelible.plaincheck import differing, way_back
from indelible.sources import recorded_source, source_book
from indelible.state.slot import key_of, slot_of_key
from indelible.store.follower import name_of

if TYPE_CHECKING:
    from indelible.audit.findings import Finding
    from indelible.memory import Memory
    from indelible.settings import Settings
    from indelible.state.directory import Finding as StateFinding

_BEHIND = frozenset(
    {"rolled-back", "forked", "missing-log", "bad-head", "wrong-root", "unreadable", "damaged", "missing"}
)
_STRAYS = frozenset({"stray-entry", "stray-record", "stray-tile", "stray-operation"})


class Altered(NamedTuple):
    """One thing that is not what was sealed."""

    slug: str
    key: str | None
    message: str
    earliest: str
    """The last time that this reader had verified it; empty where it never had."""


class Incident(NamedTuple):
    """What an inquiry found."""

    altered: tuple[Altered, ...]
    since: str
    """The earliest of the times in `altered`; empty where one is not known."""
    delivered: tuple[Delivery, ...]
    steps: tuple[str, ...]
    warning: str = ""
    """What of the deliveries could not be read."""


def inquire(settings: Settings) -> Incident:
    """Audit the store, and hold what it finds against what was handed out."""
    name = name_of(settings.store, settings.agent)
    journal = journal_of(settings.state_dir, name)
    deliveries = tuple(journal.read())
    plain = settings.remote and wiring.is_plain(settings)
    findings = [_Found(*one) for one in differing(settings)] if plain else _findings(settings)
    slots = () if plain else _slots(settings, findings)
    findings += [_Found(one.slug, key_of(settings.boot.namespace, one.name), one.text) for one in slots]
    altered = tuple(Altered(one.slug, one.key, one.message, _last_good(one.key, deliveries)) for one in findings)
    since = min((one.earliest for one in altered if one.key), default="")
    delivered = (
        tuple(item for item in deliveries if item.outcome == "delivered" and item.at >= since) if altered else ()
    )
    steps = _steps(settings, findings, slots, plain=plain) if altered else ()
    return Incident(altered, since, delivered, steps, journal.warning)


class _Found(NamedTuple):
    slug: str
    key: str | None
    message: str


def _findings(settings: Settings) -> list[_Found]:
    try:
        report = inspect(settings, agents=(settings.agent,))
    except IntegrityError as error:
        return [_Found(error.slug, None, error.message)]
    if not report.ok and not report.tampered:
        unchecked = next(one for one in report.findings if one.severity == "error")
        raise Unchecked(unchecked.message, remedy=unchecked.remedy)
    return [_found(one) for one in report.findings if one.severity == "error"]


def _slots(settings: Settings, findings: list[_Found]) -> tuple[StateFinding, ...]:
    """What is wrong with the state directory, but for what the audit of the log has said already."""
    known = {(one.slug, one.key) for one in findings}
    try:
        found = inspect_state(settings)
    except IntegrityError:
        return ()  # a slot that is altered in the log: the audit names it
    tampering = found.tampering if found is not None else ()
    return tuple(one for one in tampering if (one.slug, key_of(settings.boot.namespace, one.name)) not in known)


def _found(one: Finding) -> _Found:
    return _Found(one.slug, one.key, one.message)


def _last_good(key: str | None, deliveries: tuple[Delivery, ...]) -> str:
    """Of one memory, when it was last handed out or verified; of the log as a whole, when anything was."""
    return max((item.at for item in deliveries if key is None or item.key == key), default="")


def _steps(
    settings: Settings, findings: list[_Found], slots: tuple[StateFinding, ...], *, plain: bool
) -> tuple[str, ...]:
    steps = ["Stop what reads this memory, and say it to whoever owns it"]
    in_the_log = [one for one in findings if not _is_file_of(one, slots, settings)]
    if not in_the_log:
        return (*steps, *_steps_of_slots(settings, slots))
    if plain:
        steps.append(
            f"Ask whoever runs {settings.store} for a copy of its database as evidence, and who can write to it"
        )
        steps += [way_back(settings, one.key, shlex.quote(one.key)) for one in findings if one.key]
        return (*steps, "indelible incident")
    if settings.remote:
        steps.append(
            f"Ask whoever runs {settings.store} for a copy of its store as evidence, and for 'indelible audit' there"
        )
    elif os.path.lexists(settings.store):
        steps.append(
            f"cp -p {shlex.quote(settings.store)}* SOMEWHERE-SAFE/   (keep the altered store as evidence; restore nothing from it)"
        )
    slugs = {one.slug for one in findings}
    if slugs & _BEHIND:
        steps.append(
            "Put the newest good copy of the store back in its place (all of store.db, store.db-wal), then 'indelible verify KEY'"
        )
        if not settings.remote and not os.path.lexists(settings.store):
            steps.append("If it was deleted on purpose: 'indelible init --anew' begins again")
        steps.append(
            "If only an older copy is left: put it back and accept that with 'indelible restore-store --reason TEXT' (the owner signs)"
        )
    steps += [_way_back(settings, key) for key in dict.fromkeys(one.key for one in in_the_log if one.key)]
    if slugs & _STRAYS:
        steps.append(
            "Rows that no signed head covers are never served; whoever wrote them has write access to the store: change that first"
        )
    return (*steps, "indelible audit", *(_steps_of_slots(settings, slots) if slots else ()))


def _is_file_of(one: _Found, slots: tuple[StateFinding, ...], settings: Settings) -> bool:
    """Whether that is about a slot's file, and not about the log."""
    return any((slot.slug, key_of(settings.boot.namespace, slot.name)) == (one.slug, one.key) for slot in slots)


def _steps_of_slots(settings: Settings, slots: tuple[StateFinding, ...]) -> tuple[str, ...]:
    """The way back for the files of the state directory: the sealed copies are in the log."""
    folder = shlex.quote(settings.boot.directory or "")
    keep = f"cp -pR {folder} SOMEWHERE-SAFE/   (keep the altered files as evidence)"
    return (keep, *dict.fromkeys(one.remedy for one in slots), "indelible state check", "indelible boot")


def _way_back(settings: Settings, key: str) -> str:
    """The command that brings one memory back: from git where a source is recorded, else an older good version, else a copy."""
    quoted = shlex.quote(key)
    slot = slot_of_key(key)
    if slot is not None:
        return f"indelible state repair, where its file has the sealed bytes still; else the owner's: indelible state amend {slot[1].name} FILE --reason TEXT"
    ways: list[str] = []
    try:
        with wiring.open_memory(settings) as memory:
            if recorded_source(memory, key, source_book(settings).last(key))[0].source:
                ways.append(f"indelible restore {quoted} --from-git")
            saved = (one for one in memory.history(key) if one.type == "saved" and not one.revoked)
            good = (one.version for one in saved if _is_good(memory, key, one.version))
            ways += [f"indelible restore {quoted} --version {version}" for version in islice(good, 1)]
    except (IntegrityError, NotFoundError):
        pass
    ways.append(f"indelible save {quoted} FILE --force, with a copy that you trust")
    return "; or: ".join(ways)


def _is_good(memory: Memory, key: str, version: int) -> bool:
    try:
        memory.fetch(key, version)
    except IndelibleError:
        return False
    return True
