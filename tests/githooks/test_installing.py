"""Our hooks beside those of others: both run, both may refuse, and what was there comes back to the byte."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.conftest import environment
from tests.githooks.conftest import git_in

if TYPE_CHECKING:
    from tests.conftest import Run
    from tests.githooks.conftest import Repo

NAMES = ("pre-commit", "commit-msg", "reference-transaction", "pre-push")


def picture(folder: Path) -> dict[str, tuple[object, ...]]:
    """Everything about the files of a folder that could change."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = ("link", os.readlink(path))
        elif path.is_file():
            found[name] = (path.stat().st_mode, hashlib.sha256(path.read_bytes()).hexdigest())
    return found


def hooks_of(repo: Repo) -> Path:
    return repo.top / ".git" / "hooks"


def put(repo: Repo, name: str, text: str, *, mode: int = 0o755) -> Path:
    path = hooks_of(repo) / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode())
    path.chmod(mode)
    return path


def install(repo: Repo, run: Run) -> None:
    ended = run("hooks", "install", "--git", cwd=repo.top)
    assert ended.code == 0, ended.err


def uninstall(repo: Repo, run: Run) -> None:
    ended = run("hooks", "uninstall", "--git", cwd=repo.top)
    assert ended.code == 0, ended.err


def refuses(repo: Repo) -> bool:
    """Whether a commit that nobody approved is refused, with and without --no-verify."""
    repo.write("unseen.txt", f"{repo.count}\n")
    repo.must("add", "-A")
    repo.count += 1
    return all(repo.git("commit", "-m", "Unseen", *words).code != 0 for words in ((), ("--no-verify",)))


FORMERS = {
    "sh": '#!/bin/sh\necho "former $0 $*" >&2\ncat >&2\n',
    "env bash": '#!/usr/bin/env bash\nset -euo pipefail\necho "former ${0} $*" >&2\ncat >&2\n',
    "no last newline": '#!/bin/sh\necho "former $0" >&2',
    "python": f"#!{sys.executable}\nimport sys\nprint('former', sys.argv[0], file=sys.stderr)\n",
    "no first line": 'echo "former $0" >&2\n',
}


@pytest.mark.parametrize("kind", FORMERS)
def test_former_hooks_still_run_and_come_back(bare_repo: Repo, run: Run, kind: str) -> None:
    for name in NAMES:
        put(bare_repo, name, FORMERS[kind])
    before = picture(hooks_of(bare_repo))
    install(bare_repo, run)
    assert refuses(bare_repo)
    bare_repo.approve()
    ended = bare_repo.git("commit", "-m", "Seen")
    assert ended.code == 0, ended.err
    assert "former" in ended.err
    assert "pre-commit" in ended.err, "it has its own name"
    uninstall(bare_repo, run)
    assert picture(hooks_of(bare_repo)) == before


@pytest.mark.parametrize("name", ["pre-commit", "commit-msg", "reference-transaction"])
def test_a_former_hook_that_refuses_still_refuses(bare_repo: Repo, run: Run, name: str) -> None:
    put(bare_repo, name, "#!/bin/sh\nexit 7\n")
    install(bare_repo, run)
    bare_repo.write("readme.txt", "second\n")
    bare_repo.approve()
    assert bare_repo.git("commit", "-a", "-m", "Seen").code != 0


