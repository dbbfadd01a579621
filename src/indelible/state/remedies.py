"""What a person does about each finding of a state directory: one table, for `boot`, `state check`, `doctor` and `incident` alike.

The agent that is told of tampering does nothing of it: to whoever reads over its shoulder it is said as `FOR_HUMAN`.
"""

from __future__ import annotations

FOR_HUMAN = "For your human: "
_BACK = "'indelible state repair' puts the sealed copy back and keeps the other one aside"
_BRING = "'indelible state repair' brings it up to date, and so does the next write to it"

REMEDIES = {
    "slot-removed": "'indelible state repair' puts the sealed text back",
    "slot-edited": _BACK,
    "slot-cut": _BACK,
    "slot-extended": f"{_BACK}; what was meant is then added by the slot's verb ('indelible state append', of 90 to 99 'write')",
    "slot-symlink": _BACK,
    "slot-hard-linked": _BACK,
    "slot-not-a-file": _BACK,
    "slot-unsealed": "If it is yours, 'indelible state adopt' takes it in; if it is not, move it away, or 'indelible state repair' puts it aside",
    "slot-renamed": "'indelible state repair' puts the sealed text back under its own name",
    "slot-unreadable": f"Give it its rights back; or {_BACK}",
    "directory-symlink": "Take the link away; 'indelible state repair' then makes the folder and its files anew",
    "directory-not-a-folder": "Move it away; 'indelible state repair' then makes the folder and its files anew",
    "slot-absent": "'indelible state repair' brings it",
    "slot-behind": _BRING,
    "slot-interrupted": "'indelible state repair' finishes it, and so does the next write to it",
    "slot-closed": "'indelible state repair' takes the file away",
    "slot-writable": "'indelible state repair' makes it read-only again",
}
"""By slug; what stands in the log itself (`slot-rewritten` and its like) has `about_the_log`."""


def about_the_log(name: str) -> str:
    """What is done about a slot that came where it is past its discipline."""
    return (
        f"'indelible state history {name}' shows who signed what; the owner puts it right with 'indelible state amend {name} FILE', "
        "or, where another's owner key stands behind it, you trust that: 'indelible key trust VKEY'"
    )
