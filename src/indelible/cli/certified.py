"""recall --like and --repair: which memory a file is a copy of, and the original in its place."""

from __future__ import annotations

import math
import os
from hashlib import sha256
from typing import TYPE_CHECKING

from indelible.cli import common
from indelible.cli.inputs import read_input
from indelible.cli.output import BAD, OK, WARN, shown, visible
from indelible.cli.outputs import write_output
from indelible.errors import ConflictError, HeldError, IntegrityError, NotFoundError, UsageError
from indelible.gate.verdict import as_argument

if TYPE_CHECKING:
    from indelible.cli.session import Session
    from indelible.gate.policy import Policy
    from indelible.memory import Loaded, Memory
    from indelible.memory.certifying import Certificate, Original

KEPT = ".damaged"
"""What the damaged copy is called after it was repaired."""
_AMBIGUOUS = 1
_LONGER, _SHORTER = 2, 8
"""A damaged copy has at most so many times the bytes of its original, and at least one in so many of them."""
_LIKELY = 0.01
"""Posterior from which on an original is named among several."""
_CODES = {
    "perfect": 0,
    "mismatch": IntegrityError.exit_code,
    "ambiguous": _AMBIGUOUS,
    "unknown": NotFoundError.exit_code,
}
_MARKS = {"perfect": OK, "mismatch": BAD, "ambiguous": WARN, "unknown": WARN}


def say_like(session: Session, file: str, prefix: str) -> int:
    """Which memory `file` is a copy of; nothing of the memory itself is shown."""
    if file != "-":
        _refuse_no_file(file)
    text = read_input(file)
    with common.target(session) as memory, common.progress(session.output, "Indexing") as advance:
        found = memory.identify(text, prefix=prefix, advance=advance)
        first = found.original if found.finding is None else None
        held = memory.judge(first.key, first.version).verdict if first is not None else None
    if held is not None and held.held:
        session.output.aside(f"{WARN} It is held: {', '.join(held.slugs)}")
    return _say(session, found)


def _refuse_no_file(file: str) -> None:
    """A pipe would be waited for for ever.

    Raises:
        UsageError: there is something else than a file.
    """
    if os.path.exists(file) and not os.path.isfile(file):
        raise UsageError(f"{file} is no file", remedy="Name a file, or - for standard input")


def say_repair(session: Session, file: str, prefix: str, policy: Policy | str | None) -> int:
    """Put the original in the place of `file`, if it stands clear, is genuine and applies; else nothing is written."""
    _refuse_no_file(file)
    if file == "-" or os.path.islink(file):
        raise UsageError(f"{file} is no file of its own that could be put right", remedy="Name the file itself")
    text = read_input(file)
    with common.target(session) as memory, common.progress(session.output, "Indexing") as advance:
        found = memory.identify(text, prefix=prefix, advance=advance)
        original = found.original
        if original is None or found.certainty.value != "perfect":
            return _say(session, found)
        loaded = _original(memory, found, original, policy)
        if loaded.content == text:
            return _say(session, found, repaired="")
        _refuse_another_size(file, text, loaded)
        return _say(session, found, repaired=_replace(session, file, text, loaded))


def _original(memory: Memory, found: Certificate, original: Original, policy: Policy | str | None) -> Loaded:
    """Verified and judged as every read is; where it is held under one key, it may apply under another.

    Raises:
        HeldError: it is held under all of them.
    """
    version = None if original.version == original.newest else original.version
    held: HeldError | None = None
    digest = sha256(memory.fetch(original.key, original.version).content).digest()
    for key, number in ((original.key, version), *((other, None) for other in found.also)):
        try:
            loaded = memory.load(key, number, policy=policy, door="recall")
        except HeldError as error:
            held = held or error
            continue
        if sha256(loaded.content).digest() == digest:
            return loaded
    raise held or NotFoundError(f"{original.key!r} is not there any more", remedy="Look again with --like")


def _refuse_another_size(file: str, text: bytes, loaded: Loaded) -> None:
    """A file that is much longer than its original, or next to nothing of it, is more than damaged.

    Raises:
        ConflictError: it is.
    """
    if len(text) > _LONGER * len(loaded.content) or len(text) * _SHORTER < len(loaded.content):
        raise ConflictError(
            f"{file} has {len(text):,} bytes, and its original {len(loaded.content):,}: too far apart for a damaged copy",
            remedy=f"If that is meant: 'indelible load {as_argument(loaded.key)} -o {file}'", key=loaded.key,
        )  # fmt: skip


def _replace(session: Session, file: str, text: bytes, loaded: Loaded) -> str:
    """Keep what was there beside it, and put the original in its place; gives the name of what was kept.

    Raises:
        ConflictError: the file changed meanwhile.
    """
    settings = common.settings_of(session)
    mode = os.stat(file).st_mode & 0o777
    kept = _free_name(file)
    write_output(settings, kept, text, mode=mode)
    if read_input(file) != text:
        os.unlink(kept)
        raise ConflictError(f"{file} changed while its original was looked for", remedy="Run it again")
    write_output(settings, file, loaded.content, mode=mode)
    return kept


