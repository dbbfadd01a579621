r"""A scar as people and models read it, and as machines do: each form read is the exact inverse of the form written.

    # SCAR-GIT-01: Pushing while the pipeline runs
    Tried: git push straight after the commit
    Failed: the first pipeline was cancelled half-way and left the schema locked
    Evidence: round 2 of DEMO-12
    Path: migrations/**
    Command: git\s+push
    Added: DROP TABLE
    Level: barrier

One line for each thing, in this order; `Evidence`, `Path`, `Command` and `Added` any number of times. This is the content that
is sealed and the form that `scar add FILE` reads. The machine part is the same in canonical JSON, in the record's extension
`dev.indelible/scar`; a memory whose two forms say different things is no scar.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from indelible.errors import Malformed, UsageError
from indelible.seal import canonical
from indelible.workflow.scars import BARRIER, LEVELS, LINE, MOST, PATTERN, TITLE, WARNING, Scar, area_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

EXTENSION = "dev.indelible/scar"
_SINGLE = {"Tried": "tried", "Failed": "why", "Level": "level", "Retired": "retired"}
_MANY = {"Evidence": "evidence", "Path": "paths", "Command": "commands", "Added": "added"}
_ORDER = ("Tried", "Failed", "Evidence", "Path", "Command", "Added", "Level", "Retired")
_MEMBERS = ("id", "title", "tried", "why", "evidence", "paths", "commands", "added", "level", "retired")
_WORDS = {"tried": "what was tried", "why": "why it failed", "title": "title"}
_FORM = "# SCAR-AREA-NN: TITLE, then one line each: Tried: …, Failed: …, and Evidence:, Path:, Command:, Added:, Level: as needed"


def check_scar(scar: Scar) -> Scar:
    """The scar, if it can be sealed.

    Raises:
        UsageError: something is missing, too long, on two lines, no pattern, or what no barrier may be without.
    """
    if not area_of(scar.id):
        raise UsageError(
            f"{scar.id!r} is no scar's id", remedy="SCAR-, 2 to 12 capitals or digits, -, a number: SCAR-GIT-01"
        )
    for name, words in _WORDS.items():
        _check_line(words, getattr(scar, name), TITLE if name == "title" else LINE)
    for name in _MANY.values():
        _check_row(name, getattr(scar, name))
    if scar.retired:
        _check_line("reason", scar.retired, LINE)
    if scar.level not in LEVELS:
        raise UsageError(f"{scar.level!r} is no level of a scar", remedy=f"Use one of {', '.join(LEVELS)}")
    if scar.level == BARRIER and not scar.notices:
        raise UsageError(
            f"{scar.id} would bar nothing: it does not say how an attempt is noticed",
            remedy="Name a path, a command or an added line; or make it a warning",
        )
    for pattern in (*scar.commands, *scar.added):
        check_pattern(pattern)
    return scar


def check_pattern(pattern: str) -> None:
    """Whether a pattern can be searched for whatever text comes: see `automaton`.

    Raises:
        UsageError: it is none, needs backtracking, is too large, or matches where nothing stands.
    """
    from indelible.workflow.automaton import compiled

    try:
        made = compiled(pattern)
    except UsageError as error:
        error.message = f"{error.message} ({pattern!r})"
        raise
    if made.matches_nothing:
        raise UsageError(
            f"The pattern {pattern!r} matches where nothing stands, and so everywhere",
            remedy="Let it need at least one character: + instead of *",
        )


def _check_line(what: str, text: str, most: int) -> None:
    if not text.strip() or text != text.strip():
        raise UsageError(f"The {what} of a scar is empty, or has space at its ends", remedy="Say it in one line")
    if len(text) > most:
        raise UsageError(
            f"The {what} of a scar has {len(text)} characters; the limit is {most}", remedy="Say it shorter"
        )
    if not text.isprintable():
        raise UsageError(
            f"The {what} of a scar is not one line of plain text: it has a character that cannot be seen",
            remedy="Leave newlines, tabs and control characters out",
        )


def _check_row(name: str, row: tuple[str, ...]) -> None:
    if len(row) > MOST:
        raise UsageError(
            f"A scar with {len(row)} {name} has too many; the limit is {MOST}", remedy="Make two scars of it"
        )
    for text in row:
        _check_line(name, text, LINE if name == "evidence" else PATTERN)


def to_markdown(scar: Scar) -> bytes:
    """The text that is sealed."""
    lines = [f"# {scar.id}: {scar.title}"]
    for label in _ORDER:
        values = getattr(scar, _MANY[label]) if label in _MANY else (getattr(scar, _SINGLE[label]),)
        lines += [f"{label}: {value}" for value in values if value]
    return ("\n".join(lines) + "\n").encode()


def from_markdown(content: bytes) -> Scar:
    """The exact inverse of `to_markdown`, whatever the order of the lines.

    Raises:
        UsageError: as `from_template` and `check_scar`.
    """
    return check_scar(from_template(content))


def from_template(content: bytes) -> Scar:
    """A scar that may have no id yet (`# A title`); nothing else of it is checked.

    Raises:
        UsageError: a line is none that a scar has.
    """
    try:
        lines = [line.rstrip() for line in content.decode("utf-8").splitlines() if line.strip()]
    except UnicodeDecodeError as exc:
        raise UsageError(f"The scar is not UTF-8 at byte {exc.start}", remedy="Write it as UTF-8") from exc
    found, title = _heading(lines[0] if lines else "")
    values: dict[str, list[str]] = {}
    for number, line in enumerate(lines[1:], 2):
        label, colon, value = line.partition(": ")
        if not colon or label not in _ORDER:
            raise UsageError(f"Line {number} of the scar is none that a scar has", remedy=_FORM)
        if label in _SINGLE and label in values:
            raise UsageError(f"The scar says {label!r} twice", remedy=_FORM)
        values.setdefault(label, []).append(value.strip())
    single = {field: values[label][0] for label, field in _SINGLE.items() if label in values}
    many = {field: tuple(values.get(label, ())) for label, field in _MANY.items()}
    return Scar(found, title, **({"tried": "", "why": "", "level": WARNING} | single), **many)  # type: ignore[arg-type]


def _heading(line: str) -> tuple[str, str]:
    text = line.removeprefix("# ")
    if text == line:
        raise UsageError("The scar does not begin with a heading", remedy=_FORM)
    ident, colon, title = text.partition(": ")
    return (ident, title) if colon and area_of(ident) else ("", text)


def briefly(content: str) -> str:
    """A scar's text without what only a machine needs: for a briefing, where each line costs tokens."""
    return "".join(
        line for line in content.splitlines(keepends=True) if not line.startswith(("Path: ", "Command: ", "Added: "))
    )


