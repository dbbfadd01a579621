"""`restore --from-git`: the original at its recorded source and branch, checked, saved as a new version."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from indelible.cli import common
from indelible.cli.output import WARN
from indelible.cli.plainly import PlainTarget
from indelible.errors import UsageError
from indelible.gitsource import fetch_original
from indelible.plain.forms import embed
from indelible.sources import recorded_source

if TYPE_CHECKING:
    from indelible.cli.session import Session
    from indelible.memory import Memory, Saved
    from indelible.sources import Recorded


def resync(
    session: Session,
    key: str,
    *,
    source: str | None,
    branch: str | None,
    digest: str | None,
    reason: str | None,
    op: str | None,
) -> tuple[Saved, str]:
    """Fetch, check and save; gives the save and, in a few words, where the original stood.

    Raises:
        UsageError: no source is recorded and none was named. NotFoundError: git has no such original.
    """
    settings = common.settings_of(session)
    with common.target(session) as memory:
        recorded, older = _recorded(memory, key)
        where = source or recorded.source
        if not where:
            raise UsageError(
                f"No source in git is recorded for {key!r}",
                remedy="Name it: --source OWNER/REPO/PATH --branch NAME --sha256 HEX",
            )
        original = fetch_original(
            where, branch or recorded.branch, remotes=settings.remotes, cache=os.path.join(settings.data_dir, "git"), environ=os.environ,
            repository_top=settings.repository_top or os.getcwd(), sha256=digest or recorded.sha256,
        )  # fmt: skip
        content = original.data
        if recorded.embedded:
            from indelible.settings import now

            content = embed(content, saved_at=now(), source=where, branch=branch or recorded.branch).encode("utf-8")
        why = f"{reason}; {original.reason}" if reason else original.reason
        saved = memory.save(key, content, how="restored", reason=why, allow_empty=True, op=op)
        if older and not source:
            session.output.aside(
                f"{WARN} no source is known for the newest version, so this is the file that version {older} was saved from"
            )
    return saved, f"{where} at commit {original.commit[:12]}"


def _recorded(memory: Memory | PlainTarget, key: str) -> tuple[Recorded, int]:
    """From the newest version if its record still verifies, else from an older version that verifies whole, whose number is given too."""
    if isinstance(memory, PlainTarget):
        return memory.recorded(key), 0
    return recorded_source(memory, key)
