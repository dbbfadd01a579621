"""Real repositories, made by the test; no network but the loopback."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.errors import IndelibleError, Unreachable, UsageError
from indelible.gitsource import (
    GitFailed,
    GitMissing,
    NoRepository,
    NoSuchBranch,
    NoSuchPath,
    NoSuchVersion,
    Original,
    fetch_original,
    source_of,
)
from indelible.gitsource.naming import parse_source, repository_name

if TYPE_CHECKING:
    from collections.abc import Mapping

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="needs git")

PATH, BRANCH = "agents/rudex/MEMORY.md", "claude/rudex-al1f1n"
NAME = "moosjiny/mujoco"
SOURCE = f"{NAME}/{PATH}"
V1, V2, V3 = b"# v1\n", b"# v2\n\xea\xb8\xb0\xec\x96\xb5\n", b"# v3\nno newline at the end"


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@dataclass
class Repository:
    top: Path

    def git(self, *args: str | Path, **env: str) -> str:
        ended = subprocess.run(
            ["git", *map(str, args)], cwd=self.top, env={**os.environ, **env}, capture_output=True, check=False
        )
        assert ended.returncode == 0, ended.stderr.decode()
        return ended.stdout.decode().strip()

    def commit(self, data: bytes, path: str = PATH) -> str:
        file = self.top / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "change")
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repository(home: Path) -> Repository:
    """A work tree on the recorded branch whose remote is the recorded one, with nothing behind its address."""
    made = Repository(home / "work" / "checkout")
    made.top.mkdir()
    made.git("init", "-q", "-b", BRANCH)
    made.git("remote", "add", "origin", f"https://user:token@git.invalid/{NAME}.git")
    made.commit(b"read me", "README.md")
    return made


@pytest.fixture
def cache(home: Path) -> Path:
    return home / "cache" / "indelible" / "git"


def local(repository: Repository, data: bytes | None, **more: Any) -> Original:
    sha256 = None if data is None else digest(data)
    settings: dict[str, Any] = {
        "remotes": {},
        "cache": "/nonexistent",
        "environ": os.environ,
        "repository_top": str(repository.top),
    }
    return fetch_original(**{"source": SOURCE, "branch": BRANCH, "sha256": sha256, **settings, **more})


def remote(address: str | Path, cache: Path, data: bytes | None, **more: Any) -> Original:
    sha256 = None if data is None else digest(data)
    settings: dict[str, Any] = {"remotes": {NAME: str(address)}, "cache": str(cache), "environ": os.environ}
    return fetch_original(**{"source": SOURCE, "branch": BRANCH, "sha256": sha256, **settings, **more})


# Where a file stands


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://github.com/moosjiny/mujoco", NAME),
        ("https://github.com/moosjiny/mujoco.git", NAME),
        ("https://github.com/moosjiny/mujoco/", NAME),
        ("https://user:token@github.com:8443/moosjiny/mujoco.git", NAME),
        ("https://gitlab.com/group/moosjiny/mujoco.git", NAME),
        ("ssh://git@github.com:22/moosjiny/mujoco.git", NAME),
        ("git+ssh://git@host/moosjiny/mujoco", NAME),
        ("git://host/moosjiny/mujoco", NAME),
        ("git@github.com:moosjiny/mujoco.git", NAME),
        ("github.com:moosjiny/mujoco", NAME),
        ("git@host:/srv/git/moosjiny/mujoco.git", NAME),
        ("file:///srv/git/moosjiny/mujoco.git", NAME),
        ("file:///C:/git/moosjiny/mujoco", NAME),
        ("/srv/git/moosjiny/mujoco.git", NAME),
        ("/srv/moosjiny/mujoco/.git", NAME),
        ("C:\\git\\moosjiny\\mujoco", NAME),
        ("C:/git/moosjiny/mujoco.git", NAME),
        ("https://github.com/moosjiny/mujoco?ref=x", NAME),
        ("https://git.sr.ht/~moosjiny/mujoco", "~moosjiny/mujoco"),
        ("https://host/mujoco.git", "host/mujoco"),
        ("host:mujoco.git", "host/mujoco"),
        ("/mujoco", "local/mujoco"),
        ("https://host/사용자/저장소.git", "사용자/저장소"),
    ],
)
def test_a_remotes_address_names_owner_and_repository(address: str, name: str) -> None:
    assert repository_name(address) == name


@pytest.mark.parametrize("address", ["", "/", "https://host", "https://host/", "git@host:", "file:///", "/.git"])
def test_an_address_without_a_repository_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match="names no repository"):
        repository_name(address)


def test_the_source_of_a_file_is_its_remote_path_and_branch(repository: Repository) -> None:
    repository.commit(V1)
    assert source_of(str(repository.top / PATH), environ=os.environ) == (SOURCE, BRANCH)


def test_a_file_that_is_not_committed_yet_has_a_source(repository: Repository) -> None:
    (repository.top / "메모 한 장.md").write_bytes(V1)
    assert source_of(str(repository.top / "메모 한 장.md"), environ=os.environ).source == f"{NAME}/메모 한 장.md"


def test_a_fresh_repository_has_a_branch(home: Path) -> None:
    made = Repository(home / "work" / "owner" / "fresh")
    made.top.mkdir(parents=True)
    made.git("init", "-q", "-b", "main")
    assert source_of(str(made.top / "MEMORY.md"), environ=os.environ) == ("owner/fresh/MEMORY.md", "main")


def test_no_branch_is_the_commit(repository: Repository) -> None:
    commit = repository.commit(V1)
    repository.git("checkout", "-q", "--detach")
    assert source_of(str(repository.top / PATH), environ=os.environ).branch == commit
    assert local(repository, V1, branch=commit).data == V1


def test_the_branchs_own_remote_counts_before_origin(repository: Repository) -> None:
    repository.git("remote", "add", "fork", "git@host:fork/mujoco.git")
    repository.git("config", f"branch.{BRANCH}.remote", "fork")
    repository.commit(V1)
    assert source_of(str(repository.top / PATH), environ=os.environ).source == f"fork/mujoco/{PATH}"


def test_a_link_is_followed_to_the_file_that_git_has(repository: Repository, home: Path) -> None:
    repository.commit(V1)
    link = home / "work" / "MEMORY.md"
    link.symlink_to(repository.top / PATH)
    assert source_of(str(link), environ=os.environ).source == SOURCE


def test_a_worktree_has_the_source_of_its_repository(repository: Repository, home: Path) -> None:
    repository.commit(V1)
    repository.git("worktree", "add", "-q", "-b", "other", home / "work" / "tree")
    assert source_of(str(home / "work" / "tree" / PATH), environ=os.environ) == (SOURCE, "other")
    repository.git("remote", "remove", "origin")
    assert source_of(str(home / "work" / "tree" / PATH), environ=os.environ).source == f"work/checkout/{PATH}"


def test_a_remote_that_is_a_relative_path_is_named_by_where_it_is(repository: Repository) -> None:
    repository.commit(V1)
    repository.git("remote", "set-url", "origin", "../mujoco.git")
    assert source_of(str(repository.top / PATH), environ=os.environ).source == f"work/mujoco/{PATH}"


def test_inside_a_hook_the_outer_repository_is_not_taken(repository: Repository, home: Path) -> None:
    repository.commit(V1)
    other = home / "work" / "outer"
    Repository(home).git("init", "-q", other)
    left = {
        **os.environ,
        "GIT_DIR": str(other / ".git"),
        "GIT_WORK_TREE": str(other),
        "GIT_INDEX_FILE": str(other / "index"),
        "GIT_PREFIX": "x/",
    }
    assert source_of(str(repository.top / PATH), environ=left).source == SOURCE
    assert local(repository, V1, environ=left).data == V1


def test_a_file_outside_git_has_no_source(home: Path) -> None:
    with pytest.raises(NoRepository, match="no git work tree"):
        source_of(str(home / "work" / "MEMORY.md"), environ=os.environ)


def test_a_folder_that_is_not_there_has_no_source(home: Path) -> None:
    with pytest.raises(NoRepository, match="not a folder"):
        source_of(str(home / "nowhere" / "MEMORY.md"), environ=os.environ)


@pytest.mark.parametrize(
    "source",
    [
        "",
        "a",
        "a/b",
        "a/b/",
        "/a/b/c",
        "a//c",
        "a/b/../c",
        "a/b/c/..",
        "a/b/./c",
        "a/b/-c",
        "a/b/--output=x",
        "a/b//etc/passwd",
        "a/b/c//d",
        "a/b/.git/config",
        "a/b/x/.GIT/y",
        "a/b/c\0d",
    ],
)
def test_a_source_that_leaves_its_repository_or_reads_as_an_option_is_refused(source: str) -> None:
    with pytest.raises(UsageError):
        parse_source(source)


@given(st.text(min_size=1))
def test_a_source_is_refused_or_stays_inside(path: str) -> None:
    try:
        place = parse_source(f"owner/repo/{path}")
    except UsageError:
        return
    assert place == ("owner/repo", path)
    assert not os.path.relpath(os.path.join("/x", path), "/x").startswith("..")


# The original, from the repository at hand


def test_the_tip_of_the_branch_has_it(repository: Repository) -> None:
    commit = repository.commit(V2)
    found = local(repository, V2)
    assert (found.data, found.commit, found.how, found.endings) == (V2, commit, "tip", "")
    assert SOURCE in found.reason
    assert commit[:12] in found.reason


def test_a_digest_may_have_its_prefix(repository: Repository) -> None:
    repository.commit(V2)
    assert local(repository, None, sha256=f"sha256:{digest(V2)}").data == V2


@pytest.mark.parametrize("sha256", ["", "abc", "sha1:abc", digest(V1)[:63], digest(V1).upper()])
def test_a_digest_that_is_none_is_refused(repository: Repository, sha256: str) -> None:
    with pytest.raises(UsageError):
        local(repository, None, sha256=sha256)


def test_where_the_branch_has_moved_on_the_history_has_it(repository: Repository) -> None:
    commit = repository.commit(V1)
    repository.commit(V2)
    repository.commit(V3)
    repository.git("rm", "-q", PATH)
    repository.commit(b"x", "other")
    found = local(repository, V1)
    assert (found.data, found.commit, found.how) == (V1, commit, "history")
    assert "moved on" in found.reason


def test_history_is_followed_through_a_rename(repository: Repository) -> None:
    repository.commit(b"# v1\n" + b"a line that stays\n" * 20, "MEMORY.md")
    (repository.top / "agents" / "rudex").mkdir(parents=True)
    repository.git("mv", "MEMORY.md", PATH)
    repository.commit(b"# v2\n" + b"a line that stays\n" * 20)
    assert local(repository, b"# v1\n" + b"a line that stays\n" * 20).how == "history"


def test_a_version_that_a_merge_left_behind_is_found(repository: Repository) -> None:
    repository.commit(V1)
    repository.git("checkout", "-q", "-b", "side")
    repository.commit(V2)
    repository.git("checkout", "-q", BRANCH)
    repository.commit(V3)
    repository.git("merge", "-q", "-s", "ours", "-m", "merge", "side")
    repository.git("branch", "-q", "-D", "side")
    assert local(repository, V2).how == "history"


def test_a_branch_that_was_merged_and_deleted_is_not_the_end(repository: Repository) -> None:
    repository.commit(V1)
    repository.commit(V2)
    repository.git("branch", "-q", "-m", "main")
    found = local(repository, V1)
    assert (found.data, found.how) == (V1, "other-branch")
    assert "same repository" in found.reason


def test_a_branch_is_found_where_only_the_remote_has_it(repository: Repository) -> None:
    commit = repository.commit(V1)
    repository.git("branch", "-q", "-m", "main")
    repository.git("update-ref", f"refs/remotes/origin/{BRANCH}", commit)
    assert local(repository, V1).how == "tip"


@pytest.mark.parametrize("committed", [b"a\nb\n", b"a\r\nb\r\n", b"a\r\nb\n"])
def test_where_only_line_endings_differ_the_recorded_ones_are_made_and_that_is_said(
    repository: Repository, committed: bytes
) -> None:
    repository.commit(committed)
    for wanted, endings in ((b"a\nb\n", "LF"), (b"a\r\nb\r\n", "CRLF")):
        found = local(repository, wanted)
        assert found.data == wanted
        assert found.endings == ("" if wanted == committed else endings)
        assert ("line endings" in found.reason) == bool(found.endings)


def test_bytes_come_as_they_were_committed_whatever_is_configured(repository: Repository) -> None:
    filters = "* text=auto eol=crlf working-tree-encoding=UTF-16 diff=shout filter=shout ident\n"
    for name, value in {
        "core.autocrlf": "true",
        "diff.shout.textconv": "tr a-z A-Z <",
        "filter.shout.smudge": "tr a-z A-Z",
        "diff.external": "false",
        "log.showSignature": "true",
        "core.pager": "false",
        "log.follow": "true",
        "diff.noprefix": "true",
        "color.ui": "always",
    }.items():
        repository.git("config", name, value)
    data = b"$Id$\nabc\r\nmixed\n"
    blob = (
        subprocess.run(
            ["git", "hash-object", "-w", "--no-filters", "--stdin"],
            cwd=repository.top,
            input=data,
            capture_output=True,
            check=True,
        )
        .stdout.decode()
        .strip()
    )
    repository.git("update-index", "--add", "--cacheinfo", f"100644,{blob},{PATH}")
    (repository.top / ".gitattributes").write_text(filters)
    repository.git("commit", "-q", "-m", "as it is")
    assert local(repository, None).data == data
    assert local(repository, data).data == data


def test_a_replaced_object_is_not_what_was_committed(repository: Repository) -> None:
    repository.commit(V1)
    other = (
        subprocess.run(
            ["git", "hash-object", "-w", "--stdin"], cwd=repository.top, input=V2, capture_output=True, check=True
        )
        .stdout.decode()
        .strip()
    )
    repository.git("replace", repository.git("rev-parse", f"HEAD:{PATH}"), other)
    assert local(repository, None).data == V1


@pytest.mark.parametrize(
    "path",
    ["메모.md", "a b/c\td.md", "x:y.md", "*.md", "a/-x.md", ":(top)x.md", "new\nline.md", "a'b\"c.md", "[ab].md"],
)
def test_odd_names_are_names(repository: Repository, path: str) -> None:
    repository.commit(V1, "ab.md")
    repository.commit(V2, path)
    repository.commit(V3, path)
    for data in (V2, V3):
        assert local(repository, data, source=f"{NAME}/{path}").data == data


@pytest.mark.parametrize(
    "branch", ["feature/#1", "기능", "-x", "a..b", "main~1", "@{-1}", ":/change", "HEAD", "x^{/v1}", "*"]
)
def test_a_branch_is_a_name_and_not_an_expression(repository: Repository, branch: str) -> None:
    commit = repository.commit(V1)
    legal = subprocess.run(["git", "check-ref-format", f"refs/heads/{branch}"], check=False).returncode == 0
    if legal:
        repository.git("update-ref", f"refs/heads/{branch}", commit)
        assert local(repository, None, branch=branch).data == V1
    else:
        with pytest.raises(NoSuchBranch):
            local(repository, None, branch=branch)


def test_without_a_digest_the_tip_is_taken_and_that_is_said(repository: Repository) -> None:
    repository.commit(V1)
    repository.commit(V2)
    found = local(repository, None)
    assert (found.data, found.how) == (V2, "unrecorded")
    assert "no digest" in found.reason


def test_an_empty_file_is_an_original(repository: Repository) -> None:
    repository.commit(b"")
    assert local(repository, b"").data == b""


def test_a_branch_that_is_gone_is_said(repository: Repository) -> None:
    for data in (V1, None):
        with pytest.raises(NoSuchBranch, match="is gone"):
            local(repository, data, branch="deleted")
    with pytest.raises(NoSuchBranch, match="No branch was recorded"):
        local(repository, V1, branch="")


def test_a_path_that_is_gone_is_said(repository: Repository) -> None:
    for data in (V1, None):
        with pytest.raises(NoSuchPath, match="has no file"):
            local(repository, data)


def test_a_digest_that_never_was_is_said_with_how_many_were_looked_at(repository: Repository) -> None:
    repository.commit(V1)
    repository.commit(V2)
    with pytest.raises(NoSuchVersion, match="None of the 2 versions") as raised:
        local(repository, V3)
    assert raised.value.exit_code == 3
    assert digest(V3) in str(raised.value)


@pytest.mark.skipif(os.name != "posix", reason="links need a privilege elsewhere")
def test_a_link_or_a_folder_in_git_is_no_memory(repository: Repository) -> None:
    (repository.top / "agents").mkdir()
    (repository.top / "agents" / "rudex").symlink_to("elsewhere")
    repository.commit(b"x", "other")
    for path in ("agents/rudex", "agents"):
        with pytest.raises(NoSuchPath):
            local(repository, b"elsewhere", source=f"{NAME}/{path}")


def test_a_long_history_is_walked(repository: Repository) -> None:
    stream = b"".join(
        b"commit refs/heads/long\ncommitter T <t@e> %d +0000\ndata 1\nx\nM 100644 inline %s\ndata %d\n%d\n\n"
        % (1_700_000_000 + n, PATH.encode(), len(str(n)), n)
        for n in range(300)
    )
    subprocess.run(["git", "fast-import", "--quiet"], cwd=repository.top, input=stream, check=True)
    found = local(repository, b"7", branch="long")
    assert (found.data, found.how) == (b"7", "history")


def test_a_shallow_clone_is_named_as_the_reason(repository: Repository, home: Path) -> None:
    repository.commit(V1)
    repository.commit(V2)
    clone = Repository(home / "work" / "shallow")
    repository.git("clone", "-q", "--depth=1", f"file://{repository.top}", clone.top)
    clone.git("remote", "set-url", "origin", f"https://git.invalid/{NAME}")
    with pytest.raises(NoSuchVersion, match="--unshallow"):
        local(clone, V1)


def test_a_damaged_repository_is_not_called_a_missing_version(repository: Repository) -> None:
    repository.commit(V1)
    blob = repository.git("rev-parse", f"HEAD:{PATH}")
    file = repository.top / ".git" / "objects" / blob[:2] / blob[2:]
    file.chmod(0o600)
    file.write_bytes(b"rot")
    with pytest.raises(GitFailed):
        local(repository, V1)


def test_a_missing_object_is_not_called_a_missing_version(repository: Repository) -> None:
    repository.commit(V1)
    blob = repository.git("rev-parse", f"HEAD:{PATH}")
    repository.commit(V2)
    (repository.top / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    assert local(repository, V2).data == V2
    with pytest.raises(GitFailed, match=r"cannot be read|unable to read"):
        local(repository, V1)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give a folder away")
def test_a_repository_that_git_refuses_for_its_owner_is_named(repository: Repository) -> None:
    repository.commit(V1)
    for path in (repository.top, repository.top / ".git"):
        os.chown(path, 12345, -1)
    with pytest.raises(GitFailed, match="another account") as raised:
        local(repository, V1)
    assert "safe.directory" in raised.value.remedy


# … and from a remote


def test_a_remote_is_read_through_a_bare_copy(repository: Repository, home: Path, cache: Path) -> None:
    repository.commit(V1)
    commit = repository.commit(V2)
    for address in (repository.top, f"file://{repository.top}"):
        assert remote(address, cache, V2) == Original(V2, commit, "tip", "", SOURCE, BRANCH)
        assert remote(address, cache, V1).how == "history"
    copies = list(cache.iterdir())
    assert len(copies) == 2
    assert all((copy / "HEAD").is_file() and not (copy / "hooks").exists() for copy in copies)
    assert os.name != "posix" or cache.stat().st_mode & 0o777 == 0o700


def test_a_copy_is_brought_up_to_date(repository: Repository, cache: Path) -> None:
    repository.commit(V1)
    assert remote(repository.top, cache, V1).how == "tip"
    repository.git("checkout", "-q", "--orphan", "anew")
    repository.commit(V2)
    repository.git("branch", "-q", "-f", BRANCH, "anew")
    repository.git("branch", "-q", f"{BRANCH}-2")
    assert remote(repository.top, cache, V2).how == "tip"


def test_contents_are_left_out_where_the_server_can(repository: Repository, cache: Path) -> None:
    repository.git("config", "uploadpack.allowFilter", "true")
    repository.git("config", "uploadpack.allowAnySHA1InWant", "true")
    repository.commit(b"large" * 100_000, "large.bin")
    for number in range(20):
        repository.commit(b"%d" % number)
    assert remote(f"file://{repository.top}", cache, b"19").how == "tip"
    (copy,) = cache.iterdir()
    assert sum(file.stat().st_size for file in copy.rglob("*") if file.is_file()) < 100_000
    assert remote(f"file://{repository.top}", cache, b"3").how == "history"
    counted = Repository(copy).git("cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectsize)")
    assert "blob 500000" not in counted


def test_the_local_repository_comes_first_and_the_remote_has_what_it_lacks(
    repository: Repository, home: Path, cache: Path
) -> None:
    repository.commit(V1)
    clone = Repository(home / "work" / "clone")
    repository.git("clone", "-q", "-b", BRANCH, repository.top, clone.top)
    clone.git("remote", "set-url", "origin", f"git@git.invalid:{NAME}.git")
    repository.commit(V2)
    assert remote(repository.top, cache, V1, repository_top=str(clone.top)).data == V1
    assert not cache.exists()
    assert remote(repository.top, cache, V2, repository_top=str(clone.top)).data == V2


def test_a_repository_that_is_another_one_is_not_asked(repository: Repository, cache: Path) -> None:
    repository.commit(V1)
    with pytest.raises(NoRepository, match="not this one") as raised:
        local(repository, V2, source=f"somebody/else/{PATH}")
    assert '"somebody/else" = "URL"' in raised.value.remedy
    with pytest.raises(NoRepository):
        local(repository, V1, repository_top=None)
    with pytest.raises(NoRepository):
        local(repository, V1, repository_top=str(cache.parents[2] / "work"))


def test_a_remote_that_is_down_is_not_reached_and_its_password_is_not_shown(cache: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    for address in (
        f"http://user:secret@127.0.0.1:{port}/{NAME}.git",
        "/nonexistent/repository",
        f"git://127.0.0.1:{port}/{NAME}",
    ):
        with pytest.raises(Unreachable, match="cannot be reached") as raised:
            remote(address, cache, V1)
        assert "secret" not in str(raised.value)
        assert raised.value.exit_code == 1


def test_a_copy_from_before_serves_where_its_digest_proves_it(repository: Repository, cache: Path) -> None:
    repository.commit(V1)
    remote(repository.top, cache, V1)
    repository.top.rename(repository.top.with_name("moved"))
    assert remote(repository.top, cache, V1).data == V1
    for data in (V2, None):
        with pytest.raises(Unreachable):
            remote(repository.top, cache, data)


@pytest.mark.parametrize("address", ["--upload-pack=touch x", "ext::sh -c touch% x", "-x", "a\nb"])
def test_what_git_would_take_for_an_option_or_a_command_is_refused(cache: Path, address: str) -> None:
    with pytest.raises(UsageError, match="neither a URL nor a path"):
        remote(address, cache, V1)


def test_a_cache_that_cannot_be_made_is_said(repository: Repository, home: Path) -> None:
    (home / "file").write_text("")
    with pytest.raises(GitFailed, match="no folder can be made"):
        remote(repository.top, home / "file" / "cache", V1)


def test_a_remote_that_never_answers_ends_in_time(cache: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        begun = time.monotonic()
        with pytest.raises(GitFailed, match="took longer"):
            remote(f"http://127.0.0.1:{listener.getsockname()[1]}/{NAME}", cache, V1, timeout=1.5)
        assert time.monotonic() - begun < 6


# Git itself


def on_path(folder: Path, script: str) -> Mapping[str, str]:
    folder.mkdir()
    (folder / "git").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "git").chmod(0o755)
    return {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def test_no_git_is_said(repository: Repository, home: Path) -> None:
    environ = {**os.environ, "PATH": str(home)}
    for act in (
        lambda: source_of(str(repository.top / "x"), environ=environ),
        lambda: local(repository, V1, environ=environ),
    ):
        with pytest.raises(GitMissing, match="not installed"):
            act()


@pytest.mark.skipif(os.name != "posix", reason="a shell script stands in for git")
def test_what_git_started_ends_with_it(repository: Repository, home: Path) -> None:
    environ = on_path(home / "bin", f"sleep 60 & echo $! > {home}/child; wait")
    begun = time.monotonic()
    with pytest.raises(GitFailed, match=r"took longer than 0\.5 s"):
        source_of(str(repository.top / "x"), environ=environ, timeout=0.5)
    assert time.monotonic() - begun < 5
    child = int((home / "child").read_text())
    ends = time.monotonic() + 5
    while time.monotonic() < ends and is_running(child):
        time.sleep(0.02)
    assert not is_running(child)


def is_running(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return not Path("/proc/self").exists()
    return status.rpartition(")")[2].split()[0] != "Z"


@pytest.mark.skipif(os.name != "posix", reason="a shell script stands in for git")
def test_git_is_run_without_prompts_and_leftovers_and_with_what_the_user_needs(
    repository: Repository, home: Path
) -> None:
    environ = {
        **on_path(home / "bin", f'env > {home}/env; echo "$@" > {home}/args; exit 1'),
        "GIT_DIR": "x", "GIT_INDEX_FILE": "x", "GIT_ASKPASS": "x", "SSH_ASKPASS": "x", "GIT_TRACE": "x", "GIT_EXTERNAL_DIFF": "x", "LC_ALL": "ko_KR.UTF-8", "LANGUAGE": "ko",
        "GIT_SSH_COMMAND": "kept", "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "a.b", "GIT_CONFIG_VALUE_0": "kept", "GIT_SSL_CAINFO": "kept", "HTTPS_PROXY": "kept",
    }  # fmt: skip
    with pytest.raises(IndelibleError):
        source_of(str(repository.top / "x"), environ=environ)
    seen = dict(line.partition("=")[::2] for line in (home / "env").read_text().splitlines())
    for name in (
        "GIT_DIR",
        "GIT_INDEX_FILE",
        "GIT_ASKPASS",
        "SSH_ASKPASS",
        "GIT_TRACE",
        "GIT_EXTERNAL_DIFF",
        "LANGUAGE",
    ):
        assert name not in seen
    for name in ("GIT_SSH_COMMAND", "GIT_CONFIG_VALUE_0", "GIT_SSL_CAINFO", "HTTPS_PROXY"):
        assert seen[name] == "kept"
    assert (seen["GIT_TERMINAL_PROMPT"], seen["LC_ALL"]) == ("0", "C")
    assert "--no-pager" in (home / "args").read_text()
