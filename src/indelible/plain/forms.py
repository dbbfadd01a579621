"""The seeds' two plain forms: a checksum beside the content, and one inside it. Pure.

    detached   KEY          the content
               KEY.sha256   64 lower-case hex digits: the SHA-256 of that content
    embedded   KEY          JSON text, as Python's `json.dumps(…, ensure_ascii=False)` writes it:
               {"text": "…", "checksum": "sha256:…", "saved_at": "2026-06-10T17:43:56Z", "source": "owner/repo/path", "branch": "main"}

Written in one spelling; read as a value. Upper-case digits, white space round them and a `sha256:` before
them name the same 256 bits, and since those are compared, reading them passes nothing that is not genuine.
Whatever else stands there (empty, 63 digits, `sha1:…`, a number) is an unreadable checksum: never a missing
one. A checksum shows accidents. Who can rewrite the text can rewrite it too: `receipts` and the log are for that.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from indelible.errors import Malformed, UsageError
from indelible.seal.canonical import CanonicalError, loads
from indelible.seal.digest import Digest

if TYPE_CHECKING:
    from collections.abc import Mapping

SUFFIX = ".sha256"
"""What the key of a detached checksum ends in."""

_SPELLINGS = re.compile(r"[ \t\r\n]*(?:sha256:)?([0-9a-f]{64})[ \t\r\n]*", re.IGNORECASE | re.ASCII)
_OTHER_ALGORITHM = re.compile(r"([a-z][a-z0-9-]{1,15}):[0-9a-z+/=]*", re.IGNORECASE | re.ASCII)
_HEX = re.compile(r"[0-9a-f]+", re.IGNORECASE | re.ASCII)
_OPENING = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"(?:text|checksum)"\s*:')
_DAY = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)", re.ASCII)
_CONTEXT = ("saved_at", "source", "branch")


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A checksum that is there and names no SHA-256."""

    why: str


@dataclass(frozen=True, slots=True)
class Embedded:
    """Content of the embedded form."""

    text: str
    checksum: Digest | Unreadable | None
    """Of the text; None where the JSON has no such member, as saves from before the checksum."""
    saved_at: str
    source: str
    """`owner/repo/path`; empty, as `branch` and `saved_at` may be, where it was not recorded."""
    branch: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a checksum says about content."""

    computed: Digest
    """Of what the checksum is about: the content, or the text inside it."""
    stated: Digest | None
    """What the checksum says, where there is one that can be read."""
    state: bool | None
    """The seed's three states: it matches, it does not, there never was one."""
    reason: str
    """A stable slug: `matches`, `digest-mismatch`, `line-endings`, `checksum-unreadable`, `malformed`, `no-checksum`;
    from the receipts: `half-saved`, `differs-from-receipt`, `rolled-back`, `checksum-gone`."""
    message: str


def embed(text: str | bytes, *, saved_at: str, source: str, branch: str) -> str:
    """The embedded form of a text, byte for byte as the seed's script writes it.

    Args:
        text: Not changed in any way: no newline is translated.
        saved_at: RFC 3339 in UTC and whole seconds.
        source: `owner/repo/path` of the file in git.
        branch: The branch it was on.

    Raises:
        UsageError: the text is not UTF-8.
    """
    try:
        plain = text.decode() if isinstance(text, bytes) else text
        data = plain.encode()
    except UnicodeError as exc:
        raise UsageError(
            "Only UTF-8 text can be embedded in JSON", remedy="Save it without --embed: bytes are kept as they are"
        ) from exc
    members = {
        "text": plain,
        "checksum": str(Digest.of(data)),
        "saved_at": saved_at,
        "source": source,
        "branch": branch,
    }
    return json.dumps(members, ensure_ascii=False)


def parse_embedded(content: bytes) -> Embedded | None:
    """The parts of embedded content; None where the content is of another form: prose, other JSON.

    An object with a `text` and no `checksum` is a legacy save. What begins as this form and cannot be read
    in one way (cut off, a member twice, half of a surrogate pair) is broken, not of another form.

    Raises:
        Malformed: it is this form, broken.
    """
    try:
        value = loads(content)
    except CanonicalError as exc:
        if _looks_embedded(content):
            raise Malformed(f"The JSON round the text is broken: {exc.message}") from exc
        return None
    if not isinstance(value, dict) or not _is_embedded(value):
        return None
    text = value.get("text")
    if not isinstance(text, str):
        raise Malformed("The JSON has a checksum and no text that it could be about")
    checksum = read_checksum(value["checksum"]) if "checksum" in value else None
    return Embedded(text, checksum, *(_recorded(value, name) for name in _CONTEXT))