def test_a_former_hook_gets_gits_input_whole(bare_repo: Repo, run: Run, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    put(bare_repo, "reference-transaction", f'#!/bin/sh\necho "$1" >> {seen}\ncat >> {seen}\n')
    put(bare_repo, "pre-push", f'#!/bin/sh\necho "push $1" >> {seen}\ncat >> {seen}\n')
    install(bare_repo, run)
    bare_repo.must("branch", "topic")
    head = bare_repo.head
    assert f"prepared\n{'0' * 40} {head} refs/heads/topic\n" in seen.read_text()
    bare_repo.must("init", "-q", "--bare", "../far")
    bare_repo.must("push", "-q", "../far", "topic")
    assert f"push ../far\nrefs/heads/topic {head} refs/heads/topic {'0' * 40}\n" in seen.read_text()


def test_a_hook_with_line_ends_of_windows_is_kept_as_it_is(bare_repo: Repo, run: Run) -> None:
    put(bare_repo, "pre-commit", "#!/bin/sh\r\nexit 0\r\n")
    before = picture(hooks_of(bare_repo))
    install(bare_repo, run)
    assert (hooks_of(bare_repo) / "indelible-former" / "pre-commit").read_bytes() == b"#!/bin/sh\r\nexit 0\r\n"
    assert refuses(bare_repo)
    uninstall(bare_repo, run)
    assert picture(hooks_of(bare_repo)) == before


def test_a_hook_that_git_did_not_run_is_not_run_now(bare_repo: Repo, run: Run, tmp_path: Path) -> None:
    put(bare_repo, "pre-commit", f"#!/bin/sh\ntouch {tmp_path}/ran\n", mode=0o644)
    before = picture(hooks_of(bare_repo))
    install(bare_repo, run)
    assert refuses(bare_repo)
    assert not (tmp_path / "ran").exists()
    uninstall(bare_repo, run)
    assert picture(hooks_of(bare_repo)) == before


@pytest.mark.parametrize("absolute", [True, False])
def test_a_hook_that_is_a_link_is_called_and_comes_back(
    bare_repo: Repo, run: Run, tmp_path: Path, absolute: bool
) -> None:
    script = bare_repo.top / "tools" / "check.sh"
    script.parent.mkdir()
    script.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    script.chmod(0o755)
    link = hooks_of(bare_repo) / "pre-commit"
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(script if absolute else "../../tools/check.sh")
    before = picture(hooks_of(bare_repo))
    install(bare_repo, run)
    assert refuses(bare_repo)
    assert (tmp_path / "ran").exists()
    assert "indelible" not in script.read_text()
    uninstall(bare_repo, run)
    assert picture(hooks_of(bare_repo)) == before


def test_a_second_installation_changes_nothing(bare_repo: Repo, run: Run) -> None:
    put(bare_repo, "pre-commit", FORMERS["sh"])
    put(bare_repo, "commit-msg", FORMERS["python"])
    install(bare_repo, run)
    once = picture(bare_repo.top / ".git" / "hooks")
    ended = run("--json", "hooks", "install", "--git", cwd=bare_repo.top)
    assert ended.json["changed"] is False
    assert picture(bare_repo.top / ".git" / "hooks") == once


def test_a_copy_of_what_was_there_is_kept_and_named(bare_repo: Repo, run: Run) -> None:
    put(bare_repo, "pre-commit", FORMERS["sh"])
    ended = run("--json", "hooks", "install", "--git", cwd=bare_repo.top)
    backup = next(one["backup"] for one in ended.json["hooks"] if one["event"] == "pre-commit")
    assert Path(backup).read_text() == FORMERS["sh"]


def test_an_installation_goes_on_where_the_program_moved(bare_repo: Repo, run: Run) -> None:
    install(bare_repo, run)
    hook = hooks_of(bare_repo) / "pre-commit"
    program = shutil.which("indelible", path=os.path.dirname(sys.executable))
    hook.write_text(hook.read_text().replace(str(program), "/old/place/indelible"))
    ended = run("hooks", "status", cwd=bare_repo.top)
    assert ended.code == 1
    assert "/old/place/indelible" in ended.out
    install(bare_repo, run)
    assert run("hooks", "status", cwd=bare_repo.top).code == 0


# Hooks elsewhere.


@pytest.mark.parametrize("where", ["global", "committed", "local outside"])
def test_hooks_that_are_not_ours_to_write_into_are_called(
    bare_repo: Repo, run: Run, tmp_path: Path, where: str
) -> None:
    folder = bare_repo.top / ".githooks" if where == "committed" else tmp_path / "my hooks"
    folder.mkdir()
    for name in ("pre-commit", "commit-msg", "reference-transaction", "post-commit"):
        (folder / name).write_text(f'#!/bin/sh\necho {name} >> "{tmp_path}/ran"\n')
        (folder / name).chmod(0o755)
    if where == "committed":
        bare_repo.must("add", "-A")
        bare_repo.must("commit", "-q", "-m", "Hooks")
        bare_repo.must("config", "core.hooksPath", ".githooks")
    else:
        bare_repo.must("config", "--global" if where == "global" else "--local", "core.hooksPath", str(folder))
    before, config = picture(folder), (bare_repo.top / ".git" / "config").read_bytes()
    install(bare_repo, run)
    assert picture(folder) == before
    assert refuses(bare_repo)
    bare_repo.approve()
    ended = bare_repo.git("commit", "-m", "Seen")
    assert ended.code == 0, ended.err
    assert {"pre-commit", "commit-msg", "reference-transaction", "post-commit"} == set(
        (tmp_path / "ran").read_text().split()
    )
    assert run("hooks", "status", cwd=bare_repo.top).code == 0
    install(bare_repo, run)
    assert refuses(bare_repo)
    uninstall(bare_repo, run)
    assert picture(folder) == before
    if where != "global":
        assert (bare_repo.top / ".git" / "config").read_bytes() == config
    assert bare_repo.must("config", "core.hooksPath") == (".githooks" if where == "committed" else str(folder))


def test_hooks_path_that_is_changed_afterwards_is_found(repo: Repo, run: Run) -> None:
    assert run("hooks", "status", cwd=repo.top).code == 0
    repo.must("config", "core.hooksPath", os.devnull)
    ended = run("hooks", "status", cwd=repo.top)
    assert ended.code == 1
    assert "core.hooksPath was changed" in ended.out
    assert "core.hooksPath was changed" in run("doctor", cwd=repo.top).out


def test_a_hook_that_was_deleted_is_found(repo: Repo, run: Run) -> None:
    (hooks_of(repo) / "reference-transaction").unlink()
    ended = run("hooks", "status", cwd=repo.top)
    assert ended.code == 1
    assert "reference-transaction is not there any more" in ended.out


# The programs that manage hooks, as they are.


def _node(name: str) -> Path:
    """A program of npm's, where this machine has it: on the PATH, or below the folder that TEST_NODE_FOLDER names."""
    folder = os.environ.get("TEST_NODE_FOLDER", "")
    found = shutil.which(name, path=os.path.join(folder, "node_modules", ".bin")) if folder else shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not here: 'npm install husky@9 lefthook@1' in a folder that TEST_NODE_FOLDER names")
    return Path(found)


def _tool(repo: Repo, program: Path | str, *words: str) -> None:
    path = f"{Path(program).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(
        [str(program), *words], cwd=repo.top, env=environment({"PATH": path}), check=True, capture_output=True
    )


