"""Whatever the spelling: the protected branch of the receiving repository stays. And where each is refused first, as the docs say."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.conftest import Ran, _enter, environment, indelible_command
from tests.githooks.conftest import LEO, MINA, Repo, begin, git_in
from tests.githooks.spellings import OFF, SPELLINGS, Spelling

from indelible.workflow.change import Change, change_of_commit
from indelible.workflow.commits import SAYS
from indelible.workflow.receipt import to_trailer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

DOCS = Path(__file__).resolve().parents[2] / "docs" / "enforcement.md"
AT_COMMIT, AT_PUSH, RECEIVER = "at the commit", "at the push", "by the receiver"
_ROW = re.compile(r"^\| `(.+)` \| (at the commit|at the push|by the receiver) \|$", re.MULTILINE)


def _run(
    *args: str | Path, input: bytes | str = b"",  # noqa: A002 - as the fixture has it
    env: Mapping[str, str | None] | None = None, cwd: str | Path | None = None,
    timeout: float = 60,
) -> Ran:  # fmt: skip
    """As the fixture `run`, which is there for one test only."""
    command = [*indelible_command(), *map(str, args)]
    ended = subprocess.run(command, cwd=cwd, env=environment(env), capture_output=True, check=False, timeout=timeout)
    return Ran(ended.returncode, ended.stdout, ended.stderr)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A clone with our hooks and one approved commit, a repository that receives, and a clone in which somebody committed."""
    with pytest.MonkeyPatch.context() as patch:
        home = _enter(tmp_path_factory.mktemp("spellings") / "home", patch)
        folder = home / "work" / "template"
        repo = begin(_run, folder / "app")
        assert _run("hooks", "install", "--git", cwd=repo.top).code == 0
        repo.must("init", "-q", "--bare", "../far.git")
        repo.plainly("push", "-q", "../far.git", "main")
        ended = _run("hooks", "install", "--git", "--receive", "../far.git", "--approver", MINA.vkey, cwd=repo.top)
        assert ended.code == 0, ended.err
        repo.must("remote", "add", "origin", "../far.git")
        repo.commit()
        repo.must("push", "-q", "origin", "main")
        repo.must("fetch", "-q", "origin")
        _other(repo, folder)
        yield folder


def _other(repo: Repo, folder: Path) -> None:
    """Commits that nobody approved, a patch of them, and receipts that do not count."""
    other = folder / "other"
    git_in(folder, "clone", "-q", "-c", "remote.origin.url=../far.git", str(folder / "far.git"), str(other))
    (other / "readme.txt").write_text("unseen\n")
    assert git_in(other, "commit", "-q", "-a", "-m", "Unseen").code == 0
    (folder / "unseen.patch").write_text(git_in(other, "format-patch", "-1", "--stdout").out + "\n")
    repo.write("readme.txt", "first\nx\n")
    (folder / "own-receipt").write_text(f"unseen\n\n{to_trailer(repo.issue(repo.change(), signer=LEO))}\n")
    repo.must("checkout", "-q", "--", "readme.txt")
    assert git_in(repo.top, "fetch", "-q", str(other), "main").code == 0
    repo.must("update-ref", "refs/unseen", "FETCH_HEAD")
    made = repo.must("commit-tree", "FETCH_HEAD^{tree}", "-p", "HEAD", "-p", "FETCH_HEAD", "-m", "probe")
    change: Change = change_of_commit(str(repo.top), os.environ, made)._replace(branch="refs/heads/main")
    (folder / "merge-receipt").write_text(f"Merge\n\n{to_trailer(repo.issue(change))}\n")
    repo.must("update-ref", "-d", "refs/unseen")


def _shell(folder: Path, script: str) -> tuple[int, str]:
    ended = subprocess.run(
        ["sh", "-c", f"set -e\n{script}"], cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )
    return ended.returncode, ended.stderr


def where_refused(folder: Path, spelling: Spelling) -> tuple[str, str]:
    """Which of the three refused first, and all that was said."""
    app = folder / "app"
    (app / "readme.txt").write_text("first\nx\n")
    code, said = _shell(app, spelling.make)
    assert "could not be told" not in said, said
    if code and "indelible: " in said:
        return AT_COMMIT, said
    assert code == 0, said
    code, pushed = _shell(app, spelling.push)
    assert code != 0, (spelling, said, pushed)
    by_remote = re.search(r"^remote: indelible: ", pushed, re.MULTILINE) is not None
    by_hook = re.search(r"^indelible: ", pushed, re.MULTILINE) is not None
    assert by_remote or by_hook, pushed
    return (AT_PUSH if by_hook else RECEIVER), pushed


def rows() -> dict[str, str]:
    """What the docs say of each."""
    return dict(_ROW.findall(DOCS.read_text(encoding="utf-8")))


@pytest.mark.parametrize("spelling", SPELLINGS, ids=lambda one: one.name)
def test_no_spelling_brings_it_to_the_protected_branch(template: Path, tmp_path: Path, spelling: Spelling) -> None:
    folder = tmp_path / "tried"
    shutil.copytree(template, folder, symlinks=True)
    before = git_in(folder / "far.git", "rev-parse", "main").out
    where, said = where_refused(folder, spelling)
    assert git_in(folder / "far.git", "rev-parse", "main").out == before
    assert where == rows().get(spelling.name), said
    # And what was refused here is refused there as well, should the local hooks be off.
    if where == AT_COMMIT and spelling.make.startswith("git commit"):
        _shell(folder / "app", spelling.make.replace("git commit", f"{OFF} commit", 1))
        code, said = _shell(folder / "app", f"{OFF} push -q origin HEAD:main")
        assert code != 0, said
        assert git_in(folder / "far.git", "rev-parse", "main").out == before


def test_the_table_names_every_spelling_and_no_other() -> None:
    assert set(rows()) == {one.name for one in SPELLINGS}
    assert len(SPELLINGS) >= 30


def test_who_starts_programs_on_the_receiving_machine_is_not_stopped_as_the_docs_say(
    template: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "tried"
    shutil.copytree(template, folder, symlinks=True)
    (folder / "app" / "readme.txt").write_text("first\nx\n")
    assert _shell(folder / "app", f"{OFF} commit -q -a -m unseen")[0] == 0
    program = "git -c core.hooksPath=/dev/null receive-pack"
    assert _shell(folder / "app", f"{OFF} push -q --receive-pack='{program}' ../far.git HEAD:main")[0] == 0
    assert "--receive-pack='git -c core.hooksPath=/dev/null" in DOCS.read_text(encoding="utf-8")


def test_what_is_found_of_a_commit_is_told_on_the_page() -> None:
    page = DOCS.read_text(encoding="utf-8")
    assert [slug for slug in SAYS if f"| `{slug}` | {SAYS[slug]} |" not in page] == []


def test_approved_commits_are_taken(template: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tried"
    shutil.copytree(template, folder, symlinks=True)
    repo = Repo(folder / "app", _run)
    assert _run("pin", "set", "--accept", cwd=repo.top).code == 0  # the store of a copy is another one
    repo.commit("approved\n")
    repo.must("push", "-q", "origin", "HEAD:main")
    assert git_in(folder / "far.git", "rev-parse", "main").out == repo.head
