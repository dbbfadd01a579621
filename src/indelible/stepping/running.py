"""Running the command of a target: at the top of the checkout, its output passed through as it comes."""

from __future__ import annotations

import subprocess
import sys
from shutil import which
from typing import TYPE_CHECKING

from indelible.errors import IndelibleError
from indelible.settings.secrets import for_others

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

VARIABLE = "INDELIBLE_FLOW_TARGET"
"""Tells a command for which target it runs."""
_OURS = "indelible"


def run_command(command: Sequence[str], top: str, environ: Mapping[str, str], target: str, stdout: int | None) -> int:
    """Run it and give its exit code; that of a signal is 128 and its number, as shells have it.

    Args:
        stdout: a descriptor that its standard output goes to; None for this process's own.

    Raises:
        IndelibleError: it cannot be started, and so certainly did nothing.
    """
    try:
        process = subprocess.Popen(
            _startable(command, environ), cwd=top, env={**for_others(environ), VARIABLE: target}, stdout=stdout
        )
    except (OSError, ValueError) as exc:
        raise IndelibleError(
            f"The command of target {target} cannot be started: {command[0]!r} ({exc})",
            remedy="Install it, or mend 'run' of that target and seal it: 'indelible flow seal'",
        ) from exc
    try:
        code = process.wait()
    except KeyboardInterrupt:  # the terminal told the command too
        process.wait()
        raise
    return 128 - code if code < 0 else code


def _startable(command: Sequence[str], environ: Mapping[str, str]) -> Sequence[str]:
    """A step of our own needs no PATH that knows us: whoever runs it, runs us already."""
    if command[0] != _OURS or which(_OURS, path=environ.get("PATH", "")) is not None:
        return command
    return [sys.executable, "-m", _OURS, *command[1:]]
