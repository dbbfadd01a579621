"""One name for all clones of a repository, whatever their remote looks like, and no part of a password in it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.gate.identity import by_remote, fold_host, identity_of, owner_in, parse_identity, remotes_in

if TYPE_CHECKING:
    from collections.abc import Mapping

posix = pytest.mark.skipif(os.name != "posix", reason="paths as POSIX has them")
words = st.text("abcXYZ019._-", min_size=1, max_size=12).filter(lambda text: text.strip(".") and text != ".git")


@pytest.mark.parametrize("address", [
    "https://github.com/Owner/repo",
    "https://github.com/Owner/repo.git",
    "https://github.com/Owner/repo.git/",
    "https://GitHub.COM/Owner/repo",
    "https://github.com./Owner/repo",
    "https://github.com:443//Owner/repo/",
    "https://user@github.com/Owner/repo",
    "https://user:secret@github.com/Owner/repo",
    "https://me@corp.com:secret@github.com/Owner/repo",
    "https://github.com/Owner/repo?token=secret#x",
    "http://github.com/Owner/repo/.git",
    "ssh://git@github.com/Owner/repo.git",
    "ssh://git@github.com:22/Owner/repo",
    "git+ssh://git@github.com/Owner/repo",
    "git://github.com/Owner/repo",
    "git@github.com:Owner/repo.git",
    "git@github.com:/Owner/repo",
    "github.com:Owner/repo",
    "user:secret@github.com:Owner/repo",
    "gcrypt::git@github.com:Owner/repo",
])  # fmt: skip
def test_every_spelling_of_an_address_is_one_repository(address: str) -> None:
    assert identity_of(address, "/w") == "github.com/Owner/repo"


@posix
@pytest.mark.parametrize(("address", "identity"), [
    ("/srv/git/app.git", "file:/srv/git/app.git"),
    ("/srv/git/app/", "file:/srv/git/app"),
    ("/srv/git/app/.git", "file:/srv/git/app"),
    ("file:///srv/git/app.git", "file:/srv/git/app.git"),
    ("FILE:///srv/git/a%20b", "file:/srv/git/a b"),
    ("../other", "file:/w/other"),
    ("./with:colon", "file:/w/here/with:colon"),
    ("[::1]:Owner/repo", "[::1]/Owner/repo"),
    ("ssh://git@[FE80::1]:22/Owner/repo", "[fe80::1]/Owner/repo"),
    ("https://git.example.org/group/sub/repo.git", "git.example.org/group/sub/repo"),
    ("ssh://host/~user/repo", "host/~user/repo"),
    ("https://git.example.org/repo", "git.example.org/repo"),
    ("https://git.example.org/메모/저장소", "git.example.org/메모/저장소"),
])  # fmt: skip
def test_a_path_is_absolute_and_a_path_on_a_server_stays_as_it_is(address: str, identity: str) -> None:
    assert identity_of(address, "/w/here") == identity


@pytest.mark.parametrize("address", [
    "", "https://github.com", "https://github.com/.git", "https:///o/r", "https://user:pa/ss@github.com/o/r",
    "https://user:12/34@github.com/o/r", "https://user:p?ss@github.com/o/r", "user:secret@github.com/o/r",
    "user:pa/ss@github.com:o/r", "https:/user:secret@github.com/o/r", "https://u:s@@", "ext::sh -c secret", "file:///a%00b",
])  # fmt: skip
def test_an_address_that_can_be_read_in_two_ways_names_nothing(address: str) -> None:
    assert identity_of(address, "/w") == ""


@given(
    st.sampled_from(["https", "ssh", "git+ssh"]),
    st.text(st.characters(codec="utf-8", exclude_characters="/"), min_size=8, max_size=16),
    words,
    words,
)
def test_a_password_is_never_part_of_a_name(scheme: str, password: str, owner: str, repo: str) -> None:
    marked = f"s3cret{password}s3cret"
    for address in (
        f"{scheme}://user:{marked}@git.example.org/{owner}/{repo}",
        f"{scheme}://{marked}@git.example.org/{owner}/{repo}",
        f"user:{marked}@git.example.org:{owner}/{repo}",
    ):
        assert "s3cret" not in identity_of(address, "/w")
        assert "s3cret" not in parse_identity(address)


@given(words, words)
def test_a_name_that_was_made_is_read_as_itself(owner: str, repo: str) -> None:
    made = identity_of(f"https://Git.Example.org/{owner}/{repo}", "/w")
    assert parse_identity(made) in (made, made.removesuffix(".git"))
    assert fold_host(made) == made


@pytest.mark.parametrize(("text", "identity"), [
    ("https://GitHub.com/o/R.git", "github.com/o/R"),
    ("git@GitHub.com:o/R.git", "github.com/o/R"),
    ("GitHub.com/o/R", "github.com/o/R"),
    ("GitHub.com/o/R.git/", "github.com/o/R"),
    ("me@GitHub.com/o/R", "github.com/o/R"),
    ("Demo/App", "Demo/App"),
    ("demo", "demo"),
    ("root:0123", "root:0123"),
    ("folder:0123", "folder:0123"),
    ("file:/srv/App.git", "file:/srv/App.git"),
    ("file:///srv/App.git", "file:/srv/App.git"),
    ("/srv/App.git", "file:/srv/App.git"),
    ("https://user:pa/ss@github.com/o/r", ""),
])  # fmt: skip
def test_what_a_person_names_becomes_the_identity(text: str, identity: str) -> None:
    assert parse_identity(text) == identity


@pytest.mark.parametrize(("remotes", "chosen"), [
    ({"zeta": "https://h/z/r", "upstream": "https://h/u/r", "origin": "https://h/o/r"}, ("h/o/r", "origin")),
    ({"alpha": "https://h/a/r", "upstream": "https://h/u/r"}, ("h/u/r", "upstream")),
    ({"only": "https://h/x/r"}, ("h/x/r", "only")),
    ({"zeta": "https://h/z/r", "beta": "https://h/b/r"}, ("h/b/r", "beta")),
    ({"origin": "https://h", "beta": "https://h/b/r"}, ("h/b/r", "beta")),
    ({"origin": ""}, ("", "")),
    ({}, ("", "")),
])  # fmt: skip
def test_of_several_remotes_origin_counts_then_upstream_then_the_first_by_name(
    remotes: Mapping[str, str], chosen: tuple[str, str]
) -> None:
    assert by_remote(remotes, "/w") == chosen


def test_of_a_remote_with_several_addresses_the_first_counts() -> None:
    listing = "remote.origin.url\nfile:///a b\0remote.origin.url\nfile:///second\0remote.a.b.url\ngit@h:o/r\0remote.none.url\0"
    assert remotes_in(listing) == {"origin": "file:///a b", "a.b": "git@h:o/r"}


@pytest.mark.parametrize(("identity", "owner"), [
    ("github.com/o/r", "o"), ("h/group/sub/r", "group/sub"), ("demo/app", None), ("demo", None), ("root:01", None), ("file:/srv/git/app", None),
])  # fmt: skip
def test_the_owner_stands_between_host_and_repository(identity: str, owner: str | None) -> None:
    assert owner_in(identity) == owner


@pytest.mark.parametrize(("identity", "folded"), [
    ("GitHub.com/O/R", "github.com/O/R"), ("HOST/O/R", "host/O/R"), ("Demo/App", "Demo/App"), ("file:/W/App", "file:/W/App"), ("Demo", "Demo"),
])  # fmt: skip
def test_only_a_host_is_put_in_lower_case(identity: str, folded: str) -> None:
    assert fold_host(identity) == folded