def read_checksum(stated: object) -> Digest | Unreadable:
    """The digest that a stored checksum names, or why it names none. Absence is the caller's to tell."""
    if not isinstance(stated, str):
        return Unreadable("it is not a text")
    match = _SPELLINGS.fullmatch(stated)
    if match:
        return Digest.from_hex(match[1].lower())
    bare = stated.strip(" \t\r\n")
    if not bare:
        return Unreadable("it is empty")
    other = _OTHER_ALGORITHM.fullmatch(bare)
    if other and other[1].lower() != "sha256":
        return Unreadable(f"it is of another algorithm ({other[1].lower()})")
    if _HEX.fullmatch(bare.lower().removeprefix("sha256:")):
        return Unreadable(f"it has {len(bare.lower().removeprefix('sha256:'))} hex digits where a SHA-256 has 64")
    return Unreadable("it is not 64 hex digits")


def check(content: bytes, detached: str | None = None) -> Verdict:
    """What the checksums say about content, in the seed's three states.

    Args:
        content: The stored bytes, of either form.
        detached: What is stored under `KEY.sha256`; None where there is nothing.

    A detached checksum is about the whole content and settles it, unless the content carries a SHA-256 of its
    own text that contradicts it.
    """
    inside = _check_embedded(content)
    if detached is None:
        return inside
    beside = _against(content, read_checksum(detached), f"KEY{SUFFIX}")
    return inside if beside.state and inside.reason in ("digest-mismatch", "line-endings") else beside


def dated_key(name: str, day: str) -> str:
    """The seed's dated key of a file: `MEMORY.md` (or `MEMORY_MD`) on 2026-06-10 is `MEMORY_MD_20260610`.

    The suffix becomes `_` and upper case; the rest stays, so that `Notes.md` and `notes.md` stay apart.

    Args:
        name: A file name or path, or what a dated key begins with.
        day: `2026-06-10` or `20260610`; the day in UTC unless the user says another.

    Raises:
        UsageError: that is no day, or no name.
    """
    match = _DAY.fullmatch(day)
    try:
        found = date(int(match[1]), int(match[2]), int(match[3])) if match else None
    except ValueError:
        found = None
    if found is None:
        raise UsageError(f"{day!r} is not a day", remedy="Write it as 2026-06-10")
    stem, suffix = os.path.splitext(name.replace("\\", "/").rpartition("/")[2])
    if not stem:
        raise UsageError("A dated key needs a name to begin with", remedy="Name a file or a key")
    return f"{stem}{suffix.replace('.', '_').upper()}_{found:%Y%m%d}"


def _looks_embedded(content: bytes) -> bool:
    return bool(_OPENING.match(content)) or (
        content.lstrip().startswith(b"{") and b'"text"' in content and b'"checksum"' in content
    )


def _is_embedded(value: Mapping[str, object]) -> bool:
    """A `text` with or without checksum, or a checksum that lost its text and kept its context."""
    return isinstance(value.get("text"), str) or (
        "checksum" in value and not value.keys().isdisjoint((*_CONTEXT, "text"))
    )


def _recorded(value: Mapping[str, object], name: str) -> str:
    found = value.get(name)
    if found is None:
        return ""
    if not isinstance(found, str):
        raise Malformed(f"The member {name!r} of the JSON round the text is not a text")
    return found


def _check_embedded(content: bytes) -> Verdict:
    try:
        embedded = parse_embedded(content)
    except Malformed as exc:
        return Verdict(Digest.of(content), None, state=False, reason="malformed", message=exc.message)
    if embedded is not None and embedded.checksum is not None:
        return _against(embedded.text.encode(), embedded.checksum, "the JSON round the text")
    data = content if embedded is None else embedded.text.encode()
    message = "There never was a checksum: nothing says that this is what was saved"
    return Verdict(Digest.of(data), None, state=None, reason="no-checksum", message=message)


def _against(data: bytes, checksum: Digest | Unreadable, where: str) -> Verdict:
    computed = Digest.of(data)
    if isinstance(checksum, Unreadable):
        message = f"The checksum in {where} cannot be read: {checksum.why}"
        return Verdict(computed, None, state=False, reason="checksum-unreadable", message=message)
    if computed == checksum:
        message = f"The content has the checksum in {where}"
        return Verdict(computed, checksum, state=True, reason="matches", message=message)
    if checksum in (Digest.of(other) for other in line_endings(data).values()):
        message = f"Only line endings differ from what the checksum in {where} is about"
        return Verdict(computed, checksum, state=False, reason="line-endings", message=message)
    message = f"The content does not have the checksum in {where}"
    return Verdict(computed, checksum, state=False, reason="digest-mismatch", message=message)


def line_endings(data: bytes) -> dict[str, bytes]:
    """The same lines with other ends, by name, where they differ from `data`."""
    newlines = data.replace(b"\r\n", b"\n")
    variants = {"LF": newlines, "CRLF": newlines.replace(b"\n", b"\r\n")}
    return {name: variant for name, variant in variants.items() if variant != data}
