"""What a tool call is taken for, by its name and by what it is given; what cannot be read is not let pass."""

from __future__ import annotations

import json

import pytest

from indelible.hosts.document import Unreadable, texts
from indelible.hosts.host import OTHER, READ, SHELL, WRITE
from indelible.hosts.tools import called, patched

PATH = ".indelible/store.db"


@pytest.mark.parametrize(
    "name",
    ["Read", "read_file", "MCP:read_file", "mcp_files_read_text_file", "mcp__files__list_directory", "getFileInfo", "search_code", "view_image",
     "fetch_pages", "glob"],
)  # fmt: skip
def test_a_tool_whose_name_says_that_it_reads_is_let_be(name: str) -> None:
    assert called(name, {"path": PATH}).kind == READ


@pytest.mark.parametrize(
    ("name", "kind"),
    [("mcp__files__write_file", WRITE), ("mcp__x__read_and_replace", WRITE), ("mcp__indelible__write_file", WRITE), ("MCP:get_or_create", WRITE),
     ("mcp__files__find_and_delete", WRITE), ("save_report", OTHER), ("create_or_find", OTHER), ("task", OTHER), ("mcp__filewriter__read", WRITE)],
)  # fmt: skip
def test_every_other_tool_is_held_against_all_that_it_is_given(name: str, kind: str) -> None:
    call = called(name, {"a": [{"b": PATH}]})
    assert call.kind == kind
    assert PATH in call.paths


@pytest.mark.parametrize(
    "member",
    ["file_path", "filePath", "filepath", "FilePath", "target", "destination", "uri", "TargetFile", "whatever"],
)
def test_a_writer_names_its_file_under_any_member(member: str) -> None:
    assert PATH in called("Write", {member: PATH, "content": "two\nlines"}).paths


def test_a_text_that_is_written_is_no_path() -> None:
    assert called("Write", {"file_path": ".gitignore", "content": PATH}).paths == (".gitignore",)


def test_the_file_is_found_behind_a_thousand_edits() -> None:
    edits = [{"old_string": "a", "new_string": "b"}] * 990
    assert PATH in called("MultiEdit", {"edits": edits, "file_path": PATH}).paths
    with pytest.raises(Unreadable, match="more than 2000"):
        called("MultiEdit", {"edits": edits * 2, "file_path": PATH})


@pytest.mark.parametrize("given", [None, [], "", "text", 5, {}, {"content": "two\nlines"}, "{broken"])
@pytest.mark.parametrize("name", ["Write", "Bash", "apply_patch"])
def test_a_writer_or_a_shell_that_says_nothing_is_bad_input(name: str, given: object) -> None:
    with pytest.raises(Unreadable):
        called(name, given)


def test_a_call_without_a_tool_is_bad_input() -> None:
    with pytest.raises(Unreadable):
        called("", {"file_path": PATH})


def test_arguments_may_come_as_json_in_a_text() -> None:
    assert called("bash", json.dumps({"command": "ls"})).command == "ls"


@pytest.mark.parametrize(
    ("given", "command"),
    [({"command": "ls"}, "ls"), ({"command": ["bash", "-lc", "ls a"]}, "'bash' '-lc' 'ls a'"), ({"action": {"command": "ls"}}, "ls"),
     ({"cmd": "a", "script": "b"}, "a\nb")],
)  # fmt: skip
def test_a_shell_is_asked_for_all_that_it_would_run(given: dict[str, object], command: str) -> None:
    call = called("shell", {**given, "workdir": "sub"})
    assert (call.kind, call.command, call.folder) == (SHELL, command, "sub")


def test_the_outermost_texts_come_first_and_depth_is_bounded() -> None:
    assert [name for name, _ in texts({"a": {"b": "x"}, "c": "y"})] == ["c", "b"]
    deep: object = "x"
    for _ in range(40):
        deep = [deep]
    with pytest.raises(Unreadable):
        list(texts(deep))


@pytest.mark.parametrize("end", ["\u2028", "\x85", "\f"])
def test_a_path_in_a_patch_is_read_whole_and_in_parts(end: str) -> None:
    """Whoever applies it may take that letter for the end of a line, or for a letter."""
    found = patched(f"*** Begin Patch\n*** Update File: x{end}/../{PATH}\n+a\n*** End Patch\n")
    assert {f"x{end}/../{PATH}", "x"} <= set(found)
