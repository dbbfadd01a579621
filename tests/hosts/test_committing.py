"""What a command line would commit, push, merge or publish: every spelling that a text shows, and the talk of it that is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hosts.test_commands import lines
from tests.hosts.test_everyday import EVERYDAY

from indelible.hosts.commands import Line
from indelible.hosts.committing import deeds
from indelible.hosts.heavy import files_read, heavy
from indelible.hosts.publishing import of_tool

GUARDED = (("gh pr merge", "approved-diff"), ("glab mr merge", "approved-diff"), ("make release", "approved-diff"))

COMMITTING = r"""
git commit
git commit -m x
git commit -am x
git commit --amend --no-edit
git commit -n -m x
git commit --no-verify -m x
git commit -m --dry-run
git commit --dry-run --no-dry-run
git commit -- --dry-run
git commit -m "$(cat x)"
git -C sub commit
git -c user.name=a commit -m x
git --exec-path=/x commit
git --git-dir=.git --work-tree=. commit -m x
GIT_DIR=.git git commit -m x
git --no-pager commit
/usr/bin/git commit
./git commit
/usr/lib/git-core/git-commit -m x
git.exe commit -m x
hub commit -m x
command git commit
env X=1 git commit
env -S 'git commit -m x'
sudo -u me git commit
sudo --foo git commit
nohup git commit -m x &
timeout 5 git commit
exec git commit -m x
time git commit -m x
bash -c "git commit -m x"
bash -lc 'cd sub && git commit -m x'
sh <<EOF\ngit commit -m x\nEOF
sh <<< 'git commit'
echo 'git commit' | sh
printf 'git %s' commit | sh
bash <(echo 'git commit -m x')
eval git commit
eval "git com""mit"
su -c 'git commit -m x'
xargs git commit -m
echo commit | xargs git
find . -exec git commit -m x \;
g=git; c=commit; $g $c
for c in commit; do git $c; done
git c{ommit,}
$G commit -m x
"$(which git)" commit -m x
$(echo git) commit
git $(echo commit)
git `echo commit`
git $X -m y
while read l; do git $l; done < f
gi"t" com\mit
'git' "commit"
git $'comm\x69t'
git \\n commit
git -c alias.x=commit x
git -c core.pager='git commit -m x' log
GIT_EDITOR='git commit -m x' git tag -a v1
find . -exec sh -c 'git commit -m x' \;
git -c alias.x='!git commit' x
git --config-env=alias.x=Y x
GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0=commit git x
git ci -m x
alias gc='git commit'
f() { git commit -m x; }; f
(cd x && git commit -m y)
if true; then git commit -m y; fi
make test && git commit -m x
git commit -m 'unclosed
git commit-tree HEAD^{tree} -m x
git hash-object -t commit -w f
git update-ref refs/heads/main abc
git fast-import < x
git cherry-pick a
git revert a
git am x.patch
git rebase main
git rebase --continue
git filter-branch --all
git replace a b
git submodule foreach 'git commit -am x'
git submodule foreach git commit -am x
git bisect run sh -c 'git commit'
git citool
git svn rebase
tmux send-keys 'git commit -m x' Enter
watch git commit -m x
docker run x git commit -m a
ssh localhost 'git commit -m a'
python -c "import subprocess; subprocess.run(['git','commit','-m','x'])"
python3 - <<'EOF'\nimport os\nos.system("git commit -m x")\nEOF
python -c "import git; git.Repo().index.commit('x')"
node -e "require('child_process').execSync('git commit -m x')"
perl -e 'system("git commit")'
ruby -e '`git commit -m x`'
awk 'BEGIN { system("git commit -m x") }'
indelible fork x -- git commit -m x
indelible fork x git commit -m x
jj commit -m x
sl amend
npx cz commit
npm version patch
bumpversion minor
lazygit
"""

PUSHING = r"""
git push
git push origin main
git push origin HEAD:main
git push origin :branch
git push origin +main
git push --no-verify
git push --force-with-lease
git push -u origin HEAD
git send-pack o main
git http-push x
git subtree push --prefix=a o main
git svn dcommit
git p4 submit
git receive-pack .
cd sub && git push
bash -c 'git push'
jj git push
lerna publish
"""

MERGING = r"""
git merge feature
git merge --no-ff feature
git merge --continue
git merge --no-commit feature
git pull
git pull --rebase
git pull --ff-only --rebase
git subtree pull --prefix=a o main
git flow feature finish x
gh api -X PUT repos/a/b/pulls/5/merge
gh api --method PUT /repos/a/b/contents/a.md -f message=x
gh api repos/a/b/merges -f base=main -f head=x
gh api graphql -f query='mutation { mergePullRequest(input: {}) { id } }'
curl -X PUT https://api.github.com/repos/a/b/pulls/5/merge
curl -XPUT https://gitlab.example/api/v4/projects/1/merge_requests/2/merge
"""

TARGETED = """
gh pr merge 5 --squash
gh -R a/b pr merge 5
gh pr --repo a/b merge
glab mr merge 5
/usr/local/bin/gh pr merge
make release
env A=b make release
bash -c 'gh pr merge 5'
"""

PASSING = r"""
git commit --dry-run
git commit --short
git commit --porcelain
git commit -h
git commit --help
git log --grep commit
git log -S 'git push'
git show commit
git status
git diff
git add -A
git stash
git stash push -m 'git commit'
git stash branch x
git tag -a v1 -m 'git push'
git notes add -m 'git commit'
git checkout -b commit
git switch push
git branch commit
git reset --hard HEAD~1
git fetch --all --prune
git pull --ff-only
git push --dry-run
git push -n
git merge --abort
git merge --squash x
git merge --no-ff --no-commit x
git merge-base a b
git merge-tree a b
git rebase --abort
git cherry-pick -n a
git cherry-pick --abort
git revert --no-commit a
git am --abort
git replace --list
git config alias.ci commit
git config alias.up '!git pull && git push'
git remote add push git@example.org:a/b
git worktree add ../x
git submodule update --init
git bisect start
git commit-graph write
git hash-object -w f
git help commit
git lg
git $OPTS status
echo "git commit"
echo git commit >> notes.md
printf 'git push\n'
grep -r "git push" .
rg 'git commit' docs
cat > notes.md <<EOF\ngit commit -m x\nEOF
cat <<'EOF' > run.sh\ngit push\nEOF
sed -i 's/git commit/git push/' docs/a.md
perl -pi -e 's/git commit/git push/' docs/a.md
python -c "print('git commit')"
python3 -c "import subprocess; subprocess.run(['git','log','--grep','commit'])"
python3 - <<'EOF'\nprint("git push")\nEOF
gh pr create --title "git push" --body "git commit"
gh pr view 5
gh pr list --search merge
gh api repos/a/b/pulls/5/merge
gh issue comment 5 --body 'git push'
glab mr list
curl https://api.github.com/repos/a/b/pulls/5/merge
curl -d 'git commit' https://example.org/x
man git-commit
man git commit
find . -name '*.py' | xargs grep commit
ls | xargs git add
npm test
npm version
npm run commitlint
npm install git
pip install git+https://example.org/x
which git
export MSG='git commit'
indelible fork x -- pytest
indelible flow next
indelible save k 'git commit'
ssh host 'cd app && git pull'
claude -p 'look at the git commit'
make
make commit-hooks
cargo build
docker build -t x .
# git commit
"""


def found(text: str) -> list[tuple[str, str]]:
    line = Line(text, "/w", {"HOME": "/h"})
    return [(deed.what, deed.folder) for deed in deeds(line, GUARDED, lambda _, name: "commit" if name == "ci" else "")]


@pytest.mark.parametrize("text", lines(COMMITTING))
def test_a_commit_is_known_by_its_spelling(text: str) -> None:
    assert "commit" in {what for what, _ in found(text)}


@pytest.mark.parametrize("text", lines(PUSHING))
def test_a_push_is_known_by_its_spelling(text: str) -> None:
    assert {what for what, _ in found(text)} == {"push"}


@pytest.mark.parametrize("text", lines(MERGING))
def test_a_merge_is_known_by_its_spelling(text: str) -> None:
    assert {what for what, _ in found(text)} == {"merge"}


@pytest.mark.parametrize("text", lines(TARGETED))
def test_a_guarded_command_is_known_by_its_first_words(text: str) -> None:
    assert "approved-diff" in {what for what, _ in found(text)}


@pytest.mark.parametrize("text", lines(PASSING))
def test_what_only_speaks_of_it_or_undoes_it_is_none(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize("text", [line for line in lines(EVERYDAY) if "git" not in line])
def test_what_is_typed_every_day_without_git_is_none(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "folder"),
    [
        ("git -C sub commit", "/w/sub"), ("git -C sub -C deeper commit", "/w/sub/deeper"), ("cd x; git commit", "/w/x"),
        ("git --git-dir=/y/.git commit", "/y/.git"), ("git --git-dir /y/.git --work-tree /z commit", "/z"), ("GIT_DIR=/y/.git git commit", "/y/.git"),
        ("env -C /y git commit", "/y"), ("indelible fork a --cwd /y -- git commit", "/y"), ("sudo git -C /y commit", "/y"),
    ],
)  # fmt: skip
def test_where_it_would_be_done_is_told(text: str, folder: str) -> None:
    assert folder in {where for _, where in found(text)}


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("mcp__git__git_commit", "commit"), ("mcp_git_git_commit", "commit"), ("git-git_commit", "commit"), ("mcp__git__git_push", "push"),
        ("mcp__github__merge_pull_request", "merge"), ("mcp__github__push_files", "push"), ("mcp__github__create_or_update_file", "push"),
        ("github-mcp-server-merge_pull_request", "merge"), ("mcp__gitlab__merge_merge_request", "merge"), ("mcp__github__delete_file", "push"),
        ("MCP:git_commit", "commit"), ("mcp__gitkraken__git_add_or_commit", "commit"), ("mcp__x__commit", "commit"),
        ("mcp__git__git_status", ""), ("mcp__git__git_add", ""), ("mcp__github__list_commits", ""), ("mcp__github__get_commit", ""),
        ("mcp__github__create_pull_request", ""), ("mcp__files__delete_file", ""), ("Write", ""), ("Bash", ""),
    ],
)  # fmt: skip
def test_a_tool_of_a_server_is_known_by_its_name(name: str, what: str) -> None:
    assert of_tool(name) == what


def test_there_are_many_spellings() -> None:
    assert len(lines(COMMITTING) + lines(PUSHING) + lines(MERGING) + lines(TARGETED)) >= 100
    assert len(lines(PASSING)) >= 70


PIECES = ["git", "commit", "push", "-m", "x", "$x", "$(", ")", "'", '"', "|", "&&", ";", "\n", "-C", "-c", "alias.x=commit", "{a,b}", "sh", "-c", "<<EOF",
          "EOF", "xargs", "sudo", "env", "A=b", "--", "indelible", "fork", "python", "-e", "\\", "*", "\0", "gh", "api", "curl", "grep", "-r", ".", "pytest",
          "submodule", "foreach", "bisect", "run", "npx", "find", "/", "cat"]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=14), st.sampled_from([" ", ""]))
def test_any_text_is_answered(pieces: list[str], between: str) -> None:
    line = Line(between.join(pieces), "/w", {"HOME": "/h"})
    assert all(deed.what and "\n" not in deed.said for deed in deeds(line, GUARDED, lambda *_: ""))
    assert isinstance(heavy(line, "/w", "/h", ("a*",)), str)
    assert all(files_read(line))
