r"""The lines that a diff adds, by file: read from git's own patch text, whose counts say where each hunk ends.

    diff --git a/x.py b/x.py
    --- a/x.py
    +++ b/x.py
    @@ -1,0 +2,2 @@
    +two lines
    +that count

No line of a file can pass for a header: so many lines as the hunk says are taken as its own, whatever stands in them. A name
in quotes (`"a/t\303\251l\303\251.py"`) is read as git wrote it. A file of which no line is told (binary, empty, a mode) is there
without lines.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from indelible.errors import Unchecked
from indelible.gitsource.command import Git
from indelible.gitsource.lines import lines_of
from indelible.workflow.scars import attempts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from indelible.workflow.scars import Attempt, Scar

SECONDS = 120.0
"""For all that is asked of git about one range."""
_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_LETTERS = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}
_DIFF = ("diff-tree", "--stdin", "-r", "-p", "-U0", "--root", "--always", "--no-renames", "--no-ext-diff", "--no-textconv",
         "--text", "--src-prefix=a/", "--dst-prefix=b/", "--full-index", "--no-color", "--submodule=short",
         "--ignore-submodules=none", "--inter-hunk-context=0", "--no-indent-heuristic")  # fmt: skip

Edits = dict[str, list[str]]
"""Path from the top, with forward slashes, to the lines that are added there."""


def added_lines(patch: Iterable[bytes]) -> Edits:
    """What a patch adds.

    Args:
        patch: its lines, with or without newlines.

    Raises:
        Unchecked: a hunk is not as long as it says; nothing is known of such a patch.
    """
    reading = _Reading()
    for line in patch:
        reading.take(line.removesuffix(b"\n"))
    return reading.end()


class _Reading:
    """A patch, as far as it was read. Lives as long as the call."""

    def __init__(self) -> None:
        self._edits: Edits = {}
        self._path = ""
        self._old = self._new = 0
        """Lines that are still to come in this hunk, of the file before and of the one after."""

    def take(self, line: bytes) -> None:
        if self._old or self._new:
            self._inside(line)
        elif found := _HUNK.match(line):
            self._old, self._new = (int(count) if count is not None else 1 for count in found.groups())
        elif line.startswith(b"diff --git "):
            self._path = _named(line)
            self._edits.setdefault(self._path, [])
        elif line.startswith(b"+++ ") and line != b"+++ /dev/null":
            self._rename(_path(line[4:].removesuffix(b"\t")))

    def end(self) -> Edits:
        if self._old or self._new:
            raise _not_as_long()
        return self._edits

    def _inside(self, line: bytes) -> None:
        if line[:1] == b"+":
            self._new -= 1
            self._edits[self._path].append(line[1:].decode("utf-8", "replace").removesuffix("\r"))
        elif line[:1] == b"-":
            self._old -= 1
        elif (
            line[:1] != b"\\"
        ):  # "\ No newline at end of file" counts on neither side; without context there is nothing else
            raise _not_as_long()
        if self._old < 0 or self._new < 0:
            raise _not_as_long()

    def _rename(self, exact: str) -> None:
        """The name that stands by itself is the surer one."""
        if exact != self._path and not self._edits.get(self._path):
            self._edits.pop(self._path, None)
        self._path = exact
        self._edits.setdefault(exact, [])


def _not_as_long() -> Unchecked:
    return Unchecked("A hunk of a diff is not as long as it says", remedy="Try 'git fsck' there")


def attempts_in_change(
    scars: Sequence[Scar], edits: Mapping[str, Sequence[str]], digest: str = ""
) -> tuple[Attempt, ...]:
    """What of one change some scar is about.

    Args:
        edits: as `added_lines` gives them.
        digest: the change's own digest, by which a waiver may name it.
    """
    return attempts(scars, edits=edits.items(), change=digest)


def attempts_in_range(
    folder: str, environ: Mapping[str, str], old: str, new: str, scars: Sequence[Scar]
) -> tuple[Attempt, ...]:  # fmt: skip
    """What of the commits that `new` has and `old` has not some scar is about, the oldest first; each names its commit.

    A commit is held against its parent; a merge adds what none of its parents has.

    Args:
        old: a commit, or "" for all that leads to `new`.
        scars: those in force, or an export: their waivers of a commit's own change count.

    Raises:
        Unchecked, GitFailed, GitMissing: it is not known what the range holds.
    """
    return tuple(
        one
        for commit, edits in commits_in(folder, environ, old, new)
        for one in _of_commit(folder, environ, commit, edits, scars)
    )


def commits_in(folder: str, environ: Mapping[str, str], old: str, new: str) -> Iterator[tuple[str, Edits]]:
    """Each commit of a range with what it adds, the oldest first."""
    git = Git(environ, SECONDS)
    span = ("--end-of-options", new, *((f"^{old}",) if old else ()))
    listed = git.must(folder, "rev-list", "--reverse", "--topo-order", "--parents", *span)
    rows = [line.split() for line in lines_of(listed)]
    if any(len(row) == 1 for row in rows) and git.line(folder, "rev-parse", "--is-shallow-repository") == "true":
        raise Unchecked(
            "This clone is shallow: what the first commits of the range add is not known",
            remedy="Fetch the whole history: 'git fetch --unshallow'",
        )
    patches = _sections(_patches(folder, environ, rows), [row[0] for row in rows for _ in row[1:] or [""]])
    for commit, *parents in rows:
        sides = [added_lines(next(patches)) for _ in parents or [""]]
        yield commit, _in_all(sides)


def _patches(folder: str, environ: Mapping[str, str], rows: Sequence[Sequence[str]]) -> bytes:
    """What each commit changes of each parent: of objects that were held against their names."""
    from indelible.workflow.change.genuine import gathering
    from indelible.workflow.change.place import find_place, git_for
    from indelible.workflow.change.scratch import scratch

    place = find_place(git_for(environ), folder)
    asked = "".join(f"{row[0]} {parent}\n" if parent else f"{row[0]}\n" for row in rows for parent in row[1:] or [""])
    with scratch(place, environ) as work:
        with gathering(work, place, None) as gathered:
            for commit, *parents in rows:
                gathered.commit(commit, parents)
        return work.alone.must(work.folder, *_DIFF, stdin=asked.encode())


def _sections(out: bytes, commits: Sequence[str]) -> Iterator[list[bytes]]:
    """The patch of each pair that was asked for: it stands under a line with the commit's id."""
    lines, at = out.split(b"\n"), 0
    for number, commit in enumerate(commits):
        if at >= len(lines) or lines[at] != commit.encode():
            raise Unchecked("Git did not tell what a commit changes", remedy="Try 'git fsck' there")
        after = commits[number + 1].encode() if number + 1 < len(commits) else None
        end = _end_of(lines, at + 1, after)
        yield lines[at + 1 : end]
        at = end


