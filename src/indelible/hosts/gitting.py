"""What a git command does to protected places, and whether it only reads."""

from __future__ import annotations

from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from indelible.hosts.places import Named, Places
    from indelible.hosts.words import Word

_READING = frozenset(
    ("status", "log", "diff", "show", "rev-parse", "ls-files", "ls-tree", "ls-remote", "cat-file", "blame", "annotate",
     "grep", "describe", "shortlog", "rev-list", "merge-base", "show-ref", "show-branch", "for-each-ref", "whatchanged",
     "version", "--version", "help", "--help", "count-objects", "check-ignore", "diff-tree", "diff-index", "diff-files",
     "name-rev", "range-diff", "cherry", "var", "fsck")
)  # fmt: skip
_LISTING = frozenset(
    ("branch", "tag", "remote", "config", "stash", "worktree", "reflog", "submodule", "notes", "bisect")
)
_LISTS = (
    "-v",
    "-vv",
    "-a",
    "-r",
    "-l",
    "--list",
    "--get",
    "--get-all",
    "--show-current",
    "-n",
    "--all",
    "--show-origin",
)
_LIST_WORDS = ("list", "show", "get", "get-url", "status", "log")
_CHANGING = frozenset(("checkout", "restore", "rm", "mv", "reset", "update-index", "switch", "checkout-index", "apply"))
_VALUED = frozenset(("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"))

HOOKS_PATH = "core.hookspath"
"""Where git looks for hooks, in small letters: git takes capitals for the same."""
_SETTING = ("set", "unset", "--unset", "--unset-all", "--replace-all", "--add")
_GETTING = ("get", "--get", "--get-all", "--get-regexp")


def unhooks(words: tuple[Word, ...]) -> bool:
    """Whether git with these words after it is told of another place for hooks: for this once, or for good."""
    name, rest = _subcommand(words)
    before = words[: len(words) - len(rest)]
    if any(HOOKS_PATH in word.text.casefold() for word in before):
        return True
    texts = [word.text for word in rest]
    at = next((index for index, text in enumerate(texts) if text.casefold() == HOOKS_PATH), -1)
    if name != "config" or any(text in _GETTING for text in texts):
        return False
    if at < 0:
        return "core" in texts and any(text.lstrip("-") in ("remove-section", "rename-section") for text in texts)
    return any(text in _SETTING for text in texts[:at]) or any(not text.startswith("-") for text in texts[at + 1 :])


def is_reading(words: tuple[Word, ...]) -> bool:
    """Whether git with these words after it changes nothing."""
    name, rest = _subcommand(words)
    texts = [word.text for word in rest]
    if any(text.startswith(("--output", "-o")) and name != "ls-files" for text in texts):
        return False
    if name in _READING:
        return not any(word.text == "-c" for word in words[: len(words) - len(rest)])
    return (name in _LISTING and (not texts or texts[0] in _LIST_WORDS or texts[0] in _LISTS) and name != "stash") or (
        name == "stash" and texts[:1] in (["list"], ["show"])
    )


def changes(words: tuple[Word, ...], cwd: str, places: Places) -> Named | None:
    """The protected place that git with these words after it would change."""
    name, rest = _subcommand(words)
    for option, value in pairwise(words):
        if option.text == "-C":
            cwd = value.pattern if value.pattern.startswith("/") else f"{cwd}/{value.pattern}"
        if option.text == "-c" and (found := places.mentioned(value.text)):
            return found
    flags = "".join(word.text.lstrip("-") for word in rest if word.text.startswith("-") and word.text[:2] != "--")
    named = [word for word in rest if not word.text.startswith("-")]
    if name == "clean":
        return _cleaned(rest, flags, named, cwd, places)
    if name == "stash" and ("a" in flags or any(word.text == "--all" for word in rest)):
        return places.above(".", cwd)
    if name == "worktree" and any(word.text == "remove" for word in named):
        return next((found for word in named if (found := places.named_by(word, cwd, above=True))), None)
    if name in _CHANGING or name == "stash":
        return next((found for word in rest if (found := places.named_by(word, cwd))), None)
    return None


def _cleaned(rest: tuple[Word, ...], flags: str, named: list[Word], cwd: str, places: Places) -> Named | None:
    """Only with `-x` or `-X` does `git clean` take what is ignored, as our folder is."""
    if "x" not in flags.lower() or "n" in flags or any(word.text == "--dry-run" for word in rest):
        return None
    excluded = {word.text for word in named if ".indelible" in word.text} if "e" in flags else set()
    kept = [word for word in named if word.text not in excluded]
    if not kept:
        return None if excluded else places.above(".", cwd)
    return next((found for word in kept if (found := places.named_by(word, cwd, above=True))), None)


def _subcommand(words: tuple[Word, ...]) -> tuple[str, tuple[Word, ...]]:
    """The subcommand, and what follows it."""
    index = 0
    while index < len(words) and words[index].text.startswith("-") and words[index].text not in _READING:
        index += 2 if words[index].text in _VALUED else 1
    return (words[index].text, words[index + 1 :]) if index < len(words) else ("", ())
