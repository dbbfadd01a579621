"""Who may approve, as the repository itself had it at a commit: `[approvers]` of its settings file.

What the commits that are checked say themselves does not count, or each could name its own approver.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indelible.errors import UsageError
from indelible.gitsource.command import Git
from indelible.seal.note import Verifier

if TYPE_CHECKING:
    from collections.abc import Mapping

PATH = ".indelible/config.toml"


def approvers_at(folder: str, environ: Mapping[str, str], commit: str) -> tuple[Verifier, ...]:
    """The keys that the settings file names at that commit; none where it has none, or there is no commit.

    Raises:
        UsageError: that file is not well formed. ObjectAltered: an object on the way to it is not what its name says.
    """
    if not commit:
        return ()
    text = _settings_at(folder, environ, commit)
    if text is None:
        return ()
    import tomllib

    try:
        named = tomllib.loads(text.decode()).get("approvers", {})
    except ValueError as exc:
        raise UsageError(
            f"{PATH} at {commit} is not TOML: {exc}", remedy="Name the approvers yourself: --approver VKEY"
        ) from exc
    if not isinstance(named, dict) or not all(isinstance(value, str) for value in named.values()):
        raise UsageError(
            f'{PATH} at {commit}: [approvers] is not a table of name = "vkey" lines', remedy="Mend it there"
        )
    return tuple(map(Verifier, named.values()))


def _settings_at(folder: str, environ: Mapping[str, str], commit: str) -> bytes | None:
    """The file; every object on the way to it held against its name."""
    from indelible.gitsource.genuine import Wanted, reading
    from indelible.workflow.change.genuine import entries_of, root_of

    git = Git(environ, 60.0)
    name = git.line(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}")
    if not name:
        return None
    with reading(git, folder) as objects:
        (found,) = objects.read([Wanted(name, "a commit")], "commit")
        name = root_of(found.content or b"").tree
        for step in PATH.encode().split(b"/"):
            (found,) = objects.read([Wanted(name, "a folder")], "tree")
            below = [one for one in entries_of(found.content or b"", name) if one.path == step]
            if len(below) != 1:
                return None
            name = below[0].name
        (found,) = objects.read([Wanted(name, PATH)], "blob")
    return found.content
