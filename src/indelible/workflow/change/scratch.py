"""A private folder for what git writes while a change is computed: index, objects, and a repository without settings.

Git is shown the user's objects as a second place to read from, so that what it writes stays here; the index is a copy
with the original's time, by which git tells entries that it must not trust (a file changed within the same tick). The repository
without settings sees neither place: what it has was held against its name first (genuine.py).
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager, suppress

from indelible.errors import NotSaved
from indelible.files import not_written
from indelible.light import TYPE_CHECKING, NamedTuple
from indelible.workflow.change.place import git_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from indelible.gitsource.command import Git
    from indelible.workflow.change.place import Place

_OURS = (
    "core.untrackedCache=false",
    "core.splitIndex=false",
    "index.sparse=false",
    "sparse.expectFilesOutsideOfPatterns=false",
    "core.preloadIndex=true",
    "core.fsync=none",
    "core.looseCompression=1",
    "diff.ignoreSubmodules=none",
    "index.skipHash=true",
)
"""How the real repository is read. What decides a file's bytes (filters, line endings, modes) is the user's own."""
_NOBODYS = ("core.attributesFile=" + os.devnull, "core.bigFileThreshold=64m", "core.compression=6", "pack.threads=1")
_ALONE = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_COUNT": "0",
    "GIT_ATTR_NOSYSTEM": "1",
}
_USUAL = "/tmp" if os.name == "posix" else "."  # noqa: S108 - a folder of our own is made in it
_QUOTED = re.compile(r'["\\\x00-\x1f]')


class Scratch(NamedTuple):
    """The folder, and git in its two roles."""

    folder: str
    index_file: str
    """The copy of the index; not there where the repository has none yet."""
    real: Git
    """In the user's repository, with the copied index; writes objects here."""
    alone: Git
    """In a bare repository of our own: no setting or attribute of anybody reaches it, and no object that was not held against its name."""
    seeing: Git
    """Likewise, and it sees both places of objects: for what is handed on as it is, and read by nobody here."""


@contextmanager
def scratch(place: Place, environ: Mapping[str, str]) -> Iterator[Scratch]:
    """A folder that is gone afterwards.

    Raises:
        NotSaved, DiskFull: there is no room for it.
    """
    above = next((environ[name] for name in ("TMPDIR", "TEMP", "TMP") if environ.get(name)), _USUAL)
    folder = os.path.join(os.path.abspath(above), f"indelible-change-{os.urandom(12).hex()}")
    try:
        try:
            os.mkdir(folder, 0o700)
            os.mkdir(os.path.join(folder, "objects"))
            _bare(os.path.join(folder, "alone"), place.format)
        except OSError as exc:
            raise not_written(folder, exc, "The folder") from exc
        yield _equip(folder, place, environ)
    finally:
        _remove(folder)


def copy_index(source: str, target: str) -> bool:
    """Copy an index with its time, from one open file: a replacement meanwhile is not mixed in. False: there is none.

    Raises:
        NotSaved: it cannot be copied.
    """
    try:
        with open(source, "rb") as old, open(f"{target}.new", "wb") as new:
            while piece := old.read(1 << 20):
                new.write(piece)
            stat = os.fstat(old.fileno())
        os.utime(new.name, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        os.replace(new.name, target)
    except FileNotFoundError:
        return False
    except OSError as exc:
        raise NotSaved(f"The index {source} cannot be copied ({exc.strerror})", remedy="Check its rights") from exc
    return True


def join_split(work: Scratch, place: Place, environ: Mapping[str, str]) -> None:
    """Make the copy of a split index one that stands alone. Git marks the shared half as used when it reads it, so it gets a copy.

    Raises:
        GitFailed: the other half is not there.
    """
    shared = [name for name in os.listdir(place.git_dir) if name.startswith("sharedindex.")]
    if not shared or not os.path.exists(work.index_file):
        return
    alone = os.path.join(work.folder, "alone")
    for name in shared:
        copy_index(os.path.join(place.git_dir, name), os.path.join(alone, name))
    times = os.stat(work.index_file)
    variables = {**_ALONE, "GIT_DIR": alone, "GIT_WORK_TREE": place.top, "GIT_INDEX_FILE": work.index_file}
    variables["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = _joined([place.objects])
    git_for(environ, variables, (*_OURS, "core.bare=false")).must(place.top, "update-index", "--no-split-index")
    os.utime(work.index_file, ns=(times.st_atime_ns, times.st_mtime_ns))  # what was to be looked at twice still is


def objects_of(folder: str) -> str:
    """Where git writes objects while it works in a scratch folder."""
    return os.path.join(folder, "objects")


def genuine_objects_of(folder: str) -> str:
    """Where `alone` has its objects, in a scratch folder."""
    return os.path.join(folder, "alone", "objects")


def _remove(folder: str) -> None:
    """Take it all away, as far as it goes: a leftover in a folder of temporary files is no failure."""
    for above, folders, files in os.walk(folder, topdown=False):
        with suppress(OSError):
            for name in files:
                os.unlink(os.path.join(above, name))
            for name in folders:
                os.rmdir(os.path.join(above, name))
    with suppress(OSError):
        os.rmdir(folder)


def _equip(folder: str, place: Place, environ: Mapping[str, str]) -> Scratch:
    index, own = os.path.join(folder, "index"), objects_of(folder)
    # Within a push, what arrives is kept aside until the hooks agree.
    known = [place.objects, *filter(None, [environ.get("GIT_QUARANTINE_PATH")])]
    variables = {
        "GIT_INDEX_FILE": index,
        "GIT_OBJECT_DIRECTORY": own,
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": _joined(known),
    }
    alone = {**_ALONE, "GIT_DIR": os.path.join(folder, "alone")}
    seeing = {**alone, "GIT_ALTERNATE_OBJECT_DIRECTORIES": _joined([own, *known])}
    settings = (*_OURS, f"lfs.storage={os.path.join(folder, 'lfs')}")
    real = git_for(environ, variables, settings)
    return Scratch(folder, index, real, git_for(environ, alone, _NOBODYS), git_for(environ, seeing, _NOBODYS))


def _bare(folder: str, form: str) -> None:
    for name in ("", "objects", "refs"):
        os.mkdir(os.path.join(folder, name))
    config = "[core]\n\tbare = true\n\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = sha256\n"
    if form == "sha1":
        config = "[core]\n\tbare = true\n\trepositoryformatversion = 0\n"
    for name, text in (("HEAD", "ref: refs/heads/none\n"), ("config", config)):
        with open(os.path.join(folder, name), "w", encoding="ascii") as file:
            file.write(text)


def _joined(folders: list[str]) -> str:
    """As git reads a list of folders: quoted as in C, so that a colon in a name ends nothing."""
    return os.pathsep.join(f'"{_QUOTED.sub(_escape, folder)}"' for folder in folders)


def _escape(match: re.Match[str]) -> str:
    return f"\\{match[0]}" if match[0] in '"\\' else f"\\{ord(match[0]):03o}"
