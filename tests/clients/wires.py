"""Four wire protocols of model providers, as far as a coding agent's session needs them: one turn in, one answer out.

    anthropic          POST …/v1/messages
    openai-responses   POST …/responses
    openai-chat        POST …/chat/completions
    gemini             POST …/models/M:generateContent, :streamGenerateContent

An answer is the whole JSON document and the server-sent events that spell the same thing. Ids are counted, not drawn, so
that two runs of one script give the same bytes.
"""

from __future__ import annotations

import itertools
import json
import re
from typing import Any, NamedTuple

Json = dict[str, Any]


class Call(NamedTuple):
    """A tool that the model calls."""

    tool: str
    arguments: Json | str
    """A document, or the raw text of a tool that takes text (`apply_patch`)."""
    namespace: str = ""


class Turn(NamedTuple):
    """What the model answers to one request."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    used: int = 100
    """Tokens of the request, as the model reports them: what makes a client compact."""
    seconds: float = 0.0
    """How long the model thinks."""


class Answer(NamedTuple):
    """One turn in a provider's own form."""

    document: Json
    events: tuple[tuple[str, Json | str], ...]
    """Name (empty where the protocol has none) and data of each server-sent event."""


_count = itertools.count(1)


def _id(prefix: str) -> str:
    return f"{prefix}{next(_count):020d}"


def route(path: str) -> tuple[str, str]:
    """Protocol and operation (`generate`, `stream`, `count`) of a path; two empty words where it is none of ours."""
    if path.endswith("/messages/count_tokens"):
        return "anthropic", "count"
    for ending, protocol in (
        ("/messages", "anthropic"),
        ("/responses", "openai-responses"),
        ("/chat/completions", "openai-chat"),
    ):
        if path.endswith(ending):
            return protocol, "generate"
    found = re.search(r"/models/[^/:]+:(\w+)$", path)
    if not found:
        return "", ""
    return "gemini", {"countTokens": "count", "streamGenerateContent": "stream"}.get(found[1], "generate")


def answer(protocol: str, turn: Turn, model: str) -> Answer:
    """Spell a turn."""
    return _SPELLING[protocol](turn, model)


def _anthropic(turn: Turn, model: str) -> Answer:
    blocks: list[Json] = [{"type": "text", "text": turn.text}] if turn.text or not turn.calls else []
    blocks += [{"type": "tool_use", "id": _id("toolu_"), "name": c.tool, "input": c.arguments} for c in turn.calls]
    reason = "tool_use" if turn.calls else "end_turn"
    usage = {
        "input_tokens": turn.used,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 20,
    }
    message = {
        "id": _id("msg_"), "type": "message", "role": "assistant", "model": model, "content": blocks,
        "stop_reason": reason, "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    events: list[tuple[str, Json]] = [
        ("message_start", {"message": {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}})
    ]  # fmt: skip
    for index, block in enumerate(blocks):
        if block["type"] == "text":
            head, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            head, delta = (
                {**block, "input": {}},
                {"type": "input_json_delta", "partial_json": json.dumps(block["input"])},
            )
        events += [
            ("content_block_start", {"index": index, "content_block": head}),
            ("content_block_delta", {"index": index, "delta": delta}),
            ("content_block_stop", {"index": index}),
        ]
    events += [
        ("message_delta", {"delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}),
        ("message_stop", {}),
    ]
    return Answer(message, tuple((name, {"type": name, **data}) for name, data in events))


def _openai_responses(turn: Turn, model: str) -> Answer:
    items: list[Json] = []
    if turn.text or not turn.calls:
        content = [{"type": "output_text", "text": turn.text, "annotations": []}]
        items.append(
            {"type": "message", "id": _id("msg_"), "role": "assistant", "status": "completed", "content": content}
        )
    items += [_responses_call(call) for call in turn.calls]
    usage = {
        "input_tokens": turn.used, "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 20, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": turn.used + 20,
    }  # fmt: skip
    response = {
        "id": _id("resp_"), "object": "response", "created_at": 0, "status": "completed", "model": model,
        "output": items, "usage": usage,
    }  # fmt: skip
    begun = {**response, "status": "in_progress", "output": [], "usage": None}
    events: list[tuple[str, Json]] = [("response.created", {"response": begun})]
    for index, item in enumerate(items):
        events += [
            ("response.output_item.added", {"output_index": index, "item": item}),
            ("response.output_item.done", {"output_index": index, "item": item}),
        ]
    events.append(("response.completed", {"response": response}))
    return Answer(response, tuple((name, {"type": name, **data}) for name, data in events))


def _responses_call(call: Call) -> Json:
    same = {"call_id": _id("call_"), "name": call.tool, "status": "completed"}
    if isinstance(call.arguments, str):
        return {"type": "custom_tool_call", "id": _id("ctc_"), "input": call.arguments, **same}
    item = {"type": "function_call", "id": _id("fc_"), "arguments": json.dumps(call.arguments), **same}
    return {**item, "namespace": call.namespace} if call.namespace else item


def _openai_chat(turn: Turn, model: str) -> Answer:
    calls = [
        {"index": index, "id": _id("call_"), "type": "function", "function": {"name": c.tool, "arguments": json.dumps(c.arguments)}}
        for index, c in enumerate(turn.calls)
    ]  # fmt: skip
    message: Json = {"role": "assistant", "content": turn.text or (None if calls else "")}
    if calls:
        message["tool_calls"] = calls
    reason = "tool_calls" if calls else "stop"
    usage = {"prompt_tokens": turn.used, "completion_tokens": 20, "total_tokens": turn.used + 20}
    same: Json = {"id": _id("chatcmpl-"), "created": 0, "model": model}
    chunk: Json = {**same, "object": "chat.completion.chunk"}
    events: list[tuple[str, Json | str]] = [
        ("", {**chunk, "choices": [{"index": 0, "delta": message, "finish_reason": None}]}),
        ("", {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}),
        ("", {**chunk, "choices": [], "usage": usage}),
        ("", "[DONE]"),
    ]
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return Answer({**same, "object": "chat.completion", "usage": usage, "choices": [choice]}, tuple(events))


def _gemini(turn: Turn, model: str) -> Answer:
    parts: list[Json] = [{"text": turn.text}] if turn.text or not turn.calls else []
    parts += [{"functionCall": {"name": call.tool, "args": call.arguments}} for call in turn.calls]
    document = {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": turn.used, "candidatesTokenCount": 20, "totalTokenCount": turn.used + 20},
        "modelVersion": model,
    }
    return Answer(document, (("", document),))


_SPELLING = {
    "anthropic": _anthropic,
    "openai-responses": _openai_responses,
    "openai-chat": _openai_chat,
    "gemini": _gemini,
}
