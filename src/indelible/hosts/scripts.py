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
_AWK_IN_REGEX = ('"', ";", "{", "}", "\n", "print", "getline", "system")
_SQLITE_FLAGS = frozenset(("-readonly", "-header", "-noheader", "-csv", "-json", "-column", "-line", "-list", "-html", "-box", "-markdown",
                           "-table", "-batch", "-bail", "-quote", "-tabs"))  # fmt: skip
_SQLITE_DOTS = frozenset((".tables", ".schema", ".dump", ".headers", ".header", ".mode", ".indexes", ".indices", ".databases", ".width",
                          ".stats", ".help", ".quit", ".exit", ".dbinfo", ".fullschema"))  # fmt: skip
_SQLITE_WRITERS = ("writefile", "edit(", "load_extension", "fts3_tokenizer")


def sed_reads(texts: list[str]) -> bool:
    """Whether `sed` with these words writes no file and runs nothing."""
    scripts, rest, has_expression = [], list(texts), False
    while rest:
        text = rest.pop(0)
        if not text.startswith("-") or text == "-":
            if not has_expression:
                scripts.append(text)
                has_expression = True
            continue
        name, equals, value = text.partition("=")
        if name not in _SED_FLAGS:
            return False
        if name == "--expression" or (name[1:2] != "-" and name.endswith("e")):
            has_expression = True
            scripts.append(value if equals else rest.pop(0) if rest else "")
    return all(map(_sed_script_reads, scripts))


def _sed_script_reads(script: str) -> bool:
    at, script = 0, script if len(script) <= _LONGEST and not _hides_delimiter(script) else "w"
    while at < len(script):
        char = script[at]
        if char.isdigit() or char in "$,~+" or char in _SED_PLAIN or (char == "I" and at and script[at - 1] == "/"):
            at += 1
        elif char == "/":
            at = _after_delimiter(script, at + 1, "/")
        elif char == "\\" and at + 1 < len(script):
            at = _after_delimiter(script, at + 2, script[at + 1])
        elif char in "sy" and at + 1 < len(script):
            at = _after_delimiter(script, _after_delimiter(script, at + 2, script[at + 1]), script[at + 1])
            while char == "s" and at < len(script) and (script[at] in "gpiIm" or script[at].isdigit()):
                at += 1
        elif char in _SED_TO_THE_END:
            end = script.find("\n", at)
            ends = [index for index in (end, script.find(";", at) if char in "btT:" else -1) if index >= 0]
            at = min(ends) if ends else len(script)
        else:
            return False
    return True


def _hides_delimiter(script: str) -> bool:
    """Whether a bracket holds something that may end an expression: which of both it is, seds do not agree on."""
    for part in script.split("[")[1:]:
        inside = part[:2] + part[2:].partition("]")[0]
        if any(char in inside for char in "/|#,;@%!~") and "]" in part[1:]:
            return True
    return False


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
    if len(program) > _LONGEST:
        return False
    bare = _without_regexes(_without_strings(program)).replace("||", "")
    if "|" in bare or any(word in bare for word in _AWK_FORBIDDEN):
        return False
    for statement in bare.replace("}", ";").replace("\n", ";").replace("{", ";").split(";"):
        before, prints, after = statement.partition("print")
        if prints and ">" in after and not before.endswith("#"):
            return False
    return True


def _without_strings(program: str) -> str:
    kept, at = [], 0
    while at < len(program):
        if program[at] == '"':
            at = _after_delimiter(program, at + 1, '"')
            kept.append("''")
        else:
            kept.append(program[at])
            at += 1
    return "".join(kept)


def _without_regexes(program: str) -> str:
    kept, at = [], 0
    while at < len(program):
        before = program[:at].rstrip()[-1:] if program[at] == "/" else "x"
        end = _after_delimiter(program, at + 1, "/") if not before or before in "(~!,{;&|}" else 0
        inside = program[at + 1 : end - 1]
        if end and end <= len(program) and not any(word in inside for word in _AWK_IN_REGEX):
            kept.append("''")
            at = end
        else:
            kept.append(program[at])
            at += 1
    return "".join(kept)


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
