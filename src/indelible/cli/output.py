"""What a person or a program sees: one line for each outcome, on any console, and never a crash for a character.

A mark that the console cannot show becomes ASCII; any other character that it cannot show is
escaped; characters that cannot be seen at all are always escaped, so that two keys never look alike.
"""

from __future__ import annotations

import errno
import os
import sys

from indelible.light import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import BinaryIO

    from indelible.errors import IndelibleError

OK, BAD, WARN = "✅", "❌", "⚠️"
_MARKS = {OK: "[OK]", BAD: "[FAIL]", WARN: "[WARN]", "\u26a0": "[WARN]", "…": "...", "—": "-", "→": "->"}


_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0").union(
    map(chr, range(0xFE00, 0xFE10)), map(chr, range(0xE0100, 0xE01F0))
)
"""What Unicode calls letters, marks and symbols and nobody sees: joiners, Hangul fillers, variation selectors, the empty Braille cell."""


class Output(NamedTuple):
    """How one run speaks. `json` turns every outcome into one JSON document on standard output."""

    json: bool = False

    def line(self, text: str) -> None:
        """One line of verdict, for a person; where it cannot be shown, the exit code still says it."""
        if not self.json:
            write(sys.stdout, _lines(text) + "\n")

    def give(self, text: str) -> None:
        """What the verb is called for (a key, a note, a script), for a person or a file.

        Raises:
            IndelibleError: it was not written, and so is not there.
        """
        if not self.json and (lost := write(sys.stdout, text + "\n")) is not None:
            raise _lost(lost)

    def aside(self, text: str) -> None:
        """A warning or a note, on standard error in either form."""
        write(sys.stderr, _lines(text) + "\n")

    def document(self, members: dict[str, object]) -> None:
        """The outcome, for a program.

        Raises:
            IndelibleError: all was fine, and then the document was not written: half of it is no answer.
        """
        if self.json:
            import json

            text = json.dumps(members, ensure_ascii=not _takes_utf8(sys.stdout), sort_keys=True) + "\n"
            lost = write(sys.stdout, text)
            if lost is not None and not members.get("exit_code"):
                raise _lost(lost)

    def error(self, error: IndelibleError, *, code: int | None = None) -> int:
        """Say what went wrong and give its exit code."""
        code = error.exit_code if code is None else code
        mark = BAD if code == 2 else WARN if code in (0, 4) else ""
        reasons = error.facts.get("reasons")
        if isinstance(reasons, list) and len(reasons) > 1:
            self.aside(f"{mark} {error.message.partition(':')[0]}, for {len(reasons)} reasons. {error.remedy}".strip())
            for reason in reasons:
                self.aside(f"   {reason['slug']}: {reason['message']}")
        else:
            write(sys.stderr, f"{mark} {visible(str(error))}".strip() + "\n")
        self.document({"ok": False, **error.as_dict(), "exit_code": code})
        return code


def write(stream: object, text: str) -> OSError | None:
    """Write `text` to a text stream whatever it can encode; gives what kept it from being written.

    A stream that is closed, or that nobody reads to its end, is how the caller wants it.
    """
    if stream is None:
        return None
    encoding = getattr(stream, "encoding", None) or "ascii"
    try:
        stream.write(_fit(text, encoding))  # type: ignore[attr-defined]
        stream.flush()  # type: ignore[attr-defined]
    except BrokenPipeError:
        _silence(stream)
    except ValueError:  # closed under us
        return None
    except OSError as exc:
        _silence(stream)
        return None if exc.errno == errno.EBADF else exc
    return None


def write_bytes(data: bytes) -> None:
    """The raw bytes of a memory to standard output: nothing is translated on any system.

    Raises:
        IndelibleError: they were not all written.
    """
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
        _write_all(sys.stdout.buffer, data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        _silence(sys.stdout)
    except OSError as exc:
        _silence(sys.stdout)
        raise _lost(exc) from exc


def _write_all(stream: BinaryIO, data: bytes) -> None:
    """A stream without a buffer (`python -u`) may take a part only, and says so in its return value alone."""
    left = memoryview(data)
    while left:
        left = left[stream.write(left) or 0 :]


def _lost(exc: OSError) -> IndelibleError:
    from indelible.errors import IndelibleError

    return IndelibleError(
        f"The output could not be written whole ({exc.strerror})", remedy="Make room there and run it again"
    )


def _silence(stream: object) -> None:
    """After a failed write, keep the interpreter from failing once more as it flushes at its end."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # type: ignore[attr-defined]
    except (OSError, ValueError):
        return


def _takes_utf8(stream: object) -> bool:
    """JSON is UTF-8 (RFC 8259); where a stream is not, JSON's own escapes say the same in ASCII."""
    return (getattr(stream, "encoding", None) or "").lower() in ("utf-8", "utf8")


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
    """`text` with what cannot be seen, or would move the cursor, escaped: controls, format characters, odd spaces, fillers, half surrogates."""
    return WARN.join(map(_visible, text.split(WARN)))  # our own mark holds such a character


def _visible(text: str) -> str:
    if text.isprintable() and (text.isascii() or _UNSEEN.isdisjoint(text)):
        return text
    return "".join(char.encode("unicode_escape").decode() if is_hidden(char) else char for char in text)


def is_hidden(char: str) -> bool:
    """Whether a character leaves nothing on the screen, or does something else there."""
    return not char.isprintable() or char in _UNSEEN


def _lines(text: str) -> str:
    """Whatever came into a line from outside (a path, a warning, a reason) cannot steer the terminal."""
    return "\n".join(map(visible, text.split("\n")))


def shown(key: str) -> str:
    """A key in a listing: as `visible`, and with no space at its ends that could go unseen."""
    text = visible(key)
    bare = text.strip(" ")
    if bare == text:
        return text
    before = len(text) - len(text.lstrip(" ")) if bare else len(text)
    return "\\x20" * before + bare + "\\x20" * (len(text) - before - len(bare))


def counted(number: int, one: str, many: str) -> str:
    """`1 entry`, `2 entries`."""
    return f"{number} {one if number == 1 else many}"


def escaped(text: str) -> str:
    """`text` in ASCII: two texts that look alike are then told apart."""
    return text.encode("unicode_escape").decode()


def is_korean() -> bool:
    """Whether the user's locale asks for Korean."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(name):
            return value.startswith("ko")
    return False