def to_members(scar: Scar) -> bytes:
    """The machine part: canonical JSON (RFC 8785) of what the text says, empty members left out."""
    return canonical.dumps({name: _plain(getattr(scar, name)) for name in _MEMBERS if getattr(scar, name)})


def from_members(data: bytes) -> Scar:
    """The exact inverse of `to_members`.

    Raises:
        Malformed: it is nothing that `to_members` writes.
    """
    try:
        value = canonical.loads(data)
        scar = check_scar(_scar(value if isinstance(value, dict) else {}))
    except (UsageError, TypeError, ValueError) as exc:
        raise Malformed(f"The machine part of a scar is none ({type(exc).__name__})", remedy=_RETIRE) from exc
    if to_members(scar) != data:
        raise Malformed("The machine part of a scar is not in its canonical form", remedy=_RETIRE)
    return scar


_RETIRE = "The owner looks at it and retires it: 'indelible scar retire ID --reason TEXT'"


def read_scar(content: bytes, extensions: Iterable[tuple[str, bytes]]) -> Scar:
    """The scar of a verified memory: what its machine part says, if its text says the same.

    Raises:
        Malformed: there is no machine part, or the two disagree.
    """
    members = dict(extensions).get(EXTENSION)
    if members is None:
        raise Malformed("A scar has no machine part", remedy=_RETIRE)
    scar = from_members(members)
    if to_markdown(scar) != content:
        raise Malformed(f"The text of {scar.id} and its machine part disagree", remedy=_RETIRE)
    return scar


def _scar(members: Mapping[str, object]) -> Scar:
    if unknown := sorted(members.keys() - set(_MEMBERS)):
        raise ValueError(f"{len(unknown)} members that a scar has not")
    values: dict[str, object] = {"tried": "", "why": "", "title": "", "id": ""}
    for name, value in members.items():
        many = name in _MANY.values()
        if many != isinstance(value, list) or not all(isinstance(one, str) for one in (value if many else (value,))):  # type: ignore[attr-defined]
            raise ValueError(f"{name} is of another type")
        values[name] = tuple(value) if isinstance(value, list) else value
    return Scar(**values)  # type: ignore[arg-type]


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


# An export: scars as plain patterns, for where no store is. Nothing of it is signed.


def to_line(scar: Scar) -> bytes:
    """One scar as a line of JSON Lines, with what its record and the log say beside: scope, expiry, who, waivers."""
    beside = {name: value for name in ("expires", "by", "at") if (value := getattr(scar, name))}
    if scar.scope is not None and scar.scope.paths:
        beside["scope_paths"] = list(scar.scope.paths)
    if scar.waived:
        beside["waived"] = list(scar.waived)
    members = json.loads(to_members(scar))
    return canonical.dumps(members | beside) + b"\n"


def from_lines(data: bytes) -> tuple[Scar, ...]:
    """The scars of an export.

    Raises:
        UsageError: a line is none; it is named.
    """
    return tuple(_lines(data))


def _lines(data: bytes) -> Iterator[Scar]:
    from indelible.record import Scope

    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
            beside = {name: value.pop(name, "") for name in ("expires", "by", "at")}
            paths, waived = value.pop("scope_paths", []), value.pop("waived", [])
            scar = check_scar(_scar(value))
        except (UsageError, ValueError, TypeError, AttributeError, RecursionError) as exc:
            raise UsageError(
                f"Line {number} of the exported scars is none ({exc})",
                remedy="'indelible scar export FILE' writes it anew",
            ) from exc
        scope = Scope("path", paths=tuple(map(str, paths))) if paths else None
        expires, by, at = (str(text) for text in beside.values())
        yield scar._replace(scope=scope, waived=tuple(map(str, waived)), expires=expires, by=by, at=at)
