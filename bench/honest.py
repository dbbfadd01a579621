"""How many honest project notes the gate would hold: sections of real documentation, none of which is an attack.

    python bench/honest.py            the figure, and every note held with its signs
    python bench/honest.py --fetch    bring the repositories of notes.tsv to .bench/notes first, where they can be reached

A note is a section of a Markdown file: from one heading to the next, 60 characters at least, each text once. The files are
those of this repository, those of the machine (packages of this Python, /usr/share/doc), and those that notes.tsv names by
repository, commit, path and blob id, as far as they were fetched. Nothing of them is kept here.
"""

from __future__ import annotations

import glob
import os
import re
import subprocess
import sys
import sysconfig
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from table import Row

from indelible.gate.shape import signs

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
FETCHED = os.path.join(ROOT, ".bench", "notes")
LEAST = 500
"""Notes below which a share says nothing."""
_HEADING = re.compile(r"^(?=#{1,4} )", re.MULTILINE)
_OURS = ("README.md", "CONTRIBUTING.md", "docs/**/*.md", "bench/*.md")
_MACHINE = (
    os.path.join(sysconfig.get_path("purelib"), "**", "*.md"),
    os.path.join(sysconfig.get_path("purelib"), "*.dist-info", "METADATA"),
    "/usr/share/doc/**/*.md",
)


class Note(NamedTuple):
    """One section, and where it stands."""

    where: str
    text: str


def rows() -> Iterator[Row]:
    """The share held, over everything, and what was held."""
    notes, counts = _notes()
    held = [(note, found) for note in notes if (found := signs(note.text))]
    share = len(held) / len(notes)
    sources = ", ".join(f"{count:,} of {name}" for name, count in counts.items() if count)
    yield Row(
        f"honest notes that read as an order to a model, of {len(notes):,} sections ({sources})",
        f"{len(held)} ({share:.2%})", "<= 1 % held", share <= 0.01 if len(notes) >= LEAST else None,
    )  # fmt: skip
    for note, found in held:
        print(f"  held: {note.where}: {', '.join(found)}", file=sys.stderr)


def _notes() -> tuple[list[Note], dict[str, int]]:
    """Every section once, and how many came from where."""
    seen: dict[str, Note] = {}
    counts = {}
    sources = (
        ("this repository", _files(os.path.join(ROOT, pattern) for pattern in _OURS)),
        ("this machine", _files(_MACHINE)),
        ("other repositories", _repositories()),
    )
    for name, files in sources:
        before = len(seen)
        for note in chain.from_iterable(map(_sections, files)):
            seen.setdefault(note.text, note)
        counts[name] = len(seen) - before
    return list(seen.values()), counts


def _sections(file: Note) -> Iterator[Note]:
    for section in map(str.strip, _HEADING.split(file.text)):
        if len(section) >= 60:
            yield Note(f"{file.where} ({section.splitlines()[0][:60]})", section)


def _files(patterns: Iterator[str] | tuple[str, ...]) -> Iterator[Note]:
    for pattern in patterns:
        for path in sorted(glob.glob(pattern, recursive=True)):
            with open(path, encoding="utf-8", errors="replace") as file:
                yield Note(os.path.relpath(path, ROOT) if path.startswith(ROOT) else path, file.read())


def _listed() -> list[list[str]]:
    """Repository, commit, path and blob id of each file of notes.tsv."""
    with open(os.path.join(HERE, "notes.tsv"), encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file]


def _repositories() -> Iterator[Note]:
    for repository, _, path, blob in _listed():
        folder = os.path.join(FETCHED, repository.replace("/", "+"))
        if os.path.isdir(folder):
            shown = subprocess.run(["git", "-C", folder, "cat-file", "blob", blob], capture_output=True, check=False)
            if shown.returncode == 0:
                yield Note(f"{repository}: {path}", shown.stdout.decode(errors="replace"))


def fetch() -> None:
    """Bring each repository at its commit, without its history; one that cannot be reached is named and left out."""
    for repository, commit in dict.fromkeys((listed[0], listed[1]) for listed in _listed()):
        folder = os.path.join(FETCHED, repository.replace("/", "+"))
        os.makedirs(folder, exist_ok=True)
        subprocess.run(["git", "init", "--quiet", "--bare", folder], check=True)
        got = ["git", "-C", folder, "fetch", "--quiet", "--depth", "1", f"https://github.com/{repository}", commit]
        if subprocess.run(got, check=False).returncode:
            print(f"{repository}: not reached", file=sys.stderr)


if __name__ == "__main__":
    if "--fetch" in sys.argv:
        fetch()
    for row in rows():
        print(row.format())