HUSKY_HOOKS = (
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-rebase",
    "post-checkout",
    "pre-push",
)


def _husky(repo: Repo) -> None:
    """What husky 9 does at each `npm install`: its stubs over whatever stands there, and core.hooksPath."""
    folder = repo.top / ".husky" / "_"
    folder.mkdir(parents=True, exist_ok=True)
    repo.must("config", "core.hooksPath", ".husky/_")
    (folder / ".gitignore").write_text("*")
    (folder / "h").write_text(
        '#!/usr/bin/env sh\ns=$(dirname "$(dirname "$0")")/$(basename "$0")\n[ ! -f "$s" ] && exit 0\nsh -e "$s" "$@"\n'
    )
    for name in HUSKY_HOOKS:
        (folder / name).write_text('#!/usr/bin/env sh\n. "$(dirname "$0")/h"')
        (folder / name).chmod(0o755)


@pytest.mark.slow
@pytest.mark.parametrize("real", [True, False], ids=["husky itself", "its scripts"])
def test_husky_keeps_running_and_may_install_itself_again(
    bare_repo: Repo, run: Run, tmp_path: Path, real: bool
) -> None:
    program = _node("husky") if real else None

    def husky() -> None:
        _tool(bare_repo, program) if program else _husky(bare_repo)

    husky()
    (bare_repo.top / ".husky" / "pre-commit").write_text(f"touch {tmp_path}/ran\n")
    bare_repo.must("add", "-A")
    bare_repo.must("commit", "-q", "-m", "Husky")
    (tmp_path / "ran").unlink()
    before = picture(bare_repo.top / ".husky")
    install(bare_repo, run)
    assert bare_repo.git("status", "--porcelain").out == ""
    assert refuses(bare_repo)
    assert (tmp_path / "ran").exists()
    bare_repo.approve()
    assert bare_repo.git("commit", "-m", "Seen").code == 0
    husky()
    assert refuses(bare_repo)
    bare_repo.approve()
    assert bare_repo.git("commit", "-m", "Seen").code == 0, "the hook that adds the receipt stands again"
    uninstall(bare_repo, run)
    assert picture(bare_repo.top / ".husky") == before


