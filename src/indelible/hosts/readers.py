"""Programs that only read, and with which options: an option that is not in these tables makes a writer of them.

`ls` and its like have no option that writes, and take any. What is left out is not known to only read: before the briefing
it waits, and where it names a protected place it is refused.
"""

from __future__ import annotations

from indelible.hosts import gitting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    from indelible.hosts.words import Word
else:
    from indelible.light import NamedTuple

_PLAIN = frozenset(
    ("cat", "head", "tail", "grep", "egrep", "fgrep", "zgrep", "ls", "dir", "stat", "wc", "sha256sum", "sha1sum", "sha512sum",
     "shasum", "md5sum", "b2sum", "cksum", "sum", "diff", "cmp", "comm", "du", "df", "od", "hexdump", "cut", "tr", "jq",
     "test", "[", "[[", "echo", "printf", "true", "false", ":", "cd", "pushd", "popd", "pwd", "readlink", "realpath", "basename",
     "dirname", "strings", "nl", "column", "paste", "fold", "fmt", "tac", "rev", "expand", "join", "lsattr", "getfattr", "getfacl",
     "which", "type", "whereis", "whoami", "id", "groups", "uname", "arch", "nproc", "free", "uptime", "lscpu", "lsblk", "getconf",
     "locale", "ps", "pgrep", "tty", "cal", "sleep", "export", "set", "unset", "printenv", "for", "case", "return", "exit",
     "wait", "seq", "expr", "local", "declare", "shopt", "read", "select", "in", "jobs", "dirs", "umask", "ulimit", "break",
     "continue", "shift", "zcat", "xzcat", "bzcat", "Get-Content", "Select-String", "Get-ChildItem")
)  # fmt: skip


class _Options(NamedTuple):
    """Of one program."""

    flags: str
    """Letters that may stand behind one dash."""
    valued: str = ""
    """Letters that take what follows them."""
    long: tuple[str, ...] = ()
    """Options behind two dashes, whole."""
    most: int = 1_000
    """Words that are no options."""


_BY_OPTIONS = {
    "sort": _Options("bcdfghiMmnRrsuVzC", "kSt", ("--key", "--reverse", "--numeric-sort", "--unique", "--field-separator",
        "--version-sort", "--human-numeric-sort", "--ignore-case", "--stable", "--zero-terminated", "--check")),
    "uniq": _Options("cdDiuz", "fsw", ("--count", "--repeated", "--unique", "--ignore-case"), 1),
    "xxd": _Options("abeEipu", "clgso", (), 1),
    "tree": _Options("adfilpsugDhrtxCFJXQNqvUnAS", "LPI", ("--dirsfirst", "--noreport", "--prune", "--gitignore", "--du", "--si")),
    "less": _Options("NSRXFinrMmeEqQsuwfgGJ"),
    "more": _Options("dflcpsu"),
    "base64": _Options("dDi", "w", ("--decode", "--wrap", "--ignore-garbage")),
    "yq": _Options("rPCMjceN", "opI", ("--output-format", "--input-format", "--prettyPrint", "--colors", "--raw-output")),
    "rg": _Options("inlcwvsSFuUaoHILNpxz0qhVP.", "eAfBCgtTmMjrdE", ("--files", "--hidden", "--no-ignore", "--glob", "--type",
        "--iglob", "--count", "--line-number", "--ignore-case", "--files-with-matches", "--files-without-match", "--fixed-strings",
        "--word-regexp", "--multiline", "--only-matching", "--context", "--after-context", "--before-context", "--max-count",
        "--max-depth", "--no-heading", "--heading", "--color", "--colors", "--stats", "--json", "--sort", "--sortr", "--pcre2",
        "--no-filename", "--with-filename", "--trim", "--vimgrep", "--replace", "--follow", "--text", "--passthru", "--smart-case",
        "--invert-match", "--type-list", "--null", "--max-columns", "--quiet", "--type-not", "--no-messages", "--pretty",
        "--count-matches", "--no-ignore-vcs", "--unrestricted", "--regexp", "--no-line-number")),
    "ag": _Options("acDfgiLlnopQRrsStuUvwWz0", "ABCGm", ("--hidden", "--nocolor", "--color", "--literal", "--ignore", "--nogroup")),
    "fd": _Options("HIuasiLpF0g1q", "etdEjSc", ("--hidden", "--no-ignore", "--type", "--extension", "--max-depth", "--exclude",
        "--glob", "--full-path", "--follow", "--absolute-path", "--print0", "--fixed-strings", "--color")),
    "file": _Options("bLiEkNnprsSvz0", "fFmeP", ("--brief", "--mime", "--mime-type", "--mime-encoding", "--dereference")),
    "man": _Options("kfaw"),
    "locate": _Options("icbwer0", "nl"),
    "bat": _Options("pAnu", "lrHm", ("--plain", "--language", "--line-range", "--style", "--color", "--paging", "--number")),
    "glow": _Options("lp", "sw"),
    "mdcat": _Options("pl"),
    "markdownlint": _Options("", "cr", ("--config", "--rules", "--json", "--quiet")),
    "hostname": _Options("fisIdAy", "", (), 0),
    "history": _Options("", "", (), 1),
}  # fmt: skip
_SCRIPTED = frozenset(("sed", "sqlite3", "awk", "gawk", "mawk", "nawk"))
_VERSION = ("--version", "--help")
_LETTERS = {
    "python": "-V",
    "python3": "-V",
    "pip": "-V",
    "node": "-v",
    "npm": "-v",
    "php": "-v",
    "ruby": "-v",
    "perl": "-v",
}


