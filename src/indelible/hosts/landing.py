"""What a git command would land: a commit, a push, a merge. By its words, as git reads them.

A word that undoes it (`--dry-run`, `--abort`) counts where it cannot be the value of another option. What is not told
(a subcommand from a variable) counts as a commit. Moving a branch to a commit that is there (`reset`, `checkout -B`,
`branch -f`, `fetch . a:b`) lands none: git's own `reference-transaction` hook sees where a branch goes.
"""

from __future__ import annotations

from itertools import pairwise

from indelible.hosts.gitting import parted
from indelible.hosts.words import UNKNOWN, alternatives, plain, spoken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from indelible.hosts.expanding import Command
    from indelible.hosts.words import Word

COMMIT, PUSH, MERGE = "commit", "push", "merge"
_HELP = ("-h", "--help")
_LANDING = {
    "commit": (COMMIT, ("--dry-run", "--short", "--porcelain", "--long")),
    "commit-tree": (COMMIT, ()),
    "cherry-pick": (COMMIT, ("-n", "--no-commit", "--abort", "--quit")),
    "revert": (COMMIT, ("-n", "--no-commit", "--abort", "--quit")),
    "am": (COMMIT, ("--abort", "--quit", "--show-current-patch")),
    "rebase": (COMMIT, ("--abort", "--quit", "--edit-todo", "--show-current-patch")),
    "update-ref": (COMMIT, ()),
    "fast-import": (COMMIT, ()),
    "filter-branch": (COMMIT, ()),
    "filter-repo": (COMMIT, ("--analyze", "--dry-run")),
    "replace": (COMMIT, ("-l", "--list")),
    "replay": (COMMIT, ()),
    "history": (COMMIT, ()),
    "quiltimport": (COMMIT, ("-n", "--dry-run")),
    "cvsimport": (COMMIT, ()),
    "citool": (COMMIT, ()),
    "gui": (COMMIT, ()),
    "absorb": (COMMIT, ("-n", "--dry-run")),
    "revise": (COMMIT, ()),
    "autofixup": (COMMIT, ()),
    "branchless": (COMMIT, ()),
    "ac": (COMMIT, ()),
    "merge": (MERGE, ("--abort", "--quit", "--squash")),
    "pull": (MERGE, ("--ff-only",)),
    "imerge": (MERGE, ()),
    "push": (PUSH, ("-n", "--dry-run")),
    "send-pack": (PUSH, ("-n", "--dry-run")),
    "http-push": (PUSH, ("--dry-run",)),
    "receive-pack": (PUSH, ()),
    "remote-http": (PUSH, ()),
    "remote-https": (PUSH, ()),
    "remote-ext": (PUSH, ()),
    "cvsexportcommit": (PUSH, ()),
}  # fmt: skip
"""By subcommand: what it lands, and the words that undo that."""
_PARTED = {
    "subtree": {"push": PUSH, "merge": MERGE, "pull": MERGE, "add": MERGE, "split": COMMIT},
    "svn": {"dcommit": PUSH, "commit": PUSH, "set-tree": PUSH, "commit-diff": PUSH, "rebase": COMMIT},
    "p4": {"submit": PUSH, "rebase": COMMIT, "sync": COMMIT},
    "flow": {"finish": MERGE, "publish": PUSH},
    "town": {"ship": MERGE, "sync": MERGE, "propose": PUSH},
    "spr": {"land": MERGE, "diff": PUSH},
}  # fmt: skip
"""Subcommands that have their own, of which one somewhere among the words counts."""
_ENDS_VALUELESS = frozenset(
    ("-a", "--all", "-v", "--verbose", "-q", "--quiet", "--amend", "-s", "--signoff", "--no-edit", "-n", "--no-verify", "--allow-empty",
     "-f", "--force", "-p", "--patch", "--tags", "-u", "--set-upstream", "--no-ff", "--ff", "-x", "-e", "--edit", "--follow-tags",
     "--progress", "--prune", "--delete", "-d", "--no-stat", "--stat", "--no-rebase", "--rebase", "-r", "-z", "--branch", "-i")
)  # fmt: skip
"""Options behind which no value stands, so that the next word is one of its own."""
_NAMES = """
    add annotate apply archive bisect blame branch bugreport bundle cat-file check-attr check-ignore check-mailmap check-ref-format
    checkout checkout-index cherry clean clone column commit-graph config count-objects credential credential-cache credential-store
    daemon describe diagnose diff diff-files diff-index diff-tree difftool fast-export fetch fetch-pack fmt-merge-msg for-each-ref
    for-each-repo format-patch fsck gc get-tar-commit-id gitk gitweb grep hash-object help hook http-backend http-fetch imap-send
    index-pack init init-db instaweb interpret-trailers lfs log ls-files ls-remote ls-tree mailinfo mailsplit maintenance merge-base
    merge-file merge-index merge-one-file merge-tree mergetool mktag mktree multi-pack-index mv name-rev notes pack-objects
    pack-redundant pack-refs patch-id prune prune-packed range-diff read-tree reflog remote repack repo request-pull rerere reset
    restore rev-list rev-parse rm scalar send-email shortlog show show-branch show-index show-ref sparse-checkout stage stash status
    stripspace submodule switch symbolic-ref tag unpack-file unpack-objects update-index update-server-info upload-archive
    upload-pack var verify-commit verify-pack verify-tag version whatchanged worktree write-tree
"""
_KNOWN = frozenset(_NAMES.split())
"""Git's own other subcommands, which no alias replaces."""


