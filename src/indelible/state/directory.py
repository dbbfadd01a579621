"""The state directory as it lies on the disk, held against what was sealed. Reads only; nothing is mended here.

Only regular files named like slots are looked at: an editor's leftovers, folders with other names and our own temporary
files (`.tmp-…`) are passed over. Files are opened without following a link, and each is read once.
"""

from __future__ import annotations

import os
import stat

from indelible.light import TYPE_CHECKING, NamedTuple
from indelible.state.remedies import REMEDIES
from indelible.state.slot import MAX_SLOT, parse_name
from indelible.state.stamps import stamps_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

TEMPORARY = ".tmp-"
"""How the names of files begin that are not finished yet."""
_OPEN = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

SLUGS = {
    "slot-removed": "It was sealed, and its file is gone",
    "slot-edited": "Its file does not hold what was sealed",
    "slot-cut": "Its file holds only the beginning of what was sealed",
    "slot-extended": "Something was added to its file that was never sealed",
    "slot-symlink": "Its file is a symbolic link",
    "slot-hard-linked": "Its file has another name too, under which it can be changed",
    "slot-not-a-file": "Something that is no file stands in its place",
    "slot-unsealed": "A file stands there that was never sealed",
    "slot-renamed": "It was sealed, and stands there under another name",
    "slot-unreadable": "Its file cannot be read",
    "directory-symlink": "The state directory, or a folder above it in the repository, is a symbolic link",
    "directory-not-a-folder": "Something that is no folder stands in the state directory's place",
    "slot-rewritten": "It was written again past its discipline, and no owner who is known here stands behind it",
    "slot-withdrawn": "It was put away past its discipline, by no closing of a ticket",
    "slot-doubled": "Another open slot has the same number",
    "slot-absent": "It is not in this folder yet: it was written elsewhere",
    "slot-behind": "Its file holds an earlier version: a newer one was written elsewhere",
    "slot-interrupted": "A write was cut short after it was sealed",
    "slot-closed": "Its ticket was closed, and its file is still there",
    "slot-writable": "Its file is not read-only any more",
}
"""Everything that can be found, and what it means."""
_WARNINGS = frozenset({"slot-absent", "slot-behind", "slot-interrupted", "slot-closed", "slot-writable"})


class Finding(NamedTuple):
    """Something about one slot that is not as it was sealed."""

    slug: str
    name: str
    text: str
    remedy: str

    @property
    def is_tampering(self) -> bool:
        """Whether nothing here may be believed before a person looked; else it is only worth a word."""
        return self.slug not in _WARNINGS


class Seen(NamedTuple):
    """What was found on the disk."""

    findings: tuple[Finding, ...]
    stamps: tuple[tuple[object, ...], ...]
    """Name, inode, size, mtime, ctime (both in nanoseconds) and mode of each slot's file: equal stamps, nothing to look at again."""
    whole: tuple[str, ...] = ()
    """Names of the slots whose files hold what is sealed."""


class Past(NamedTuple):
    """What is known of earlier times. Each is asked only where it matters."""

    held: Callable[[str, bytes], bool]
    """Whether the slot of that name, open or closed, held that content before."""
    had: Callable[[str], bool]
    """Whether this folder ever had the slot's file, since the slot is open."""
    behind: Callable[[str, bytes], bool]
    """Whether that content is the version which this folder had last, and the log has gone on since."""
    begun: Callable[[str, bytes], frozenset[str]]
    """Names of the finished copies of writes that were noted, outside of this folder, before they sealed that content."""


UNKNOWN = Past(
    lambda _name, _content: False,
    lambda _name: True,
    lambda _name, _content: False,
    lambda _name, _content: frozenset(),
)
"""Nothing is: then whatever is not what was sealed is tampering."""


def look(path: str, sealed: Mapping[str, bytes], past: Past = UNKNOWN) -> Seen:
    """Compare the files in the folder `path` with the sealed slots.

    Args:
        sealed: name to content of every slot that is open, verified.
        past: tells what only a closing, a write elsewhere or one that was cut short brought about.
    """
    names, findings = _names(path)
    found: dict[str, bytes] = {}
    for name in sorted({*names, *sealed}):
        finding = _look_at(path, name, sealed, names, found, past)
        findings += [finding] if finding else []
    whole = tuple(name for name, content in found.items() if sealed.get(name) == content)
    return Seen(tuple(_with_renames(findings, sealed, found)), stamps_of(path), whole)


