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
        UsageError: that file is not well formed.
    """
    if not commit:
        return ()
    ended = Git(environ, 60.0).run(folder, "show", "--no-textconv", "--end-of-options", f"{commit}:{PATH}")
    if ended.code:
        return ()
    import tomllib

    try:
        named = tomllib.loads(ended.out.decode()).get("approvers", {})
    except ValueError as exc:
        raise UsageError(
            f"{PATH} at {commit} is not TOML: {exc}", remedy="Name the approvers yourself: --approver VKEY"
        ) from exc
    if not isinstance(named, dict) or not all(isinstance(value, str) for value in named.values()):
        raise UsageError(
            f'{PATH} at {commit}: [approvers] is not a table of name = "vkey" lines', remedy="Mend it there"
        )
    return tuple(map(Verifier, named.values()))
