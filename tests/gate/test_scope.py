"""Whether a memory applies where its reader stands: whole names only, and what is not known holds it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.errors import UsageError
from indelible.gate.place import GivenPlace
from indelible.gate.scope import in_scope, resolve_scope
from indelible.gate.verdict import Reason
from indelible.record import Scope

if TYPE_CHECKING:
    from collections.abc import Mapping

APP = GivenPlace(repo="github.com/demo/app", root="a" * 40, revision="b" * 40, branch="main", top="/w/app")
NOWHERE = GivenPlace(top="/w")
LOCAL = GivenPlace(repo=f"root:{'a' * 40}", root="a" * 40, branch="main")
BROKEN = GivenPlace(problem=Reason("git-missing", "Git is not installed", "Install git"))
PLACES = (APP, NOWHERE, LOCAL, BROKEN)
names = st.text("abAB-/.", min_size=1, max_size=8)


def held(scope: Scope, place: GivenPlace = APP, **more: Any) -> Reason | None:
    told: dict[str, Any] = {"reader": "eros", "facts": {}, "admits_global": False}
    return in_scope(scope, place=place, **(told | more))


def slug(scope: Scope, place: GivenPlace = APP, **more: Any) -> str | None:
    reason = held(scope, place, **more)
    return reason and reason.slug


# Levels.


@pytest.mark.parametrize(("scope", "expected"), [
    (Scope("agent", agent="eros"), None),
    (Scope("agent", agent="Eros"), "scope"),
    (Scope("agent", agent="dami"), "scope"),
    (Scope("agent"), "scope-incomplete"),
    (Scope("agent", agent=""), "scope-incomplete"),
    (Scope("global"), "scope-global-not-admitted"),
    (Scope("repo", repo="github.com/demo/app"), None),
    (Scope("repo", repo="GitHub.com/demo/app"), None),
    (Scope("repo", repo="github.com/Demo/app"), "scope"),
    (Scope("repo", repo="github.com/demo/App"), "scope"),
    (Scope("repo", repo="gitlab.com/demo/app"), "scope"),
    (Scope("repo", repo=f"root:{'a' * 40}"), None),
    (Scope("repo", repo=f"root:{'c' * 40}"), "scope"),
    (Scope("repo", repo="root:"), "scope"),
    (Scope("repo"), "scope-incomplete"),
    (Scope("branch", repo="github.com/demo/app", branch="main"), None),
    (Scope("branch", branch="main"), None),
    (Scope("branch", repo="github.com/demo/app", branch="Main"), "scope"),
    (Scope("branch", repo="github.com/demo/app", branch="main/x"), "scope"),
    (Scope("branch", repo="github.com/demo/other", branch="main"), "scope"),
    (Scope("branch", repo="github.com/demo/app"), "scope-incomplete"),
    (Scope("path", repo="github.com/demo/app", paths=("src/**",)), None),
    (Scope("path", repo="github.com/demo/other", paths=("src/**",)), "scope"),
    (Scope("path", repo="github.com/demo/app"), "scope-incomplete"),
    (Scope("org", org="demo"), None),
    (Scope("org", org="Demo"), "scope"),
    (Scope("org"), "scope-incomplete"),
    (Scope("user", user="mina"), "scope-unknown"),
    (Scope("project", project="x"), "scope-unknown"),
    (Scope("session", session="s"), "scope-unknown"),
    (Scope("session"), "scope-incomplete"),
    (Scope("galaxy"), "scope-unknown"),
    # A level counts, and not what else is said.
    (Scope("agent", agent="eros", repo="github.com/demo/other"), None),
    (Scope("repo", repo="github.com/demo/other", agent="eros"), "scope"),
])  # fmt: skip
def test_a_memory_applies_at_its_level_or_is_held(scope: Scope, expected: str | None) -> None:
    assert slug(scope) == expected


@pytest.mark.parametrize("asked", ["demo/app", "github.com/demo/app"])
def test_a_memory_of_one_project_does_not_appear_in_another(asked: str) -> None:
    """O-GATE-02."""
    place = GivenPlace(repo=asked)
    saved = [Scope("repo", repo=f"{asked}{more}") for more in ("", "-2", "/sub", ".git", "/", " ")]
    saved += [
        Scope("repo", repo=asked.rpartition("/")[0]),
        Scope("repo", repo=asked.rpartition("/")[2]),
        Scope("global"),
    ]
    assert [scope.repo for scope in saved if held(scope, place) is None] == [asked]
    assert [scope.level for scope in saved if held(scope, place, admits_global=True) is None] == ["repo", "global"]
    reasons = [held(scope, place) for scope in saved[1:]]
    assert {reason.slug for reason in reasons if reason} == {"scope", "scope-global-not-admitted"}


@given(names, names)
def test_only_the_whole_name_is_the_name(wanted: str, actual: str) -> None:
    lowered = {name.partition("/")[0].lower() + "".join(name.partition("/")[1:]) for name in (wanted, actual)}
    applies = held(Scope("repo", repo=wanted), GivenPlace(repo=actual)) is None
    assert applies is (wanted == actual) or (applies and len(lowered) == 1)
    assert (held(Scope("branch", branch=wanted), GivenPlace(branch=actual)) is None) is (wanted == actual)
    assert (held(Scope("project", project=wanted), facts={"project": actual}) is None) is (wanted == actual)
    assert (held(Scope("agent", agent=wanted), reader=actual) is None) is (wanted == actual)


@given(st.builds(Scope, st.sampled_from(["global", "org", "user", "project", "repo", "branch", "path", "session", "agent"]),
                 **{name: st.none() | names for name in ("org", "user", "project", "repo", "branch", "session", "agent")}),
       st.sampled_from(PLACES))  # fmt: skip
def test_a_judgement_is_a_reason_in_words_and_never_an_exception(scope: Scope, place: GivenPlace) -> None:
    reason = held(scope, place)
    assert reason is None or (reason.slug.startswith("scope") and reason.message)


def test_no_level_applies_where_it_says_nothing() -> None:
    """An empty name is no name, also where the place has none."""
    for level in ("org", "user", "project", "repo", "branch", "path", "session", "agent"):
        for place in PLACES:
            reason = held(Scope(level), place, reader="")
            assert reason is not None
            assert reason.slug in ("scope-incomplete", "scope-unknown")


# What is said.


def test_another_place_is_named_beside_the_one_that_was_meant() -> None:
    reason = held(Scope("repo", repo="github.com/demo/other"))
    assert reason is not None
    assert "github.com/demo/other" in reason.message
    assert "github.com/demo/app" in reason.message


@pytest.mark.parametrize(("scope", "place", "words"), [
    (Scope("repo", repo="h/o/r"), NOWHERE, "which repository"),
    (Scope("branch", branch="main"), replace(APP, branch=None), "which branch"),
    (Scope("path", repo="h/o/r", paths=("a",)), NOWHERE, "which repository"),
    (Scope("org", org="x"), LOCAL, "which org"),
    (Scope("session", session="x"), APP, "which session"),
    (Scope("repo", repo=f"root:{'a' * 40}"), replace(APP, root=None), "first commit"),
])  # fmt: skip
def test_what_is_not_known_is_named_with_a_remedy(scope: Scope, place: GivenPlace, words: str) -> None:
    reason = held(scope, place)
    assert reason is not None
    assert reason.slug == "scope-unknown"
    assert words in reason.message
    assert reason.remedy


@pytest.mark.parametrize("scope", [Scope("repo", repo="h/o/r"), Scope("branch", branch="b"), Scope("org", org="o")])
def test_trouble_with_git_is_told_with_its_remedy(scope: Scope) -> None:
    reason = held(scope, BROKEN)
    assert reason is not None
    assert (reason.slug, reason.remedy) == ("scope-unknown", "Install git")
    assert "Git is not installed" in reason.message


def test_what_would_move_the_cursor_or_fill_the_screen_is_shown_safely() -> None:
    reason = held(Scope("repo", repo="\x1b[2J\u202e" + "x" * 5000))
    assert reason is not None
    assert reason.message.isprintable()
    assert len(reason.message) < 500


def test_how_to_admit_global_memory_is_said() -> None:
    reason = held(Scope("global"))
    assert reason is not None
    assert "INDELIBLE_GLOBAL=1" in reason.remedy
    assert held(Scope("global"), BROKEN, admits_global=True) is None


# Facts and files.


@pytest.mark.parametrize(("facts", "place", "applies"), [
    ({"org": "demo"}, NOWHERE, True), ({}, APP, True), ({"org": "other"}, APP, False), ({"org": ""}, APP, True), ({}, LOCAL, False),
    ({}, GivenPlace(repo="demo/app"), False), ({}, GivenPlace(repo="gitlab.com/demo/sub/app"), False),
])  # fmt: skip
def test_the_organisation_is_what_is_stated_or_else_the_repositorys_owner(
    facts: Mapping[str, str], place: GivenPlace, applies: bool
) -> None:
    assert (held(Scope("org", org="demo"), place, facts=facts) is None) is applies


@pytest.mark.parametrize(("paths", "applies"), [
    ((), True), (("src/a.py",), True), (("docs/a.md", "src/deep/b.py"), True), (("docs/a.md",), False), (("Src/a.py",), False),
])  # fmt: skip
def test_a_memory_of_some_paths_applies_to_them_and_without_any_to_their_repository(
    paths: tuple[str, ...], applies: bool
) -> None:
    scope = Scope("path", repo="github.com/demo/app", paths=("src/**", "README.md"))
    assert (held(scope, paths=paths) is None) is applies


# What a save fills in.


@pytest.mark.parametrize(("scope", "saved"), [
    (Scope("repo"), Scope("repo", repo="github.com/demo/app")),
    (Scope("branch", branch="feat/X"), Scope("branch", branch="feat/X", repo="github.com/demo/app")),
    (Scope("path", paths=("src/**",)), Scope("path", paths=("src/**",), repo="github.com/demo/app")),
    (Scope("repo", repo="https://u:secret@GitHub.com/o/R.git"), Scope("repo", repo="github.com/o/R")),
    (Scope("repo", repo="git@GitHub.com:o/R.git"), Scope("repo", repo="github.com/o/R")),
    (Scope("repo", repo="GitHub.com/o/R"), Scope("repo", repo="github.com/o/R")),
    (Scope("repo", repo="demo/app"), Scope("repo", repo="github.com/demo/app")),
    (Scope("repo", repo="demo/app-2"), Scope("repo", repo="demo/app-2")),
    (Scope("repo", repo="app"), Scope("repo", repo="app")),
    (Scope("agent"), Scope("agent", agent="eros")),
    (Scope("agent", agent="dami"), Scope("agent", agent="dami")),
    (Scope("org"), Scope("org", org="demo")),
    (Scope("project"), Scope("project", project="p")),
    (Scope("session", session="s"), Scope("session", session="s")),
    (Scope("global"), Scope("global")),
])  # fmt: skip
def test_a_save_fills_in_what_is_here(scope: Scope, saved: Scope) -> None:
    assert resolve_scope(scope, APP, reader="eros", facts={"project": "p"}) == saved
    assert resolve_scope(saved, APP, reader="eros", facts={"project": "p"}) == saved


@pytest.mark.parametrize(("scope", "place", "words"), [
    (Scope("repo"), NOWHERE, "which repository"),
    (Scope("branch", branch="b"), NOWHERE, "which repository"),
    (Scope("path", paths=("a",)), BROKEN, "Git is not installed"),
    (Scope("session"), APP, "which session"),
    (Scope("org"), LOCAL, "which org"),
    (Scope("agent"), APP, "which agent"),
    (Scope("repo", repo="https://u:se/cret@h/o/r"), APP, "names no repository"),
])  # fmt: skip
def test_a_save_that_cannot_say_where_is_refused_with_a_remedy(scope: Scope, place: GivenPlace, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        resolve_scope(scope, place)
    assert caught.value.remedy
    assert "cret" not in str(caught.value)


@given(st.sampled_from(["repo", "branch", "path"]), st.sampled_from([APP, LOCAL]), st.none() | names)
def test_what_was_saved_here_applies_here(level: str, place: GivenPlace, branch: str | None) -> None:
    scope = resolve_scope(Scope(level, branch=branch or "b", paths=("**",)), place)
    assert held(scope, replace(place, branch=branch or "b")) is None
