"""What a tool call would do: run a command, write files, read, or something that we cannot tell.

One table for all hosts: none of them uses another's name for a different thing.
"""

from __future__ import annotations

from indelible.hosts.document import Unreadable, text, texts
from indelible.hosts.host import AFTER_TOOL, BEFORE_TOOL, OTHER, READ, SHELL, WRITE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
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
_SESSIONS = frozenset(("process", "write_bash", "send_command_input", "monitor", "Monitor"))
"""Shell tools that may be called without a command: they look at a process that runs, or end it."""
_PATHS = frozenset(
    ("filepath", "notebookpath", "absolutepath", "path", "targetfile", "file", "filename", "target", "targetpath", "destination",
     "dest", "uri", "newpath", "oldpath", "frompath", "topath", "relativepath", "relativeworkspacepath", "source", "outputpath")
)  # fmt: skip
"""Members that hold a path, in small letters and without underlines."""
_COMMANDS = ("command", "CommandLine", "command_line", "commandLine", "cmd", "script", "input", "Input", "chars")
_FOLDERS = ("workdir", "cwd", "Cwd", "working_directory", "workingDirectory", "dir_path", "directory")
_PATCH_TEXTS = ("command", "patchText", "patch_text", "patch", "input")
_WRITING = ("write", "edit", "create", "move", "rename", "copy", "delete", "remove", "append", "replace", "patch", "put",
            "shell", "exec", "command", "run")  # fmt: skip
_READS = frozenset(
    ("read", "get", "list", "ls", "search", "find", "view", "show", "fetch", "describe", "count", "stat", "head", "tail", "cat",
     "glob", "grep", "tree", "info", "diff", "status", "think", "lookup", "todo")
)  # fmt: skip
_DOES = frozenset(
    ("save", "store", "set", "update", "insert", "upload", "add", "make", "mkdir", "touch", "apply", "format", "fix", "commit", "push", "sync",
     "install", "download", "clear", "reset", "truncate", "chmod", "link", "upsert", "send", "post", "import", "export", "rm", "mv", "cp",
     "do", "eval", "query", "invoke", "call", "start", "stop", "kill", "overwrite", "modify", "change", "convert", "generate", "build", "merge", "rebase", "revert", "cherry", "amend", "accept")
)  # fmt: skip
_HEADERS = ("*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:", "--- ", "+++ ")
_LONGEST_PATH = 4_096


class Call(NamedTuple):
    """One tool call."""

    kind: str
    command: str = ""
    paths: tuple[str, ...] = ()
    folder: str = ""
    """In which the command is to run; empty where the call does not say."""
    given: Mapping[str, object] | None = None
    """All that the tool is given."""


def asked(purpose: str, name: str, given: object) -> Call:
    """What an event says of a tool: of a gate all, or it is raised; after a tool what can be read; of other events nothing."""
    if purpose == BEFORE_TOOL:
        return called(name, given)
    try:
        return called(name, given) if purpose == AFTER_TOOL else Call(READ)
    except Unreadable:
        return Call(READ)


def called(name: str, given: object) -> Call:
    """What a gate is asked about: the tool `name`, with what the host sent of its arguments, also as JSON in a text.

    Raises:
        Unreadable: there is no name; or no argument can be read of a tool that writes or runs something.
    """
    if not name:
        raise Unreadable("the host named no tool")
    if isinstance(given, str) and given.strip().startswith("{"):
        from json import loads

        try:
            given = loads(given)
        except (ValueError, RecursionError):
            given = None
    if isinstance(given, dict):
        return look(name, given)._replace(given=given)
    if name in _SHELLS or name in _PATCHES or name in _WRITERS or given not in (None, ""):
        raise Unreadable(f"the host sent no arguments of the tool that can be read, but {type(given).__name__}")
    return look(name, {})