def _end_of(lines: Sequence[bytes], at: int, after: bytes | None) -> int:
    """Where the section that begins at `at` ends. A line inside of a hunk has a sign before it, and is no commit's id."""
    while at < len(lines) and (after is None or lines[at] != after):
        at += 1
    return at


def _in_all(sides: Sequence[Edits]) -> Edits:
    """Of a merge, what it adds to every parent."""
    first, *others = sides
    found: Edits = {}
    for path, lines in first.items():
        if all(path in side for side in others):
            there = [set(side[path]) for side in others]
            found[path] = [line for line in lines if all(line in side for side in there)]
    return found


def _of_commit(
    folder: str, environ: Mapping[str, str], commit: str, edits: Edits, scars: Sequence[Scar]
) -> tuple[Attempt, ...]:  # fmt: skip
    found = attempts_in_change(scars, edits)
    if any(one.scar.waived for one in found):
        from indelible.workflow.change import change_of_commit

        digest = change_of_commit(folder, environ, commit).digest
        found = tuple(one for one in found if digest not in one.scar.waived)
    return tuple(one._replace(commit=commit) for one in found)


def _named(line: bytes) -> str:
    """The path of a `diff --git` line, of which both names are the same: without renames they always are."""
    text = line.removeprefix(b"diff --git ")
    if text.endswith(b'"'):
        return _path(text[text.index(b' "b/') + 1 :] if b' "b/' in text else text)
    return _path(text[(len(text) + 1) // 2 :])


def _path(text: bytes) -> str:
    if text.startswith(b'"') and text.endswith(b'"'):
        text = _ESCAPE.sub(_unescaped, text[1:-1])
    return os.fsdecode(text.removeprefix(b"b/"))


def _unescaped(match: re.Match[bytes]) -> bytes:
    return bytes([int(match[1], 8)]) if len(match[1]) == 3 else _LETTERS.get(match[1], match[1])
