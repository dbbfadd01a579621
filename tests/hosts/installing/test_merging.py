"""Our entries among those of others: install then uninstall is the identity, and twice is once."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hosts.installing.test_jsontext import VALUES

from indelible.hosts.host import by_name
from indelible.hosts.installing import jsontext, merging
from indelible.hosts.installing.calling import caller
from indelible.hosts.installing.targets import TARGETS
from indelible.hosts.registry import HOSTS

SETTINGS = {name: target for name, target in TARGETS.items() if target.shape is not None}
PROGRAM = "/opt/our tools/indelible-hook"


def wanted(host: str, program: str = PROGRAM) -> dict[str, object]:
    shape = SETTINGS[host].shape
    assert shape is not None
    return shape(by_name(HOSTS)[host], caller(program, host))


def at(document: jsontext.Document, path: jsontext.Path) -> Any:
    """The value at a path."""
    node = document.find(path)
    assert node is not None
    return document.value(node)


FOREIGN = st.fixed_dictionaries(
    {},
    optional={
        "command": st.sampled_from(["/opt/a.sh", "echo indelible-hook", "indelible-hook x", ""]),
        "matcher": st.text(max_size=4),
    },
)
GROUPS = st.lists(st.fixed_dictionaries({"hooks": st.lists(FOREIGN, max_size=2)}) | FOREIGN, max_size=3)
EVENTS = sorted({one.name for host in HOSTS for one in host.hooked} | {"Other"})


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Settings as a person may have them: anything, with or without hooks of others in the right places."""
    value = draw(
        st.dictionaries(
            st.text(max_size=6).filter(lambda name: name not in ("hooks", "indelible", "version")), VALUES, max_size=3
        )
    )
    if draw(st.booleans()):
        value["hooks"] = draw(st.dictionaries(st.sampled_from(EVENTS), GROUPS, max_size=3))
    names = draw(st.permutations(list(value)))
    return {name: value[name] for name in names}


