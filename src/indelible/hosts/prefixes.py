"""What only goes in front of a command, with the options that it takes: `sudo -u NAME`, `env A=b`, `timeout 5`, `xargs -n 1`."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from indelible.hosts.expanding import Command
    from indelible.hosts.words import Word

_LETTERS = {
    "sudo": "ugpCrtTUDRh", "doas": "uC", "env": "uC", "nohup": "", "time": "fo", "command": "", "builtin": "", "exec": "a", "nice": "n",
    "ionice": "cnp", "stdbuf": "ioe", "timeout": "sk", "setsid": "", "busybox": "", "noglob": "", "unbuffer": "", "uv": "", "uvx": "",
    "poetry": "", "pipx": "", "run": "", "xargs": "adEILnPs", "parallel": "jNa", "chronic": "",
}  # fmt: skip
"""Each with the letters of the options that take what follows them."""
_VALUED = frozenset(
    ("--user", "--group", "--prompt", "--chdir", "--signal", "--kill-after", "--adjustment", "--class", "--classdata", "--input", "--output",
     "--error", "--unset", "--max-args", "--max-procs", "--delimiter", "--arg-file", "--jobs", "--directory", "--with", "--python", "--project",
     "--extra", "--group", "--format", "--replace", "--max-chars")
)  # fmt: skip
_FORK_VALUED = ("--limit-minutes", "--summary-lines", "--input", "--cwd", "--agent", "--store")
_FLAGS = frozenset(
    ("--preserve-env", "--login", "--non-interactive", "--ignore-environment", "--null", "--foreground", "--preserve-status", "--dev",
     "--no-run-if-empty", "--verbose", "--wait", "--fork", "--portability", "--append", "--frozen", "--no-sync", "--isolated", "--locked")
)  # fmt: skip


TRUSTED = ("/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/opt/homebrew/bin")
"""Folders in which a program is what its name says."""


def name_of(command: Command) -> str:
    """The name of its program: by itself, or in a folder of the system's; else the whole path."""
    text = command.words[0].text if command.words else ""
    folder, _, name = text.rpartition("/")
    return (name if not folder or folder in TRUSTED else text).removesuffix(".exe")


def bare(command: Command) -> Command:
    """The command without what goes in front of it, in the folder that this says; as it is where an option is not known."""
    while command.words and len(command.words) > 1:
        name = name_of(command)
        after = _after(name, command) if name in _LETTERS else forked(command)
        if after is None:
            return command
        command = after
    return command


def forked(command: Command) -> Command | None:
    """What `indelible fork NAME -- COMMAND` runs; None of any other command."""
    texts = [word.text for word in command.words]
    at = (
        1
        if os.path.basename(name_of(command)) == "indelible"
        else texts.index("indelible") + 1
        if texts[1:3] == ["-m", "indelible"]
        else 0
    )
    while at and texts[at : at + 1] and texts[at][:1] == "-":
        at += 2 if texts[at] in _FORK_VALUED else 1
    if not at or texts[at : at + 1] != ["fork"]:
        return None
    plainly = [
        index for index in range(at + 1, len(texts)) if texts[index][:1] != "-" and texts[index - 1] not in _FORK_VALUED
    ]
    begins = texts.index("--", at) + 1 if "--" in texts[at:] else plainly[1] if len(plainly) > 1 else len(texts)
    cwd = command.cwd
    for index in range(at, begins):
        name, equals, value = texts[index].partition("=")
        if name == "--cwd":
            cwd = _joined(cwd, value if equals else "".join(texts[index + 1 : index + 2]))
    return command._replace(words=command.words[begins:], cwd=cwd) if begins < len(texts) else None


def has_input(command: Command) -> bool:
    """Whether words are added to it from its input."""
    return any(os.path.basename(word.text) in ("xargs", "parallel") for word in command.words[:4])


def _after(name: str, command: Command) -> Command | None:
    """Without the first of what goes in front; None where an option of it is not known."""
    words, cwd, assigned = command.words[1:], command.cwd, command.assigned
    left = 1 if name == "timeout" else 0
    while words:
        text = words[0].text
        if text[:1] == "-" and text not in ("-", "--"):
            found = _option(name, words, cwd)
            if found is None:
                return None
            taken, cwd = found
            words = words[taken:]
            continue
        if "=" in text and text.partition("=")[0].isidentifier() and name in ("env", "sudo", "doas"):
            assigned = (*assigned, text)
        elif left and text[:1].isdigit():
            left -= 1
        elif text not in ("-", "--"):
            break
        words = words[1:]
    return command._replace(words=words, cwd=cwd, assigned=assigned)


def _option(name: str, words: tuple[Word, ...], cwd: str) -> tuple[int, str] | None:
    """How many words an option takes, and the folder after it."""
    text, pattern = words[0].text, words[0].pattern
    value = words[1].pattern if words[1:] else ""
    if text.startswith("--"):
        option, equals, tail = pattern.partition("=")
        if not equals and option not in _VALUED and option not in _FLAGS:
            return None
        is_apart = not equals and option in _VALUED
        return 1 + is_apart, _joined(cwd, value if is_apart else tail) if option in ("--chdir", "--directory") else cwd
    if (name, text) in (("command", "-v"), ("command", "-V")) or (name == "env" and "S" in text):
        return None
    at = next((i for i, letter in enumerate(text) if i and letter in _LETTERS[name]), 0)
    is_apart = at > 0 and at == len(text) - 1
    moves = at > 0 and (name, text[at]) in (("env", "C"), ("sudo", "D"))
    return 1 + is_apart, _joined(cwd, value if is_apart else pattern[at + 1 :]) if moves else cwd


def _joined(cwd: str, path: str) -> str:
    return path if path.startswith(("/", "~", "\0")) else f"{cwd}/{path}"
