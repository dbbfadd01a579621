"""What an audit can find, and the report that it makes of it.

Every finding has a stable slug out of `SLUGS`, which docs/errors.md lists. An *error* means that something is not what
was sealed, or could not be checked; a *warning* is something that a person should know of and that lost nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

Severity: TypeAlias = Literal["error", "warning"]

LIMIT = 1000
"""Findings of one slug in one log that are told one by one; of more, only the number is told."""

_NEVER = "Do not restore from this store; run 'indelible incident' for what to do, in order"
_STRAYS = "Nothing outside the signed log is ever served; find out who wrote it before you remove it"
_KEYS = "If you know that key, name it with 'indelible key trust'; else treat the store as altered"
_REPAIR = "Copy the store and its -wal aside, then look at the disk"
_DERIVED = (
    "The signed log is not touched by it; find out who wrote there, and restore the store from a copy that audits clean"
)
_FACT = "Find out who has the agent's key; the owner seals a workflow or a scar again ('indelible flow seal', 'scar retire')"
_AMEND = "Find out who signed it; the owner puts the slot right with 'indelible state amend NAME FILE'"


class Kind(NamedTuple):
    """How grave a finding of one slug is, and what to do about it."""

    severity: Severity
    remedy: str


SLUGS: dict[str, Kind] = {
    # the file
    "unreadable": Kind("error", "Name the right file, usually .indelible/store.db, and check its rights"),
    "damaged": Kind("error", _REPAIR),
    "altered-schema": Kind("error", _NEVER),
    "foreign-table": Kind(
        "warning", "Another tool keeps a table in this file; nothing that Indelible serves comes from it"
    ),
    "open-to-others": Kind(
        "warning", "Take the rights of others away: chmod 600 the files of the store, chmod 700 its folder"
    ),
    # the head of a log
    "bad-head": Kind("error", _NEVER),
    "wrong-origin": Kind("error", _NEVER),
    "wrong-root": Kind("error", _NEVER),
    "no-key": Kind(
        "error", "Name its verifier key with 'indelible key trust VKEY' (its owner sees it with 'indelible key show')"
    ),
    "no-log": Kind("warning", "Nothing was ever saved for this agent in this store"),
    # against what a reader accepted before
    "rolled-back": Kind("error", _NEVER),
    "forked": Kind("error", _NEVER),
    "missing-log": Kind("error", _NEVER),
    "pin-unusable": Kind("error", "Give another reader's pin with 'indelible pin set FILE'"),
    "pin-abandoned": Kind(
        "warning", "The owner signed for the restore: read something from this store, and the pin moves"
    ),
    # entries
    "missing-entry": Kind("error", _NEVER),
    "bad-entry": Kind("error", _NEVER),
    "misplaced-entry": Kind("error", _NEVER),
    "broken-chain": Kind("error", _NEVER),
    "bad-signature": Kind("error", _NEVER),
    "unknown-key": Kind("error", _KEYS),
    "unchecked-signature": Kind(
        "warning", "The head, by a key that is known, stands for them; to check each, name the older key too"
    ),
    "unknown-reviewer": Kind("warning", "If you know that reviewer, name the key with 'indelible key trust VKEY'"),
    "unknown-owner": Kind("warning", "If you know that owner, name the key with 'indelible key trust VKEY'"),
    "revoked-key": Kind("error", "Save that memory again with the present key, from a source that you trust"),
    "retired-key": Kind("warning", "The log was handed to a new key; find out who still uses the old one"),
    "clock-backwards": Kind(
        "warning", "The clock of the machine that wrote it was set back; the order of the log stands"
    ),
    # versions
    "missing-record": Kind("error", _NEVER),
    "altered-content": Kind("error", _NEVER),
    "altered-record": Kind("error", _NEVER),
    "altered-version": Kind("error", _NEVER),
    "bad-record": Kind("error", "The program that saved it wrote it so; save it again with this one"),
    "given-up-version": Kind(
        "warning", "It was damaged, and taken away when a later version was put in its place on purpose"
    ),
    "erased-still-there": Kind(
        "error", "Erase that memory again; until then what was to be gone can be read in the file"
    ),
    # slots of a state directory
    "slot-rewritten": Kind("error", _AMEND),
    "slot-withdrawn": Kind("error", _AMEND),
    "slot-doubled": Kind("error", _AMEND),
    # facts of the workflow
    "fact-rewritten": Kind("error", _FACT),
    "fact-withdrawn": Kind("error", _FACT),
    # derived rows
    "bad-tile": Kind("error", _DERIVED),
    "missing-tile": Kind("error", _DERIVED),
    "missing-operation": Kind("error", _DERIVED),
    "wrong-operation": Kind("error", _DERIVED),
    # rows that no signed head covers
    "stray-entry": Kind("error", _STRAYS),
    "stray-record": Kind("error", _STRAYS),
    "stray-tile": Kind("error", _STRAYS),
    "stray-operation": Kind("error", _STRAYS),
}


UNCHECKED = frozenset({"unreadable", "no-key", "pin-unusable"})
"""Errors that say only that something could not be checked: no sign of tampering, and no clean bill either."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it should be."""

    slug: str
    severity: Severity
    agent: str
    """Empty where it concerns the store and no one log."""
    seq: int | None
    """Number of the entry; of several, the first."""
    key: str | None
    message: str
    remedy: str

    def as_dict(self) -> dict[str, object]:
        """The shape that `--json` shows."""
        return {name: getattr(self, name) for name in ("slug", "severity", "agent", "seq", "key", "message", "remedy")}


