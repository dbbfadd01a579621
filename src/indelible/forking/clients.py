"""What coding agents print where a program is meant to read it: the result of their work, and the tokens it took.

    claude     -p --output-format stream-json --verbose, or json     {"type":"result","result":…,"modelUsage":{…}}
    codex      exec --json                                           item.completed, turn.completed; older ones token_count
    gemini     -o stream-json, or json                               {"type":"result","stats":{…}}; {"response":…,"stats":{…}}
    qwen       -o stream-json, or json (one array)                   {"type":"result","result":…,"usage":{…}}
    opencode   run --format json                                     text, step_finish
    copilot    --output-format json                                  assistant.message; it reports no tokens there

Measured with the versions that `make test-hosts` drives. It is what a program says about itself: any program can print such a line.
"""

from __future__ import annotations

import json

from indelible.forking.run import Tokens
from indelible.light import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

_HINTS = (b'"type"', b'"msg"', b'"response"')
"""One of these is in every line that says something here."""


class Listener:
    """Takes the lines of an output as they come, and knows at the end what its client reported."""

    def __init__(self) -> None:
        self.result: str | None = None
        """What the client gave as its result."""
        self._said = ""
        """The last that its model said, where no result is told apart."""
        self._said_in = ""
        self._total: Tokens | None = None
        self._turns: dict[str, Tokens] = {}
        """By message: what came before the total, or instead of it where the client was killed."""

    @property
    def text(self) -> str:
        """The result; empty where nothing was recognised."""
        return self.result if self.result is not None else self._said

    @property
    def tokens(self) -> Tokens | None:
        """What it took; None where nothing was reported."""
        if self._total is not None or not self._turns:
            return self._total
        turns = list(self._turns.values())
        return Tokens(
            sum(one.input for one in turns), sum(one.cached for one in turns), sum(one.output for one in turns), turns[0].source
        )  # fmt: skip

    def line(self, text: bytes) -> None:
        """One line of the output."""
        if not text.startswith((b"{", b"[")) or not any(hint in text for hint in _HINTS):
            return
        try:
            self.document(json.loads(text))
        except (ValueError, RecursionError):
            return

    def document(self, found: object) -> None:
        """One JSON document of it, or an array of them."""
        for one in found if isinstance(found, list) else (found,):
            if isinstance(one, dict):
                self._take(one)

    def _take(self, event: dict[str, Any]) -> None:
        kind, part = event.get("type"), _members(event, "part")
        if kind == "result":
            self._ended(event)
        elif kind in ("assistant", "user"):
            self._claude(event)
        elif kind == "message" or (kind == "tool_use" and "tool_name" in event):
            self._gemini(event)
        elif isinstance(kind, str) and kind.startswith(("item.", "turn.")):
            self._codex(kind, event)
        elif kind in ("text", "step_finish") and part:
            self._opencode(part)
        elif kind == "assistant.message":
            self._said = _text(_members(event, "data").get("content")) or self._said
        elif "msg" in event:
            self._older_codex(_members(event, "msg"))
        elif isinstance(event.get("response"), str) and "stats" in event:
            self.result, self._total = event["response"], _of_gemini(_members(event, "stats"))

    def _ended(self, event: dict[str, Any]) -> None:
        """The last line of Claude, Qwen and Gemini, and of Copilot, which has no numbers of tokens in it."""
        if isinstance(event.get("result"), str):
            self.result = event["result"]
        models, usage, stats = (_members(event, name) for name in ("modelUsage", "usage", "stats"))
        if models:
            self._total = _of_models(models)
        elif "input_tokens" in usage:
            self._total = _tokens(usage, "qwen", "input_tokens", "cache_read_input_tokens", "output_tokens")
        elif "input_tokens" in stats:
            self._total = _tokens(stats, "gemini", "input_tokens", "cached", "output_tokens")

    def _claude(self, event: dict[str, Any]) -> None:
        message = _members(event, "message")
        if event.get("type") != "assistant" or event.get("parent_tool_use_id"):
            return
        content = message.get("content")
        texts = (
            [_text(one.get("text")) for one in content if isinstance(one, dict)] if isinstance(content, list) else []
        )
        self._said = "".join(texts) or self._said
        usage = _members(message, "usage")
        if _count(usage, "input_tokens"):
            self._turns[_text(message.get("id"))] = _of_anthropic(usage)

    def _gemini(self, event: dict[str, Any]) -> None:
        """What the model says comes in pieces, and between two tools it is something else."""
        if event.get("role") != "assistant":
            self._said_in = ""
        else:
            self._said = (self._said if self._said_in else "") + _text(event.get("content"))
            self._said_in = "gemini"

    def _codex(self, kind: str, event: dict[str, Any]) -> None:
        item, usage = _members(event, "item"), _members(event, "usage")
        if kind == "item.completed" and item.get("type") == "agent_message":
            self._said = _text(item.get("text")) or self._said
        elif kind == "turn.completed" and usage:
            key = str(len(self._turns))
            self._turns[key] = _tokens(usage, "codex", "input_tokens", "cached_input_tokens", "output_tokens")

    def _older_codex(self, message: dict[str, Any]) -> None:
        usage = _members(_members(message, "info"), "total_token_usage")
        if message.get("type") == "agent_message":
            self._said = _text(message.get("message")) or self._said
        elif message.get("type") == "token_count" and usage:
            self._total = _tokens(usage, "codex", "input_tokens", "cached_input_tokens", "output_tokens")

    def _opencode(self, part: dict[str, Any]) -> None:
        message, tokens = _text(part.get("messageID")), _members(part, "tokens")
        if part.get("type") == "text":
            same = message == self._said_in
            self._said, self._said_in = (self._said if same else "") + _text(part.get("text")), message
        elif tokens:
            cache = _members(tokens, "cache")
            read, written = _count(cache, "read"), _count(cache, "write")
            self._turns[_text(part.get("id"))] = Tokens(
                _count(tokens, "input") + read + written, read, _count(tokens, "output") + _count(tokens, "reasoning"), "opencode",
            )  # fmt: skip


