"""Variables in front of a command, or exported: those of which programs run the text, and those by which they load something."""

from __future__ import annotations

_PARTS = ("PAGER", "EDITOR", "VISUAL", "BROWSER", "COMMAND", "LESSOPEN", "LESSCLOSE", "ASKPASS", "GIT_", "LD_", "DYLD_", "PYTHON", "PERL", "RUBY",
          "NODE_", "JAVA_", "BASH_ENV", "BASH_FUNC", "SHELLOPTS", "PROMPT", "RIPGREP_CONFIG", "_OPTIONS", "PS4", "MAKEFLAGS")  # fmt: skip
_WHOLE = ("PATH", "ENV", "SHELL", "IFS", "LESS", "MORE", "ZDOTDIR")
_PLAIN = ("", "cat", "less", "more", "true", "/bin/cat", "0", "1")
_QUIET = ("GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS", "GIT_DIR", "GIT_WORK_TREE", "PYTHONDONTWRITE",
          "PYTHONUNBUFFERED", "PYTHONIOENCODING", "PYTHONWARNINGS", "NODE_ENV", "PROMPT_DIRTRIM")  # fmt: skip


def may_run(assignment: str) -> bool:
    """Whether `NAME=value` may have another program run, or loaded, than the one that stands behind it."""
    name, equals, value = assignment.partition("=")
    if not equals or value in _PLAIN or name.startswith(_QUIET):
        return False
    return name in _WHOLE or any(part in name for part in _PARTS)
