"""The audit: a second, independent reading of a whole store, from the bytes up.

It shares no code with what saves and loads but `seal/` and the errors: it has its own SQL, its own grammar of entries,
its own rules of who may sign what. It believes the reader's keys and pins, and nothing in the store. A bad store raises
nothing: all that is wrong with it is in the report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indelible.audit.authority import Authority
from indelible.audit.files import look_at_files
from indelible.audit.findings import AgentReport, Notebook, Report
from indelible.audit.head import check_head, check_pin, origin_of, parse_head, rotations_of
from indelible.audit.replay import Replay
from indelible.audit.schema import look_at_schema
from indelible.audit.source import MAX_LOG, UNREADABLE, Log, Source
from indelible.errors import IndelibleError, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from indelible.seal.checkpoint import Checkpoint
    from indelible.seal.note import Verifier

    Verifiers = Callable[[str, str], tuple[Verifier, ...]]
    Pins = Callable[[str], Checkpoint | None]
    Progress = Callable[[int, int], None]

_ROWS = (("entry", "entries"), ("record", "versions"))
_HOMELESS = {"entry": "stray-entry", "record": "stray-record", "tile": "stray-tile", "op": "stray-operation"}


def audit(
    path: str, *, verifiers: Verifiers, owners: tuple[Verifier, ...], pins: Pins, signatures: bool = True,
    reviewers: tuple[Verifier, ...] = (), progress: Progress | None = None, agents: Iterable[str] | None = None,
) -> Report:  # fmt: skip
    """Read everything in the store at `path`, and say what is not as it was sealed.

    Args:
        verifiers: `verifiers(agent, origin)` are the keys that this reader trusts for that log: the agent's own, whose
            name is the origin, and those of servers. `origin` is what the store says; answer `()` if it is another's.
        owners: the keys of the owner, who alone revokes keys and signs for a restore.
        reviewers: the keys of those whose judgement of a memory counts.
        pins: `pins(agent)` is the last head that this reader accepted, None if it never had one.
        signatures: check the signature of every entry; without it, those of heads and of entries about keys.
        progress: told `(entries read, entries in all)` from time to time.
        agents: whose logs to read, in this order; None for all that are there.
    """
    store = Notebook()
    look_at_files(path, store)
    try:
        source = Source(path)
    except StoreError as exc:
        store.add("unreadable", exc.message, remedy=exc.remedy)
        return Report(path, (), store.close())
    try:
        reports = _Audit(source, store, verifiers, owners, reviewers, pins, progress, signatures=signatures).run(agents)
    except UNREADABLE as exc:
        store.add("damaged", f"The store could not be read to its end ({exc})")
        reports = ()
    finally:
        source.close()
    return Report(path, reports, store.close())


class _Audit:
    """One audit of one store. Lives as long as the call."""

    def __init__(  # noqa: PLR0917 - what an audit reads with
        self, source: Source, store: Notebook, verifiers: Verifiers, owners: tuple[Verifier, ...],
        reviewers: tuple[Verifier, ...], pins: Pins, progress: Progress | None, *, signatures: bool,
    ) -> None:  # fmt: skip
        self._source, self._store = source, store
        self._verifiers, self._owners, self._reviewers, self._pins = verifiers, owners, reviewers, pins
        self._progress, self._signatures = progress, signatures
        self._ends: dict[str, int] = {}
        self._done = self._total = 0

    def run(self, agents: Iterable[str] | None) -> tuple[AgentReport, ...]:
        """Read the file, then log by log."""
        wanted = [log.agent for log in self._source.logs()] if agents is None else list(agents)
        notebooks = {agent: Notebook(agent) for agent in wanted}
        # Pins first, then the snapshot: the other way round, a save between the two would look like a rollback.
        pins = {agent: self._pin(agent, notebooks[agent]) for agent in wanted}
        self._source.begin()
        for line in self._source.integrity():
            self._store.add("damaged", f"SQLite finds the file damaged: {line}")
        look_at_schema(self._source, self._store)
        logs = {log.agent: log for log in self._logs()}
        self._check_homeless([log.id for log in logs.values()])
        self._ends = {agent: self._end(log) for agent, log in logs.items() if agent in notebooks}
        self._total = sum(self._ends.values())
        reports = [self._log(agent, logs.get(agent), pins[agent], notebooks[agent]) for agent in wanted]
        self._tell(self._total)
        return tuple(reports)

    def _pin(self, agent: str, findings: Notebook) -> Checkpoint | None:
        try:
            return self._pins(agent)
        except IndelibleError as exc:
            findings.add("pin-unusable", exc.message, remedy=exc.remedy)
            return None

    def _logs(self) -> list[Log]:
        logs = []
        for log in self._source.logs():
            if log.id in range(1, MAX_LOG + 1):
                logs.append(log)
            else:
                self._store.add("bad-head", f"The log of {log.agent!r} has the id {log.id}, which none can have")
        return logs

    def _end(self, log: Log) -> int:
        try:
            return self._source.end("entry", log.id)
        except UNREADABLE as exc:
            self._store.add("damaged", f"The entries of {log.agent!r} cannot be counted ({exc})")
            return 0

    def _check_homeless(self, logs: list[int]) -> None:
        for table, slug in _HOMELESS.items():
            try:
                count = self._source.homeless(table, logs)
            except UNREADABLE as exc:
                self._store.add("damaged", f"The table {table!r} cannot be read ({exc})")
                continue
            if count:
                self._store.add(slug, f"The table {table!r} has {count} rows that belong to no log")

    def _log(self, agent: str, log: Log | None, pin: Checkpoint | None, findings: Notebook) -> AgentReport:
        try:
            if log is not None:
                return self._read(log, pin, findings)
        except UNREADABLE as exc:
            findings.add("damaged", f"The log of {agent!r} could not be read to its end ({exc})")
        else:
            if pin is not None and pin.size:
                words = f"The log of {agent!r} is gone; {pin.size} entries of it had been accepted before"
                findings.add("missing-log", words)
            else:
                findings.add("no-log", f"There is no log of {agent!r} in this store")
        return AgentReport(agent, "", 0, "", 0, 0, (), findings.close())

    def _read(self, log: Log, pin: Checkpoint | None, findings: Notebook) -> AgentReport:
        head = parse_head(log, findings)
        origin = origin_of(self._source, log, head)
        size = head.checkpoint.size if head else self._ends[log.agent]
        keys = self._keys(log.agent, origin, findings)
        authority = Authority(origin, keys, self._owners, self._reviewers, lambda: rotations_of(self._source, log.id))
        replay = Replay(self._source, log.id, size, authority, findings)
        replay.run(pin.size if pin else 0, self._beat(), signatures=self._signatures)
        self._done += self._ends[log.agent]
        signed_by: tuple[str, ...] = ()
        if head is not None:
            signed_by = check_head(head, replay, authority, findings)
            self._check_beyond(log, size, findings)
        if pin is not None:
            check_pin(pin, origin, size, replay, findings)
        root = replay.root().hex() if replay.whole else ""
        memories, saved = len(replay.versions), replay.versions.saved
        return AgentReport(log.agent, origin, size, root, memories, saved, signed_by, findings.close())

    def _keys(self, agent: str, origin: str, findings: Notebook) -> tuple[Verifier, ...]:
        try:
            keys = self._verifiers(agent, origin)
        except IndelibleError as exc:
            findings.add("no-key", exc.message, remedy=exc.remedy)
            return ()
        if not keys:
            findings.add("no-key", f"No key is known for {origin or agent!r}, so no signature of it could be checked")
        return keys

    def _check_beyond(self, log: Log, size: int, findings: Notebook) -> None:
        for table, name in _ROWS:
            span = self._source.beyond(table, log.id, size)
            if span.rows:
                words = f"There are {span.rows} {name} from {span.first} on, which the signed head, at {size}, does not cover"
                findings.add(_HOMELESS[table], words, seq=span.first)

    def _beat(self) -> Callable[[int], None]:
        before = self._done
        return lambda read: self._tell(before + read)

    def _tell(self, done: int) -> None:
        if self._progress is not None:
            self._progress(min(done, self._total), self._total)