def _tokens(usage: dict[str, Any], source: str, given: str, cached: str, made: str) -> Tokens:
    return Tokens(_count(usage, given), _count(usage, cached), _count(usage, made), source)


def _of_anthropic(usage: dict[str, Any]) -> Tokens:
    read = _count(usage, "cache_read_input_tokens")
    given = _count(usage, "input_tokens") + _count(usage, "cache_creation_input_tokens") + read
    return Tokens(given, read, _count(usage, "output_tokens"), "claude")


def _of_models(models: dict[str, Any]) -> Tokens:
    """Over all models of a session, those of its subagents too."""
    given = cached = made = 0
    for usage in models.values():
        if isinstance(usage, dict):
            read = _count(usage, "cacheReadInputTokens")
            given += _count(usage, "inputTokens") + _count(usage, "cacheCreationInputTokens") + read
            cached += read
            made += _count(usage, "outputTokens")
    return Tokens(given, cached, made, "claude")


def _of_gemini(stats: dict[str, Any]) -> Tokens | None:
    models = [_members(one, "tokens") for one in _members(stats, "models").values() if isinstance(one, dict)]
    if not models:
        return None
    given, cached = (sum(_count(one, name) for one in models) for name in ("prompt", "cached"))
    return Tokens(given, cached, sum(_count(one, "candidates") + _count(one, "thoughts") for one in models), "gemini")


def _members(found: dict[str, Any], name: str) -> dict[str, Any]:
    inner = found.get(name)
    return inner if isinstance(inner, dict) else {}


def _count(found: dict[str, Any], name: str) -> int:
    number = found.get(name)
    return number if isinstance(number, int) and not isinstance(number, bool) and number > 0 else 0


def _text(found: object) -> str:
    return found if isinstance(found, str) else ""
