"""The one-time code of a person's key, asked for where the key has one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from indelible.errors import AccessDenied

if TYPE_CHECKING:
    from indelible.keys import Keystore

_NANOSECONDS = 10**9


def require_code(keys: Keystore, name: str, passphrase: str) -> None:
    """Ask for a code and take it, where the key of that name has a secret for codes.

    Raises:
        WrongCode: it is wrong, or was used before. AccessDenied: there is no terminal to type it on.
    """
    from indelible.keys import onetime
    from indelible.record import instant
    from indelible.settings import now

    if onetime.read(keys.folder, name) is None:
        return
    if sys.stdin is None or not sys.stdin.isatty():
        raise AccessDenied(
            "A one-time code is needed and there is no terminal to type it on", remedy="Approve on a terminal"
        )
    code = click.prompt("One-time code", err=True, default="", show_default=False)
    onetime.use(keys.folder, name, passphrase, code, instant(now()) // _NANOSECONDS)
