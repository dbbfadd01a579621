"""What the parts of one installation share: a host and a scope, the desk, and what was noted of the files before."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

from indelible.errors import UsageError
from indelible.hosts.installing import jsontext, merging, rule
from indelible.hosts.installing.desk import Desk
from indelible.hosts.installing.targets import TARGETS, file_of, folder_of
from indelible.hosts.installing.traces import Traces

if TYPE_CHECKING:
    from collections.abc import Callable

    from indelible.hosts.host import Host
    from indelible.hosts.installing.jsontext import Path
    from indelible.hosts.installing.targets import Machine
    from indelible.hosts.installing.traces import Trace


class Bench:
    """One host in one scope.

    Raises:
        UsageError: there is no project here.
    """

    def __init__(self, machine: Machine, host: Host, scope: str) -> None:
        self.machine, self.host, self.scope, self.target = machine, host, scope, TARGETS[host.name]
        self.folder = folder_of(machine, scope, host.name)
        self.file = file_of(machine, scope, host.name)
        """The settings file, or the plugin's file or folder."""
        self.desk = Desk(machine.state_dir, machine.top if scope == "project" else None)
        self.traces = Traces(machine.state_dir)
        self.made: dict[str, tuple[Path, ...]] = {}
        """What was made within each settings file."""
        self.shared: list[tuple[str, Trace]] = []
        """Traces of files that stay as they are, and serve one host less."""

    def document(self, path: str, desk: Desk | None = None) -> jsontext.Document | None:
        """A settings file, read; None where there is none, or nothing in it.

        Raises:
            UsageError: it is broken.
        """
        _, text = decoded(path, (desk or self.desk).read(path))
        with Named(path):
            return jsontext.parse(text) if text.strip() else None

    def change(self, path: str, change: Callable[[str], merging.Merged]) -> None:
        """Put something into a settings file.

        Raises:
            UsageError: it is broken, or has what the host does not read.
        """
        bom, text = decoded(path, self.desk.read(path))
        document = self.document(path)
        with Named(path):
            if document is not None and self.target.is_strict and not document.is_strict:
                raise UsageError(
                    f"There are comments or a comma too many, and {self.host.title} reads no such file",
                    remedy="Take them out, and run it again",
                )
            merged = change(text)
        self.made[path] = (*self.made.get(path, ()), *merged.made)
        self.desk.write(path, bom + merged.text.encode("utf-8", "surrogatepass"))

    def take_out(self, path: str, change: Callable[[str, tuple[Path, ...] | None], str]) -> None:
        """Take something out of a settings file: the bytes of before, where nothing else has changed; the file itself, where it was made for us."""
        now = self.desk.read(path)
        if now is None:
            return
        real = self.desk.real(path)
        restored, original = self.traces.original(real, now)
        if restored and not is_marked(original):
            self.desk.write(path, original)
            return
        trace = self.traces.get(real)
        bom, text = decoded(path, now)
        with Named(path):
            text = change(text, trace.made if trace else None) if text.strip() else text
            is_empty = not text.strip() or not jsontext.parse(text).root.names
        gone = is_empty and trace is not None and trace.before is None
        self.desk.write(path, None if gone else bom + text.encode("utf-8", "surrogatepass"))


class Named:
    """Puts the name of the file before what is wrong with it."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, UsageError) and not error.message.startswith(self._path):
            error.message = f"{self._path}: {error.message[:1].lower()}{error.message[1:]}"
            error.remedy = error.remedy or "Mend it, or move it away, and run it again"
            error.facts["file"] = self._path


def decoded(path: str, content: bytes | None) -> tuple[bytes, str]:
    """The byte order mark, and the text behind it.

    Raises:
        UsageError: it is not UTF-8.
    """
    content = content or b""
    bom = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
    try:
        return bom, content[len(bom) :].decode("utf-8")
    except UnicodeDecodeError as exc:
        raise UsageError(
            f"{path} is not UTF-8 text (at byte {exc.start + len(bom)})", remedy="Save it as UTF-8, or move it away", file=path
        ) from exc  # fmt: skip


def is_marked(content: bytes | None) -> bool:
    """Whether a file has something of ours in it: then its bytes are not those of before us."""
    words = (
        b"indelible-hook",
        b"hooks statusline",
        rule.BEGIN.encode(),
        rule.BEGIN.encode("utf-16-le"),
        rule.BEGIN.encode("utf-16-be"),
    )
    return content is not None and any(word in content for word in words)
