"""Every host, for what goes through all of them: the installer, the tests, the docs. The hook program loads one only."""

from __future__ import annotations

from indelible.hosts import antigravity, claude_code, codex, copilot, cursor, gemini, openclaw, opencode, qwen, windsurf

HOSTS = (
    claude_code.HOST,
    codex.HOST,
    gemini.HOST,
    qwen.HOST,
    copilot.HOST,
    opencode.HOST,
    cursor.HOST,
    antigravity.HOST,
    windsurf.HOST,
    openclaw.HOST,
)
"""Those that are driven with the real client first."""
