"""From what somebody types to anchors: `save --anchor TEXT`, as things are now.

src/app.py                  a file, as git would commit it now, committed or not
openapi.json#info.version   a member of a JSON or TOML file
vendor/lib                  a submodule, at its commit
commit:REV  ref:NAME        HEAD's history; where a branch or tag points
package:NAME                the version in the lock files here and at the top
env:NAME  api:NAME          a fact of the environment; the version that the settings state
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from indelible.errors import UsageError
from indelible.gate.anchors.facts import fact
from indelible.gate.anchors.locating import CHANGED, MISSING, Doubt, shown
from indelible.gate.anchors.naming_paths import capture_path
from indelible.record import Anchor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from indelible.gate.anchors.files import Files


def capture(text: str, files: Files, here: str) -> tuple[Anchor, ...]:
    """The anchors that a text stands for, bound to what is there now.

    Args:
        text: A path, or one of the forms above.
        files: Where it is looked up.
        here: The absolute folder that a path is relative to.

    Raises:
        UsageError: there is no such thing, or it cannot be an anchor; it says which and why.
    """
    kind, colon, name = text.partition(":")
    try:
        text.encode()
        if colon and kind in _KINDS:
            return _KINDS[kind](name, files, here)
        return (capture_path(text, files, here),)
    except UnicodeEncodeError:
        raise UsageError(
            f"The anchor {text!r} is not UTF-8", remedy="Give the file a name in UTF-8, or anchor another"
        ) from None
    except Doubt as doubt:
        raise UsageError(f"The anchor {shown(text)} {doubt.words}", remedy=doubt.remedy) from doubt


def recapture_all(
    anchors: tuple[Anchor, ...], files: Files
) -> tuple[tuple[Anchor, ...], tuple[tuple[Anchor, str], ...]]:
    """The same anchors, bound to what is there now; and those that stay as they are, each with why."""
    now: list[Anchor] = []
    kept: list[tuple[Anchor, str]] = []
    for anchor in anchors:
        try:
            now.append(_recapture(anchor, files))
        except Doubt as doubt:
            kept.append((anchor, doubt.words))
            now.append(anchor)
    return tuple(now), tuple(kept)


def _recapture(anchor: Anchor, files: Files) -> Anchor:
    """The same anchor, bound to what is there now; a commit, and what cannot be looked at, stays what it was."""
    files.require(anchor.repo)
    path = anchor.path or ""
    if anchor.type == "url" or (anchor.type == "git-commit" and not path):
        return anchor
    if anchor.type == "package":
        made = _package_in(anchor, files)
    elif anchor.type == "git-ref":
        (made,) = _ref(path, files, "")
    elif anchor.type == "env":
        kind, _, name = path.partition(":")
        (made,) = _KINDS[kind](name, files, "") if kind in ("env", "api") else (anchor,)
    else:
        made = capture_path(path, files, files.top)
    return replace(made, unknown=anchor.unknown)


def _commit(name: str, files: Files, _here: str) -> tuple[Anchor, ...]:
    git = files.git
    commit = git.commit(name)
    if commit is None:
        if git.commit("HEAD") is None:
            raise Doubt(MISSING, "is no commit: this repository has none yet", "Commit first, or anchor files")
        raise Doubt(MISSING, "is no commit here", "See 'git log'")
    if not git.is_ancestor(commit) and not git.shallow:
        raise Doubt(
            CHANGED, "is not in the history of HEAD, so the memory would be held at once", "Switch to its branch"
        )
    return (Anchor("git-commit", commit, files.repo),)


def _ref(name: str, files: Files, _here: str) -> tuple[Anchor, ...]:
    full = files.git.ref(name)
    commit = files.git.commit(full) if full else None
    if not full or commit is None:
        raise Doubt(MISSING, "is no branch or tag here", "See 'git branch --all' and 'git tag'")
    return (Anchor("git-ref", commit, files.repo, full),)


def _package(name: str, files: Files, here: str) -> tuple[Anchor, ...]:
    from indelible.gate.anchors.packages import find_package

    top = os.path.realpath(files.top)
    folder = os.path.relpath(os.path.realpath(here), top).replace(os.sep, "/")
    folders = ("",) if folder == "." or folder.split("/")[0] == ".." else ("", folder)
    found, locks = find_package(files, name, folders)
    if not found:
        looked = f"in {', '.join(map(shown, locks))}" if locks else "in any lock file: there is none here or at the top"
        raise Doubt(MISSING, f"is not {looked}", "Look at its spelling, or anchor the lock file itself")
    return tuple(Anchor("package", one.value, files.repo, one.lock) for one in found)


def _package_in(anchor: Anchor, files: Files) -> Anchor:
    from indelible.gate.anchors.packages import parse_value, pinned

    ecosystem, name, _ = parse_value(anchor.value)
    versions = pinned(files, anchor.path or "", ecosystem, name)
    if not versions:
        raise Doubt(MISSING, "is not in that lock file any more")
    return replace(anchor, value=f"{ecosystem}:{name}@{versions}")


def _env(name: str, files: Files, _here: str) -> tuple[Anchor, ...]:
    if not name or "=" in name or "\0" in name:
        raise Doubt(MISSING, "names no variable", "Say env:NAME, or env:os, env:arch, env:python")
    return (Anchor("env", fact(name, files.environ), path=f"env:{name}"),)


def _api(name: str, files: Files, _here: str) -> tuple[Anchor, ...]:
    if name not in files.apis:
        known = ", ".join(sorted(files.apis))
        raise Doubt(
            MISSING, f"has no stated version ({'known are ' + known if known else 'none are stated'})",
            'State it under [apis] in .indelible/config.toml: "name" = "version"',
        )  # fmt: skip
    return (Anchor("env", files.apis[name], files.repo if files.place.top else None, f"api:{name}"),)


_KINDS: Mapping[str, Callable[[str, Files, str], tuple[Anchor, ...]]] = {
    "commit": _commit,
    "ref": _ref,
    "package": _package,
    "env": _env,
    "api": _api,
}