def look(name: str, given: Mapping[str, object]) -> Call:
    """What the tool `name` would do with what it is given.

    Raises:
        Unreadable: a tool that writes names no file, or a shell has no command.
    """
    if name in _READERS or (name == "str_replace_editor" and given.get("command") == "view"):
        return Call(READ)
    if name in _SHELLS:
        command = _command(given)
        if not command and name not in _SESSIONS:
            raise Unreadable("the tool call has no command")
        return Call(SHELL, command, (), text(given, *_FOLDERS))
    if name in _PATCHES:
        return _writing((*named(given), *_cleaned(patched(text(given, *_PATCH_TEXTS)))), text(given, *_FOLDERS))
    if name in _WRITERS:
        return _writing(named(given) or _all(given), "")
    return _unknown(name, given)


def _writing(paths: tuple[str, ...], folder: str) -> Call:
    if not paths:
        raise Unreadable("the tool call names no file")
    return Call(WRITE, "", paths, folder)


def patched(patch: str) -> tuple[str, ...]:
    """The files that a patch names, whether ours or a unified one."""
    found = []
    # At its own line ends, and at all that anybody takes for one: a name that is too many only makes the guard look at more.
    for line in map(str.strip, dict.fromkeys((*patch.split("\n"), *patch.splitlines()))):
        for header in _HEADERS:
            if line.startswith(header):
                named = line.removeprefix(header).split("\t")[0].strip().strip("\"'")
                found += [named, named[2:]] if named[:2] in ("a/", "b/") else [named]
    return tuple(found)


def _command(given: Mapping[str, object]) -> str:
    """The commands, whether they are sent as a text or as a list of words, and however deep."""
    found = [_joined(given[name]) for name in _COMMANDS if given.get(name)]
    if not any(found):
        found = [value for name, value in texts(given) if name in _COMMANDS]
    return "\n".join(filter(None, found))


def _joined(value: object) -> str:
    if isinstance(value, list):
        return " ".join(_quoted(str(word)) for word in value)
    return value if isinstance(value, str) else "\n".join(text for _, text in texts(value))


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"


def named(given: Mapping[str, object]) -> tuple[str, ...]:
    """Paths of a writing tool: of its own members, and of those of each edit in a list."""
    return _cleaned(value for name, value in texts(given) if name.replace("_", "").lower() in _PATHS)


def _all(given: Mapping[str, object]) -> tuple[str, ...]:
    """Every text that may be a path."""
    return _cleaned(value for _, value in texts(given) if value and len(value) <= _LONGEST_PATH and "\n" not in value)


def _cleaned(paths: Iterable[str]) -> tuple[str, ...]:
    """The paths as they are sent, and without what some tools take off: blanks, quotes, `@`, `file://`."""
    found: list[str] = []
    for path in paths:
        bare = path.strip().strip("\"'`").removeprefix("@").strip("\"'`")
        if bare.lower().startswith("file:"):
            bare = _decoded("/" + bare[5:].removeprefix("//localhost").lstrip("/") if bare[5:6] == "/" else bare[5:])
        found += [path, bare]
    return tuple(dict.fromkeys(filter(None, found)))


def _decoded(path: str) -> str:
    """What `%2e` stands for."""
    first, *rest = path.encode("utf-8", "surrogatepass").split(b"%")
    said = bytearray(first)
    for part in rest:
        try:
            said += bytes([int(part[:2], 16)]) + part[2:]
        except ValueError:
            said += b"%" + part
    return said.decode("utf-8", "replace")


def _unknown(name: str, given: Mapping[str, object]) -> Call:
    """A tool of a server or of a newer host: every text in it may be a path, and some may be commands."""
    lowered = name.lower()
    does = any(word in lowered for word in _WRITING) or not _DOES.isdisjoint(_parts(name))
    if not does and not _READS.isdisjoint(_parts(name)):
        return Call(READ)
    commands = "\n".join(value for member, value in texts(given) if member in _COMMANDS)
    return Call(WRITE if does and lowered.startswith("mcp") else OTHER, commands, _all(given), text(given, *_FOLDERS))


def _parts(name: str) -> set[str]:
    """The words of a tool's name: `MCP:read_file`, `readFile`."""
    spaced = "".join(f" {char}" if char.isupper() else char if char.isalnum() else " " for char in name)
    return {*spaced.lower().split(), *"".join(char if char.isalnum() else " " for char in name).lower().split()}
