"""The command line's front door: `--version`, `verify`, `boot` and `hooks statusline` are answered without click, the rest by `cli.main`."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run one command and leave with its exit code (docs: README, 'Exit codes')."""
    arguments = sys.argv[1:]
    if arguments == ["--version"]:
        from indelible import __version__

        print(f"indelible {__version__}")  # noqa: T201 - the hottest path of all
        return
    gc.disable()  # nothing that is short-lived makes garbage enough to be looked for: a tenth of its time
    code: int | None = None
    if "verify" in arguments[:5]:
        from indelible.cli.fast import verify

        code = verify(arguments)
    elif "boot" in arguments[:5]:
        from indelible.cli.briefly import boot

        code = boot(arguments)
    elif arguments[:1] == ["hooks"]:
        from indelible.cli.glancing import statusline

        code = statusline(arguments)
    if code is None:
        gc.enable()
        from indelible.cli.main import run

        code = run(arguments)
    sys.exit(code)


if __name__ == "__main__":
    main()
