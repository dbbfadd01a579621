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
        Unchecked: a hunk is shorter than it says; nothing is known of such a patch.
    """
    edits: Edits = {}
    path, old, new = "", 0, 0
    for raw in patch:
        line = raw.removesuffix(b"\n")
        if old or new:
            if line[:1] == b"+":
                new -= 1
                edits[path].append(line[1:].decode("utf-8", "replace").removesuffix("\r"))
            elif line[:1] in (b"-", b" ", b""):
                old, new = old - 1, new - (line[:1] != b"-")
            elif line[:1] != b"\\":
                raise Unchecked("A diff ends before it says", remedy="Try 'git fsck' there")
            if old < 0 or new < 0:
                raise Unchecked("A hunk of a diff is longer than it says", remedy="Try 'git fsck' there")
        elif found := _HUNK.match(line):
            old, new = (int(count) if count is not None else 1 for count in found.groups())
        elif line.startswith(b"diff --git "):
            path = _named(line)
            edits.setdefault(path, [])
        elif line.startswith(b"+++ ") and line != b"+++ /dev/null":
            exact = _path(line[4:].removesuffix(b"\t"))
            if exact != path and not edits.get(path):
                edits.pop(path, None)
            path = exact
            edits.setdefault(path, [])
    if old or new:
        raise Unchecked("A diff ends before it says", remedy="Try 'git fsck' there")
    return edits


def attempts_in_change(scars: Sequence[Scar], edits: Mapping[str, Sequence[str]], digest: str = "") -> tuple[Attempt, ...]:
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
    return tuple(one for commit, edits in commits_in(folder, environ, old, new) for one in _of_commit(folder, environ, commit, edits, scars))


def commits_in(folder: str, environ: Mapping[str, str], old: str, new: str) -> Iterator[tuple[str, Edits]]:
    """Each commit of a range with what it adds, the oldest first."""
    git = Git(environ, SECONDS)
    span = ("--end-of-options", new, *((f"^{old}",) if old else ()))
    listed = git.must(folder, "rev-list", "--reverse", "--topo-order", "--parents", *span).decode("ascii")
    rows = [line.split() for line in listed.splitlines()]
    asked = "".join(f"{row[0]} {parent}\n" if parent else f"{row[0]}\n" for row in rows for parent in row[1:] or [""])
    patches = _sections(git.must(folder, *_DIFF, stdin=asked.encode()), [row[0] for row in rows for _ in row[1:] or [""]])
    for commit, *parents in rows:
        sides = [added_lines(next(patches)) for _ in parents or [""]]
        yield commit, _in_all(sides)


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
