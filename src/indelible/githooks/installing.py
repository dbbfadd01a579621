"""Our hooks beside whatever is there: put in, put in again, taken out to the byte.

Where git looks for hooks in the repository itself (`.git/hooks`, husky's `.husky/_`), our lines go into the files there. Where
it looks elsewhere (a folder of the user's for all repositories, or one whose files are committed), those are not ours to write
into: `core.hooksPath` is pointed at a folder of ours, whose hooks call the ones there.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import NotFoundError, UsageError
from indelible.files import create_file, make_folder, move, remove, replace_file, sync_folder
from indelible.githooks import scripts
from indelible.githooks.places import find_places, is_writable_place
from indelible.light import sha256
from indelible.workflow.guarded import keep
from indelible.workflow.moved import Installed, Seen, keep_installed, keep_seen, read_installed, record_path, stamps_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indelible.githooks.places import Places
    from indelible.gitsource.command import Git

BESIDE, BEFORE = "beside", "before"
"""Into the hooks that are there; or in a folder of our own, which calls them."""
NEW, WRITTEN, CALLED = "new", "written", "called"
"""What became of a hook: there was none; our lines stand in it; it was put aside and is called."""
_ALL = (
    "applypatch-msg", "pre-applypatch", "post-applypatch", "pre-merge-commit", "prepare-commit-msg", "post-commit", "pre-rebase",
    "post-checkout", "post-merge", "pre-auto-gc", "post-rewrite", "sendemail-validate", "fsmonitor-watchman", "p4-changelist",
    "p4-prepare-changelist", "p4-post-changelist", "p4-pre-submit", "post-index-change", "push-to-checkout", "update", "pre-receive",
    "post-receive", "post-update", "proc-receive",
)  # fmt: skip
"""The other hooks that git knows: in a folder of our own each calls the user's."""
_MOST_BASE = 2_000
_HANDING_ON = '#!/bin/sh\nif [ -x {former}/{event} ]; then exec {former}/{event} "$@"; fi\n'


class Did(NamedTuple):
    """One hook."""

    event: str
    path: str
    how: str
    backup: str = ""
    """A copy of what was there; empty where nothing was."""
    changed: bool = True


class Installation(NamedTuple):
    """What was done."""

    places: Places
    mode: str
    hooks: tuple[Did, ...]

    @property
    def changed(self) -> bool:
        return any(one.changed for one in self.hooks)


def install(
    git: Git, folder: str, program: str, *, state_dir: str, configs: tuple[str, ...] = (), events: tuple[str, ...] = scripts.HOOKS,
    branches: tuple[str, ...] = (),
) -> Installation:  # fmt: skip
    """Put our hooks in. A second time changes nothing, but for a program that lies elsewhere now.

    Args:
        program: the absolute path of `indelible`.
        configs: files of the user's in which `core.hooksPath` may be set.
        branches: those that the workflow guards, as globs; empty where that cannot be told.

    Raises:
        NoRepository, UsageError, NotSaved: it could not be done.
    """
    places = find_places(git, folder)
    manifest = read_manifest(places)
    heads = {event: scripts.head_of(event, program) for event in events}
    if os.path.realpath(places.folder) == os.path.realpath(places.hooks):
        mode, former = BEFORE, str(manifest.get("former", ""))
    elif is_writable_place(git, places):
        mode, former = BESIDE, ""
    else:
        mode, former = BEFORE, places.configured
        manifest |= {"former": former, "scope": places.scope}
    done = _in_own_folder(places, heads, former) if mode == BEFORE else _in_place(places, heads, manifest)
    if mode == BEFORE:
        scope = "--worktree" if manifest.get("scope") == "worktree" else "--local"
        git.must(places.top, "config", scope, "core.hooksPath", places.hooks)
    _write_manifest(
        places,
        manifest | {"mode": mode, "folder": places.hooks if mode == BEFORE else places.folder, "program": program},
    )
    keep(places.common, branches)
    _remember(git, places, state_dir, configs, done)
    return Installation(places, mode, done)


