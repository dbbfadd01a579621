"""What was written into others' files, so that it can be taken out again to the byte: one small file for each, in the user's state.

    {"path": "/home/you/.claude/settings.json", "before": SHA-256 or null, "after": SHA-256, "backup": PATH or null,
     "made": [["hooks", "Stop"], …], "hosts": ["claude-code"], "folders": ["/home/you/.claude"]}

Lost or broken, it costs exactness and nothing else: our entries are then found by their words.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, NamedTuple

from indelible.files import make_folder, remove, replace_file
from indelible.hosts.installing.desk import digest

if TYPE_CHECKING:
    from indelible.hosts.installing.jsontext import Path


class Trace(NamedTuple):
    """What became of one file."""

    before: str | None
    """Digest of the file before we first came; None where there was none, empty where that is not known (any more)."""
    after: str
    """Digest of what we left."""
    backup: str | None
    """Where the bytes of before are kept."""
    made: tuple[Path, ...] = ()
    hosts: tuple[str, ...] = ()
    """For which hosts: an instruction file may serve several."""
    folders: tuple[str, ...] = ()
    """Folders that were made for it, the innermost first."""


class Traces:
    """Those of one user.

    Args:
        state_dir: the user's state folder.
    """

    def __init__(self, state_dir: str) -> None:
        self._folder = os.path.join(state_dir, "hooks")

    def get(self, real: str) -> Trace | None:
        """What is known of a file; None where nothing is."""
        try:
            with open(self._place(real), "rb") as file:
                found = json.loads(file.read(1_000_000))
            made = tuple(tuple(step for step in path if isinstance(step, str)) for path in found["made"])
            texts = [tuple(str(text) for text in found[name]) for name in ("hosts", "folders")]
            backup = found["backup"]
            return Trace(
                found["before"], str(found["after"]), str(backup) if backup else None, made, texts[0], texts[1]
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, real: str, trace: Trace) -> None:
        """Remember it.

        Raises:
            NotSaved, DiskFull, ReadOnly: it could not be written.
        """
        make_folder(self._folder)
        text = json.dumps({"path": real, **trace._asdict()}, ensure_ascii=False, indent=1)
        replace_file(self._place(real), text.encode("utf-8", "surrogatepass") + b"\n")

    def forget(self, real: str) -> None:
        """Nothing of ours is in that file any more."""
        remove(self._place(real))

    def original(self, real: str, now: bytes) -> tuple[bool, bytes | None]:
        """Whether the file is as we left it and the bytes of before are known; and those, None where there was no file."""
        trace = self.get(real)
        if trace is None or trace.after != digest(now) or trace.before == "":
            return False, None
        if trace.before is None:
            return True, None
        try:
            with open(trace.backup or "", "rb") as file:
                content = file.read()
        except OSError:
            return False, None
        return digest(content) == trace.before, content

    def _place(self, real: str) -> str:
        return os.path.join(self._folder, f"{digest(os.fsencode(real))[:24]}.json")
