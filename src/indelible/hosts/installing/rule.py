"""The boot loader's rule, in the files of instructions that agents read: one paragraph and two lines, between marks.

A hook may not fire; this is read all the same. Bytes in, bytes out: line ends and encoding of the file stay, and nothing
outside the marks is touched. Source: seed 004 (Target 0, read-init-d) and seed 000 (`verify MEMORY.md || exit 1`).
"""

from __future__ import annotations

import codecs
from typing import NamedTuple

from indelible.errors import UsageError

BEGIN = "<!-- indelible:begin -->"
END = "<!-- indelible:end -->"
_WIDE = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


class Rule(NamedTuple):
    """What stands between the marks."""

    memories: tuple[str, ...]
    """Keys that are verified before anything is restored."""

    def lines(self) -> tuple[str, ...]:
        checks = [f"    indelible verify {_quoted(key)} || exit 1" for key in self.memories]
        return (
            BEGIN,
            "## Memory that is verified before it is believed",
            "",
            "This holds only in a repository that has a folder `.indelible/`; anywhere else, pass it over.",
            "",
            "If `.indelible/state/*.md` exists, and at once on waking from any context compaction, before any other action:",
            "run `indelible boot`, which verifies every file there and prints them in lexical order (00 to 99), and do as they",
            "say: what it prints replaces what you remember or were told in a summary. Where a hook has put that briefing in",
            "front of you already, read it there. Never write those files yourself: `indelible state --help` says how. At the",
            "start of a session, before memory is restored:",
            "",
            *checks,
            "    indelible boot || exit 1",
            "",
            "Exit code 3 of either is no failure: nothing was ever sealed under that name, so go on without it. Where one fails",
            "with any other code, stop: restore nothing, do nothing else, and tell the person what it said.",
            *(
                f"After you edited {_quoted(key)}: `indelible save {_quoted(key)} {_quoted(key)}`."
                for key in self.memories
            ),
            END,
        )


def put(content: bytes | None, rule: Rule) -> bytes:
    """Put the rule at the file's end, or in the place of the one that is there.

    Raises:
        UsageError: only one of the two marks is there.
    """
    content = content or b""
    encoding = _encoding(content)
    span = _span(content, encoding)
    around = content if span is None else content[span[0] : span[1]]
    newline = "\r\n" if "\r\n".encode(encoding) in around else "\n"
    block = newline.join(rule.lines()).encode(encoding)
    if span is not None:
        return content[: span[0]] + block + content[span[1] :]
    end = newline.encode(encoding)
    joint = b"" if not content or _is_bom(content) else end if content.endswith(end) else end + end
    return content + joint + block + end


def take_out(content: bytes) -> bytes:
    """The file without the rule, and without the empty line before it and the line end behind it.

    Raises:
        UsageError: only one of the two marks is there.
    """
    encoding = _encoding(content)
    span = _span(content, encoding)
    if span is None:
        return content
    before, after = content[: span[0]], content[span[1] :]
    for end in ("\r\n".encode(encoding), "\n".encode(encoding)):
        if after.startswith(end):
            after = after[len(end) :]
            break
    for end in ("\r\n".encode(encoding), "\n".encode(encoding)):
        if before.endswith(end + end):
            before = before[: -len(end)]
            break
    return before + after


def is_in(content: bytes | None) -> bool:
    """Whether a rule is there."""
    return content is not None and BEGIN.encode(_encoding(content)) in content


def is_current(content: bytes | None, rule: Rule) -> bool:
    """Whether the rule is there, in these words."""
    return content is not None and is_in(content) and put(content, rule) == content


def _span(content: bytes, encoding: str) -> tuple[int, int] | None:
    begin, end = BEGIN.encode(encoding), END.encode(encoding)
    if begin not in content and end not in content:
        return None
    start = content.find(begin)
    stop = content.find(end, start)
    if start < 0 or stop < 0 or content.count(begin) > 1:
        raise UsageError(
            f"One of the marks {BEGIN} and {END} stands there without the other, or twice",
            remedy="Take both out by hand, with what is between them, and run it again",
        )
    return start, stop + len(end)


def _encoding(content: bytes) -> str:
    """UTF-16 by its mark; every other one in use has ASCII's bytes for ASCII's characters."""
    return next((name for mark, name in _WIDE if content.startswith(mark)), "ascii")


def _is_bom(content: bytes) -> bool:
    return content in (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def _quoted(key: str) -> str:
    import shlex

    return shlex.quote(key) if key.isascii() else ascii(key)
