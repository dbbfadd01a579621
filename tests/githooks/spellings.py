"""Ways to bring to a protected branch what nobody approved. Each is a few lines of shell, run in a clone with our hooks.

`make` makes the commit and `push` brings it to the receiving repository. `OFF` is git without local hooks, so that the other
half of a spelling is tried by itself. `far.git` receives; `other` is a clone without hooks in which somebody committed.
"""

from __future__ import annotations

from typing import NamedTuple

OFF = "git -c core.hooksPath=/dev/null"
_PUSH = "git push -q origin HEAD:main"
_BYPASS = f"{OFF} commit -q -a -m unseen"
_BY_HAND = "c=$(git commit-tree $(git add -A && git write-tree) -p HEAD -m unseen)"


class Spelling(NamedTuple):
    name: str
    make: str
    push: str = _PUSH


SPELLINGS = (
    # Commits.
    Spelling("git commit -a", "git commit -q -a -m unseen"),
    Spelling("git add; git commit", "git add -A && git commit -q -m unseen"),
    Spelling("git commit --no-verify", "git commit -q -a -n -m unseen"),
    Spelling("git commit -- path", "git commit -q -m unseen -- readme.txt"),
    Spelling("git --git-dir --work-tree commit", "git --git-dir=.git --work-tree=. commit -q -a -n -m unseen"),
    Spelling("an alias of git commit -n", "git config alias.ci 'commit -n' && git ci -q -a -m unseen"),
    Spelling("git commit --amend, other content", "git commit -q -a --amend --no-edit -n"),
    Spelling("git commit-tree; git update-ref", f"{_BY_HAND} && git update-ref refs/heads/main $c"),
    Spelling("git commit-tree; git reset --hard", f"{_BY_HAND} && git reset -q --hard $c"),
    Spelling("git commit-tree; git checkout -B", f"{_BY_HAND} && git checkout -q -f -B main $c"),
    Spelling("git commit-tree; git merge --ff-only", f"{_BY_HAND} && git stash -q && git merge -q --ff-only $c"),
    Spelling("git stash; git update-ref to the stash", "git stash -q && git update-ref refs/heads/main stash@{0}"),
    Spelling("git fast-import", "printf 'commit refs/heads/main\\ncommitter a <a@b> 1700000000 +0000\\ndata 6\\nunseen\\nfrom refs/heads/main^0\\nM 644 inline f\\ndata 1\\nx\\n' | git fast-import --quiet"),
    Spelling("git am", "git stash -q && git am -q ../unseen.patch"),
    Spelling("git cherry-pick", "git stash -q && git fetch -q ../other && git cherry-pick FETCH_HEAD"),
    Spelling("git revert", "git stash -q && git revert --no-edit HEAD"),
    Spelling("git merge", "git stash -q && git fetch -q ../other && git merge -q --no-ff --no-edit FETCH_HEAD"),
    Spelling("git rebase", "git stash -q && git fetch -q ../other && git rebase -q FETCH_HEAD"),
    Spelling("git pull from a clone without hooks", "git stash -q && git pull -q --ff-only ../other main"),
    Spelling("git fetch into a branch", "git fetch -q ../other main:topic", "git push -q origin topic:main"),
    Spelling("git worktree add; git commit -n in it", "git worktree add -q --detach ../w && cd ../w && echo x >> readme.txt && git commit -q -a -n -m unseen", "cd ../w && git push -q origin HEAD:main"),
    # Without local hooks.
    Spelling("git -c core.hooksPath=/dev/null commit", _BYPASS),
    Spelling("git config core.hooksPath /dev/null", "git config core.hooksPath /dev/null && git commit -q -a -m unseen"),
    Spelling("GIT_CONFIG_COUNT with core.hooksPath", "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=/dev/null git commit -q -a -m unseen"),
    Spelling("rm .git/hooks/*", "rm -f .git/hooks/* && git commit -q -a -m unseen"),
    Spelling("chmod -x .git/hooks/*", "chmod -x .git/hooks/* && git commit -q -a -m unseen"),
    Spelling("writing .git/refs/heads/main", f"{_BY_HAND} && echo $c > .git/refs/heads/main"),
    Spelling("a tag or a remote's name first, then git reset", f"{_BY_HAND} && git tag unseen $c && git reset -q --hard unseen"),
    Spelling("a clone of the clone", "git clone -q . ../copy && cd ../copy && echo x >> readme.txt && git commit -q -a -m unseen", "cd ../copy && git push -q ../far.git HEAD:main"),
    # Pushes of what was committed without local hooks.
    Spelling("git push --no-verify", _BYPASS, "git push -q --no-verify origin HEAD:main"),
    Spelling("git -c core.hooksPath=/dev/null push", _BYPASS, f"{OFF} push -q origin HEAD:main"),
    Spelling("git push, plain", _BYPASS, "git push -q origin main"),
    Spelling("git push --force", _BYPASS, "git push -q --force origin +HEAD:refs/heads/main"),
    Spelling("git push --force-with-lease --no-verify", _BYPASS, "git push -q --no-verify --force-with-lease origin HEAD:main"),
    Spelling("git push --all", _BYPASS, "git push -q --all origin"),
    Spelling("git push --mirror --no-verify", _BYPASS, "git push -q --mirror --no-verify origin"),
    Spelling("git push --atomic with others --no-verify", _BYPASS, "git push -q --no-verify --atomic origin HEAD:topic HEAD:main"),
    Spelling("git push to a path", _BYPASS, "git push -q --no-verify ../far.git HEAD:main"),
    Spelling("git push to a file:// address", _BYPASS, 'git push -q --no-verify "file://$(cd .. && pwd)/far.git" HEAD:main'),
    Spelling("git push to another remote's name", _BYPASS, "git remote add x ../far.git && git push -q x HEAD:main"),
    Spelling("url.insteadOf", _BYPASS, "git -c url.../far.git.insteadOf=gh:far push -q --no-verify gh:far HEAD:main"),
    Spelling("git send-pack", _BYPASS, "git send-pack ../far.git HEAD:refs/heads/main"),
    Spelling("GIT_CONFIG_GLOBAL with core.hooksPath, for the receiver too", _BYPASS, "printf '[core]\\nhooksPath = /dev/null\\n' > ../evil && GIT_CONFIG_GLOBAL=../evil git push -q --no-verify origin HEAD:main"),
    Spelling("GIT_CONFIG_PARAMETERS and _COUNT, for the receiver too", _BYPASS, "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=/dev/null git push -q origin HEAD:main"),
    Spelling("an unprotected branch first", _BYPASS, "git push -q origin HEAD:refs/heads/topic && git push -q --no-verify origin HEAD:main"),
    Spelling("deleting the branch, to push it anew", _BYPASS, "git push -q --no-verify origin :main; git push -q --no-verify origin HEAD:main"),
    Spelling("moving the branch back", "true", "git push -q --no-verify --force origin HEAD~1:main"),
    Spelling("a shallow clone", "git clone -q --depth 1 file://$(cd .. && pwd)/far.git ../thin && cd ../thin && echo x >> readme.txt && git commit -q -a -m unseen", "cd ../thin && git push -q origin HEAD:main"),
    # Receipts that are none.
    Spelling("the receipt of another commit", f"{OFF} commit -q -a -m \"unseen\n\n$(git log -1 --format='%(trailers:key=Indelible-Receipt)')\"", "git push -q --no-verify origin HEAD:main"),
    Spelling("a receipt by a key of one's own", f"{OFF} commit -q -a -F ../own-receipt", "git push -q --no-verify origin HEAD:main"),
    Spelling("an approved merge of what nobody approved", f'git stash -q && git fetch -q ../other && {OFF} merge -q --no-ff -m "$(cat ../merge-receipt)" FETCH_HEAD', "git push -q --no-verify origin HEAD:main"),
    Spelling("a replaced object", f"{_BYPASS} && git replace HEAD $(git commit-tree HEAD~1^{{tree}} -p HEAD~1 -m seen)", "git push -q --no-verify origin HEAD:main"),
)  # fmt: skip
