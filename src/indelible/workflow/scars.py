"""A scar: what was tried and failed, why, and how the next attempt is noticed. Decides; stores nothing, opens nothing.

    SCAR-GIT-01   its id: an area of 2 to 12 capitals and digits, and a number of 2 to 4 digits
    barrier       an attempt is refused; `warning`: it is told, and goes on

An attempt is noticed by its command, by a line that it adds, or by the file that it changes. Where a scar has both globs and
patterns for added lines, a line counts in those files only; globs alone mean every edit of such a file. Patterns are those
of `automaton`: they cannot explode.
"""

from __future__ import annotations

from indelible.light import TYPE_CHECKING, NamedTuple, sha256

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from indelible.record import Scope

ROOT = "scar/"
"""How the key of every scar begins."""
KIND = "failure"
"""The kind of its record, by which boot and gate know it."""
BARRIER, WARNING = "barrier", "warning"
LEVELS = (BARRIER, WARNING)
COMMAND, ADDED, PATH = "command", "added", "path"
"""By what an attempt is noticed."""
LINE = 1_000
"""Characters of what was tried, why it failed, or of one piece of evidence."""
TITLE = 120
PATTERN = 200
"""Characters of a glob or a pattern."""
MOST = 32
"""Globs and patterns of one scar, and pieces of its evidence."""
_DOMAIN = b"indelible/attempt/v1\n"
_AREA = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")


class Scar(NamedTuple):
    """One scar. What stands behind `level` is not its text's to say: the record and the log have it."""

    id: str
    title: str
    tried: str
    why: str
    evidence: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    """Globs, from the top of the checkout: see `gate/globs.py`."""
    commands: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    level: str = WARNING
    retired: str = ""
    """Why the owner took it out of force; empty while it is in force."""
    scope: Scope | None = None
    """Where it applies; None where nobody asked the record."""
    expires: str = ""
    by: str = ""
    """The actor who recorded it."""
    at: str = ""
    waived: tuple[str, ...] = ()
    """Digests of attempts, or of changes, that were looked at and are none."""

    @property
    def notices(self) -> bool:
        """Whether it has any way to notice an attempt."""
        return bool(self.paths or self.commands or self.added)


class Attempt(NamedTuple):
    """Something that a scar is about."""

    scar: Scar
    by: str
    """`command`, `added` or `path`."""
    pattern: str
    where: str = ""
    """The file's path from the top of the checkout; empty for a command."""
    line: int = 0
    """Which of the lines that the edit adds, from 1; 0 where it is no line."""
    digest: str = ""
    """64 hex digits of exactly what was attempted: a waiver names it."""
    commit: str = ""

    @property
    def is_barred(self) -> bool:
        """Whether it is refused, and not only told."""
        return self.scar.level == BARRIER


def attempts(
    scars: Iterable[Scar], *, commands: Iterable[str] = (), edits: Iterable[tuple[str, Sequence[str]]] = (), change: str = ""
) -> tuple[Attempt, ...]:  # fmt: skip
    """What of these commands and edits some scar is about, barriers first. What was waived is left out.

    Args:
        scars: those in force.
        commands: each a whole command line.
        edits: path from the top of the checkout, with forward slashes, and the lines that are added there.
        change: the digest of the change that the edits are, if they are a whole one: a waiver of it covers them all.
    """
    wanted, changed = tuple(commands), tuple((path, tuple(lines)) for path, lines in edits)
    found: list[Attempt] = []
    for scar in scars:
        if scar.retired or (change and change in scar.waived):
            continue
        found += (one for command in wanted for one in _in_command(scar, command))
        found += (one for path, lines in changed for one in _in_edit(scar, path, lines))
    left = (one for one in found if one.digest not in one.scar.waived)
    return tuple(sorted(left, key=lambda one: not one.is_barred))


def command_digest(command: str) -> str:
    """What a waiver of a command names: 64 hex digits over its every character."""
    return _digest(COMMAND, "", command)


def edit_digest(path: str, lines: Sequence[str]) -> str:
    """What a waiver of one file's edit names: 64 hex digits over the path and every added line."""
    return _digest("edit", path, "\n".join(lines))


def said(attempt: Attempt) -> str:
    """One line for whoever attempted it: which scar, by what, where, why."""
    scar = attempt.scar
    at = (
        "this command"
        if attempt.by == COMMAND
        else attempt.where + (f", added line {attempt.line}" * bool(attempt.line))
    )
    commit = f" in commit {attempt.commit[:12]}" if attempt.commit else ""
    return f"{scar.id} ({scar.level}): {scar.title}. Noticed in {at}{commit}. It failed before: {scar.why}"


def area_of(ident: str) -> str:
    """The area of a scar's id; empty where it is none."""
    head, _, number = ident.rpartition("-")
    area = head.removeprefix("SCAR-")
    plain = head.startswith("SCAR-") and 2 <= len(area) <= 12 and _AREA.issuperset(area)
    counted = 2 <= len(number) <= 4 and number.isascii() and number.isdecimal() and number.strip("0") != ""
    return area if plain and counted and (len(number) == 2 or number[0] != "0") else ""


def next_id(area: str, taken: Iterable[str]) -> str:
    """The first free id of an area, counted from the highest that was ever given."""
    numbers = [int(ident.rpartition("-")[2]) for ident in taken if area_of(ident) == area]
    return f"SCAR-{area}-{max(numbers, default=0) + 1:02}"


def key_of(ident: str) -> str:
    """The key under which a scar is sealed."""
    return f"{ROOT}{ident}"


def _in_command(scar: Scar, command: str) -> Iterator[Attempt]:
    """By the first pattern that matches it as it stands, or with its white space and line joints made single blanks."""
    if not scar.commands:
        return
    forms = dict.fromkeys((command, " ".join(command.replace("\\\n", " ").split())))
    for pattern in scar.commands:
        if any(_search(pattern, form) for form in forms):
            yield Attempt(scar, COMMAND, pattern, digest=command_digest(command))
            return


def _in_edit(scar: Scar, path: str, lines: tuple[str, ...]) -> Iterator[Attempt]:
    from indelible.gate.globs import matches

    if (
        scar.scope is not None
        and scar.scope.level == PATH
        and not any(matches(glob, path) for glob in scar.scope.paths)
    ):
        return
    glob = next((glob for glob in scar.paths if matches(glob, path)), None)
    if scar.paths and glob is None:
        return
    if not scar.added:
        if glob is not None:
            yield Attempt(scar, PATH, glob, path, digest=edit_digest(path, lines))
        return
    for pattern in scar.added:
        number = next((at for at, line in enumerate(lines, 1) if _search(pattern, line)), 0)
        if number:
            yield Attempt(scar, ADDED, pattern, path, number, edit_digest(path, lines))
            return


def _search(pattern: str, text: str) -> bool:
    from indelible.workflow.automaton import compiled

    return compiled(pattern).search(text)


def _digest(kind: str, where: str, text: str) -> str:
    whole = f"{kind}\n{len(where)} {where}\n{text}".encode("utf-8", "surrogatepass")
    return sha256(_DOMAIN + whole).hexdigest()
