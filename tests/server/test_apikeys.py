"""API keys: shown once, stored hashed, scoped, and out of force the moment they are revoked."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from indelible.errors import NotFoundError, StoreError, UsageError
from indelible.server.apikeys import ApiKeys, NoCredential

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def keys(tmp_path: Path) -> Iterator[ApiKeys]:
    made = ApiKeys(str(tmp_path / "config"), clock=lambda: "2026-11-30T00:00:00Z")
    yield made
    made.close()


def test_a_key_is_its_agents_with_its_verbs_and_prefix(keys: ApiKeys) -> None:
    found = keys.authenticate(keys.create("eros", {"read"}, "team/"))
    assert (found.agent, found.verbs, found.prefix) == ("eros", frozenset({"read"}), "team/")


def test_the_text_of_a_key_is_nowhere_on_the_disk(keys: ApiKeys, tmp_path: Path) -> None:
    text = keys.create("eros")
    secret = text.split("_", 2)[2].encode()
    assert [path for path in tmp_path.rglob("*") if path.is_file() and secret in path.read_bytes()] == []


def test_two_keys_are_never_the_same(keys: ApiKeys) -> None:
    assert keys.create("eros") != keys.create("eros")
    assert len(keys.list()) == 2


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: "",
        lambda text: text[:-1],
        lambda text: text + "x",
        lambda text: text.replace("idl_", "idl_0", 1),
        lambda text: "idl_" + "0" * 12 + "_" + text.split("_", 2)[2],
        lambda text: text.upper(),
        lambda text: text + "\0",
        lambda text: "x" * 1_000_000,
        lambda text: "' OR 1=1 --",
        lambda text: "\udcff",
    ],
)
def test_anything_but_the_whole_text_is_no_key(keys: ApiKeys, spoil) -> None:
    text = keys.create("eros")
    with pytest.raises(NoCredential) as caught:
        keys.authenticate(spoil(text))
    assert caught.value.http_status == 401


def test_a_revoked_key_is_told_from_none_by_nobody(keys: ApiKeys) -> None:
    text = keys.create("eros")
    revoked = keys.revoke(keys.list()[0].id)
    with pytest.raises(NoCredential) as after:
        keys.authenticate(text)
    with pytest.raises(NoCredential) as never:
        keys.authenticate("idl_000000000000_x")
    assert (str(after.value), revoked.revoked) == (str(never.value), "2026-11-30T00:00:00Z")


def test_a_revoke_in_another_process_counts_at_once(keys: ApiKeys, tmp_path: Path) -> None:
    text = keys.create("eros")
    keys.authenticate(text)
    code = "import sys; from indelible.server.apikeys import ApiKeys; ApiKeys(sys.argv[1]).revoke(sys.argv[2])"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "config"), keys.list()[0].id], check=True, env=env)
    with pytest.raises(NoCredential):
        keys.authenticate(text)


def test_keys_whose_file_was_taken_away_are_out_of_force(keys: ApiKeys) -> None:
    text = keys.create("eros")
    keys.authenticate(text)
    os.unlink(keys.path)
    with pytest.raises(NoCredential):
        keys.authenticate(text)


def test_a_file_that_was_put_in_the_others_place_counts(keys: ApiKeys, tmp_path: Path) -> None:
    text = keys.create("eros")
    keys.authenticate(text)
    other = ApiKeys(str(tmp_path / "other"))
    text_of_other = other.create("rudex")
    other.close()
    os.replace(other.path, keys.path)
    assert keys.authenticate(text_of_other).agent == "rudex"


def test_revoking_twice_is_no_error_and_keeps_the_first_time(keys: ApiKeys) -> None:
    keys.create("eros")
    key_id = keys.list()[0].id
    keys.revoke(key_id)
    assert keys.revoke(key_id).revoked == "2026-11-30T00:00:00Z"
    with pytest.raises(NotFoundError):
        keys.revoke("none")


@pytest.mark.parametrize(
    ("agent", "verbs", "prefix"),
    [("", {"read"}, ""), ("a", set(), ""), ("a", {"root"}, ""), ("a" * 513, {"read"}, ""), ("a", {"read"}, "\ud800")],
)
def test_a_key_that_makes_no_sense_is_not_made(keys: ApiKeys, agent: str, verbs: set[str], prefix: str) -> None:
    with pytest.raises(UsageError):
        keys.create(agent, verbs, prefix)
    assert keys.list() == ()


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_the_file_is_private_under_any_umask(keys: ApiKeys) -> None:
    before = os.umask(0)
    try:
        keys.create("eros")
    finally:
        os.umask(before)
    folder = os.path.dirname(keys.path)
    assert os.stat(folder).st_mode & 0o777 == 0o700
    assert {name: os.stat(os.path.join(folder, name)).st_mode & 0o777 for name in os.listdir(folder)} == dict.fromkeys(
        os.listdir(folder), 0o600
    )


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_a_file_that_others_may_change_is_refused(keys: ApiKeys) -> None:
    text = keys.create("eros")
    keys.close()
    os.chmod(keys.path, 0o666)  # noqa: S103 - the fault under test
    with pytest.raises(StoreError):
        keys.authenticate(text)


def test_a_link_in_the_files_place_is_not_followed(keys: ApiKeys, tmp_path: Path) -> None:
    os.makedirs(os.path.dirname(keys.path))
    os.symlink(tmp_path / "elsewhere.db", keys.path)
    with pytest.raises(StoreError):
        keys.create("eros")
    assert not (tmp_path / "elsewhere.db").exists()


def test_a_damaged_file_lets_nobody_in(keys: ApiKeys) -> None:
    text = keys.create("eros")
    keys.close()
    with open(keys.path, "r+b") as file:
        file.write(b"not a database at all" * 300)
    with pytest.raises(StoreError):
        keys.authenticate(text)


def test_without_a_file_there_are_no_keys(keys: ApiKeys) -> None:
    assert keys.list() == ()
    with pytest.raises(NoCredential):
        keys.authenticate("idl_000000000000_x")
    assert not os.path.exists(keys.path)