@given(documents(), st.sampled_from(sorted(SETTINGS)), st.sampled_from([None, 1, 2, "\t"]))
def test_install_then_uninstall_is_the_identity_and_twice_is_once(
    value: dict[str, Any], host: str, indent: int | str | None
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    once = merging.merge(text, wanted(host))
    twice = merging.merge(once.text, wanted(host))
    assert twice.text == once.text
    left = merging.take_out(once.text, once.made)
    assert json.loads(left) == value
    assert list(json.loads(left)) == list(value), "the order stays"


@given(documents(), st.sampled_from(sorted(SETTINGS)))
def test_a_program_that_moved_replaces_its_own_entries_and_nothing_else(value: dict[str, Any], host: str) -> None:
    text = json.dumps(value, indent=2, ensure_ascii=False)
    first = merging.merge(text, wanted(host, "/old place/indelible-hook"))
    moved = merging.merge(first.text, wanted(host))
    assert moved.text == merging.merge(text, wanted(host)).text
    assert json.loads(merging.take_out(moved.text, first.made)) == value


@pytest.mark.parametrize("host", SETTINGS)
def test_what_is_generated_is_what_the_table_says(host: str) -> None:
    made = json.dumps(wanted(host))
    document = jsontext.parse(made)
    entries = merging.entries(document)
    table = by_name(HOSTS)[host]
    assert [entry.event[-1] for entry in entries] == [one.name for one in table.hooked]
    for entry, one in zip(entries, table.hooked, strict=True):
        element = at(document, entry.path)
        assert element.get("matcher") == one.matcher
        hook = at(document, entry.leaf)
        text = hook.get("command") or hook.get("bash") or hook.get("powershell")
        assert text == caller(PROGRAM, host)(one.name)
        seconds = hook.get("timeout", hook.get("timeoutSec"))
        assert seconds in (one.seconds, one.seconds * 1000) or host == "windsurf"
        assert (seconds == one.seconds * 1000) is (host in ("gemini", "qwen"))


@pytest.mark.parametrize("host", SETTINGS)
def test_gates_fail_closed_where_the_host_has_a_word_for_it(host: str) -> None:
    made = wanted(host)
    words = {"claude-code": ("onFailure", "block"), "cursor": ("failClosed", True)}
    if host not in words:
        assert "onFailure" not in json.dumps(made)
        assert "failClosed" not in json.dumps(made)
        return
    name, value = words[host]
    document = jsontext.parse(json.dumps(made))
    closed = {entry.event[-1] for entry in merging.entries(document) if document.find((*entry.leaf, name)) is not None}
    gates = {one.name for one in by_name(HOSTS)[host].hooked if one.purpose == "before-tool"}
    assert closed == gates
    assert all(
        at(document, (*entry.leaf, name)) == value for entry in merging.entries(document) if entry.event[-1] in gates
    )


@pytest.mark.parametrize("host", [host.name for host in HOSTS])
def test_every_source_of_a_start_is_registered(host: str) -> None:
    """O-HOOK-04: no matcher on a session's start, so that startup, resume, clear, compact and what is to come all fire."""
    starts = [one for one in by_name(HOSTS)[host].hooked if one.purpose == "start"]
    assert all(one.matcher is None for one in starts)
    if host in SETTINGS:
        groups = json.dumps(wanted(host)).split('"matcher"')
        assert all(f" {one.name}" not in group.split("]")[0] for one in starts for group in groups[1:])


def test_a_hook_that_somebody_put_into_our_group_stays() -> None:
    text = merging.merge("{}", wanted("claude-code")).text
    value = json.loads(text)
    value["hooks"]["PreToolUse"][0]["hooks"].append({"type": "command", "command": "/opt/mine.sh"})
    mixed = json.dumps(value, indent=2)
    moved = merging.merge(mixed, wanted("claude-code", "/new/indelible-hook")).text
    hooks = json.loads(moved)["hooks"]["PreToolUse"]
    assert len(hooks) == 1
    assert [hook["command"] for hook in hooks[0]["hooks"]] == [
        caller("/new/indelible-hook", "claude-code")("PreToolUse"),
        "/opt/mine.sh",
    ]
    left = json.loads(merging.take_out(moved, None))
    assert [hook["command"] for hook in left["hooks"]["PreToolUse"][0]["hooks"]] == ["/opt/mine.sh"]
    assert list(left["hooks"]) == ["PreToolUse"]


def test_an_entry_of_an_event_that_is_answered_no_more_goes_and_a_second_one_of_the_same_too() -> None:
    value = wanted("claude-code")
    events: Any = value["hooks"]
    events["Stop"] = [
        {"hooks": [{"type": "command", "command": "/old/indelible-hook claude-code Stop"}]},
        {"hooks": [{"command": "/mine"}]},
    ]
    events["SessionStart"] = [*events["SessionStart"], *events["SessionStart"]]
    merged = json.loads(merging.merge(json.dumps(value), wanted("claude-code")).text)
    assert merged["hooks"]["Stop"] == [{"hooks": [{"command": "/mine"}]}]
    assert merged["hooks"]["SessionStart"] == wanted("claude-code")["hooks"]["SessionStart"]  # type: ignore[index]


def test_words_that_only_look_like_ours_are_left_alone() -> None:
    foreign = {
        "hooks": {
            "SessionStart": [
                {"hooks": [{"command": "echo indelible-hook claude-code SessionStart && true"}]},
                {"hooks": [{"command": "/opt/my-indelible-hook claude-code SessionStart"}]},
                {"hooks": [{"command": ["indelible-hook", "claude-code", "SessionStart"]}]},
            ]
        }
    }
    text = json.dumps(foreign)
    assert merging.entries(jsontext.parse(text)) == ()
    assert merging.take_out(text, None) == text


def test_a_status_line_of_somebody_elses_stays() -> None:
    theirs = '{"statusLine": {"type": "command", "command": "~/line.sh"}}'
    assert merging.set_statusline(theirs, ("statusLine",), "/opt/indelible hooks statusline").text == theirs
    ours = merging.set_statusline("{}", ("ui", "statusLine"), "/opt/indelible hooks statusline")
    assert json.loads(ours.text) == {
        "ui": {"statusLine": {"type": "command", "command": "/opt/indelible hooks statusline"}}
    }
    moved = merging.set_statusline(ours.text, ("ui", "statusLine"), "'/new place/indelible' hooks statusline")
    assert json.loads(moved.text)["ui"]["statusLine"]["command"] == "'/new place/indelible' hooks statusline"
    assert merging.take_statusline_out(moved.text, ("ui", "statusLine"), ours.made) == "{}"
