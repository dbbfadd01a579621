"""The clients that are driven."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.clients.drivers.claude import Claude
from tests.clients.drivers.codex import Codex
from tests.clients.drivers.copilot import Copilot
from tests.clients.drivers.gemini import Gemini
from tests.clients.drivers.opencode import OpenCode
from tests.clients.drivers.qwen import Qwen

if TYPE_CHECKING:
    from tests.clients.drivers.driver import Driver

DRIVERS: tuple[Driver, ...] = (Claude(), Codex(), Gemini(), Qwen(), Copilot(), OpenCode())
