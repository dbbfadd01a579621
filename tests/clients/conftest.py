"""Real clients for tests: each in a sandbox of its own, against a scripted model. Only `make test-hosts` starts them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from tests.clients.drivers.table import DRIVERS
from tests.clients.seat import INSTALLED, Seat, seat_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line for each reason why tests were skipped, where real clients are asked for."""
    skipped = (
        Counter(str(report.longrepr[2]) for report in terminalreporter.stats.get("skipped", ())) if INSTALLED else {}
    )
    for reason, number in sorted(skipped.items()):
        terminalreporter.write_line(f"{number} skipped: {reason.removeprefix('Skipped: ')}")


@pytest.fixture(params=DRIVERS, ids=lambda driver: driver.host)
def seat(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Seat]:
    """Each client in turn."""
    yield from seat_of(request.param, tmp_path)


def _one(host: str) -> object:
    @pytest.fixture(name=host.replace("-", "_"))
    def fixture(tmp_path: Path) -> Iterator[Seat]:
        yield from seat_of(next(driver for driver in DRIVERS if driver.host == host), tmp_path)

    return fixture


claude_code, codex, gemini, copilot = (_one(host) for host in ("claude-code", "codex", "gemini", "copilot"))