def uninstall(git: Git, folder: str, *, state_dir: str) -> Installation:
    """Take them out again: every hook is what it was.

    Raises:
        NotFoundError: none are here.
    """
    places = find_places(git, folder)
    manifest = read_manifest(places)
    mode = str(manifest.get("mode", BESIDE))
    if mode == BEFORE:
        done = _unset(git, places, manifest)
    else:
        done = tuple(
            one
            for event in scripts.EVENTS
            for one in take_out(str(manifest.get("folder", places.folder)), event, manifest)
        )
    if not done and not manifest:
        raise NotFoundError(
            "There are no git hooks of ours in this repository", remedy="'indelible hooks install --git' puts them in"
        )
    remove(places.manifest)
    keep(places.common, ())
    remove(record_path(state_dir, places.common))
    return Installation(places, mode, done)


def put_in(folder: str, event: str, head: bytes, backups: str, entries: dict[str, object]) -> Did:
    """One hook in a folder of hooks.

    Args:
        backups: the folder for copies of what was there.
        entries: the manifest's, by event: what was there is written into it.
    """
    path = os.path.join(folder, event)
    if not os.path.lexists(path):
        entries[event] = {"kind": NEW}
        _write(path, scripts.alone(head), 0o755)
        return Did(event, path, NEW)
    content, mode, link = _look(path)
    if not link and scripts.has_ours(content):
        return _again(path, event, content, mode, head)
    runs = os.access(path, os.X_OK)
    backup = _back_up(backups, event, content)
    if not link and runs and scripts.is_shell(content):
        entries[event] = {"kind": WRITTEN, "sha256": sha256(content).hexdigest(), "backup": backup}
        _write(path, scripts.merged(content, head), mode)
        return Did(event, path, WRITTEN, backup)
    entries[event] = {"kind": CALLED, "link": link, "mode": mode, "backup": backup}
    aside = os.path.join(folder, scripts.FORMER, event)
    make_folder(os.path.dirname(aside))
    if link and not os.path.isabs(link):
        remove(aside)
        os.symlink(os.path.join(os.pardir, link), aside)
        remove(path)
        sync_folder(folder)
    else:
        move(path, aside)
    _write(path, scripts.calling(event, head), 0o755)
    return Did(event, path, CALLED, backup)


def take_out(folder: str, event: str, manifest: Mapping[str, object]) -> tuple[Did, ...]:
    """One hook as it was; nothing where our lines do not stand in it."""
    path = os.path.join(folder, event)
    if not os.path.lexists(path) or os.path.islink(path):
        return ()
    content, mode, _ = _look(path)
    if not scripts.has_ours(content):
        return ()
    entries = manifest.get("hooks")
    entry = entries.get(event, {}) if isinstance(entries, dict) else {}
    aside = os.path.join(folder, scripts.FORMER, event)
    if os.path.lexists(aside):
        remove(path)
        link = entry.get("link")
        if link:
            remove(aside)
            os.symlink(link, path)
        else:
            move(aside, path)
        _remove_folder(os.path.dirname(aside))
        return (Did(event, path, CALLED),)
    if scripts.is_ours_alone(content) and entry.get("kind", NEW) == NEW:
        remove(path)
        return (Did(event, path, NEW),)
    _write(path, scripts.without(content), mode)
    return (Did(event, path, WRITTEN),)


def read_manifest(places: Places) -> dict[str, object]:
    """What is known of the installation; empty where there is none."""
    try:
        with open(places.manifest, "rb") as file:
            found = json.loads(file.read())
    except OSError:
        return {}
    except ValueError:
        raise UsageError(
            f"{places.manifest} cannot be read",
            remedy="Delete it, and run 'indelible hooks install --git' again",
            file=places.manifest,
        ) from None
    return found if isinstance(found, dict) else {}


def _in_place(places: Places, heads: Mapping[str, bytes], manifest: dict[str, object]) -> tuple[Did, ...]:
    make_folder(places.folder)
    entries = dict(found) if isinstance(found := manifest.get("hooks"), dict) else {}
    done = tuple(
        put_in(places.folder, event, head, os.path.join(places.own, "before"), entries) for event, head in heads.items()
    )
    manifest["hooks"] = entries
    return done


