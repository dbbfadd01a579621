"""Where something in a shell's text ends: parentheses, braces, quotes, here-documents, each inside of the others.

Without recursion, and in one pass: a text of twenty thousand parentheses takes no longer than any other of its length.
"""

from __future__ import annotations

_BREAKS = " \t\r\n;|&()<>"


def closing(text: str, start: int) -> int:
    """Where what opens at `start`, a parenthesis or a brace, is closed; the length of the text where it is not."""
    open_to, index = [_PAIRS[text[start]]], start + 1
    marks: list[tuple[str, bool]] = []
    counts = text.startswith("((", start)
    while index < len(text):
        char, inside = text[index], open_to[-1]
        if char == "\\":
            index += 1
        elif char == inside:
            open_to.pop()
            if not open_to:
                return index
        elif char == "$" and text[index + 1 : index + 2] in ("(", "{"):
            index += 1
            open_to.append(_PAIRS[text[index]])
        elif inside == '"':
            pass
        elif char == '"':
            open_to.append('"')
        elif char == "'" and (inside == ")" or '"' not in open_to):
            index = after_quote(text, index + 1, escapes=text[index - 1] == "$")
            continue
        elif inside == ")":
            index = _in_command(text, index, open_to, marks, counts=counts)
            continue
        index += 1
    return len(text)


def _in_command(text: str, index: int, open_to: list[str], marks: list[tuple[str, bool]], *, counts: bool) -> int:
    """One more character of a command inside of parentheses; answers with where to go on."""
    char = text[index]
    if char == "(":
        open_to.append(")")
    elif char == "#" and text[index - 1] in _BREAKS:
        end = text.find("\n", index)
        return len(text) if end < 0 else end
    elif char == "<" and not counts and text.startswith("<<", index):
        if text.startswith("<<<", index):
            return index + 3
        mark, index, strips = _mark(text, index + 2)
        marks.append((mark, strips))
        return index
    elif char == "\n" and marks:
        index += 1
        for mark, strips in marks:
            _, index, _ = document(text, index, mark, strips=strips)
        marks.clear()
        return index
    return index + 1


def document(text: str, start: int, mark: str, *, strips: bool) -> tuple[str, int, bool]:
    """A here-document: what it says, where the text goes on, and whether its mark was there."""
    lines: list[str] = []
    at = start
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end]
        at = end + 1
        if (line.lstrip("\t") if strips else line).rstrip("\r") == mark:
            return "\n".join(lines), at, True
        lines.append(line)
    return "\n".join(lines), at, False


def after_quote(text: str, start: int, *, escapes: bool) -> int:
    """Where the text goes on after a single quote that was opened before `start`."""
    if not escapes:
        end = text.find("'", start)
        return len(text) if end < 0 else end + 1
    while start < len(text) and text[start] != "'":
        start += 2 if text[start] == "\\" else 1
    return start + 1


def _mark(text: str, index: int) -> tuple[str, int, bool]:
    """The mark that ends a here-document, where the text goes on, and whether tabs in front are left out."""
    strips = text[index : index + 1] == "-"
    index += strips
    while text[index : index + 1] in (" ", "\t"):
        index += 1
    said = []
    while index < len(text) and text[index] not in _BREAKS:
        char = text[index]
        if char in "'\"":
            end = text.find(char, index + 1)
            end = len(text) if end < 0 else end
            said.append(text[index + 1 : end])
            index = end + 1
            continue
        if char == "\\":
            index += 1
        said.append(text[index : index + 1])
        index += 1
    return "".join(said), index, strips


_PAIRS = {"(": ")", "{": "}"}
