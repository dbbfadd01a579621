"""The command line's front door: `--version`, `verify`, `boot`, `flow hook` and `hooks statusline` are answered without click, the rest by `cli.main`."""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> None:
    """Run one command and leave with its exit code (docs: README, 'Exit codes')."""
    arguments = sys.argv[1:]
    if arguments == ["--version"]:
        from indelible import __version__

        print(f"indelible {__version__}")  # noqa: T201 - the hottest path of all
        return
    gc.disable()  # nothing that is short-lived makes garbage enough to be looked for: a tenth of its time
    code: int | None = None
    if arguments[:2] == ["flow", "hook"] and len(arguments) > 2 and "--json" not in arguments:
        from indelible.githooks.hook import run as answer_git
        from indelible.githooks.scripts import EVENTS

        code = answer_git(arguments[2], arguments[3:]) if arguments[2] in EVENTS else None
    elif "verify" in arguments[:5]:
        from indelible.cli.fast import verify

        code = verify(arguments)
    elif "boot" in arguments[:5]:
        from indelible.cli.briefly import boot

        code = boot(arguments)
    elif arguments[:1] == ["hooks"]:
        from indelible.cli.glancing import statusline

        code = statusline(arguments)
    if code is not None:
        _leave(code)
    gc.enable()
    from indelible.cli.main import run

    sys.exit(run(arguments))


def _leave(code: int) -> NoReturn:
    """End at once: stores are closed and lines are written, and to take the interpreter apart is a tenth of the time."""
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):  # one that was closed under us: the interpreter knows what to say of it
        sys.exit(code)
    os._exit(code)


if __name__ == "__main__":
    main()