def _in_own_folder(places: Places, heads: Mapping[str, bytes], former: str) -> tuple[Did, ...]:
    make_folder(places.hooks)
    done = []
    for event in (*heads, *(name for name in _ALL if name not in heads)):
        path = os.path.join(places.hooks, event)
        text = _HANDING_ON.format(former=scripts.quoted(former), event=event).encode()
        content = scripts.merged(text, heads[event]) if event in heads else text
        same = os.path.exists(path) and _look(path)[0] == content
        if not same:
            _write(path, content, 0o755)
        if event in heads:
            done.append(Did(event, path, CALLED, changed=not same))
    return tuple(done)


def _unset(git: Git, places: Places, manifest: Mapping[str, object]) -> tuple[Did, ...]:
    """Point `core.hooksPath` where it was, unless somebody pointed it elsewhere meanwhile."""
    scope = str(manifest.get("scope", ""))
    where = "--worktree" if scope == "worktree" else "--local"
    if os.path.realpath(places.folder) == os.path.realpath(places.hooks):
        if scope in ("local", "worktree"):
            git.must(places.top, "config", where, "core.hooksPath", str(manifest["former"]))
        else:
            git.must(places.top, "config", where, "--unset-all", "core.hooksPath")
    names = sorted(os.listdir(places.hooks)) if os.path.isdir(places.hooks) else []
    for name in names:
        remove(os.path.join(places.hooks, name))
    _remove_folder(places.hooks)
    return tuple(Did(name, os.path.join(places.hooks, name), CALLED) for name in names if name in scripts.EVENTS)


def _again(path: str, event: str, content: bytes, mode: int, head: bytes) -> Did:
    """A hook in which our lines stand already: the same ones, or those of a program that lies elsewhere now."""
    rest = scripts.without(content)
    first, newline, below = rest.partition(b"\n")
    made = first + newline + head + below
    changed = made != content or not mode & 0o100
    if changed:
        _write(path, made, mode | 0o111)
    return Did(event, path, WRITTEN, changed=changed)


def _remember(git: Git, places: Places, state_dir: str, configs: tuple[str, ...], done: tuple[Did, ...]) -> None:
    """For boot: what decides whether our hooks run, and where HEAD is."""
    now = find_places(git, places.top)
    known = read_installed(state_dir, places.common)
    listed = git.must(
        places.top, "for-each-ref", "--format=%(objectname)", f"--count={_MOST_BASE}", "refs/heads", "refs/remotes"
    )
    base = known.baseline if known is not None else tuple(dict.fromkeys(listed.decode("ascii").split()))
    watched = (
        *configs,
        os.path.join(places.common, "config"),
        os.path.join(places.common, "config.worktree"),
        *(one.path for one in done),
    )
    keep_installed(state_dir, Installed(places.common, now.folder, now.configured, stamps_of(watched), base))
    head = git.line(places.top, "rev-parse", "--verify", "--quiet", "HEAD")
    if not places.bare:
        keep_seen(state_dir, places.top, Seen(head, head, ""))


def _write_manifest(places: Places, manifest: Mapping[str, object]) -> None:
    make_folder(places.own)
    text = json.dumps(manifest, indent=1, sort_keys=True).encode() + b"\n"
    if not os.path.exists(places.manifest) or _look(places.manifest)[0] != text:
        replace_file(places.manifest, text)


def _back_up(folder: str, event: str, content: bytes) -> str:
    make_folder(folder)
    path = os.path.join(folder, f"{event}-{sha256(content).hexdigest()[:12]}")
    create_file(path, content)
    return path


def _look(path: str) -> tuple[bytes, int, str]:
    """Content, mode and, of a link, where it leads."""
    link = os.readlink(path) if os.path.islink(path) else ""
    try:
        with open(path, "rb") as file:
            return file.read(), os.fstat(file.fileno()).st_mode & 0o7777, link
    except OSError as exc:
        if link:  # a link that leads nowhere is kept as it is
            return b"", 0o777, link
        raise UsageError(
            f"The hook {path} cannot be read ({exc.strerror})", remedy="Look what it is", file=path
        ) from exc


def _write(path: str, content: bytes, mode: int) -> None:
    replace_file(path, content, mode=mode)
    os.chmod(path, mode)  # as it was, whatever the umask takes away


def _remove_folder(path: str) -> None:
    try:
        os.rmdir(path)
    except OSError:
        return
