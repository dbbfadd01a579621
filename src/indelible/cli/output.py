"""What a person or a program sees: one line for each outcome, on any console, and never a crash for a character.

A mark that the console cannot show becomes ASCII; any other character that it cannot show is
escaped; characters that cannot be seen at all are always escaped, so that two keys never look alike.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from indelible.errors import IndelibleError

OK, BAD, WARN = "✅", "❌", "⚠️"
_MARKS = {OK: "[OK]", BAD: "[FAIL]", WARN: "[WARN]", "\u26a0": "[WARN]", "…": "...", "—": "-", "→": "->"}


class Output(NamedTuple):
    """How one run speaks. `json` turns every outcome into one JSON document on standard output."""

    json: bool = False

    def line(self, text: str) -> None:
        """One line of result, for a person."""
        if not self.json:
            write(sys.stdout, text + "\n")

    def aside(self, text: str) -> None:
        """A warning or a note, on standard error in either form."""
        write(sys.stderr, text + "\n")

    def document(self, members: dict[str, object]) -> None:
        """The outcome, for a program."""
        if self.json:
            import json

            write(sys.stdout, json.dumps(members, ensure_ascii=False, sort_keys=True) + "\n")

    def error(self, error: IndelibleError) -> int:
        """Say what went wrong and give its exit code."""
        mark = BAD if error.exit_code == 2 else WARN if error.exit_code in (0, 4) else ""
        write(sys.stderr, f"{mark} {visible(str(error))}".strip() + "\n")
        if self.json:
            self.document({"ok": False, "exit_code": error.exit_code, **error.as_dict()})
        return error.exit_code


def write(stream: object, text: str) -> None:
    """Write `text` to a text stream whatever it can encode; a closed or broken one changes no exit code."""
    if stream is None:
        return
    encoding = getattr(stream, "encoding", None) or "ascii"
    try:
        stream.write(_fit(text, encoding))  # type: ignore[attr-defined]
        stream.flush()  # type: ignore[attr-defined]
    except BrokenPipeError:
        _silence(stream)
    except (OSError, ValueError):  # closed under us
        return


def write_bytes(data: bytes) -> None:
    """The raw bytes of a memory to standard output: nothing is translated on any system."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        _silence(sys.stdout)


def _silence(stream: object) -> None:
    """After a broken pipe, keep the interpreter from failing once more as it flushes at its end."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # type: ignore[attr-defined]
    except (OSError, ValueError):
        return


def _fit(text: str, encoding: str) -> str:
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        for mark, plain in _MARKS.items():
            text = text.replace(mark, plain)
        text = text.replace("\ufe0f", "")
        return text.encode(_known(encoding), "backslashreplace").decode(_known(encoding))
    return text


def _known(encoding: str) -> str:
    import codecs

    try:
        return codecs.lookup(encoding).name
    except LookupError:
        return "ascii"


def visible(text: str) -> str:
    """`text` with what cannot be seen, or would move the cursor, escaped: controls, format characters, odd spaces, half surrogates."""
    if text.isascii() and text.isprintable():
        return text
    import unicodedata

    hidden = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs")
    return "".join(
        char if char in " \u26a0\ufe0f" or unicodedata.category(char) not in hidden else char.encode("unicode_escape").decode() for char in text
    )


def is_korean() -> bool:
    """Whether the user's locale asks for Korean."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(name):
            return value.startswith("ko")
    return False
