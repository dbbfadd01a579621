"""hooks install and uninstall, as the command: what others wrote stays, and nothing of ours is left behind."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.hands import ended, git, refused, said, script, start, tree

from indelible.hosts.installing import rule
from indelible.hosts.installing.targets import TARGETS

if TYPE_CHECKING:
    from tests.hosts.installing.conftest import Place

FIXTURE = Path(__file__).resolve().parents[1] / "fixtures" / "hook_settings_user.json"
HOSTS = sorted(TARGETS)
WITH_SETTINGS = sorted(name for name, target in TARGETS.items() if target.shape is not None)
posix = pytest.mark.skipif(os.name != "posix", reason="rights and links are POSIX ones")


def settings_of(place: Place, host: str, scope: str = "project") -> Path:
    """Where a host has its settings, by the contract and not by the code under test."""
    home, work = place.home, place.work
    places = {
        "claude-code": (work / ".claude/settings.json", home / ".claude/settings.json"),
        "codex": (work / ".codex/hooks.json", home / ".codex/hooks.json"),
        "gemini": (work / ".gemini/settings.json", home / ".gemini/settings.json"),
        "qwen": (work / ".qwen/settings.json", home / ".qwen/settings.json"),
        "copilot": (work / ".github/hooks/indelible.json", home / ".copilot/hooks/indelible.json"),
        "opencode": (work / ".opencode/plugins/indelible.js", home / "config/opencode/plugins/indelible.js"),
        "cursor": (work / ".cursor/hooks.json", home / ".cursor/hooks.json"),
        "antigravity": (work / ".agents/hooks.json", home / ".gemini/config/hooks.json"),
        "windsurf": (work / ".windsurf/hooks.json", home / ".codeium/windsurf/hooks.json"),
        "openclaw": (
            work / ".openclaw/extensions/indelible/index.js",
            home / ".openclaw/extensions/indelible/index.js",
        ),
    }
    return places[host][scope == "user"]


def put(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def commands(value: object) -> list[str]:
    """Every command line in a document."""
    if isinstance(value, dict):
        own = [value[name] for name in ("command", "bash") if isinstance(value.get(name), str)]
        return own + [text for inner in value.values() for text in commands(inner)]
    return [text for inner in value for text in commands(inner)] if isinstance(value, list) else []


def without_ours(value: object) -> object:
    """A document without the entries that call our program."""
    if isinstance(value, dict):
        return {name: without_ours(inner) for name, inner in value.items() if name != "statusLine"}
    if isinstance(value, list):
        return [without_ours(inner) for inner in value if "indelible-hook" not in json.dumps(inner)]
    return value


# O-HOOK-01.


def test_hooks_and_settings_of_others_stay_where_and_as_they_are(place: Place) -> None:
    original = FIXTURE.read_bytes()
    path = put(settings_of(place, "claude-code"), original)
    before = json.loads(original)
    first = place.hooks("install", "--host", "claude-code")
    once = path.read_bytes()
    after = json.loads(once)
    foreign: Any = without_ours(after)
    assert foreign["hooks"]["SessionStart"] == before["hooks"]["SessionStart"], "unchanged, and in their order"
    assert foreign["hooks"]["Stop"] == before["hooks"]["Stop"]
    assert {name: after[name] for name in before if name != "hooks"} == {
        name: before[name] for name in before if name != "hooks"
    }
    assert [name for name in after if name in before] == list(before)
    assert len([text for text in commands(after) if "indelible-hook" in text]) == 6
    second = place.hooks("install", "--host", "claude-code")
    assert path.read_bytes() == once, "a second run adds nothing"
    assert "nothing to change" in second.out
    (backup,) = [
        line.partition("(before: ")[2].rstrip(")") for line in first.out.splitlines() if "settings.json (before" in line
    ]
    assert Path(backup).read_bytes() == original, "the copy of before is named, and is one"
    place.hooks("uninstall", "--host", "claude-code")
    assert path.read_bytes() == original
    assert not (place.work / "CLAUDE.md").exists()


def test_what_was_changed_since_stays_when_ours_is_taken_out(place: Place) -> None:
    path = put(settings_of(place, "claude-code"), FIXTURE.read_bytes())
    place.hooks("install", "--host", "claude-code")
    value = json.loads(path.read_bytes())
    value["theirs"] = 1
    value["hooks"]["PreToolUse"].append({"hooks": [{"type": "command", "command": "/opt/new"}]})
    path.write_text(json.dumps(value, indent=1), encoding="utf-8")
    place.hooks("uninstall", "--host", "claude-code")
    expected = json.loads(FIXTURE.read_bytes())
    expected["theirs"] = 1
    expected["hooks"]["PreToolUse"] = [{"hooks": [{"type": "command", "command": "/opt/new"}]}]
    assert json.loads(path.read_bytes()) == expected


def test_without_our_notes_it_is_taken_out_all_the_same(place: Place) -> None:
    """The state folder of a container is gone: entries are then found by their words."""
    path = put(settings_of(place, "claude-code"), FIXTURE.read_bytes())
    agents = put(place.work / "CLAUDE.md", b"# Ours\n")
    place.hooks("install", "--host", "claude-code")
    shutil.rmtree(place.home / "state")
    place.hooks("install", "--host", "claude-code")
    place.hooks("uninstall", "--host", "claude-code")
    assert path.read_bytes() == FIXTURE.read_bytes()
    assert agents.read_bytes() == b"# Ours\n"


# Every host.


@pytest.mark.parametrize("scope", ["project", "user"])
@pytest.mark.parametrize("host", HOSTS)
def test_nothing_is_left_of_an_installation_that_was_taken_out(place: Place, host: str, scope: str) -> None:
    before = tree(place.home)
    first = place.hooks("install", "--host", host, "--scope", scope)
    assert settings_of(place, host, scope).is_file(), first
    middle = tree(place.home)
    place.hooks("install", "--host", host, "--scope", scope)
    assert tree(place.home) == middle, "twice is once"
    place.hooks("uninstall", "--host", host, "--scope", scope)
    left = {path: content for path, content in tree(place.home).items() if not path.startswith("state")}
    assert left == before
    folders = [path for path in place.home.rglob("*") if path.is_dir() and not any(path.iterdir())]
    assert [path for path in folders if ".git" not in path.parts and "state" not in path.parts] == [place.home / "work"]


@pytest.mark.parametrize("host", WITH_SETTINGS)
def test_the_commands_are_absolute_quoted_and_of_this_installation(place: Place, host: str) -> None:
    place.hooks("install", "--host", host)
    value = json.loads(settings_of(place, host).read_bytes())
    import shlex

    found = [shlex.split(text) for text in commands(value) if "indelible-hook" in text]
    assert found
    assert {words[0] for words in found} == {place.machine.programs.hook}
    assert all(os.path.isabs(words[0]) and len(words) == 3 and words[1] == host for words in found)


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_without_an_event_after_compaction_is_said_so_and_the_rule_is_there(place: Place, host: str) -> None:
    """O-HOOK-04."""
    ran = place.hooks("install", "--host", host)
    none = {"gemini", "copilot", "cursor", "antigravity", "windsurf"}
    assert ("no event after compaction" in ran.err) is (host in none), ran.err
    files = [path for path in place.work.iterdir() if path.suffix == ".md" and rule.is_in(path.read_bytes())]
    assert len(files) == 1


def test_without_a_name_those_are_taken_that_are_here(place: Place) -> None:
    refused(place.hooks("install", code=3), 3, "No coding agent", "--host")
    (place.home / ".claude").mkdir()
    (place.work / ".opencode").mkdir()
    script(place.home / "our tools 도구" / "codex", "exit 1")
    document = said(place.hooks("install", "--json"))
    assert [one["host"] for one in document["hosts"]] == ["claude-code", "codex", "opencode"]
    assert all(one["error"] is None for one in document["hosts"])


def test_outside_of_a_repository_it_is_the_users_settings(place: Place) -> None:
    document = said(place.run("hooks", "install", "--host", "claude-code", "--json"))
    assert document["hosts"][0]["scope"] == "user"
    assert settings_of(place, "claude-code", "user").is_file()
    refused(
        place.run("hooks", "install", "--host", "claude-code", "--scope", "project"),
        64,
        "no repository",
        "--scope user",
    )


def test_a_host_that_there_is_none_of_is_a_matter_of_usage(place: Place) -> None:
    refused(place.hooks("install", "--host", "emacs", code=64), 64, "emacs", "claude-code", "windsurf")
    refused(place.run("init", "--host", "emacs", cwd=place.work), 64, "emacs")
    assert not (place.work / ".indelible").exists(), "said before anything is made"


def test_a_dry_run_shows_what_would_change_and_changes_nothing(place: Place) -> None:
    path = put(settings_of(place, "claude-code"), FIXTURE.read_bytes())
    before = tree(place.home)
    ran = place.hooks("install", "--host", "claude-code", "--dry-run")
    assert tree(place.home) == before
    assert f"+++ {path}" in ran.out
    assert "claude-code SessionStart" in ran.out
    assert '-  "SessionStart"' not in ran.out
    assert not [line for line in ran.out.splitlines() if line.startswith("-") and "hook_settings" in line]
    place.hooks("install", "--host", "claude-code")
    middle = tree(place.home)
    assert "would be changed" in place.hooks("uninstall", "--host", "claude-code", "--dry-run").out
    assert tree(place.home) == middle


def test_a_program_that_moved_replaces_its_own_entries(place: Place) -> None:
    path = put(settings_of(place, "claude-code"), FIXTURE.read_bytes())
    place.hooks("install", "--host", "claude-code")
    place.move(path, "/old place/indelible-hook")
    place.hooks("install", "--host", "claude-code")
    found = [text for text in commands(json.loads(path.read_bytes())) if "indelible-hook" in text]
    assert len(found) == 6
    assert not [text for text in found if "/old place" in text]
    place.hooks("uninstall", "--host", "claude-code")
    assert json.loads(path.read_bytes()) == json.loads(FIXTURE.read_bytes())


# Bad input.

BROKEN = {
    "broken": (b'{"hooks": ', "line 1"),
    "an_array": (b"[1]", "no object"),
    "hooks_a_list": (b'{"hooks": []}', "no object at hooks"),
    "event_an_object": (
        b'{"hooks": {"SessionStart": {}, "PreToolUse": {}, "BeforeTool": {}, "sessionStart": {}}}',
        "no list at",
    ),
    "twice": (b'{"hooks": {}, "hooks": {}}', "twice"),
    "latin": (b'{"name": "\xe9"}', "not UTF-8"),
    "utf16": (b"\xff\xfe{\x00}\x00", "not UTF-8"),
    "long": (b" " * 2_000_001, "2000001 bytes"),
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("host", ["claude-code", "gemini"])
def test_settings_that_are_not_what_they_should_be_are_refused_by_name_and_left_alone(
    place: Place, name: str, host: str
) -> None:
    content, words = BROKEN[name]
    path = put(settings_of(place, host), content)
    before = tree(place.home)
    err = refused(place.hooks("install", "--host", host, code=64), 64, str(path), words)
    assert len(err.strip().splitlines()) == 1
    assert tree(place.home) == before, "and no rule is put in either"
    document = said(place.hooks("install", "--host", host, "--json", code=64))
    assert document["slug"] == "usage"
    assert document["hosts"][0]["error"]["remedy"]
    assert place.hooks("status", "--host", host, code=1).out


def test_one_host_with_broken_settings_keeps_no_other_back(place: Place) -> None:
    put(settings_of(place, "claude-code"), b"{")
    ran = place.hooks("install", "--host", "claude-code", "--host", "qwen", code=64)
    assert "Qwen Code (project): installed" in ran.out
    assert settings_of(place, "qwen").is_file()


@pytest.mark.parametrize("host", ["claude-code", "gemini", "qwen"])
def test_comments_stay_where_the_host_takes_them(place: Place, host: str) -> None:
    content = b'{\n  // why\n  "model": "x", /* and\n  why */\n  "hooks": {\n    // mine\n  },\n}\n'
    path = put(settings_of(place, host), content)
    place.hooks("install", "--host", host, "--no-statusline")
    text = path.read_text(encoding="utf-8")
    for comment in ("// why\n", "/* and\n  why */", "// mine\n"):
        assert comment in text
    assert text.count("indelible-hook") >= 5
    place.hooks("uninstall", "--host", host)
    assert path.read_bytes() == content


@pytest.mark.parametrize("host", ["codex", "copilot", "cursor", "antigravity", "windsurf"])
def test_comments_are_refused_where_the_host_would_drop_the_whole_file(place: Place, host: str) -> None:
    path = put(settings_of(place, host), b'{ "hooks": {} /* mine */ }')
    refused(place.hooks("install", "--host", host, code=64), 64, str(path), "comments", "Take them out")
    assert path.read_bytes() == b'{ "hooks": {} /* mine */ }'


def test_a_byte_order_mark_and_windows_line_ends_stay(place: Place) -> None:
    content = b'\xef\xbb\xbf{\r\n\t"model": "x"\r\n}\r\n'
    path = put(settings_of(place, "claude-code"), content)
    place.hooks("install", "--host", "claude-code")
    made = path.read_bytes()
    assert made.startswith(b"\xef\xbb\xbf{\r\n\t")
    assert b"\n" not in made.replace(b"\r\n", b"")
    place.hooks("uninstall", "--host", "claude-code")
    assert path.read_bytes() == content


def test_an_empty_file_is_an_empty_document(place: Place) -> None:
    path = put(settings_of(place, "claude-code"), b"")
    place.hooks("install", "--host", "claude-code")
    assert commands(json.loads(path.read_bytes()))
    place.hooks("uninstall", "--host", "claude-code")
    assert path.read_bytes() == b""


def test_a_folder_in_the_settings_place_is_refused(place: Place) -> None:
    settings_of(place, "claude-code").mkdir(parents=True)
    refused(place.hooks("install", "--host", "claude-code", code=64), 64, "is a folder", "Move it away")


@posix
def test_a_link_into_a_repository_of_dotfiles_is_followed(place: Place) -> None:
    real = put(place.home / "dotfiles" / "claude.json", FIXTURE.read_bytes())
    real.chmod(0o640)
    link = settings_of(place, "claude-code", "user")
    link.parent.mkdir()
    link.symlink_to(real)
    place.hooks("install", "--host", "claude-code", "--scope", "user")
    assert link.is_symlink()
    assert b"indelible-hook" in real.read_bytes()
    assert real.stat().st_mode & 0o777 == 0o640
    place.hooks("uninstall", "--host", "claude-code", "--scope", "user")
    assert link.is_symlink()
    assert real.read_bytes() == FIXTURE.read_bytes()


@posix
def test_a_link_that_a_clone_brings_leads_nowhere_outside(place: Place) -> None:
    """O-SEC-04."""
    target = put(place.home / ".profile", b"export A=1\n")
    settings_of(place, "claude-code").parent.mkdir()
    settings_of(place, "claude-code").symlink_to(target)
    refused(place.hooks("install", "--host", "claude-code", code=64), 64, "leads out of the repository")
    assert target.read_bytes() == b"export A=1\n"
    (place.work / "AGENTS.md").symlink_to(target)
    refused(place.hooks("install", "--host", "codex", code=64), 64, "leads out of the repository")
    assert not settings_of(place, "codex").exists(), "all of a host, or nothing"


@posix
def test_links_in_a_circle_are_refused(place: Place) -> None:
    path = settings_of(place, "claude-code")
    path.parent.mkdir()
    path.symlink_to("other")
    (path.parent / "other").symlink_to("settings.json")
    refused(place.hooks("install", "--host", "claude-code", code=64), 64, "cannot be followed")


@posix
def test_a_home_that_cannot_be_written_is_said_and_nothing_is_half_done(
    place: Place, plain_user: tuple[str, ...]
) -> None:
    (place.home / ".claude").mkdir()
    (place.home / ".claude").chmod(0o500)
    (place.home / "state").mkdir(exist_ok=True)
    ran = ended(
        start("hooks", "install", "--host", "claude-code", "--scope", "user", cwd=place.work, prefix=plain_user)
    )
    refused(ran, 1, "was not written")
    assert list((place.home / ".claude").iterdir()) == []


def test_a_plugin_of_somebody_elses_with_our_name_stays(place: Place) -> None:
    path = put(settings_of(place, "opencode"), b"export const Mine = async () => ({})\n")
    refused(place.hooks("install", "--host", "opencode", code=64), 64, "not written by us")
    ran = place.hooks("uninstall", "--host", "opencode")
    assert "stays" in ran.err
    assert path.read_bytes() == b"export const Mine = async () => ({})\n"


# Instruction files.


def test_a_file_that_a_host_reads_already_is_taken_and_none_is_made_that_would_hide_it(place: Place) -> None:
    """Claude Code reads AGENTS.md only where there is no CLAUDE.md."""
    put(place.work / "AGENTS.md", b"# Team rules\n")
    place.hooks("install", "--host", "claude-code")
    assert not (place.work / "CLAUDE.md").exists()
    assert rule.is_in((place.work / "AGENTS.md").read_bytes())


def test_each_host_has_the_rule_in_the_file_that_it_reads(place: Place) -> None:
    for name in ("AGENTS.md", "CLAUDE.md", "GEMINI.md"):
        put(place.work / name, f"# {name}\r\n".encode())
    before = {name: (place.work / name).read_bytes() for name in ("AGENTS.md", "CLAUDE.md", "GEMINI.md")}
    hosts = [word for host in ("claude-code", "codex", "gemini") for word in ("--host", host)]
    place.hooks("install", *hosts)
    for name, content in before.items():
        made = (place.work / name).read_bytes()
        assert made.startswith(content)
        assert b"indelible verify MEMORY.md || exit 1\r\n" in made
        assert b"indelible boot || exit 1\r\n" in made
    place.hooks("uninstall")
    assert {name: (place.work / name).read_bytes() for name in before} == before


def test_the_rule_stays_for_as_long_as_one_host_that_reads_it_is_installed(place: Place) -> None:
    agents = put(place.work / "AGENTS.md", b"# Team rules\n")
    place.hooks("install", "--host", "codex", "--host", "opencode")
    place.hooks("uninstall", "--host", "codex", "--dry-run")
    place.hooks("uninstall", "--host", "codex")
    assert rule.is_in(agents.read_bytes())
    place.hooks("uninstall", "--host", "opencode")
    assert agents.read_bytes() == b"# Team rules\n"


def test_users_own_files_have_it_with_the_users_scope(place: Place) -> None:
    hosts = [word for host in ("claude-code", "codex", "gemini") for word in ("--host", host)]
    place.hooks("install", "--scope", "user", *hosts)
    for name in (".claude/CLAUDE.md", ".codex/AGENTS.md", ".gemini/GEMINI.md"):
        assert rule.is_in((place.home / name).read_bytes())
    assert "documents no file of rules" in place.hooks("install", "--scope", "user", "--host", "cursor").err


def test_it_can_be_left_out(place: Place) -> None:
    place.hooks("install", "--host", "claude-code", "--no-rule", "--no-statusline")
    assert not (place.work / "CLAUDE.md").exists()
    assert "statusLine" not in json.loads(settings_of(place, "claude-code").read_bytes())


def test_a_file_that_is_sealed_is_told_to_be_sealed_anew(begun: Place) -> None:
    put(begun.work / "CLAUDE.md", b"# Rules\n")
    assert begun.run("adopt", "CLAUDE.md", cwd=begun.work).code == 0
    ran = begun.hooks("install", "--host", "claude-code")
    assert "CLAUDE.md is sealed" in ran.err
    assert "indelible save CLAUDE.md" in ran.err
    assert "is sealed" not in begun.hooks("install", "--host", "claude-code").err


def test_memories_that_the_settings_name_are_those_that_the_rule_verifies(begun: Place) -> None:
    config = begun.work / ".indelible" / "config.toml"
    config.write_text(
        config.read_text(encoding="utf-8") + '[boot]\nmemories = ["MEMORY.md", "team notes.md"]\n', encoding="utf-8"
    )
    begun.hooks("install", "--host", "claude-code")
    text = (begun.work / "CLAUDE.md").read_text(encoding="utf-8")
    assert "indelible verify MEMORY.md || exit 1" in text
    assert "indelible verify 'team notes.md' || exit 1" in text


# The status line, and what is said.


def test_a_status_line_is_put_in_only_where_the_user_has_none(place: Place) -> None:
    path = settings_of(place, "claude-code", "user")
    put(path, b'{"statusLine": {"type": "command", "command": "~/mine.sh"}}')
    ran = place.hooks("install", "--host", "claude-code", "--scope", "user")
    assert "has a status line already" in ran.err
    assert json.loads(path.read_bytes())["statusLine"]["command"] == "~/mine.sh"
    ran = place.hooks("install", "--host", "claude-code")
    assert "statusLine" not in json.loads(settings_of(place, "claude-code").read_bytes()), "a project's would hide it"
    path.unlink()
    place.hooks("install", "--host", "claude-code", "--scope", "user")
    command = json.loads(path.read_bytes())["statusLine"]["command"]
    assert command.endswith(("indelible' hooks statusline", "indelible hooks statusline"))
    place.hooks("install", "--host", "qwen", "--scope", "user")
    qwen = json.loads(settings_of(place, "qwen", "user").read_bytes())
    assert qwen["ui"]["statusLine"]["command"] == command
    place.hooks("uninstall", "--scope", "user")
    assert not path.exists()


def test_a_file_that_would_be_committed_is_said_to_name_this_machine(place: Place) -> None:
    assert "keep it out of commits" in place.hooks("install", "--host", "claude-code").err
    place.hooks("uninstall", "--host", "claude-code")
    put(place.work / ".gitignore", b".claude/\n")
    git(place.work, "add", ".gitignore")
    assert "keep it out of commits" not in place.hooks("install", "--host", "claude-code").err


def test_hooks_in_both_scopes_are_said_to_fire_twice(place: Place) -> None:
    assert "twice" not in place.hooks("install", "--host", "claude-code", "--host", "opencode").err
    ran = place.hooks("install", "--host", "claude-code", "--host", "opencode", "--scope", "user")
    assert ran.err.count("twice: 'indelible hooks uninstall --host") == 2
    assert "--scope project" in ran.err


def test_trust_is_a_word_about_codex(place: Place) -> None:
    refused(place.hooks("install", "--host", "gemini", "--trust", code=64), 64, "Codex")
    assert not settings_of(place, "gemini").exists()


def test_init_with_hosts_installs_as_well(place: Place) -> None:
    ran = place.run("init", "--host", "claude-code", "--host", "codex", "--json", cwd=place.work)
    document = said(ran)
    assert (document["slug"], [one["host"] for one in document["hooks"]]) == ("initialised", ["claude-code", "codex"])
    assert settings_of(place, "codex").is_file()
    put(settings_of(place, "qwen"), b"[]")
    ran = place.run("init", "--host", "qwen", "--json", cwd=place.work)
    assert (ran.code, said(ran)["slug"], said(ran)["fresh"]) == (64, "usage", False)


def test_python_is_named_nowhere_in_what_is_written(place: Place) -> None:
    """An interpreter's path goes with its version; a console script's stays."""
    place.hooks("install", "--host", "claude-code")
    assert os.path.basename(sys.executable) not in settings_of(place, "claude-code").read_text(
        encoding="utf-8"
    ).replace(str(place.home), "")


def test_two_installations_at_once_come_to_one(place: Place) -> None:
    path = put(settings_of(place, "claude-code"), FIXTURE.read_bytes())
    both = [start("hooks", "install", "--host", "claude-code", cwd=place.work) for _ in range(2)]
    codes = sorted(ended(one).code for one in both)
    assert codes in ([0, 0], [0, 5]), "the second finds it done, or the file changed under it"
    assert len([text for text in commands(json.loads(path.read_bytes())) if "indelible-hook" in text]) == 6


def test_hooks_where_there_is_no_store_name_init(place: Place) -> None:
    ran = place.hooks("install", "--host", "claude-code")
    assert "There is no store here yet" in ran.out + ran.err
    assert "'indelible init'" in ran.out + ran.err


def test_taking_the_rule_out_of_a_sealed_file_is_said(begun: Place) -> None:
    path = begun.work / "CLAUDE.md"
    path.write_text("# Rules\n", encoding="utf-8")
    assert begun.run("save", "CLAUDE.md", "CLAUDE.md", cwd=begun.work).code == 0
    assert "'indelible save CLAUDE.md CLAUDE.md'" in begun.hooks("install", "--host", "claude-code").err
    assert begun.run("save", "CLAUDE.md", "CLAUDE.md", cwd=begun.work).code == 0
    assert "'indelible save CLAUDE.md CLAUDE.md'" in begun.hooks("uninstall", "--host", "claude-code").err


def test_a_program_that_agents_do_not_find_is_said_with_the_remedy(
    begun: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    venv = begun.home / "our tools 도구"
    beside = [str(begun.home / "bin"), "/usr/bin", "/bin"]
    (begun.home / "bin").mkdir()
    (begun.home / "bin" / "indelible-hook").symlink_to(venv / "indelible-hook")
    monkeypatch.setenv("PATH", os.pathsep.join(beside))
    for ran in (
        begun.hooks("install", "--host", "claude-code"),
        begun.hooks("status", "--host", "claude-code", "--scope", "project"),
    ):
        assert "'indelible' is not on the PATH, where agents look for it" in ran.err
    assert "'indelible' is not on the PATH" in begun.run("doctor", cwd=begun.work).out


def test_a_folder_with_spaces_is_quoted_in_what_to_do_next(place: Place) -> None:
    folder = place.home / "my plugin"
    assert f"claude --plugin-dir '{folder}'" in place.hooks("plugin", "claude-code", str(folder)).out


def test_the_help_of_each_verb_says_which_hosts_there_are_and_which_are_meant(place: Place) -> None:
    shown = {verb: " ".join(place.hooks(verb, "--help").out.split()) for verb in ("install", "uninstall", "status")}
    assert all("claude-code, codex, gemini" in text for text in shown.values())
    assert "[those that are found here]" in shown["install"]
    assert "[all of them]" in shown["uninstall"]


def test_settings_that_are_in_git_stay_as_they_are_where_the_host_has_personal_ones(begun: Place) -> None:
    shared = settings_of(begun, "claude-code")
    put(shared, b'{"permissions": {}}')
    git(begun.work, "add", "-f", ".claude/settings.json")
    begun.hooks("install", "--host", "claude-code")
    personal = shared.with_name("settings.local.json")
    assert shared.read_bytes() == b'{"permissions": {}}'
    assert "PreToolUse" in personal.read_text(encoding="utf-8")
    assert "statusLine" in personal.read_text(encoding="utf-8")
    assert "settings.local.json" in begun.hooks("status", "--host", "claude-code", "--scope", "project").out
    assert "nothing to change" in begun.hooks("install", "--host", "claude-code").out
    begun.hooks("uninstall", "--host", "claude-code")
    assert not personal.exists()


def test_settings_that_are_in_git_and_have_no_personal_ones_are_named_with_the_way_out(begun: Place) -> None:
    path = settings_of(begun, "gemini")
    put(path, b"{}")
    git(begun.work, "add", "-f", ".gemini/settings.json")
    said_of_it = begun.hooks("install", "--host", "gemini").err
    assert ".gemini/settings.json is in git" in said_of_it
    assert "--scope user" in said_of_it