def _free_name(file: str) -> str:
    names = (file + KEPT + (f".{number}" if number else "") for number in range(10_000))
    return next(name for name in names if not os.path.lexists(name))


def _say(session: Session, found: Certificate, *, repaired: str | None = None) -> int:
    output, word = session.output, found.certainty.value
    for line in in_words(found):
        (output.line if word == "perfect" else output.aside)(line)
    if repaired:
        output.line(f"{OK} {shown(found.originals[0].key)} restored; what was there is kept as {visible(repaired)}")
    elif repaired is not None:
        output.line(f"{OK} nothing was written")
    code = _CODES[word]
    output.document({"ok": not code, "exit_code": code, "slug": word, **as_dict(found), "kept": repaired or None})
    return code


def in_words(found: Certificate) -> list[str]:
    """The answer, for a person."""
    word = found.certainty.value
    first = found.originals[0] if found.originals else None
    if first is None or word == "unknown":
        return [f"{_MARKS[word]} UNKNOWN: it is like nothing that is stored here"]
    if word == "ambiguous":
        return [f"{_MARKS[word]} AMBIGUOUS: {_several(found)}"]
    lines = [
        f"{_MARKS[word]} {word.upper()}: the original is {_named(first)}{_also(found)}; {_differs(found)}{_gap(found.gap)}"
    ]
    if first.version != first.newest:
        lines.append(f"{WARN} Version {first.newest} is in force: 'indelible load {as_argument(first.key)}'")
    if word == "mismatch":
        why = "" if found.finding is None else f": {visible(str(found.finding))}"
        lines.append(f"{BAD} What is stored under it does not have the digest that the log commits to{why}")
        if found.identical:
            lines.append(
                f"{OK} Your copy has that digest: keep it; 'indelible save --force {as_argument(first.key)} FILE' puts it back"
            )
    return lines


def as_a_copy(found: Certificate) -> str:
    """What the Hopfield memory says of a question, in a line: for most questions that they are no copy of anything."""
    of = f" of {_named(found.original)}" if found.original is not None else ""
    numbers = [f"energy {found.energy:.1f} nats"] if math.isfinite(found.energy) else []
    numbers += [f"gap {found.gap:.1f}"] if math.isfinite(found.gap) else []
    numbers += (
        [f"noise {found.noise.rate:.1%} of bits, {found.noise.lost:.0%} of n-grams"] if found.noise is not None else []
    )
    return f"As a copy: {found.certainty.value.upper()}{of} ({', '.join(numbers) or 'nothing is near'})"


def _several(found: Certificate) -> str:
    """What it may be a copy of. One that is likely and not certain is no several."""
    likely = [one for one in found.originals if one.posterior >= _LIKELY]
    if len(likely) == 1:
        return f"most likely a copy of {_named(likely[0])}, and there is too little of it to be sure"
    named = ", ".join(f"{_named(one)} ({one.posterior:.0%})" for one in likely)
    return f"it may be a copy of several, and does not tell them apart: {named}"


def _named(one: Original) -> str:
    older = f" of {one.newest}" if one.version != one.newest else ""
    state = f", {one.state}" if one.state != "active" else ""
    return f"{shown(one.key)} (version {one.version}{older}{state})"


def _also(found: Certificate) -> str:
    return f", also under {', '.join(map(shown, found.also))}" if found.also else ""


def _differs(found: Certificate) -> str:
    """How far the text is from it."""
    if found.identical:
        return "this is a true copy"
    if found.noise is None:
        return "nothing of it can be read"
    noise = found.noise
    size = f"{abs(found.longer):,} bytes {'more' if found.longer > 0 else 'fewer'}, " if found.longer else ""
    whose = "what is stored" if found.certainty.value == "mismatch" else "this copy"
    return f"{whose} differs: {size}{noise.lost:.0%} of its n-grams lost, {noise.bits:,} of {noise.compared:,} bits in place ({noise.rate:.1%})"


def _gap(gap: float) -> str:
    return "" if math.isinf(gap) else f"; {gap:.1f} nats clear of the next"


def as_dict(found: Certificate) -> dict[str, object]:
    """The answer, for a program: an infinite number is null, as JSON has none."""
    noise = found.noise
    return {
        "certainty": found.certainty.value, "originals": [one._asdict() for one in found.originals],
        "gap": _finite(found.gap), "energy": _finite(found.energy),
        "noise": None if noise is None else {"bits": noise.bits, "compared": noise.compared, "rate": noise.rate, "lost": noise.lost},
        "identical": found.identical, "longer": found.longer, "also": list(found.also),
        "finding": None if found.finding is None else found.finding.as_dict(),
    }  # fmt: skip


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
