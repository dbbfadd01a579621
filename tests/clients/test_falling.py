"""A hook that cannot run holds writes, in the real clients: nothing is written, and the model is told."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.clients.drivers.opencode import OpenCode
from tests.clients.living import GOVERNANCE, LAW, RIDER, Home
from tests.clients.seat import only_with_clients

if TYPE_CHECKING:
    from tests.clients.seat import Seat

only_with_clients()

WAYS = {
    "it is gone": "",
    "its interpreter is gone": "#!/gone/bin/python3\n",
    "its package is gone": f"#!{sys.executable} -IS\nfrom indelible.hosts.hook import main\nmain()\n",
    "it is killed": "#!/bin/sh\nkill -9 $$\n",
}


@pytest.mark.parametrize("way", WAYS)
def test_a_hook_that_cannot_run_holds_writes_and_the_model_is_told(seat: Seat, way: str) -> None:
    home, driver, hook = Home(seat), seat.driver, linked(seat)
    install_again(home)
    before = home.governance.read_bytes()
    home.governance.chmod(0o644)  # the test may run as root, whom the mode does not stop either
    hook.unlink()
    if WAYS[way]:
        hook.write_text(WAYS[way], encoding="utf-8")
        hook.chmod(0o755)
    writes = driver.write(home.path(GOVERNANCE), f"{RIDER}\n"), driver.shell("echo gone > .indelible/store.db")
    first, *_, last = home.attempt(driver.write(home.path("note.txt"), "one\n"), *writes)
    assert first.says("memory was NOT loaded")
    assert not first.says(LAW)
    assert last.says("indelible-hook" if isinstance(driver, OpenCode) else "could not judge this call")
    assert home.governance.read_bytes() == before
    assert not (seat.box.project / "note.txt").exists()
    assert (seat.box.project / ".indelible" / "store.db").read_bytes()[:6] == b"SQLite"


def linked(seat: Seat) -> Path:
    """A hook program of this sandbox's own, which can be broken: a link on the PATH, as pipx makes it."""
    folder = seat.box.root / "our tools"
    folder.mkdir()
    for name in ("indelible", "indelible-hook"):
        (folder / name).symlink_to(Path(sys.executable).parent / name)
    seat.box.extra["PATH"] = os.pathsep.join((str(folder), seat.box.environment()["PATH"]))
    return folder / "indelible-hook"


def install_again(home: Home) -> None:
    """With the program that the PATH has now."""
    seat = home.seat
    seat.indelible("hooks", "install", "--host", seat.driver.host)
    if trust := getattr(seat.driver, "trust", None):
        config = seat.box.home / ".codex" / "config.toml"
        config.write_text(config.read_text(encoding="utf-8").partition("[hooks.state")[0], encoding="utf-8")
        trust(seat.clients, seat.box)
