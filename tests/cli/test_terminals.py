"""On a terminal: what is asked, what is waited for, and what is not shown."""

from __future__ import annotations

import os
import select
import shutil
import sys
import time
from typing import TYPE_CHECKING

import pytest
from tests.cli.hands import FIRST, Kept, refused, start

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.conftest import Run

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("setsid") is None,
    reason="needs a pseudo terminal, and setsid to make it the controlling one",
)


def at_terminal(words: Iterable[str], kept: Kept, *answers: tuple[str, str]) -> tuple[int, str]:
    """Run a command on a terminal of its own, type each answer when its prompt is there; gives exit code and screen."""
    terminal, its_side = os.openpty()
    alone = ("setsid", "--ctty", "--wait")
    process = start(
        *words, cwd=kept.work, prefix=alone, env={"TERM": "xterm"}, stdin=its_side, stdout=its_side, stderr=its_side
    )
    os.close(its_side)
    screen, waiting = b"", list(answers)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if waiting and waiting[0][0].encode() in screen:
            prompt, answer = waiting.pop(0)
            screen = screen.replace(prompt.encode(), b"<asked>", 1)
            os.write(terminal, answer.encode())
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                screen += os.read(terminal, 65536)
            except OSError:  # the other side is closed
                break
    code = process.wait(timeout=30)
    os.close(terminal)
    return code, screen.decode("utf-8", "replace")


def test_erase_asks_and_no_is_no(kept: Kept) -> None:
    code, screen = at_terminal(["erase", "MEMORY.md"], kept, ("[y/N]", "n\n"))
    assert code == 1, screen
    assert "cannot be undone" in screen
    assert kept.load("MEMORY.md") == FIRST
    code, screen = at_terminal(["erase", "MEMORY.md"], kept, ("[y/N]", "y\n"))
    assert code == 0, screen
    refused(kept.run("load", "MEMORY.md"), 3, "erased")


def test_a_passphrase_is_asked_twice_and_not_shown(kept: Kept) -> None:
    words = ["key", "create", "--role", "owner"]
    secret = "correct horse battery staple"
    code, screen = at_terminal(
        words, kept, ("Passphrase of", f"{secret}\n"), ("Repeat for confirmation:", f"{secret}\n")
    )
    assert code == 0, screen
    assert secret not in screen
    code, screen = at_terminal(["key", "revoke", "--from-seq", "5"], kept, ("Passphrase of", "wrong\n"))
    assert code == 1, screen
    assert "Traceback" not in screen
    code, screen = at_terminal(["key", "revoke", "--from-seq", "5"], kept, ("Passphrase of", f"{secret}\n"))
    assert code == 0, screen


def test_ctrl_c_at_a_prompt_stops_without_a_traceback(kept: Kept) -> None:
    code, screen = at_terminal(["key", "create", "--role", "owner"], kept, ("Passphrase of", "\x03"))
    assert code == 130, screen
    assert "Traceback" not in screen
    assert "Stopped" in screen
    refused(kept.run("key", "show", "--role", "owner"), 3)


def test_save_without_a_file_says_what_it_waits_for(kept: Kept) -> None:
    code, screen = at_terminal(["save", "typed"], kept, ("Ctrl-D", "by hand\n\x04"))
    assert code == 0, screen
    assert kept.load("typed") == b"by hand\n"


def test_a_server_is_stopped_by_ctrl_c(run: Run, kept: Kept) -> None:
    code, screen = at_terminal(["serve", "--port", "0"], kept, ("Serving on", "\x03"))
    assert code == 0, screen
    assert "Traceback" not in screen
