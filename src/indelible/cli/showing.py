"""A change as a person looks at it before a yes: what it stands on, each file, what is not part of it, and the text of it all."""

from __future__ import annotations

import os
import sys
from base64 import b64encode
from hashlib import sha256
from typing import TYPE_CHECKING

import click

from indelible.cli.output import WARN, counted, visible, write
from indelible.errors import AccessDenied
from indelible.settings import FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from indelible.cli.session import Session
    from indelible.stepping.approving import Shown
    from indelible.workflow.change import Change, File, Opened

IGNORED_SHOWN = 20
_WORDS = {"A": "new", "M": "changed", "D": "gone", "T": "another kind"}


def lines_of(shown: Shown, critic: str) -> Iterator[str]:
    """What is approved, in lines for a terminal."""
    change = shown.change
    where = change.branch.removeprefix("refs/heads/") or "a detached HEAD"
    yield f"{shown.target.title}  {shown.repository or 'a repository without a name'}, {where}"
    if shown.about_change:
        yield from lines_of_change(change)
        yield f"  as text sha256:{shown.diff}"
    if critic:
        yield f"  the critic: {critic}"
    yield from lines_of_inputs(shown.inputs, dict(shown.texts))


def lines_of_inputs(inputs: Iterable[tuple[str, str]], texts: Mapping[str, bytes]) -> Iterator[str]:
    """What is bound beside the change, with its words where it has some."""
    for name, digest in inputs:
        yield f"  also bound to {name} sha256:{digest}" + (":" if name in texts else "")
        for line in texts.get(name, b"").decode("utf-8", "replace").rstrip("\n").split("\n"):
            if name in texts:
                yield f"    {visible(line)}".rstrip()


def lines_of_change(change: Change) -> Iterator[str]:
    """What it stands on, what it comes to, and each of its files."""
    yield f"  stands on {change.base or 'nothing: it would be the first commit'}"
    yield f"  would be the tree {change.tree}"
    for parent in change.parents:
        yield f"  merges {parent}"
    yield f"  {counted(len(change.files), 'file', 'files')}:"
    yield from map(_file, change.files)
    for note in change.notes:
        yield f"  {WARN} {note}"
    ignored = ignored_of(change)
    if ignored:
        names = ", ".join(map(named, ignored[:IGNORED_SHOWN]))
        more = f" and {len(ignored) - IGNORED_SHOWN} more" if len(ignored) > IGNORED_SHOWN else ""
        yield f"  ignored, and no part of it: {names}{more}"


def ignored_of(change: Change) -> tuple[str, ...]:
    """What git ignores, with our own files as one name: how many receipts lie there says nothing of the change."""
    ours = f"{FOLDER}/"
    return tuple(dict.fromkeys(ours if name.startswith(ours) else name for name in change.ignored))


def _file(file: File) -> str:
    mode = file.new_mode if file.old_mode in (file.new_mode, "000000") else f"{file.old_mode} -> {file.new_mode}"
    flags = f"  ({', '.join(file.flags)})" if file.flags else ""
    size = "" if file.status == "D" else f"  {counted(file.size, 'byte', 'bytes')}, {file.new[:12]}"
    return f"    {_WORDS.get(file.status, file.status):<13}{named(file.path)}  {mode}{size}{flags}"


def named(path: str) -> str:
    """A path on one line, and no two paths alike: one with a character that is not plain stands in quotes, with escapes."""
    if path == visible(path) and not set(path) & set('\\"'):
        return path
    return '"' + path.encode("unicode_escape").decode().replace('"', '\\"') + '"'


def render_to(path: str, opened: Opened) -> str:
    """Write the rendered change to a file; gives the SHA-256 of it."""
    digest = sha256()
    with open(path, "wb") as file:
        for piece in opened.render():
            digest.update(piece)
            file.write(piece)
    return digest.hexdigest()


def ask(session: Session, title: str, *, yes: bool) -> None:
    """Make sure that an approval is meant.

    Raises:
        AccessDenied: there is no terminal to ask on.
    """
    if yes:
        return
    if session.output.json or sys.stdin is None or not sys.stdin.isatty():
        raise AccessDenied(
            "An approval is asked for on a terminal, and there is none",
            remedy="Approve where you can read and type; with INDELIBLE_PASSPHRASE_FILE, --yes says that it was looked at",
        )
    click.confirm(f"Approve {title} as it is shown?", abort=True, err=True)


def environ() -> Mapping[str, str]:
    """The environment of this process, for git."""
    from indelible import settings

    return settings.here()[1]


def page(session: Session, path: str) -> None:
    """Show a text of any length: a page at a time on a terminal, straight through elsewhere. No byte of it steers the terminal."""
    if session.output.json:
        return
    if sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty():
        click.echo_via_pager(_safe_lines(path))
    else:
        for line in _safe_lines(path):
            write(sys.stdout, line)


def _safe_lines(path: str) -> Iterator[str]:
    with open(path, "rb") as file:
        for line in _without_binaries(file):
            text = line.decode("utf-8", "surrogateescape").rstrip("\n")
            yield "\t".join(map(visible, text.split("\t"))) + "\n"


def _without_binaries(lines: Iterable[bytes]) -> Iterator[bytes]:
    """A binary patch is letters that nobody reads: its file stands in the list, with size and object."""
    is_inside = False
    for line in lines:
        if line == b"GIT binary patch\n":
            is_inside = True
            yield b"(binary: the list above has its size and object; -o FILE writes all of it)\n"
        elif line.startswith(b"diff --git "):
            is_inside = False
        if not is_inside:
            yield line


def as_dict(shown: Shown) -> dict[str, object]:
    """The same, for a program."""
    change = shown.change
    return {
        "target": shown.target.name, "repository": shown.repository, "branch": change.branch or None, "base": change.base or None,
        "tree": change.tree, "parents": list(change.parents), "change": change.digest, "diff": shown.diff,
        "workflow": shown.workflow, "inputs": dict(shown.inputs), "notes": list(change.notes), "ignored": list(ignored_of(change)),
        "files": [{**file._asdict(), **_path(file.path), "flags": list(file.flags)} for file in change.files],
        "texts": {name: text.decode("utf-8", "replace") for name, text in shown.texts},
    }  # fmt: skip


def _path(path: str) -> dict[str, str]:
    """A path as it is; bytes that are no UTF-8 stand in base64 beside it."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return {
            "path": os.fsencode(path).decode("utf-8", "replace"),
            "path_base64": b64encode(os.fsencode(path)).decode(),
        }
    return {"path": path}