def takes_any(name: str) -> bool:
    """Whether a program only reads whatever options it is given."""
    return name in _PLAIN


def only_reads(name: str, words: tuple[Word, ...]) -> bool:
    """Whether a program, called with these words (itself in front), changes nothing but what it prints; `find` is judged elsewhere."""
    if name in _PLAIN:
        return True
    texts = [word.text for word in words[1:]]
    if len(texts) == 1 and "/" not in words[0].text and (texts[0] in _VERSION or texts[0] == _LETTERS.get(name, "-")):
        return True
    if name in _BY_OPTIONS:
        return _allows(_BY_OPTIONS[name], texts) and not (name == "bat" and texts[:1] == ["cache"])
    if name == "git":
        return gitting.is_reading(words[1:])
    if name in _SCRIPTED:
        from indelible.hosts import scripts

        if name == "sed":
            return scripts.sed_reads(texts)
        return scripts.sqlite_reads(texts) if name == "sqlite3" else scripts.awk_reads(texts)
    if name == "env":
        return not texts
    if name == "command":
        return texts[:1] in (["-v"], ["-V"])
    return name == "date" and all(
        text[:1] == "+" or text in ("-u", "-R", "-I", "--utc", "--iso-8601", "-Iseconds") for text in texts
    )


def _allows(options: _Options, texts: list[str]) -> bool:
    count, rest = 0, list(texts)
    while rest:
        text = rest.pop(0)
        if text == "--":
            return count + len(rest) <= options.most
        if text.startswith("--"):
            if text.partition("=")[0] not in options.long:
                return False
        elif text[:1] == "-" and len(text) > 1:
            after = _after(options, text[1:])
            if after is None:
                return False
            del rest[:after]
        elif text[:1] == "+":
            return False
        else:
            count += 1
    return count <= options.most


def _after(options: _Options, cluster: str) -> int | None:
    """How many words after a cluster of short options belong to it; None where one of them is not known."""
    for index, letter in enumerate(cluster):
        if letter in options.valued:
            return 0 if cluster[index + 1 :] else 1
        if letter not in options.flags and not letter.isdigit():
            return None
    return 0
