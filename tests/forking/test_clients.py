"""What coding agents report: the forms that the real clients printed, cut to what matters, and output that only looks like one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.forking.artifact import read_output
from indelible.forking.clients import Listener
from indelible.forking.run import Run, Tokens, parse_run, sealed_text, to_document

if TYPE_CHECKING:
    from pathlib import Path

USAGE = {"input_tokens": 5000, "cache_creation_input_tokens": 300, "cache_read_input_tokens": 700, "output_tokens": 20}
MODELS = {
    "claude-opus-5-5": {"inputTokens": 12000, "outputTokens": 40, "cacheReadInputTokens": 500, "cacheCreationInputTokens": 100},
    "claude-haiku": {"inputTokens": 400, "outputTokens": 2, "cacheReadInputTokens": 0, "cacheCreationInputTokens": 0},
}  # fmt: skip
SAID = "THE RESULT\nsecond line"


def assistant(number: int, text: str, usage: Any = None, parent: str | None = None) -> dict[str, Any]:
    message = {
        "id": f"msg_{number}",
        "role": "assistant",
        "content": [{"type": "text", "text": text}],
        "usage": usage or USAGE,
    }
    return {"type": "assistant", "message": message, "parent_tool_use_id": parent}


def item(text: str) -> dict[str, Any]:
    return {"type": "item.completed", "item": {"id": "item_0", "type": "agent_message", "text": text}}


def message(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": text, "delta": True}


def part(kind: str, **more: Any) -> dict[str, Any]:
    return {
        "type": kind.replace("-", "_"),
        "part": {"type": kind, "messageID": "msg_2", "id": f"prt{len(more)}", **more},
    }


STREAMS: dict[str, tuple[list[dict[str, Any]], Tokens]] = {
    "claude": ([
        {"type": "system", "subtype": "init"}, assistant(1, "thinking"),
        {"type": "result", "subtype": "success", "result": SAID, "usage": USAGE, "modelUsage": MODELS},
    ], Tokens(13000, 500, 42, "claude")),
    "claude, killed": ([assistant(1, "thinking"), assistant(1, "more"), assistant(2, "aside", parent="toolu_1"), assistant(3, SAID)],
                       Tokens(12000, 1400, 40, "claude")),
    "codex": ([
        {"type": "thread.started"}, item("thinking"), item(SAID),
        {"type": "turn.completed", "usage": {"input_tokens": 12000, "cached_input_tokens": 900, "output_tokens": 40}},
    ], Tokens(12000, 900, 40, "codex")),
    "codex, older": ([
        {"id": "0", "msg": {"type": "agent_message", "message": SAID}},
        {"id": "0", "msg": {"type": "token_count", "info": {"total_token_usage": {"input_tokens": 7, "cached_input_tokens": 1, "output_tokens": 2}}}},
    ], Tokens(7, 1, 2, "codex")),
    "gemini": ([
        {"type": "init"}, {"type": "message", "role": "user", "content": "hi"}, message("thinking"),
        {"type": "tool_use", "tool_name": "run_shell_command"}, message("THE RESULT\n"), message("second line"),
        {"type": "result", "status": "success", "stats": {"total_tokens": 12040, "input_tokens": 12000, "output_tokens": 40, "cached": 5}},
    ], Tokens(12000, 5, 40, "gemini")),
    "qwen": ([
        assistant(1, "thinking", {"input_tokens": 0}),
        {"type": "result", "result": SAID, "usage": {"input_tokens": 12000, "output_tokens": 40, "cache_read_input_tokens": 3},
         "stats": {"models": {}}},
    ], Tokens(12000, 3, 40, "qwen")),
    "opencode": ([
        part("text", messageID="msg_1", text="thinking"),
        part("step-finish", id="a", tokens={"input": 5000, "output": 20, "reasoning": 1, "cache": {"write": 10, "read": 5}}),
        part("text", text="THE RESULT\n"), part("text", text="second line"),
        part("step-finish", id="b", tokens={"input": 7000, "output": 20, "reasoning": 0, "cache": {"write": 0, "read": 0}}),
    ], Tokens(12015, 5, 41, "opencode")),
}  # fmt: skip


@pytest.mark.parametrize("client", STREAMS)
def test_the_result_and_the_tokens_of_a_stream(client: str, tmp_path: Path) -> None:
    events, tokens = STREAMS[client]
    lines = "".join(json.dumps(event) + "\n" for event in events)
    (tmp_path / "output").write_text(f"a warning before it\n{lines}and {{one}} behind it\n")
    _, _, told = read_output(str(tmp_path / "output"), None, 15)
    assert (told.lines, told.is_result, told.tokens) == (("THE RESULT", "second line"), True, tokens)


DOCUMENTS: dict[str, tuple[Any, Tokens]] = {
    "claude": (STREAMS["claude"][0][-1], STREAMS["claude"][1]),
    "qwen": (STREAMS["qwen"][0], STREAMS["qwen"][1]),
    "gemini": ({"session_id": "x", "response": SAID, "stats": {"models": {
        "a": {"tokens": {"prompt": 12000, "candidates": 30, "thoughts": 10, "cached": 4}},
        "b": {"tokens": {"prompt": 1, "candidates": 1, "thoughts": 0, "cached": 0}},
    }}}, Tokens(12001, 4, 41, "gemini")),
}  # fmt: skip


@pytest.mark.parametrize("client", DOCUMENTS)
@pytest.mark.parametrize("indent", [None, 2])
def test_the_result_and_the_tokens_of_one_document(client: str, indent: int | None, tmp_path: Path) -> None:
    document, tokens = DOCUMENTS[client]
    (tmp_path / "output").write_text(
        f"Loaded {{\ncached credentials\n{json.dumps(document, indent=indent)}\na warning\n"
    )
    _, _, told = read_output(str(tmp_path / "output"), None, 15)
    assert (told.lines, told.is_result, told.tokens) == (("THE RESULT", "second line"), True, tokens)


def test_copilot_gives_its_result_and_its_tokens_are_estimated(tmp_path: Path) -> None:
    event = {"type": "assistant.message", "data": {"content": SAID}}
    (tmp_path / "output").write_text(
        json.dumps(event) + "\n" + json.dumps({"type": "result", "usage": {"premiumRequests": 0}}) + "\n"
    )
    _, _, told = read_output(str(tmp_path / "output"), None, 15)
    assert (told.lines, told.tokens.source) == (("THE RESULT", "second line"), "estimate")


def test_a_long_result_is_told_from_its_beginning(tmp_path: Path) -> None:
    event = {"type": "result", "result": "\n".join(f"line {number}" for number in range(40)), "modelUsage": MODELS}
    (tmp_path / "output").write_text(json.dumps(event) + "\n")
    _, _, told = read_output(str(tmp_path / "output"), None, 15)
    assert (told.lines[0], told.lines[-1], told.omitted) == ("line 0", "line 13", 26)


@pytest.mark.parametrize(
    "text",
    ["{", "[1, 2", '{"type": "result"}', '{"type": ["result"]}', '{"type":"text","part":[]}', "[" * 100_000 + '"type"'],
)
def test_what_only_looks_like_a_report_is_the_last_lines(text: str, tmp_path: Path) -> None:
    (tmp_path / "output").write_text(f"first\n{text}\nlast\n")
    _, _, told = read_output(str(tmp_path / "output"), None, 15)
    assert (told.is_result, told.lines[0], told.lines[-1], told.tokens.source) == (False, "first", "last", "estimate")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([
        "type", "part", "message", "usage", "result", "stats", "models", "msg", "info", "content", "tokens", "item", "data", "modelUsage",
    ]), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip
KINDS = [
    "result",
    "assistant",
    "message",
    "item.completed",
    "turn.completed",
    "text",
    "step_finish",
    "assistant.message",
]


@given(JSON, st.sampled_from(KINDS), JSON, JSON)
def test_no_document_breaks_a_listener(found: object, kind: str, one: object, other: object) -> None:
    listener = Listener()
    listener.document(
        [
            found,
            {
                "type": kind,
                "message": one,
                "part": one,
                "item": one,
                "usage": other,
                "stats": other,
                "modelUsage": one,
                "msg": other,
            },
        ]
    )
    assert isinstance(listener.text, str)
    tokens = listener.tokens
    assert tokens is None or min(tokens[:3]) >= 0


@given(st.text(), st.text(), st.integers(0), st.none() | st.integers(0, 255), st.lists(st.text(), max_size=3))
def test_a_run_comes_out_of_its_document_as_it_went_in(
    name: str, command: str, size: int, code: int | None, lines: list[str]
) -> None:
    run = Run(
        "x-00000000",
        name,
        command,
        "/",
        "2026-11-30T17:00:00Z",
        exit=code,
        summary=tuple(lines),
        sealed=4,
        supervisor=size,
    )
    assert parse_run(json.dumps(to_document(run)).encode(), "it") == run
    assert parse_run(sealed_text(run), "it")._replace(sealed=4, supervisor=size).id == run.id


def test_half_a_character_in_a_result_breaks_nothing(tmp_path: Path) -> None:
    (tmp_path / "output").write_text('{"type":"result","result":"half \\ud83d and no more"}\n')
    _, _, told = read_output(str(tmp_path / "output"), None, 15)
    assert told.lines == ("half \\ud83d and no more",)
