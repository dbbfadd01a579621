"""What a memory's writer stated about it in the seeds' plain forms: a checksum under KEY.sha256, or one inside the JSON.

The seal says that the bytes are the ones that were saved; the statement says whether those were the
ones that the writer meant. A save that was cut between the two requests of the seeds is no contradiction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indelible.errors import Contradicted, IntegrityError, Malformed, NotFoundError, UsageError
from indelible.memory.results import compare
from indelible.plain.forms import SUFFIX, check, parse_embedded, read_checksum
from indelible.seal.digest import Digest

if TYPE_CHECKING:
    from indelible.memory import Memory
    from indelible.memory.results import Loaded, Verified

CROSSED = 16
"""How many versions back a stated checksum may be about: saves that cross one another."""


def may_state(content: bytes) -> bool:
    """Whether content can carry a checksum inside: a cheap look that is never wrong in saying no."""
    return content[:1] in {b"{", b" ", b"\n", b"\r", b"\t"} and b'"checksum"' in content


def contradiction(memory: Memory, loaded: Loaded) -> str:
    """In one sentence how a verified memory differs from what its writer stated; empty where it does not, or nothing was stated."""
    detached = _detached(memory, loaded)
    if detached is None and not may_state(loaded.content):
        return ""
    try:
        verdict = check(loaded.content, detached)
    except Malformed as error:
        return error.message
    return verdict.message if verdict.state is False else ""


def refuse_contradicted(memory: Memory, loaded: Loaded) -> None:
    """Raise where a verified memory is not what its writer stated.

    Raises:
        Contradicted: it is not.
    """
    if said := contradiction(memory, loaded):
        raise Contradicted(f"{loaded.key!r} is what was saved, but not what its writer stated: {said}", key=loaded.key)


def compare_text(loaded: Loaded, local: bytes) -> Verified:
    """As `compare`; of a memory in the seeds' JSON form, a local copy may also be the text inside."""
    verified = compare(loaded, local)
    if verified.local == "same" or b'"checksum"' not in loaded.content:
        return verified
    parts = parse_embedded(loaded.content)
    if parts is None:
        return verified
    inside = compare(loaded._replace(content=parts.text.encode("utf-8")), local)
    return verified if inside.local == "different" else inside._replace(loaded=loaded)


def _detached(memory: Memory, loaded: Loaded) -> str | None:
    """What is stated under KEY.sha256, if it is about the present version."""
    try:
        stated = memory.fetch(loaded.key + SUFFIX)
    except (NotFoundError, UsageError):  # the key may be too long to have one
        return None
    except IntegrityError:
        if loaded.finding is None:
            raise
        return None  # the log cannot be followed, which is said already
    text = stated.content.decode("utf-8", "replace")
    if stated.latest.state != "active" or stated.seq < loaded.seq or _is_of_an_older_version(memory, loaded, text):
        return None
    return text


def _is_of_an_older_version(memory: Memory, loaded: Loaded, text: str) -> bool:
    named = read_checksum(text)
    if not isinstance(named, Digest) or named == Digest.of(loaded.content):
        return False
    for version in range(loaded.version - 1, max(0, loaded.version - 1 - CROSSED), -1):
        try:
            if Digest.of(memory.fetch(loaded.key, version).content) == named:
                return True
        except NotFoundError:  # erased
            continue
    return False