def look_at(path: str, name: str, content: bytes | None, past: Past) -> Finding | None:
    """What is wrong with the file of one slot, whose sealed content that is (None: it is not open)."""
    names, findings = _names(path)
    sealed = {} if content is None else {name: content}
    if findings:
        return findings[0]
    return _look_at(path, name, sealed, names, {}, past) if name in names or sealed else None


def read_slot(path: str, name: str) -> bytes:
    """The bytes of one slot's file, if it is a plain one.

    Raises:
        OSError: it is not there, is a link, or cannot be read.
    """
    handle = os.open(os.path.join(path, name), _OPEN)
    try:
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(MAX_SLOT + 1)
    finally:
        os.close(handle)


def _names(path: str) -> tuple[list[str], list[Finding]]:
    """Names of slots in the folder, and what is wrong with the folder itself; a folder that is not there has none."""
    if os.path.islink(path):
        return [], [_found("directory-symlink", os.path.basename(path))]
    try:
        return [name for name in os.listdir(path) if parse_name(name)], []
    except FileNotFoundError:
        return [], []
    except NotADirectoryError:
        return [], [_found("directory-not-a-folder", os.path.basename(path))]
    except OSError as exc:
        return [], [_found("slot-unreadable", os.path.basename(path), str(exc.strerror))]


def _look_at(
    path: str, name: str, sealed: Mapping[str, bytes], names: list[str], found: dict[str, bytes], past: Past
) -> Finding | None:  # fmt: skip
    expected = sealed.get(name)
    if name not in names:
        return _found(_absence(name, expected or b"", past), name)
    at = os.lstat(os.path.join(path, name))
    if not stat.S_ISREG(at.st_mode):
        return _found("slot-symlink" if stat.S_ISLNK(at.st_mode) else "slot-not-a-file", name)
    try:
        actual = found[name] = read_slot(path, name)
    except OSError as exc:
        return _found("slot-unreadable", name, str(exc.strerror))
    if expected is None:
        return _found("slot-closed" if past.held(name, actual) else "slot-unsealed", name)
    if actual != expected:
        return _found(_difference(name, actual, expected, past), name)
    if at.st_nlink > 1:
        ours = _only_ours(path, past.begun(name, expected), at)
        return _found("slot-interrupted" if ours else "slot-hard-linked", name)
    return _found("slot-writable", name) if at.st_mode & 0o222 and _is_kept(path, name) else None


def _absence(name: str, expected: bytes, past: Past) -> str:
    """What became of a file that is not there. One that was there before was taken away: no write of ours does that."""
    if past.had(name):
        return "slot-removed"
    return "slot-interrupted" if past.begun(name, expected) else "slot-absent"


def _difference(name: str, actual: bytes, expected: bytes, past: Past) -> str:
    """What became of a file that does not hold the sealed bytes.

    Only the version that this very folder had last may be one that was left behind, by a write that was cut short or made
    elsewhere: an older one was put there. What else lies in the folder says nothing about that: whoever can alter a file in
    it can lay a finished copy beside it.
    """
    if past.behind(name, actual):
        return "slot-interrupted" if past.begun(name, expected) else "slot-behind"
    if expected.startswith(actual):
        return "slot-cut"
    return "slot-extended" if actual.startswith(expected) else "slot-edited"


def _only_ours(path: str, begun: Iterable[str], at: os.stat_result) -> bool:
    """Whether the file's other names are those of finished copies that were noted: a write was cut short before it took its own away."""
    return sum(_is_same(os.path.join(path, name), at) for name in begun) == at.st_nlink - 1


def _is_same(path: str, at: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.lstat(path), at)
    except OSError:
        return False


def _is_kept(path: str, name: str) -> bool:
    slot = parse_name(name)
    return os.name == "posix" and slot is not None and slot.number < 30 and bool(path)


def _with_renames(findings: list[Finding], sealed: Mapping[str, bytes], found: Mapping[str, bytes]) -> list[Finding]:
    """Where the bytes of a slot that is gone stand under another name, say so."""
    told = []
    for finding in findings:
        moved = [
            name for name, content in found.items()
            if finding.slug == "slot-removed" and name not in sealed and content == sealed[finding.name]
        ]  # fmt: skip
        told.append(_found("slot-renamed", finding.name, f"as {moved[0]}") if moved else finding)
    return told


def _found(slug: str, name: str, more: str = "") -> Finding:
    text = f"{name}: {SLUGS[slug]}" + (f" ({more})" if more else "")
    return Finding(slug, name, text, REMEDIES[slug])
