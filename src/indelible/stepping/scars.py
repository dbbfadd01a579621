"""Scars in a memory: recorded once, judged at every look, retired by the owner, and what was wrongly taken for an attempt waived.

A scar is a memory of kind `failure` under `scar/SCAR-AREA-NN`, so that boot, recall and gate treat it as any other. Which
are in force is asked of the log and of the gate each time: whoever holds the agent's key can write past this program, and
what came so (a version that no owner stands behind, a scar that was put away) takes nothing out of force, and is told.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import (
    BadSignature,
    ConflictError,
    DisciplineError,
    IntegrityError,
    Malformed,
    NotFoundError,
    UsageError,
)
from indelible.workflow.scars import KIND, ROOT, Scar, area_of, key_of, next_id
from indelible.workflow.scartext import EXTENSION, check_scar, from_markdown, read_scar, to_markdown, to_members

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from indelible.gate.verdict import Reason
    from indelible.memory.facade import Memory
    from indelible.memory.results import Loaded, Saved
    from indelible.record import Record, Scope
    from indelible.seal.note import Signer

ATTEMPTS = 16
"""How often the next free number is taken anew where others take one at the same time."""
_ALL = frozenset({"active", "archived", "superseded", "erased"})
_HEX = frozenset("0123456789abcdef")


class Unlawful(IntegrityError):
    """A scar was put away, or changed without the owner: past this program, by whoever holds the agent's key."""

    slug = "scar-unlawful"


class HeldScar(NamedTuple):
    """A scar that does not count here and now."""

    scar: Scar
    reasons: tuple[Reason, ...]


class Looked(NamedTuple):
    """All scars of an agent, by what they come to here and now."""

    scars: tuple[Scar, ...]
    """In force."""
    held: tuple[HeldScar, ...]
    """By the gate: of another place, expired, rejected by a reviewer."""
    retired: tuple[Scar, ...]
    findings: tuple[IntegrityError, ...]
    """What was changed past this program, or cannot be read: nobody knows what it barred."""

    @property
    def every(self) -> tuple[Scar, ...]:
        """All that can be read, in the order of their ids."""
        return tuple(sorted((*self.scars, *(one.scar for one in self.held), *self.retired), key=lambda scar: scar.id))


def look(memory: Memory, paths: tuple[str, ...] = ()) -> Looked:
    """Every scar, verified and judged.

    Args:
        paths: what is worked on, from the top of the checkout; a scar of other paths is then held.

    Raises:
        IntegrityError: the log, or a scar in it, is not what was sealed.
    """
    from dataclasses import replace

    context = memory.gate.context(memory.agent, memory.now())
    context = replace(context, paths=paths) if paths else context
    found = Looked((), (), (), ())
    listing = memory.list(prefix=ROOT, states=_ALL)
    for finding in listing.findings:
        if str(finding.facts.get("key", "")).startswith(ROOT):
            raise finding
    for item in listing.items:
        found = _sorted_in(found, memory, item.key, item.state, context)
    return found


def in_force(memory: Memory, paths: tuple[str, ...] = ()) -> tuple[Scar, ...]:
    """The scars that count here and now; for a guard, which has to know.

    Raises:
        IntegrityError: one of them was changed past this program, or cannot be read.
    """
    found = look(memory, paths)
    if found.findings:
        raise found.findings[0]
    return found.scars


def add(
    memory: Memory, scar: Scar, *, scope: Scope, area: str = "", expires: str | None = None, reason: str | None = None, op: str | None = None
) -> tuple[Scar, Saved]:  # fmt: skip
    """Seal a scar; one without an id gets the next free number of its area.

    Args:
        scope: where it applies; nothing is left out in it.
        expires: RFC 3339, in UTC.

    Raises:
        UsageError: it is none, or its text reads as an order to a model, so that no boot would show it.
        DisciplineError: there is one of that id, and a scar is written once.
    """
    if scar.id:
        return _add(memory, scar, scope, expires, reason, op)
    taken = _ids(memory)
    if op is not None and (done := _done(memory, taken, op)) is not None:
        return done
    for _ in range(ATTEMPTS):
        numbered = scar._replace(id=next_id(_area(area), taken))
        try:
            return _add(memory, numbered, scope, expires, reason, op)
        except DisciplineError:
            before, taken = taken, _ids(memory)
            if numbered.id in before or numbered.id not in taken:
                raise
    raise ConflictError(f"Others took every number of SCAR-{area} meanwhile", remedy="Try again, or name it with --id")