@dataclass(frozen=True, slots=True)
class AgentReport:
    """What was found out about one agent's log."""

    agent: str
    origin: str
    """As the head has it; empty where the head does not parse."""
    size: int
    """Entries that the signed head covers."""
    root: str
    """Worked out from the entries, in hex; empty where some are missing."""
    keys: int
    """Memories that the log speaks of."""
    versions: int
    """Versions of them that were saved."""
    signed_by: tuple[str, ...]
    """`name+key id` of every key whose signature under the head was verified."""
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """No error in this log; warnings there may be."""
        return not any(finding.severity == "error" for finding in self.findings)

    def as_dict(self) -> dict[str, object]:
        """The shape that `--json` shows."""
        plain = {name: getattr(self, name) for name in ("agent", "origin", "size", "root", "keys", "versions")}
        return {
            **plain,
            "signed_by": list(self.signed_by),
            "findings": [one.as_dict() for one in self.findings],
            "ok": self.ok,
        }


@dataclass(frozen=True, slots=True)
class Report:
    """The whole second reading of one store."""

    path: str
    agents: tuple[AgentReport, ...]
    store: tuple[Finding, ...]
    """Findings about the file and about rows that belong to no log."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Everything found: the store's first, then log by log."""
        return (*self.store, *(finding for agent in self.agents for finding in agent.findings))

    @property
    def ok(self) -> bool:
        """No error anywhere; warnings there may be."""
        return not any(finding.severity == "error" for finding in self.findings)

    @property
    def tampered(self) -> bool:
        """Something is not what was sealed. Neither this nor `ok`: it could not be checked."""
        return any(finding.severity == "error" and finding.slug not in UNCHECKED for finding in self.findings)

    def as_dict(self) -> dict[str, object]:
        """The shape that `--json` shows."""
        return {
            "path": self.path,
            "ok": self.ok,
            "agents": [agent.as_dict() for agent in self.agents],
            "findings": [finding.as_dict() for finding in self.store],
        }


@dataclass(slots=True)
class Notebook:
    """Where an audit writes down what it finds about one log, or about the store."""

    agent: str = ""
    _found: list[Finding] = field(default_factory=list)
    _counts: dict[str, int] = field(default_factory=dict)

    def add(self, slug: str, message: str, *, seq: int | None = None, key: str | None = None, remedy: str = "") -> None:
        """Write one down; the severity, and the remedy if none is given, are those of the slug."""
        count = self._counts[slug] = self._counts.get(slug, 0) + 1
        if count <= LIMIT:
            kind = SLUGS[slug]
            self._found.append(Finding(slug, kind.severity, self.agent, seq, key, message, remedy or kind.remedy))

    def close(self) -> tuple[Finding, ...]:
        """All of it, with how many more there were of what there was too much of."""
        for slug, count in self._counts.items():
            if count > LIMIT:
                more = f"There are {count - LIMIT} more findings of this kind"
                self._found.append(
                    Finding(slug, SLUGS[slug].severity, self.agent, None, None, more, SLUGS[slug].remedy)
                )
        return tuple(self._found)
