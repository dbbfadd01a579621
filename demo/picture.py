"""Draws the terminal in docs/picture.svg, from what the commands print today.

    picture.py [--check]

Everything in it was really typed and really printed, in a scratch repository with a home of its own; only the folders are
called otherwise. What was printed stands in the picture's description too, as text. The file is written anew only when a command
prints something else than before, apart from digests, keys and times; `--check` says so and writes nothing (exit 1).
"""

from __future__ import annotations

import html
import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "picture.svg"
TITLE = "indelible"
COLUMNS = 118
FILES = {
    "laws.md": "# Laws\n\n- Never push before a human says yes to that very change.\n",
    "next.md": "Current Target: the parser of dates\nLast Completed Step: a failing test\nNext Permitted Action: mend parse_date\n"
    "- [x] test\n- [ ] mend\n",
    "edit.json": '{"tool_name": "Edit", "tool_input": {"file_path": ".indelible/state/00_governance.md"}}',
}
COMMANDS = (
    "indelible init --host claude-code --governance laws.md",
    "indelible state write 99 next.md",
    "indelible boot                                             # with this Claude Code wakes up, after /compact too",
    "indelible-hook claude-code PreToolUse < edit.json > answer.json    # the agent edits its own laws",
    "sed -i 's/Never push/Push/' .indelible/state/00_governance.md      # somebody goes round the tool",
    'indelible boot; echo "exit $?"',
    "indelible state repair",
)
COLOURS = {"$": "bold", "✅": "green", "❌": "red", "STOP": "red", "Not done": "red", "⚠️": "yellow", "[": "cyan"}
"""How lines are shown that begin so."""
VARYING = (
    (r"\+[0-9a-f]{8}\+[A-Za-z0-9+/=]{44}", "+KEY"),
    (r"\.aside-[0-9TZ]+-[0-9a-f]+-", ".aside-"),
    (r"\b[0-9a-f]{12,64}\b", "HEX"),
    (r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9:.]+Z)?\b", "TIME"),
)
"""What differs from one run to the next, and what stands for it when two runs are compared."""


def main(*, check: bool) -> int:
    """Run the session and draw it, or only compare it with what was drawn."""
    with tempfile.TemporaryDirectory(prefix="indelible-picture-") as folder:
        session = run(Path(folder))
    drawn = described(PICTURE.read_text(encoding="utf-8")) if PICTURE.exists() else ""
    if without_what_varies(drawn) == without_what_varies(session):
        sys.stderr.write(f"{PICTURE.name} shows what the commands print\n")
        return 0
    if check:
        sys.stderr.write(
            f"{PICTURE.name} does not show what the commands print any more; 'make picture' draws it anew:\n{session}"
        )
        return 1
    PICTURE.write_text(draw(session), encoding="utf-8")
    sys.stderr.write(f"{PICTURE} drawn\n")
    return 0


def run(root: Path) -> str:
    """The session as text: each command behind a `$`, and what it printed."""
    root = Path(os.path.realpath(root))
    project = root / "app"
    project.mkdir()
    environment = {
        "HOME": str(root), "LANG": "C.UTF-8", "COLUMNS": str(COLUMNS), "GIT_CONFIG_NOSYSTEM": "1",
        "PATH": os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)]),
    }  # fmt: skip

    def shell(command: str) -> str:
        done = subprocess.run(  # the commands above, and none from elsewhere
            ["sh", "-c", command], cwd=project, env=environment, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )  # fmt: skip
        return done.stdout.decode().replace(str(root), "/home/you")

    for name, content in FILES.items():
        (project / name).write_text(content, encoding="utf-8")
    shell("git init -q -b main")
    return "".join(f"$ {command}\n{shell(command).rstrip()}\n" for command in COMMANDS).replace("\n\n$", "\n$")


def draw(session: str) -> str:
    """The session as SVG, with the text of it as description."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, legacy_windows=False)
    for line in session.splitlines():
        style = next((style for beginning, style in COLOURS.items() if line.startswith(beginning)), "")
        console.print(Text(line, style=style))
    picture = console.export_svg(title=TITLE, unique_id="indelible")
    picture = re.sub(r"\s*@font-face \{.*?\}", "", picture, flags=re.DOTALL)  # a picture fetches nothing
    head, body = picture.split(">", 1)
    return f"{head}>\n<title>{TITLE}</title>\n<desc>{html.escape(session, quote=False)}</desc>{body}"


def described(picture: str) -> str:
    """The text of a session that was drawn."""
    found = re.search(r"<desc>(.*?)</desc>", picture, re.DOTALL)
    return html.unescape(found[1]) if found else ""


def without_what_varies(session: str) -> str:
    """The session with words in the places of digests, keys and times."""
    for pattern, word in VARYING:
        session = re.sub(pattern, word, session)
    return session


if __name__ == "__main__":
    sys.exit(main(check="--check" in sys.argv[1:]))
