"""Small programs in the words of a command, of `sed`, `awk` and `sqlite3`: whether they only read.

What is not understood does not only read.
"""

from __future__ import annotations

_LONGEST = 4_096
"""Characters of a program that are read."""
_SED_FLAGS = ("-n", "-e", "-E", "-r", "-s", "-u", "-z", "-ne", "-nE", "-En", "-nr", "-rn", "-nEe", "-Ee", "-re", "--quiet", "--silent",
              "--expression", "--regexp-extended", "--separate", "--null-data", "--posix", "--debug")  # fmt: skip
_SED_PLAIN = frozenset("pPdDqQ=lnNgGhHxzF{};! \t\n")
_SED_TO_THE_END = frozenset("aicrRbtT:#")
_AWK_FORBIDDEN = ("system", "getline", "@", "printf|", "close(")
_SQLITE_FLAGS = frozenset(("-readonly", "-header", "-noheader", "-csv", "-json", "-column", "-line", "-list", "-html", "-box", "-markdown",
                           "-table", "-batch", "-bail", "-quote", "-tabs"))  # fmt: skip
_SQLITE_DOTS = frozenset((".tables", ".schema", ".dump", ".headers", ".header", ".mode", ".indexes", ".indices", ".databases", ".width",
                          ".stats", ".help", ".quit", ".exit", ".dbinfo", ".fullschema"))  # fmt: skip
_SQLITE_WRITERS = ("writefile", "edit(", "load_extension", "fts3_tokenizer")


def sed_reads(texts: list[str]) -> bool:
    """Whether `sed` with these words writes no file and runs nothing."""
    return _sed_files(texts) is not None


def sed_edits(texts: list[str]) -> list[int] | None:
    """Which of these words are files that `sed -i` writes to; None where it may write to others, or is no `sed -i`."""
    kept = [index for index, text in enumerate(texts) if not text.startswith(("-i", "--in-place"))]
    files = _sed_files([texts[index] for index in kept])
    return None if files is None or len(kept) == len(texts) else [kept[index] for index in files]


def _sed_files(texts: list[str]) -> list[int] | None:
    """Which of these words are files; None where an option or a script is not known to only read."""
    scripts: list[str] = []
    others: list[int] = []
    index, is_told, ended = 0, False, False
    while index < len(texts):
        text, index = texts[index], index + 1
        name, equals, value = text.partition("=")
        if ended or not text.startswith("-") or text == "-":
            others.append(index - 1)
        elif text == "--":
            ended = True
        elif name not in _SED_FLAGS:
            return None
        elif name == "--expression" or (name[1:2] != "-" and name.endswith("e")):
            is_told = True
            scripts.append(value if equals else "".join(texts[index : index + 1]))
            index += not equals
    if not is_told and others:
        scripts.append(texts[others.pop(0)])
    return others if all(map(_sed_script_reads, scripts)) else None


def _sed_script_reads(script: str) -> bool:
    at = 0 if len(script) <= _LONGEST else -1
    while 0 <= at < len(script):
        char = script[at]
        if char.isdigit() or char in "$,~+" or char in _SED_PLAIN or (char == "I" and at and script[at - 1] == "/"):
            at += 1
        elif char == "/" or (char == "\\" and at + 1 < len(script)):
            at = _after_regex(script, at + 1 + (char != "/"), script[at + (char != "/")])
        elif char in "sy" and at + 1 < len(script):
            at = _after_regex(script, at + 2, script[at + 1])
            at = _after_delimiter(script, at, script[at - 1]) if 0 <= at <= len(script) else at
            while char == "s" and 0 <= at < len(script) and (script[at] in "gpiIm" or script[at].isdigit()):
                at += 1
        elif char in _SED_TO_THE_END:
            end = script.find("\n", at)
            ends = [index for index in (end, script.find(";", at) if char in "btT:" else -1) if index >= 0]
            at = min(ends) if ends else len(script)
        else:
            return False
    return at >= 0


def _after_regex(script: str, at: int, delimiter: str) -> int:
    """Where a script goes on after an expression; -1 where a bracket holds its delimiter, which not all read alike."""
    while at < len(script) and script[at] != delimiter:
        if script[at] == "[":
            end = script.find("]", at + 2)
            if end >= 0 and delimiter in script[at:end]:
                return -1
        at += 2 if script[at] == "\\" else 1
    return at + 1


def _after_delimiter(script: str, at: int, delimiter: str) -> int:
    """Where a script goes on after the next delimiter that no backslash stands before."""
    while at < len(script) and script[at] != delimiter:
        at += 2 if script[at] == "\\" else 1
    return at + 1


def awk_reads(texts: list[str]) -> bool:
    """Whether `awk` with these words prints to nothing but its output, and runs nothing."""
    rest = list(texts)
    while rest and rest[0].startswith("-") and rest[0] != "-":
        option = rest.pop(0)
        if option == "--":
            break
        if option in ("-F", "-v"):
            del rest[:1]
        elif option[:2] not in ("-F", "-v"):
            return False
    return not rest or _awk_program_reads(rest[0])


def _awk_program_reads(program: str) -> bool:
    bare = _awk_code(program) if len(program) <= _LONGEST else None
    if bare is None:
        return False
    bare = bare.replace("||", "")
    if "|" in bare or any(word in bare for word in _AWK_FORBIDDEN):
        return False
    for statement in bare.replace("}", ";").replace("\n", ";").replace("{", ";").split(";"):
        _, prints, after = statement.partition("print")
        if prints and ">" in after:
            return False
    return True


def _awk_code(program: str) -> str | None:
    """The program without its texts and expressions; None where a slash may be either a division or the end of one."""
    kept: list[str] = []
    at, divides, quotes = 0, False, False
    while at < len(program):
        char = program[at]
        if char == '"':
            quotes = True
            at = _after_delimiter(program, at + 1, '"')
            kept.append("_")
        elif char == "/" and "".join(kept).rstrip(" \t")[-1:] in ("", *"(~!,{;&|}\n"):
            at = _after_regex(program, at + 1, "/")
            if at < 0:
                return None
            kept.append("_")
        else:
            divides = divides or char == "/"
            kept.append(char)
            at += 1
    return None if divides and quotes else "".join(kept)


def sqlite_reads(texts: list[str]) -> bool:
    """Whether `sqlite3` is told to open for reading only, and is told nothing that writes by another way.

    Without `-readonly` even a SELECT may move what is in the write-ahead log into the file, at the end.
    """
    options = [text.replace("--", "-", 1) if text.startswith("--") else text for text in texts if text.startswith("-")]
    if "-readonly" not in options or not _SQLITE_FLAGS.issuperset(options):
        return False
    said = [text for text in texts if not text.startswith("-")][1:]
    lines = [line.strip() for text in said for line in text.splitlines()]
    dots = [line.split()[0] for line in lines if line.startswith(".")]
    return _SQLITE_DOTS.issuperset(dots) and not any(word in text.lower() for text in said for word in _SQLITE_WRITERS)
