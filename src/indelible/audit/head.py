"""A log's head: whose it is, whether it fits the entries, and whether it continues what was accepted before."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from indelible.audit.grammar import SIGNATURE_SIZE, Entry, Fault, parse_entry
from indelible.errors import Malformed
from indelible.seal import checkpoint as checkpoints
from indelible.seal.note import Note, parse_note

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from indelible.audit.authority import Authority
    from indelible.audit.findings import Notebook
    from indelible.audit.replay import Replay
    from indelible.audit.source import Log, Source
    from indelible.seal.checkpoint import Checkpoint

_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._@-")


class Head(NamedTuple):
    """A head that could be read; nothing is verified yet."""

    note: Note
    checkpoint: Checkpoint


def parse_head(log: Log, findings: Notebook) -> Head | None:
    """The head of a log, if it is a checkpoint."""
    try:
        note = parse_note(log.note if isinstance(log.note, bytes) else b"")
        head = Head(note, checkpoints.parse(note.text))
    except Malformed as exc:
        findings.add("bad-head", f"The head of {log.agent!r} does not parse: {exc.message}")
        return None
    if not _is_of(head.checkpoint.origin, log.agent):
        findings.add("wrong-origin", f"The head of {log.agent!r} is that of {head.checkpoint.origin}")
    return head


def origin_of(source: Source, log: Log, head: Head | None) -> str:
    """The head's origin if it is that of this agent; else what the first entry says."""
    said = head.checkpoint.origin if head else ""
    first = "" if _is_of(said, log.agent) else _origin_of_first(source, log.id)
    return first if _is_of(first, log.agent) else said or first


def _origin_of_first(source: Source, log: int) -> str:
    leaves = [leaf for _, leaf in source.entries(log, 1)]
    return next((entry.origin for entry in _readable(leaves)), "")


def rotations_of(source: Source, log: int) -> list[Entry]:
    """Every entry of a log that hands it to another key, unverified."""
    return [entry for entry in _readable(source.rotations(log)) if entry.type == "key-rotated"]


def _readable(leaves: Iterable[object]) -> Iterator[Entry]:
    for leaf in leaves:
        try:
            yield parse_entry(leaf[:-SIGNATURE_SIZE] if isinstance(leaf, bytes) else b"")
        except Fault:
            continue


def _is_of(origin: str, agent: str) -> bool:
    """Whether an origin ends in this agent's name, percent-encoded but for letters, digits and `._@-`."""
    name = "".join(chr(byte) if chr(byte) in _PLAIN else f"%{byte:02X}" for byte in agent.encode())
    return origin.rpartition("/")[2] == name


def check_head(head: Head, replay: Replay, authority: Authority, findings: Notebook) -> tuple[str, ...]:
    """The signed root against the one that the entries come to. Returns whose signatures were verified."""
    size, root = head.checkpoint.size, head.checkpoint.root
    if replay.whole and replay.root() != root:
        findings.add("wrong-root", f"The {size} entries hash to {replay.root().hex()}; the head says {root.hex()}")
    if authority.knows_nobody:
        return ()
    signed_by, wrong = authority.judge_head(head.note, size)
    for slug, words in wrong:
        findings.add(slug, words)
    return signed_by


def check_pin(pin: Checkpoint, origin: str, size: int, replay: Replay, findings: Notebook) -> None:
    """The log against a head that was accepted before: it must continue it, or the owner must have given that very one up.

    A pin has no room for what its reader has seen of restores. So only the word that names exactly this pin counts: it
    cannot be in the log that the pin is of, and so cannot be used a second time, to cover a rollback.
    """
    if pin.origin != origin:
        findings.add("forked", f"This is the log of {origin!r}; the one that was accepted before is of {pin.origin!r}")
        return
    behind = pin.size > size
    if not behind and (not pin.size or not replay.pin_root or replay.pin_root == pin.root):
        return
    if any((word.bound, word.subject[:64]) == (pin.size, pin.root.hex()) for word in replay.restores):
        words = f"The owner restored this log from an older copy, and gave up the {pin.size} entries accepted before"
        findings.add("pin-abandoned", words)
        return
    remedy = ""
    for word in replay.restores:
        if word.bound > pin.size:
            remedy = f"If this is the restore that the owner signed for at entry {word.seq}, load a memory: that moves the pin"
    if behind:
        findings.add("rolled-back", f"There are {size} entries; {pin.size} had been accepted before", remedy=remedy)
    else:
        words = f"The first {pin.size} entries are not those that were accepted before"
        findings.add("forked", words, remedy=remedy)
