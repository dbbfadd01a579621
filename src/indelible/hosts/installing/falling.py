"""What the line in a host's settings does where our program does not run: it is gone, its Python is, the package is broken.

Most hosts let a call pass when a hook ends with 1 or 127, and show the model nothing. So the line is a few words of POSIX
shell around the program: what ends with neither 0 nor the 2 of a refusal is denied by a gate, and any other event hands the
host its own document, by which the model is told that memory was NOT loaded. Either is noted in hooks.log.

    /bin/sh -c '"$0" "$1" "$2" || {…}' /path/of/indelible-hook HOST EVENT 'what is said then'

The shell is named, since Codex hands the line to whatever `$SHELL` is: fish and csh read other words. Not one character of
these texts may change without need: Codex trusts a hook by the digest of its line.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, cast

from indelible.hosts.host import BEFORE_COMPACTION, GATES, SUBAGENT_STOP, Reply

if TYPE_CHECKING:
    from indelible.hosts.host import Contract, Hooked

SHELL = ("/bin/sh", "-c")
CALL = '"$0" "$1" "$2" || '
"""How each script begins: the program, with the host's name and the event's."""
DENIED = (
    "Not done: Indelible could not judge this call, since its program did not run. "
    "Ask your human to install Indelible again, and then its hooks: indelible hooks install"
)
NOT_LOADED = (
    "Indelible: memory was NOT loaded, since its program did not run. Do not act as if you knew the state of this work. "
    "Ask your human to install Indelible again, and then its hooks: indelible hooks install"
)
WARNING = "indelible-hook did not run. Install Indelible again, and then its hooks: indelible hooks install"
_FOLDER = {"darwin": "$HOME/Library/Application Support"}
_NOTED = (
    'echo "$(date -u +%Y-%m-%dT%H:%M:%SZ) $1 $2 ($PWD) did-not-run: exit $hook_exit of $0" 2>/dev/null >>"FOLDER/indelible/hooks.log"'
).replace("FOLDER", _FOLDER.get(sys.platform, "${XDG_STATE_HOME:-$HOME/.local/state}"))
_DENYING = f'{CALL}{{ hook_exit=$?; [ $hook_exit = 2 ] || {{ cat >/dev/null; echo "$3" >&2; {_NOTED}; }}; exit 2; }}'
_TELLING = f'{CALL}{{ hook_exit=$?; cat >/dev/null; echo "$3"; {_NOTED};'
"""`cat` takes what the host still writes: Codex lets a call pass when it cannot write it all."""


class Fallback(NamedTuple):
    """What stands around the program's own words in a line."""

    script: str
    said: str
    """The document, or the reason on standard error."""


def fallback(host: str, event: str) -> Fallback:
    """What is done where the program does not run for this event of a host.

    A refusal ends with 2, which denies whatever stands on standard output (Copilot: any code but 0), and tells the reason where
    the host looks for it. Antigravity alone knows no such code; to it, what is no decision is a question to the person.
    """
    contract = cast("Contract", import_module(f"indelible.hosts.{host.replace('-', '_')}"))
    hooked = cast("Hooked", contract.HOST.hook(event))
    made = contract.render(hooked, _reply(hooked))
    if made.code:
        return Fallback(_DENYING, DENIED)
    is_refusal = hooked.purpose in GATES and host != "antigravity"
    return Fallback(_TELLING + (" exit 2; }" if is_refusal else " exit 0; }"), made.stdout.strip())


def _reply(hooked: Hooked) -> Reply:
    if hooked.purpose in GATES:
        return Reply(deny=DENIED)
    if hooked.purpose in (BEFORE_COMPACTION, SUBAGENT_STOP):
        return Reply(warning=WARNING)
    return Reply(context=NOT_LOADED, warning=WARNING)