def _lefthook(repo: Repo) -> None:
    """What `lefthook install` does: a script of its own where its settings name a hook, over one that is its own already."""
    for name in ("pre-commit", "commit-msg", "prepare-commit-msg"):
        path = hooks_of(repo) / name
        if path.exists() and "LEFTHOOK" not in path.read_text():
            path.rename(f"{path}.old")
        put(repo, name, f'#!/bin/sh\nif [ "$LEFTHOOK" = "0" ]; then\n  exit 0\nfi\ntouch "{repo.top}/../ran"\n')


@pytest.mark.slow
@pytest.mark.parametrize("real", [True, False], ids=["lefthook itself", "its scripts"])
@pytest.mark.parametrize("ours_first", [True, False])
def test_lefthook_keeps_running_and_may_install_itself_again(
    bare_repo: Repo, run: Run, real: bool, ours_first: bool
) -> None:
    program = _node("lefthook") if real else None
    ran = bare_repo.top.parent / "ran"
    bare_repo.write(
        "lefthook.yml",
        f"pre-commit:\n  commands:\n    x:\n      run: touch {ran}\ncommit-msg:\n  commands:\n    x:\n      run: 'true'\n",
    )
    bare_repo.must("add", "-A")
    bare_repo.must("commit", "-q", "-m", "Lefthook")

    def lefthook() -> None:
        _tool(bare_repo, program, "install") if program else _lefthook(bare_repo)

    path = f"{program.parent if program else ''}{os.pathsep}{os.environ['PATH']}"
    os.environ["PATH"], kept = path, os.environ["PATH"]
    try:
        if not ours_first:
            lefthook()
        before = picture(hooks_of(bare_repo))
        install(bare_repo, run)
        for _ in range(2):
            if ours_first:
                lefthook()
            assert refuses(bare_repo)
            bare_repo.approve()
            ended = bare_repo.git("commit", "-m", "Seen")
            assert ended.code == 0, ended.err
            assert ran.exists()
            assert run("hooks", "status", cwd=bare_repo.top).code == 0
            if not ours_first:
                lefthook()
        if not ours_first:
            refuses(bare_repo)
            uninstall(bare_repo, run)
            assert picture(hooks_of(bare_repo)) == before
    finally:
        os.environ["PATH"] = kept


@pytest.mark.slow
@pytest.mark.parametrize("ours_first", [True, False])
def test_pre_commit_keeps_running_and_may_install_itself_again(bare_repo: Repo, run: Run, ours_first: bool) -> None:
    program = shutil.which("pre-commit", path=os.path.dirname(sys.executable)) or shutil.which("pre-commit")
    if program is None:
        pytest.skip("pre-commit is not installed here ('pip install pre-commit')")
    ran = bare_repo.top.parent / "ran"
    bare_repo.write(
        ".pre-commit-config.yaml",
        "repos:\n- repo: local\n  hooks:\n  - id: touch\n    name: touch\n    language: system\n"
        f"    entry: touch {ran}\n    pass_filenames: false\n    always_run: true\n",
    )
    bare_repo.must("add", "-A")
    bare_repo.must("commit", "-q", "-m", "pre-commit")
    if not ours_first:
        _tool(bare_repo, program, "install")
    before = picture(hooks_of(bare_repo))
    install(bare_repo, run)
    _tool(bare_repo, program, "install")
    for _ in range(2):
        assert refuses(bare_repo)
        bare_repo.approve()
        ended = bare_repo.git("commit", "-m", "Seen")
        assert ended.code == 0, ended.err
        assert ran.exists()
        assert run("hooks", "status", cwd=bare_repo.top).code == 0
        _tool(bare_repo, program, "install", "-f")
    if not ours_first:
        refuses(bare_repo)
        uninstall(bare_repo, run)
        assert picture(hooks_of(bare_repo)) == before


def test_it_says_so_where_there_is_no_repository(run: Run, home: Path) -> None:
    ended = run("hooks", "install", "--git", cwd=home / "work")
    assert ended.code == 64
    assert "no git repository" in ended.err
    assert git_in(home / "work", "status").code != 0


@pytest.mark.parametrize("words", [("--dry-run",), ("--host", "codex"), ("--scope", "user")])
def test_words_about_hosts_do_not_go_with_git(bare_repo: Repo, run: Run, words: tuple[str, ...]) -> None:
    for verb in ("install", "uninstall"):
        ended = run("hooks", verb, "--git", *words, cwd=bare_repo.top)
        assert ended.code == 64, ended.out
    assert not (hooks_of(bare_repo) / "reference-transaction").exists()
