"""The scripted model itself: what it answers in each protocol, and what it keeps. Needs no client."""

from __future__ import annotations

import json
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest
from tests.clients.model import Model, Rule, Script
from tests.clients.wires import Call, Turn, route

if TYPE_CHECKING:
    from collections.abc import Iterator

PATHS = {
    "anthropic": "/v1/messages",
    "openai-responses": "/v1/responses",
    "openai-chat": "/v1/chat/completions",
    "gemini": "/v1beta/models/m:generateContent",
}
TOOLS = [{"name": "shell"}]


@pytest.fixture
def model() -> Iterator[Model]:
    with Model() as made:
        yield made


def post(model: Model, path: str, body: dict[str, Any]) -> str:
    request = urllib.request.Request(model.url + path, json.dumps(body).encode(), {"content-type": "application/json"})  # noqa: S310
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=10) as reply:
        return str(reply.read().decode())


def events(text: str) -> list[Any]:
    data = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    return [json.loads(one) for one in data if one != "[DONE]"]


@pytest.mark.parametrize("protocol", PATHS)
def test_a_turn_reaches_the_client_in_every_protocol(model: Model, protocol: str) -> None:
    model.follow(Script([Turn("the words", (Call("shell", {"command": "ls"}),), used=77)]))
    said = post(model, PATHS[protocol], {"tools": TOOLS})
    assert "the words" in said
    assert "shell" in said
    assert "77" in said
    assert [request.via for request in model.requests] == ["turn 0"]


@pytest.mark.parametrize(
    ("protocol", "path"), [*list(PATHS.items())[:3], ("gemini", "/v1beta/models/m:streamGenerateContent")]
)
def test_the_stream_spells_what_the_document_says(model: Model, protocol: str, path: str) -> None:
    model.follow(Script([], last=Turn("", (Call("shell", {"command": "echo 'a \"b\"'"}),))))
    streamed = events(post(model, path, {"tools": TOOLS, "stream": True}))
    whole = json.loads(post(model, PATHS[protocol], {"tools": TOOLS}))
    told = {
        "anthropic": lambda: json.loads(streamed[2]["delta"]["partial_json"]) == whole["content"][0]["input"],
        "openai-responses": lambda: (
            streamed[-1]["response"]["output"][0]["arguments"] == whole["output"][0]["arguments"]
        ),
        "openai-chat": lambda: (
            streamed[0]["choices"][0]["delta"]["tool_calls"][0]["function"]
            == whole["choices"][0]["message"]["tool_calls"][0]["function"]
        ),
        "gemini": lambda: streamed[0]["candidates"] == whole["candidates"],
    }
    assert told[protocol]()


def test_a_request_without_tools_uses_up_no_turn(model: Model) -> None:
    model.follow(Script([Turn("first")], side=Turn("a title")))
    assert "a title" in post(model, PATHS["openai-chat"], {"messages": []})
    assert "first" in post(model, PATHS["openai-chat"], {"tools": TOOLS})
    assert [request.via for request in model.requests] == ["side", "turn 0"]


def test_a_rule_comes_before_the_turns_as_often_as_it_says(model: Model) -> None:
    rule = Rule("summary", "sum .*up", Turn("in short"), times=1, lacks="not this one")
    model.follow(Script([Turn("first")], [rule]))
    asked = {"tools": TOOLS, "messages": [{"content": "sum it\nup"}]}
    assert "first" in post(model, PATHS["anthropic"], {**asked, "system": "not this one"})
    assert "in short" in post(model, PATHS["anthropic"], asked)
    assert "AT ITS END" in post(model, PATHS["anthropic"], asked)


def test_a_turn_can_take_an_id_out_of_the_request(model: Model) -> None:
    model.follow(Script([lambda request: Turn(f"it is {request.finds('id=([0-9]+)')}")]))
    assert "it is 42" in post(model, PATHS["openai-chat"], {"tools": TOOLS, "messages": [{"content": "id=41 id=42"}]})


def test_what_a_request_says_is_read_without_the_escapes_of_json(model: Model) -> None:
    model.follow(Script([]))
    post(model, PATHS["gemini"], {"contents": [{"parts": [{"text": 'two\nlines, "quoted", 한글'}]}]})
    assert model.requests[0].says('two\nlines, "quoted", 한글')
    assert not model.requests[0].says("three")


def test_tokens_are_counted_and_lists_of_models_are_empty(model: Model) -> None:
    model.follow(Script([]))
    assert json.loads(post(model, "/v1/messages/count_tokens", {"messages": []}))["input_tokens"] > 0
    assert json.loads(post(model, "/v1beta/models/m:countTokens", {}))["totalTokens"] > 0
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
        f"{model.url}/v1/models", timeout=10
    ) as reply:
        assert json.load(reply)["data"] == []


def test_a_path_of_no_protocol_is_none_of_ours() -> None:
    assert route("/telemetry/v1/messages/batch") == ("", "")
