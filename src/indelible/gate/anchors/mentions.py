"""The files that a text speaks of: `save --anchor-auto`.

Looked at are Markdown links, what stands in backticks or quotes, and plain words with a slash or an ending; of these
only what is a file inside the repository counts, so a URL, a version or `and/or` is none. `path:12`, `path#L3`, `@path`
and a Korean particle that sticks to a path (`src/app.py를`) are understood.
"""

from __future__ import annotations

import os
import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from indelible.gate.anchors.locating import Doubt, inside

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indelible.gate.anchors.files import Files

LIMIT = 50
"""Paths that one text gives, at most: a text that names more is a listing."""

_OURS = ".indelible"
_LONGEST = 1000
"""Letters of a path; a longer word is none, and is not looked at."""

_PARTICLE = 6
"""Letters of the longest particle that is looked for at the end of a path."""

_SPANS = re.compile(
    r"\]\([ ]?(?:<([^<>\n]{1,400})>|([^()\s]*(?:\([^()\s]*\)[^()\s]*)*))"  # [text](target), [text](<target>)
    r"|(?<!`)(`++)([^`\n]{1,400})\3"
    r"|\"([^\"\n]{1,400})\"|(?<![^\W_])'([^'\n]{1,400})'|[“「『]([^“”「」『』\n]{1,400})[”」』]"
)
_WORD = re.compile(r"[^\s`\"'“”「」『』<>|*?(){}\[\],;，。、；：]+")
_URL = re.compile(r"(?:(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{0,30}://|www\.|mailto:)[^\s<>\"'`]*")
_LINES = re.compile(r"(?::\d+(?:[-:]\d+)*|#L\d+(?:-L?\d+)?|\(\d+(?:,\d+)?\)|::[\w:.\[\]-]+)$")
_PLAIN = re.compile(r".*(?:/|\\|\.[A-Za-z][A-Za-z0-9]{0,9}(?![A-Za-z0-9]))", re.DOTALL)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")


def find_paths(text: str, files: Files, here: str) -> tuple[str, ...]:
    """The files that `text` names, relative to the top, each once and in order; `LIMIT` at most.

    Args:
        text: What is read.
        files: Where a path counts only if it is there.
        here: The folder that a path may be relative to; else it is to the top.
    """
    found: dict[str, None] = {}
    seen: dict[str, str | None] = {}
    end = 0
    for one in sorted(_candidates(text), key=lambda one: (one.start, -one.end)):
        if one.start < end:
            continue  # a word of a name that was found whole
        if one.name not in seen:
            seen[one.name] = next(filter(None, (_file(form, files, here) for form in _forms(one.name))), None)
        path = seen[one.name]
        if path is not None:
            found[path], end = None, one.end
            if len(found) == LIMIT:
                break
    return tuple(found)


class _Candidate(NamedTuple):
    """What could be a path, and where it stands."""

    start: int
    end: int
    name: str


def _candidates(text: str) -> Iterator[_Candidate]:
    for span in _SPANS.finditer(text):
        target = next(filter(None, (span[1], span[2])), None)
        inner = target or next(filter(None, span.groups()[3:]), "")
        if len(inner) <= _LONGEST and not _URL.match(inner):
            yield _Candidate(span.start(), span.end(), inner.strip())
            if target and "%" in target:
                yield _Candidate(span.start(), span.end(), unquote(target))
    for word in _WORD.finditer(_URL.sub(lambda url: " " * len(url[0]), text)):
        if len(word[0]) <= _LONGEST and _PLAIN.match(word[0]):
            yield _Candidate(word.start(), word.end(), word[0])


def _forms(name: str) -> Iterator[str]:
    """A name as it is, and without what may stick to a path."""
    bare = name.removeprefix("@").strip()
    tried = dict.fromkeys((name, bare, _cut(bare), _cut(bare.rstrip(".:!…")), bare.partition("#")[0]))
    for form in filter(None, tried):
        yield form
        stem = form
        for _ in range(_PARTICLE):
            if not _CJK.match(stem[-1:]):
                break
            stem = stem[:-1].rstrip(".:")
            if stem:
                yield from dict.fromkeys((stem, _cut(stem)))


def _cut(name: str) -> str:
    return _LINES.sub("", name)


def _file(name: str, files: Files, here: str) -> str | None:
    """The path of a file inside, relative to the top; a link inside stands for the file that it leads to."""
    try:
        name.encode()
        top = os.path.realpath(files.top)
    except (Doubt, UnicodeEncodeError):
        return None
    if "\0" in name:
        return None
    spellings = dict.fromkeys((name, unicodedata.normalize("NFC", name), unicodedata.normalize("NFD", name)))
    if "\\" in name and "/" not in name:
        spellings |= dict.fromkeys((name.replace("\\", "/"),))
    for spelling in spellings:
        for base in dict.fromkeys((here, top)):
            full = os.path.join(base, spelling)
            if os.path.isfile(full) and (path := _inner(os.path.realpath(full), top)) is not None:
                return path
    return None


def _inner(real: str, top: str) -> str | None:
    if not real.startswith(top.rstrip(os.sep) + os.sep):
        return None
    path = os.path.relpath(real, top).replace(os.sep, "/")
    try:
        parts = inside(path)
    except Doubt:
        return None
    nested = any(os.path.lexists(os.path.join(top, *parts[:number], ".git")) for number in range(1, len(parts)))
    return None if nested or parts[0] == _OURS else path
