"""Reading a table of the settings text: each member of its kind, and an error that names file, line, member and remedy."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import IndelibleError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST = 100
"""Texts in one list."""
LONGEST = 2_000
"""Characters of one text."""
_HEADER = re.compile(r"[ \t]*(\[\[?)[ \t]*([^\]\n]*?)[ \t]*\]\]?[ \t]*(?:#.*)?")


class Text(NamedTuple):
    """A settings text, and how errors name its file."""

    path: str
    text: str

    def line_of(self, table: str, number: int, member: str = "") -> int:
        """The line of a table's header, or of a member below it; 0 where it is not found.

        Args:
            table: its name; empty for the top of the file.
            number: which of several with that name, from 1; 0 for a table that there is once.
        """
        at, seen, here = 0, 0, not table
        for row, line in enumerate(self.text.split("\n"), 1):
            if header := _HEADER.fullmatch(line.rstrip("\r")):
                if here and table:
                    break
                seen += header[2] == table
                here = header[2] == table and seen == max(number, 1)
                at = row if here else at
            elif here and member and re.match(rf"[ \t]*[\"']?{re.escape(member)}[\"']?[ \t]*[=.]", line):
                return row
        return at

    def refused(
        self, words: str, remedy: str, line: int = 0, *, kind: type[IndelibleError] = UsageError
    ) -> IndelibleError:
        """The error that says what is wrong, and where."""
        where = f"{self.path}, line {line}" if line else self.path
        return kind(f"{where}: {words}", remedy=remedy, file=self.path, line=line)


class Table(NamedTuple):
    """One table. `name` is as in its header, `number` which of several it is (0: there is one)."""

    source: Text
    name: str
    members: Mapping[str, object]
    number: int

    def refused(
        self, member: str, words: str, remedy: str, *, kind: type[IndelibleError] = UsageError
    ) -> IndelibleError:
        """The error about one member."""
        line = self.source.line_of(self.name, self.number, member)
        which = f" number {self.number}" if self.number else ""
        where = f" in [[{self.name}]]{which}" if self.number else f" in [{self.name}]" if self.name else ""
        return self.source.refused(f"'{member}'{where} {words}", remedy, line, kind=kind)

    def refuse_unknown(self, known: Sequence[str]) -> None:
        """Raise for a member that there is not: a word that was misspelt would silently not hold."""
        from difflib import get_close_matches

        for member in self.members:
            if member not in known:
                near = get_close_matches(member, known, 1)
                meant = (
                    f"Did you mean '{near[0]}'?"
                    if near
                    else f"There is {', '.join(known)}; a newer version may have more"
                )
                raise self.refused(member, "is nothing that there is", f"{meant}")

    def table(self, member: str) -> Mapping[str, object]:
        """A table inside; an empty one where it is not there."""
        found = self.members.get(member, {})
        if not isinstance(found, dict):
            raise self.refused(member, "is no table", f"Write it as [{member}]")
        return found

    def text(self, member: str, default: str = "", *, most: int = LONGEST) -> str:
        """A text on one line."""
        if member not in self.members:
            return default
        return self._one_line(member, self.members[member], most)

    def texts(self, member: str, default: tuple[str, ...], *, most: int = MOST) -> tuple[str, ...]:
        """A list of texts, none of them twice."""
        if member not in self.members:
            return default
        found = self.members[member]
        if not isinstance(found, list):
            raise self.refused(member, "is no list of texts", f'Write {member} = ["…", "…"]')
        if len(found) > most:
            raise self.refused(
                member, f"has {len(found)} texts; the limit is {most}", "Say it with fewer: a glob means many files"
            )
        rows = tuple(self._one_line(member, one, LONGEST) for one in found)
        twice = next((one for one in rows if rows.count(one) > 1), None)
        if twice is not None:
            raise self.refused(member, f"names {twice!r} twice", "Name it once")
        return rows

    def flag(self, member: str) -> bool:
        """Whether it is switched on; false where it is not there."""
        found = self.members.get(member, False)
        if not isinstance(found, bool):
            raise self.refused(member, "is neither true nor false", f"Write {member} = true, without quotes")
        return found

    def number_between(self, member: str, default: int, least: int, most: int) -> int:
        """A whole number in bounds."""
        found = self.members.get(member, default)
        if not isinstance(found, int) or isinstance(found, bool) or not least <= found <= most:
            raise self.refused(member, f"is no whole number from {least} to {most}", f"Write {member} = {default}")
        return found

    def _one_line(self, member: str, found: object, most: int) -> str:
        if not isinstance(found, str) or not found.strip():
            raise self.refused(member, "is no text in quotes", f'Write {member} = "…"')
        if not found.isprintable() or len(found) > most:
            raise self.refused(member, f"is not one line of up to {most} characters", "Say it shorter, on one line")
        return found
