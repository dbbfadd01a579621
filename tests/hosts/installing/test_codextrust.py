"""Trust of Codex: its own answer is what counts, and its config.toml is only ever added to."""

from __future__ import annotations

import json
import os
import shutil
import tomllib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.hands import refused, said, script

from indelible.errors import IndelibleError, UsageError
from indelible.hosts.installing import codextrust
from indelible.hosts.installing.codextrust import Listed

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hosts.installing.conftest import Place

HOOK = Listed(
    "/home/나/.codex/hooks.json:pre_tool_use:0:0",
    "preToolUse",
    "/home/나/.codex/hooks.json",
    "sha256:" + "a" * 64,
    "untrusted",
    enabled=True,
)
OTHER = HOOK._replace(key='/pro"ject\\x/.codex/hooks.json:stop:1:0', source='/pro"ject\\x/.codex/hooks.json')
TEXTS = st.sampled_from(
    ["", "# mine", 'model = "x"\n', 'model = "x"\n[features]\nhooks = true', "[hooks.state]\n", "a = 1\r\nb = 2\r\n"]
)


@given(TEXTS, st.permutations([HOOK, OTHER]))
def test_what_is_added_stands_at_the_end_and_all_before_stays(config: str, hooks: list[Listed]) -> None:
    added = codextrust.trusting(config, hooks)
    assert added.startswith(config)
    states = tomllib.loads(added)["hooks"]["state"]
    assert {key: table["trusted_hash"] for key, table in states.items()} == {hook.key: hook.digest for hook in hooks}
    assert codextrust.trusting(added, hooks) == added, "twice is once"
    left = codextrust.without(codextrust.without(added, HOOK.source), OTHER.source)
    assert left.rstrip("\r\n") == config.rstrip("\r\n")


def test_another_digest_of_the_same_hook_replaces_ours_and_other_projects_stay() -> None:
    first = codextrust.trusting("x = 1\n", [HOOK, OTHER])
    second = codextrust.trusting(first, [HOOK._replace(digest="sha256:new")])
    states = tomllib.loads(second)["hooks"]["state"]
    assert states[HOOK.key]["trusted_hash"] == "sha256:new"
    assert states[OTHER.key]["trusted_hash"] == OTHER.digest
    assert list(tomllib.loads(codextrust.without(second, HOOK.source))["hooks"]["state"]) == [OTHER.key]


def test_what_the_user_trusted_with_his_own_words_is_not_said_twice() -> None:
    config = f"[hooks.state.{json.dumps(HOOK.key, ensure_ascii=False)}]\ntrusted_hash = {json.dumps(HOOK.digest)}\n"
    assert codextrust.trusting(config, [HOOK]) == config


@pytest.mark.parametrize(
    "config",
    [
        "hooks = {state = {}}\n",
        f"[hooks.state.{json.dumps(HOOK.key, ensure_ascii=False)}]\ntrusted_hash = 'sha256:old'\n",
        "[hooks]\nstate = 1\n",
    ],
)
def test_where_it_cannot_be_added_to_it_is_left_alone_and_the_way_within_codex_is_named(config: str) -> None:
    with pytest.raises(UsageError, match="/hooks"):
        codextrust.trusting(config, [HOOK])


def test_broken_toml_is_refused() -> None:
    with pytest.raises(UsageError, match="broken"):
        codextrust.trusting("a = = 1", [HOOK])


ANSWERS = {
    "nothing": "exit 0", "noise": "echo hello", "no_such_method": 'read a; echo \'{"id":1,"result":{}}\'; read b; echo \'{"id":2,"error":{"code":1}}\'',
    "another_shape": 'read a; echo \'{"id":1,"result":{}}\'; read b; echo \'{"id":2,"result":{"data":[{"hooks":[{"command":"/x/indelible-hook codex Stop"}]}]}}\'',
}  # fmt: skip


