"""Windsurf: gates only; the text of an exit with 2 is all that reaches the model."""

from __future__ import annotations

from indelible.hosts.host import BEFORE_TOOL, Hooked, Host

HOST = Host(
    name="windsurf",
    title="Windsurf",
    hooked=(
        Hooked("pre_write_code", BEFORE_TOOL),
        Hooked("pre_run_command", BEFORE_TOOL),
        Hooked("pre_mcp_tool_use", BEFORE_TOOL),
    ),
    limit=9_000,
    proven=False,
)