def waive(memory: Memory, ident: str, digest: str, reason: str) -> Saved:
    """Say that one exact attempt, or change, is none; the same again changes nothing.

    Args:
        digest: 64 hex digits, as `Attempt.digest` or `Change.digest` has it.

    Raises:
        NotFoundError: there is no such scar. UsageError: no reason, or no digest.
    """
    if not reason.strip():
        raise UsageError("A waiver says why", remedy="Say --reason TEXT; it stands in the log")
    if len(digest) != 64 or not _HEX.issuperset(digest):
        raise UsageError(
            f"{digest!r} is no digest of an attempt", remedy="64 hex digits, as 'indelible scar check' shows"
        )
    fetch(memory, ident)
    return memory.mark("waived", key_of(ident), digest=digest, reason=reason, once=False, op=f"waived/{ident}/{digest}")


def retire(
    memory: Memory, ident: str, reason: str, *, by: Signer, method: str = "human", op: str | None = None
) -> Saved:
    """Take a scar out of force, in the owner's name. It stays readable, and says why.

    Raises:
        NotFoundError: there is no such scar. DisciplineError: it is retired already. BadSignature: that is no owner's key here.
    """
    from indelible.record import Scope

    _require_owner(memory, by)
    scar = _readable(memory, ident)
    if scar.retired and memory.is_owned(key_of(ident)):
        raise DisciplineError(f"{ident} is retired already", remedy="'indelible scar show' says why", key=key_of(ident))
    retired = check_scar(scar._replace(retired=" ".join(reason.split())))
    screened = memory.admit(to_markdown(retired), {"key": key_of(ident)})
    retired = from_markdown(screened.content)

    def record(earlier: Record | None) -> Record:
        if earlier is None or earlier.kind != KIND:  # it was erased, or replaced by something else
            here = Scope("agent", agent=memory.agent)
            return _making(memory, retired, screened.content, here, None)(None)
        return _with_members(memory.revise(earlier, screened.content), retired)

    return memory.amend(key_of(ident), screened, by=by, reason=reason, method=method, record=record, op=op)


def fetch(memory: Memory, ident: str) -> Scar:
    """One scar, verified and not judged, with what the log says of it.

    Raises:
        NotFoundError: there is none. UsageError: that is no scar's id. IntegrityError: it is not what was sealed, or no scar.
    """
    if not area_of(ident):
        raise UsageError(f"{ident!r} is no scar's id", remedy="'indelible scar list' shows them: SCAR-GIT-01")
    try:
        loaded = memory.fetch(key_of(ident))
    except NotFoundError as error:
        raise NotFoundError(
            f"There is no {ident}", remedy="'indelible scar list' shows which there are", key=key_of(ident)
        ) from error
    return _scar(memory, loaded)


def _readable(memory: Memory, ident: str) -> Scar:
    """The scar, or what stands for one that was spoilt past this program: the owner can put an end to that too."""
    try:
        return fetch(memory, ident)
    except (Malformed, NotFoundError):
        if not area_of(ident) or ident not in _ids(memory):
            raise
        return Scar(ident, "Spoilt", "not known any more", "it was spoilt past this program, and cannot be read")


def _sorted_in(found: Looked, memory: Memory, key: str, state: str, context: object) -> Looked:
    from indelible.memory.judging import judged

    findings = list(found.findings)
    try:
        loaded, wrong = _lawful(memory, key, state)
        findings += wrong
        scar = _scar(memory, loaded)
    except (Malformed, Unlawful) as finding:
        return found._replace(findings=(*findings, finding))
    found = found._replace(findings=tuple(findings))
    if scar.retired:
        return found._replace(retired=(*found.retired, scar))
    gate = memory.gate
    verdict = judged(memory, loaded, policy=gate.policy, context=context).verdict  # type: ignore[arg-type]
    reasons = tuple(one for one in verdict.reasons if not (wrong and one.slug.startswith("state-")))
    if reasons:
        return found._replace(held=(*found.held, HeldScar(scar, reasons)))
    return found._replace(scars=(*found.scars, scar))


def require_lawful(memory: Memory, loaded: Loaded) -> None:
    """Refuse a scar that was put away, or changed without the owner; for a boot, which raises its alarm by that.

    Raises:
        Unlawful: it was.
    """
    for finding in _unlawful(memory, loaded.key, loaded.version, loaded.latest.state):
        raise finding


def _lawful(memory: Memory, key: str, state: str) -> tuple[Loaded, tuple[Unlawful, ...]]:
    """The version that counts, and what came past this program: then it is the first one."""
    if state == "erased":
        raise _past(key, "was erased, and nobody knows what it barred")
    loaded = memory.fetch(key)
    if loaded.finding is not None:
        raise loaded.finding
    wrong = _unlawful(memory, key, loaded.version, state)
    first = loaded.version > 1 and wrong and state == "active"
    return (memory.fetch(key, 1) if first else loaded), wrong


