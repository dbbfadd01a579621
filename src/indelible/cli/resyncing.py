"""`restore --from-git`: the original at its recorded source and branch, checked, saved as a new version."""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING

from indelible.cli import common
from indelible.cli.drafting import Told, drafting
from indelible.cli.output import WARN
from indelible.cli.plainly import PlainTarget
from indelible.errors import UsageError
from indelible.gitsource import fetch_original
from indelible.plain.forms import embed
from indelible.sourcebook import NOWHERE
from indelible.sources import fits, note_source, recorded_source, source_book, write_source

if TYPE_CHECKING:
    from indelible.cli.session import Session
    from indelible.gitsource import Original
    from indelible.memory import Memory, Saved
    from indelible.settings import Settings
    from indelible.sourcebook import Recorded


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
    from indelible.settings import now

    settings = common.settings_of(session)
    with common.target(session) as memory:
        found, aside = _recorded(settings, memory, key)
        wanted = found._replace(
            source=source or found.source, branch=branch or found.branch, sha256=digest or found.sha256
        )
        original = _fetched(settings, memory, key, wanted)
        screened = memory.admit(original.data, {"key": key})
        text = content = screened.content
        # What was masked is no file's text any more: nothing in git has its digest.
        noted = NOWHERE._replace(embedded=wanted.embedded) if screened.found else wanted
        if wanted.embedded:
            content = embed(text, saved_at=now(), source=noted.source, branch=noted.branch).encode("utf-8")
        make = drafting(memory, key, content, Told(), now(), os.urandom)
        saved = memory.save(
            key, screened._replace(content=content),
            record=lambda earlier: write_source(make(earlier), text, noted.source, noted.branch, embedded=noted.embedded),
            how="restored", reason=f"{reason}; {original.reason}" if reason else original.reason, allow_empty=True, op=op,
        )  # fmt: skip
        note_source(settings, saved, text, noted.source, noted.branch, embedded=noted.embedded)
    if aside and not digest:
        session.output.aside(f"{WARN} {aside}")
    return saved, f"{wanted.source} at commit {original.commit[:12]}"


def _fetched(settings: Settings, memory: Memory | PlainTarget, key: str, wanted: Recorded) -> Original:
    if not wanted.source:
        raise UsageError(
            f"No source in git is recorded for {key!r}",
            remedy="Name it: --source OWNER/REPO/PATH --branch NAME --sha256 HEX",
        )
    original = fetch_original(
        wanted.source, wanted.branch, remotes=settings.remotes, cache=os.path.join(settings.data_dir, "git"), environ=os.environ,
        repository_top=settings.repository_top or os.getcwd(), sha256=wanted.sha256,
    )  # fmt: skip
    if wanted.sha256 is None and (isinstance(memory, PlainTarget) or not fits(memory, key, original.data)):
        raise UsageError(
            f"No digest is recorded for {key!r}, so nothing says that the file in git is the one that was saved",
            remedy=f"To take it as it stands at commit {original.commit[:12]}, say --sha256 {sha256(original.data).hexdigest()}",
        )
    return original


def _recorded(settings: Settings, memory: Memory | PlainTarget, key: str) -> tuple[Recorded, str]:
    """What is known of the original, and what there is to say about how it is known."""
    booked = source_book(settings).last(key)
    if not isinstance(memory, PlainTarget):
        recorded, older = recorded_source(memory, key, booked)
        return (
            recorded,
            f"no source is known for the newest version, so this is the file that version {older} was saved from"
            if older
            else "",
        )
    if booked is not None:
        return booked.recorded, ""
    hint = memory.recorded(key)
    return hint, "this machine has not saved it: its digest is what the server's own row says" if hint.source else ""