@pytest.mark.skipif(os.name != "posix", reason="stands in with a shell script")
@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_a_codex_that_answers_otherwise_is_not_known_to_trust(tmp_path: Path, answer: str) -> None:
    program = script(tmp_path / "codex", answer)
    with pytest.raises(IndelibleError, match="could not be asked"):
        codextrust.ask(str(program), str(tmp_path), os.environ)


# The real client.

CODEX = shutil.which("codex", path=os.environ["PATH"]) or shutil.which(
    "codex", path=os.path.join(os.environ.get("NPM", ""), "codex", "node_modules", ".bin")
)
needs_codex = pytest.mark.skipif(CODEX is None, reason="Codex is not installed; 'make test-hosts' installs it")


@pytest.fixture
def with_codex(place: Place) -> Place:
    os.symlink(str(CODEX), place.home / "our tools 도구" / "codex")
    return place


@needs_codex
@pytest.mark.slow
def test_codex_says_that_it_trusts_them_once_the_user_said_so(with_codex: Place) -> None:
    config = with_codex.home / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_bytes(b'model = "x"\r\n[features]\r\nhooks = true')
    ran = with_codex.hooks("install", "--host", "codex", "--scope", "user")
    assert "say '/hooks'" in ran.err
    assert config.read_bytes() == b'model = "x"\r\n[features]\r\nhooks = true'
    asked = said(with_codex.hooks("status", "--host", "codex", "--scope", "user", "--json", code=1))["hosts"][0]
    assert (asked["installed"], asked["current"], asked["trusted"]) == (True, True, False)
    assert "preToolUse" in " ".join(asked["problems"])
    with_codex.hooks("install", "--host", "codex", "--scope", "user", "--trust")
    asked = said(with_codex.hooks("status", "--host", "codex", "--scope", "user", "--json"))["hosts"][0]
    assert (asked["fires"], asked["trusted"], asked["works"]) == (True, True, True)
    assert "say '/hooks'" not in with_codex.hooks("install", "--host", "codex", "--scope", "user").err
    with_codex.hooks("uninstall", "--host", "codex", "--scope", "user")
    assert config.read_bytes() == b'model = "x"\r\n[features]\r\nhooks = true'


@needs_codex
@pytest.mark.slow
def test_a_project_that_codex_does_not_trust_is_said_so(with_codex: Place) -> None:
    with_codex.hooks("install", "--host", "codex")
    asked = said(with_codex.hooks("status", "--host", "codex", "--scope", "project", "--json", code=1))["hosts"][0]
    assert asked["trusted"] is False
    assert "trusts the project" in " ".join(asked["problems"])


def test_without_codex_its_trust_cannot_be_written_down(place: Place) -> None:
    refused(
        place.hooks("install", "--host", "codex", "--scope", "user", "--trust", code=3), 3, "not on the PATH", "/hooks"
    )


def test_without_codex_its_trust_is_said_to_be_not_asked_and_no_trust_is_advised(begun: Place) -> None:
    ran = begun.hooks("install", "--host", "codex", "--scope", "user")
    assert "say '/hooks'" in ran.err
    assert "--trust" not in ran.err
    ran = begun.hooks("status", "--host", "codex", "--scope", "user")
    assert "⚠" in ran.out
    assert "trust not asked (codex is not here" in ran.out
    (one,) = said(begun.hooks("status", "--host", "codex", "--scope", "user", "--json"))["hosts"]
    assert one["trusted"] is None
    assert "not asked" in one["warnings"][0]


@pytest.mark.skipif(os.name != "posix", reason="stands in with a shell script")
def test_trust_that_codex_would_not_heed_is_no_success(begun: Place) -> None:
    """A project that Codex does not trust: it lists no hook of it."""
    script(
        begun.home / "our tools 도구" / "codex",
        'read a; echo \'{"id":1,"result":{}}\'; read b; echo \'{"id":2,"result":{"data":[{"hooks":[]}]}}\'',
    )
    ran = begun.hooks("install", "--host", "codex", "--scope", "project", "--trust", code=1)
    assert "Codex lists none of the hooks" in ran.err
    assert "trust the folder" in ran.err + ran.out
