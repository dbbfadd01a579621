"""The facts of the workflow, read a second time: did each come into the log as its kind may?

    flow/workflow.toml   every version with an owner's amendment of it
    flow/receipt/ID      one version, with `receipt-issued`
    scar/SCAR-AREA-NN    one version with `scar`; every later one with an owner's amendment of it
    flow/…               any version, with `stamped`

None of the first three is put away, erased or replaced. docs/format.md says the same in more words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from indelible.audit.findings import Notebook
    from indelible.audit.grammar import Entry

_WORKFLOW, _RECEIPT, _SCAR, _FLOW = "flow/workflow.toml", "flow/receipt/", "scar/", "flow/"
_GONE = frozenset({"archived", "erased", "superseded"})


class _Fact:
    """The present of one key."""

    __slots__ = ("leaf", "seq", "versions", "wanted")

    def __init__(self) -> None:
        self.versions, self.seq, self.leaf, self.wanted = 0, -1, b"", ""


class Facts:
    """Every fact of one log, replayed."""

    def __init__(self, findings: Notebook) -> None:
        self._findings = findings
        self._facts: dict[str, _Fact] = {}

    def add(self, entry: Entry, leaf_hash: bytes, *, owned: bool) -> None:
        """Replay one entry about a key.

        Args:
            owned: whether an owner who is known signed it.
        """
        if not entry.key.startswith((_FLOW, _SCAR)):
            return
        fact = self._facts.setdefault(entry.key, _Fact())
        if entry.type == "saved":
            self._tell_unsaid(entry.key, fact)
            fact.versions, fact.seq, fact.leaf = fact.versions + 1, entry.seq, leaf_hash
            fact.wanted = _wanted(entry.key, fact.versions)
        elif entry.type == "amended":
            if owned and entry.digest == fact.leaf.hex():
                fact.wanted = ""
        elif entry.type == fact.wanted:
            fact.wanted = ""
        elif entry.type in _GONE and entry.key.startswith((_WORKFLOW, _RECEIPT, _SCAR)):
            words = f"{entry.key!r} was put away at entry {entry.seq} ({entry.type}), and stays in force"
            self._findings.add("fact-withdrawn", words, seq=entry.seq, key=entry.key)

    def _tell_unsaid(self, key: str, fact: _Fact) -> None:
        if fact.wanted:
            wanted = "an owner's word for it" if fact.wanted == "amended" else f"the entry {fact.wanted!r} beside it"
            words = f"{key!r} was saved at entry {fact.seq} without {wanted}, past the discipline of such facts"
            self._findings.add("fact-rewritten", words, seq=fact.seq, key=key)
            fact.wanted = ""

    def close(self) -> None:
        """Tell what was never said."""
        for key, fact in self._facts.items():
            self._tell_unsaid(key, fact)


def _wanted(key: str, version: int) -> str:
    """What has to be said beside a version."""
    if key == _WORKFLOW or (version > 1 and key.startswith((_RECEIPT, _SCAR))):
        return "amended"
    if key.startswith(_RECEIPT):
        return "receipt-issued"
    return "scar" if key.startswith(_SCAR) else "stamped"