def landed(words: tuple[Word, ...]) -> str:
    """What git with these words after it lands; empty where nothing."""
    sub, rest = parted(words)
    word = words[len(words) - len(rest) - 1] if len(rest) < len(words) else plain(sub)
    if UNKNOWN in word.pattern:
        return landed(rest) if rest and rest[0].text[:1] != "-" and is_known(rest[0].text) else COMMIT
    names = [spoken(one) for one in alternatives(word.pattern)]
    return next((found for name in names if (found := _landed(name, rest))), "")


def is_known(name: str) -> bool:
    """Whether it is a subcommand of git's own, and so no alias."""
    return name in _KNOWN or name in _LANDING or name in _PARTED or name.startswith("-") or not name


def alias_in(words: tuple[Word, ...], name: str) -> str:
    """What `-c alias.NAME=…` in front of the subcommand says of this name; empty where nothing does."""
    said = ""
    for word in words:
        key, _, value = word.text.removeprefix("--config-env=").partition("=")
        if key.casefold() == f"alias.{name}".casefold():
            said = COMMIT if word.text.startswith("--config-env=") else value
    return said


def folder_of(command: Command, words: tuple[Word, ...]) -> str:
    """The folder that git with these words works in: by `-C`, `--git-dir`, `--work-tree` and their variables."""
    cwd, told = command.cwd, ""
    for one in command.assigned:
        name, _, value = one.partition("=")
        told = value if name == "GIT_WORK_TREE" or (name == "GIT_DIR" and not told) else told
    before = words[: len(words) - len(parted(words)[1])]
    for option, after in pairwise((*before, plain(""))):
        name, equals, tail = option.text.partition("=")
        if option.text == "-C":
            cwd = _joined(cwd, spoken(after.pattern))
        elif name in ("--work-tree", "--git-dir"):
            told = tail if equals else spoken(after.pattern)
    return _joined(cwd, told) if told else cwd


def _landed(name: str, rest: tuple[Word, ...]) -> str:
    texts = [word.text for word in rest]
    if name == "hash-object":
        return COMMIT if "commit" in texts and "-w" in texts else ""
    if name in _PARTED:
        return next((what for text in texts if (what := _PARTED[name].get(text, ""))), "")
    if name not in _LANDING:
        return ""
    what, undoing = _LANDING[name]
    if any(_is_said(one, texts) for one in (*undoing, *_HELP)):
        return ""
    if name == "pull" and any(_is_said(one, texts) for one in ("-r", "--rebase")):
        return what
    if name == "merge" and _is_said("--no-commit", texts) and _is_said("--no-ff", texts):
        return ""
    if name == "gui" and texts[:1] in (["blame"], ["browser"], ["version"]):
        return ""
    return what


def _is_said(option: str, texts: list[str]) -> bool:
    """Whether an option is among the words, cannot be another one's value, and is not taken back by a later one."""
    texts = texts[: texts.index("--")] if "--" in texts else texts
    at = next((index for index, text in enumerate(texts) if text == option and _stands_alone(texts, index)), -1)
    if at < 0 or option[:2] != "--":
        return at >= 0
    opposite = f"--{option[5:]}" if option.startswith("--no-") else f"--no-{option[2:]}"
    others = {"--ff-only": ("--ff", "--no-ff", "--rebase", "-r")}.get(option, ())
    return not any(
        (text[:2] == "--" and len(text) > 5 and opposite.startswith(text)) or text.partition("=")[0] in others
        for text in texts
    )


def _stands_alone(texts: list[str], index: int) -> bool:
    before = texts[index - 1] if index else ""
    return before[:1] != "-" or before == "-" or "=" in before or before in _ENDS_VALUELESS


def _joined(cwd: str, path: str) -> str:
    return path if path.startswith(("/", "~", UNKNOWN)) else f"{cwd}/{path}"