def _unlawful(memory: Memory, key: str, version: int, state: str) -> tuple[Unlawful, ...]:
    if state != "active":
        return (_past(key, f"was put away ({state}); it counts all the same"),)
    if version > 1 and not memory.is_owned(key):
        return (_past(key, "was changed without the owner; its first version counts"),)
    return ()


def _past(key: str, words: str) -> Unlawful:
    remedy = f"Whoever holds the agent's key did that past this program: 'indelible history {key}', and 'indelible scar retire' as the owner"
    return Unlawful(f"{key} {words}", remedy=remedy, key=key)


def _scar(memory: Memory, loaded: Loaded) -> Scar:
    record = loaded.record
    scar = read_scar(loaded.content, record.extensions)
    if key_of(scar.id) != loaded.key or record.kind != KIND:
        raise Malformed(f"What is sealed under {loaded.key!r} is another scar, or none", key=loaded.key)
    waived = tuple(one.digest for one in memory.sayings(loaded.key) if one.type == "waived" and one.digest)
    return scar._replace(
        scope=record.scope,
        expires=record.validity.expires_at or "",
        by=record.created.by,
        at=record.created.at,
        waived=waived,
    )


def _add(
    memory: Memory, scar: Scar, scope: Scope, expires: str | None, reason: str | None, op: str | None
) -> tuple[Scar, Saved]:  # fmt: skip
    key, text = key_of(check_scar(scar).id), to_markdown(scar)
    _refuse_orders(text.decode())
    screened = memory.admit(text, {"key": key})
    sealed = from_markdown(screened.content)  # what was masked is masked in both forms
    record = _making(memory, sealed, screened.content, scope, expires)
    saved = memory.record(key, screened, "scar", reason=reason, record=record, once=True, op=op)
    return fetch(memory, scar.id), saved


def _making(
    memory: Memory, scar: Scar, content: bytes, scope: Scope, expires: str | None
) -> Callable[[Record | None], Record]:  # fmt: skip
    from dataclasses import replace

    from indelible.record import draft

    def make(_earlier: Record | None) -> Record:
        made = draft(
            key_of(scar.id), content, agent=memory.agent, author=f"agent:{memory.agent}", now=memory.now(), random=os.urandom(10),
            team=memory.team, media_type="text/markdown",
        )  # fmt: skip
        made = replace(
            made, kind=KIND, title=scar.title, scope=scope, validity=replace(made.validity, expires_at=expires)
        )
        return _with_members(made, scar)

    return make


def _with_members(record: Record, scar: Scar) -> Record:
    from dataclasses import replace

    others = tuple(one for one in record.extensions if one[0] != EXTENSION)
    return replace(record, extensions=tuple(sorted((*others, (EXTENSION, to_members(scar))))))


def _refuse_orders(text: str) -> None:
    """What the gate would hold is no scar: it would bar nothing, and be shown to nobody."""
    from indelible.gate.shape import SIGNS, signs

    if found := signs(text):
        raise UsageError(
            f"The scar's text reads as an order to the model: it {SIGNS[found[0]]}",
            remedy="Say what was tried and what came of it; no boot would show it as it is",
        )


def _require_owner(memory: Memory, by: Signer) -> None:
    if by.vkey not in {owner.vkey for owner in memory.trust.owner_keys()}:
        raise BadSignature(
            f"The key {by.name}+{by.key_id:08x} may not retire a scar",
            remedy="The owner's key does that: 'indelible scar retire' asks for it",
        )


def _ids(memory: Memory) -> frozenset[str]:
    with memory.following() as (table, _, _):
        return frozenset(key.removeprefix(ROOT) for key, _ in table.keys(prefix=ROOT))


def _done(memory: Memory, taken: Iterable[str], op: str) -> tuple[Scar, Saved] | None:
    """The scar that this operation recorded before."""
    from indelible.memory.results import Saved

    for ident in taken:
        if any(one.op == op and one.type == "saved" for one in memory.history(key_of(ident))):
            loaded = memory.fetch(key_of(ident), 1)
            return fetch(memory, ident), Saved(loaded.key, 1, loaded.seq, loaded.sha256, op, repeated=True)
    return None


def _area(area: str) -> str:
    if not area_of(f"SCAR-{area}-01"):
        raise UsageError(f"{area!r} is no area of scars", remedy="2 to 12 capitals or digits: --area GIT")
    return area
