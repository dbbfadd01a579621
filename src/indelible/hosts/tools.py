"""What a tool call would do: run a command, write files, read, or something that we cannot tell.

One table for all hosts: none of them uses another's name for a different thing.
"""

from __future__ import annotations

from indelible.hosts.document import text, texts
from indelible.hosts.host import OTHER, READ, SHELL, WRITE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NamedTuple
else:
    from indelible.light import NamedTuple

_SHELLS = frozenset(
    ("Bash", "PowerShell", "Monitor", "run_shell_command", "monitor", "bash", "powershell", "shell", "Shell",
     "exec_command", "exec", "process", "run_command", "send_command_input", "write_bash", "local_shell")
)  # fmt: skip
_PATCHES = frozenset(("apply_patch", "patch", "ApplyPatch"))
_WRITERS = frozenset(
    ("Write", "Edit", "MultiEdit", "NotebookEdit", "write_file", "replace", "edit", "notebook_edit", "create", "write",
     "multiedit", "str_replace_editor", "str_replace", "insert", "Delete", "delete", "write_to_file",
     "replace_file_content", "multi_replace_file_content", "write_code")
)  # fmt: skip
_READERS = frozenset(
    ("Read", "Grep", "Glob", "LS", "WebFetch", "WebSearch", "TodoWrite", "read_file", "read_many_files", "list_directory",
     "glob", "grep_search", "grep", "view", "read", "list", "ls", "webfetch", "web_fetch", "google_web_search",
     "view_file", "find_by_name", "list_dir", "codebase_search", "report_intent", "todo_write", "todowrite", "todoread",
     "read_code", "read_bash", "show_file", "rg")
)  # fmt: skip
_PATHS = (
    "file_path", "filePath", "notebook_path", "absolute_path", "path", "TargetFile", "target_file", "file", "filename",
)  # fmt: skip
_COMMANDS = ("command", "CommandLine", "command_line", "cmd", "script", "input", "Input", "chars")
_PATCH_TEXTS = ("command", "patchText", "patch_text", "patch", "input")
_WRITING = ("write", "edit", "create", "move", "rename", "copy", "delete", "remove", "append", "replace", "patch", "put",
            "shell", "exec", "command", "run")  # fmt: skip
_OURS = ("mcp__indelible__", "mcp_indelible_", "indelible_", "indelible-")
_HEADERS = ("*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:", "--- ", "+++ ")
_LONGEST_PATH = 4_096


class Call(NamedTuple):
    """One tool call."""

    kind: str
    command: str = ""
    paths: tuple[str, ...] = ()


def look(name: str, given: Mapping[str, object]) -> Call:
    """What the tool `name` would do with what it is given."""
    if name in _READERS or name.startswith(_OURS) or (name == "str_replace_editor" and given.get("command") == "view"):
        return Call(READ)
    if name in _SHELLS:
        return Call(SHELL, _command(given))
    if name in _PATCHES:
        patch = text(given, *_PATCH_TEXTS)
        return Call(WRITE, "", (*_named(given), *patched(patch)))
    if name in _WRITERS:
        return Call(WRITE, "", _named(given))
    return _unknown(name, given)


def patched(patch: str) -> tuple[str, ...]:
    """The files that a patch names, whether ours or a unified one."""
    found = []
    for line in map(str.strip, patch.splitlines()):
        for header in _HEADERS:
            if line.startswith(header):
                named = line.removeprefix(header).split("\t")[0].strip().strip("\"'")
                found += [named, named[2:]] if named[:2] in ("a/", "b/") else [named]
    return tuple(found)


def _command(given: Mapping[str, object]) -> str:
    """The command, whether it is sent as a text or as a list of words."""
    for name in _COMMANDS:
        value = given.get(name)
        if isinstance(value, list):
            return " ".join(_quoted(str(word)) for word in value)
        if isinstance(value, str) and value:
            return value
    return ""


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"


def _named(given: Mapping[str, object]) -> tuple[str, ...]:
    """Paths of a writing tool: of its own members, and of those of each edit in a list."""
    return tuple(value for name, value in texts(given) if name in _PATHS)


def _unknown(name: str, given: Mapping[str, object]) -> Call:
    """A tool of a server or of a newer host: every text in it may be a path, and some may be commands."""
    lowered = name.lower()
    is_writing = lowered.startswith("mcp") and any(word in lowered for word in _WRITING)
    found = list(texts(given))
    paths = tuple(value for _, value in found if value and len(value) <= _LONGEST_PATH and "\n" not in value)
    commands = "\n".join(value for member, value in found if member in _COMMANDS)
    return Call(WRITE if is_writing else OTHER, commands, paths)
