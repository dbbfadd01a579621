"""A seat: one client, ready to work in its sandbox, with a model that follows the test's script."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.clients.install import why_not
from tests.clients.model import Model, Script
from tests.clients.sandbox import Ended, Sandbox

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.clients.drivers.driver import Driver

INSTALLED = os.environ.get("HOST_CLIENTS", "")
"""Where the clients are; empty outside of `make test-hosts`."""


def only_with_clients() -> None:
    """Skip the module that calls it, outside of `make test-hosts`."""
    if not INSTALLED:
        pytest.skip("real clients are driven by 'make test-hosts'", allow_module_level=True)


@dataclass
class Seat:
    """One client, ready to work in its sandbox."""

    driver: Driver
    clients: Path
    box: Sandbox
    model: Model

    def run(self, script: Script, *prompts: str, again: bool = False) -> Ended:
        """Have the client work on prompts while the model follows the script; the client must end well."""
        self.model.follow(script)
        ended = self.driver.run(self.clients, self.box, self.model, *prompts, again=again)
        assert ended.code == 0, ended
        return ended

    def indelible(self, *args: str, given: str = "", code: int = 0) -> Ended:
        """The product, as a person types it in the project; it must end with this code."""
        ended = self.box.indelible(*args, given=given)
        assert ended.code == code, ended
        return ended


def seat_of(driver: Driver, root: Path) -> Iterator[Seat]:
    """A seat for one test; skips it where the client is not there."""
    clients = Path(INSTALLED)
    if reason := why_not(clients, driver):
        pytest.skip(reason)
    with Model() as model:
        box = Sandbox(root / "box")
        driver.ready(box, model)
        yield Seat(driver, clients, box, model)
