"""What can be found out, after an alarm, about a plain Memory API server: every memory that this machine saved there, held against its receipts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indelible import wiring
from indelible.errors import IntegrityError, NotFoundError, Unchecked
from indelible.sources import source_book

if TYPE_CHECKING:
    from indelible.plain.client import PlainClient
    from indelible.settings import Settings


def differing(settings: Settings) -> list[tuple[str, str, str]]:
    """Slug, key and sentence of each memory that is not what this machine saved, or whose checksum does not match.

    Raises:
        Unchecked: the server does not answer, or this machine saved nothing there that could be held against it.
    """
    with wiring.open_plain(settings) as client:
        keys = client.keys()
        if not keys:
            raise Unchecked(
                f"This machine has no receipt of anything at {settings.store}: nothing there could be checked",
                remedy="Ask where it was saved, or 'indelible verify KEY' for what its checksum says",
            )
        found = ((key, _judged(client, key)) for key in keys)
        return [(said[0], key, said[1]) for key, said in found if said is not None]


def way_back(settings: Settings, key: str, quoted: str) -> str:
    """The commands that bring one memory back: from git where a source was noted, else from a copy."""
    booked = source_book(settings).last(key)
    ways = [f"indelible restore {quoted} --from-git"] if booked is not None and booked.recorded.source else []
    return "; or: ".join((*ways, f"indelible save {quoted} FILE --force, with a copy that you trust"))


def _judged(client: PlainClient, key: str) -> tuple[str, str] | None:
    try:
        loaded = client.load(key)
    except (IntegrityError, NotFoundError) as error:
        return error.slug, f"{key!r}: {error.message}"
    if loaded.checksum_ok is not False:
        return None
    return loaded.verdict.reason, f"{key!r}: {loaded.verdict.message}"
