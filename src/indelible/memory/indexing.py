"""From a verified memory to what the index keeps of it, and where that lies: beside the follower, outside the store.

A save adds its own row here; whatever else came into the log is derived at the next recall. Imports no numpy.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from hashlib import blake2b, sha256
from typing import TYPE_CHECKING

import apsw

from indelible.errors import IndexDamaged, NotSaved, UsageError
from indelible.gate.subject import claims
from indelible.recall.catalog import Catalog
from indelible.recall.row import FOREVER, Row, bits_of
from indelible.record.rules import instant

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from indelible.sealed import Sealed
    from indelible.store.follower import Follower

ROWS = "rows-2"
"""Names what a row holds beside the features; another one means that all is derived again."""
_SUFFIX = ".index"
_NUMBERED = re.compile(r"(.*[/:])(\d{1,9})(\.[A-Za-z][A-Za-z0-9]{0,7})?", re.ASCII | re.DOTALL)
"""A stem that ends a level, a number, and a file's ending: `note-12` and `note-13` are two notes, `chat/12` and `chat/13` two turns."""
_NOT_KEPT = (apsw.Error, OSError, NotSaved, UsageError, IndexDamaged)


def index_folder(follower: Follower) -> str:
    """Where the index of a follower's log lies."""
    return follower.path.removesuffix(".db") + _SUFFIX


def catalog_of(follower: Follower, folder: str = "") -> Catalog:
    """The catalogue of that index, or of one that is derived from the same log in another folder."""
    from indelible.recall.tokens import RECIPE

    head = {"recipe": f"{ROWS} {RECIPE}", "place": follower.place, "agent": follower.agent}
    return Catalog(folder or index_folder(follower), head)


def note_saved(catalog: Catalog, row: Row) -> None:
    """Add the row of a save. What cannot be kept is derived again at the next recall, and fails no save."""
    with suppress(*_NOT_KEPT):
        catalog.add((row,))


def row_of(seq: int, key: str, sealed: Sealed, *, saved_at: str, commitment: bytes) -> Row:
    """What is kept of one version.

    Args:
        seq: the entry that saved it, at `saved_at`.
        sealed: the version, verified.
        commitment: to its content, as the log has it.
    """
    from indelible.recall.tokens import features

    said = claims(sealed.body)
    record = json.loads(sealed.body)
    group, order = _turn(record, key, seq)
    return Row(
        seq, features(sealed.content), tuple(_labels(record, said)),
        (
            _when(saved_at, -FOREVER), _when(said["valid_from"], -FOREVER),
            _when(said["valid_until"], FOREVER), _when(said["expires_at"], FOREVER),
        ),
        group, order, len(sealed.content), bits_of(sealed.content), sha256(sealed.content).digest(), commitment,
    )  # fmt: skip


def _when(said: object, nothing: float) -> float:
    """Seconds since 1970. What cannot be read narrows nothing: the gate will say what it is."""
    try:
        return instant(str(said)) / 10**9 if said else nothing
    except UsageError:
        return nothing


def _labels(record: Mapping[str, Any], said: Mapping[str, Any]) -> list[str]:
    scope = record.get("scope")
    level = scope.get("level") if isinstance(scope, dict) else None
    tags = record.get("tags")
    return [
        f"kind:{said['kind']}", f"level:{level}", scope_label(scope),
        *(f"tag:{tag}" for tag in (tags if isinstance(tags, list) else ()) if isinstance(tag, str)),
    ]  # fmt: skip


def scope_label(scope: object) -> str:
    """One word for one scope, whatever is in it: memories that have it in common apply in the same places."""
    return "scope:" + blake2b(json.dumps(scope, sort_keys=True).encode(), digest_size=16).hexdigest()


def _turn(record: Mapping[str, Any], key: str, seq: int) -> tuple[int, int]:
    """`(episode, place)`: turns of one session, or keys that are a number behind the same `/` or `:` (`chat/7.md`); `(0, 0)` for neither."""
    origin = record.get("origin")
    session = origin.get("session") if isinstance(origin, dict) else None
    if isinstance(session, str) and session:
        return _group("session", session), seq
    numbered = _NUMBERED.fullmatch(key)
    if numbered is None:
        return 0, 0
    stem, number, suffix = numbered.groups()
    return _group("key", f"{stem}\0{suffix}"), int(number)


def _group(kind: str, name: str) -> int:
    return (
        int.from_bytes(blake2b(f"{kind}\0{name}".encode("utf-8", "surrogatepass"), digest_size=7).digest(), "little")
        | 1
    )
