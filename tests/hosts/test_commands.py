"""What of a shell's command line is taken for a write to a protected place, and what for plain reading."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from indelible.hosts.commands import Line
from indelible.hosts.places import OWN, STATE, STORE, UNSURE, Place, Places

if TYPE_CHECKING:
    from pathlib import Path

SLOTS = ("00_governance.md", "20_plan_approved.md", "30_critic_summary.md", "99_next_action.md")

WRITING = r"""
echo x > .indelible/state/00_governance.md
echo x >> .indelible/state/00_governance.md
echo x >| ./.indelible/state/00_governance.md
echo x > "$PWD/.indelible/state/00_governance.md"
echo x > $(pwd)/.indelible/state/00_governance.md
echo x > `git rev-parse --show-toplevel`/.indelible/state/00_governance.md
echo x > sub/../.indelible//state/./00_governance.md
echo x > '.indelible/state/00_governance.md'
echo x > .inde"lible"/state/00_gov\ernance.md
echo x > $'\x2eindelible/state/00_governance.md'
echo x > ~/repo/.indelible/state/00_governance.md
echo x > ${HOME}/repo/.indelible/state/00_governance.md
echo x &> .indelible/state/00_governance.md
echo x 1> .indelible/state/00_governance.md
ls 2>.indelible/state/00_governance.md
: > .indelible/state/20_plan_approved.md
> .indelible/state/20_plan_approved.md
f=00_gov; echo x > .indelible/state/${f}ernance.md
f=00_gov; cd .indelible/state; echo x > ${f}ernance.md
d=.indelible; echo x > $d/state/00_governance.md
cd .indelible && echo x > state/00_governance.md
(cd .indelible/state; echo x > 00_governance.md)
pushd .indelible/state && echo x > 00_governance.md
cd "$UNSET" && echo x > 00_governance.md
echo x > "$WHERE/00_governance.md"
echo x | tee .indelible/state/00_governance.md
echo x | tee -a .indelible/state/30_critic_summary.md
echo x | sudo tee .indelible/state/00_governance.md >/dev/null
sed -i s/a/b/ .indelible/state/00_governance.md
sed -i.bak -e s/a/b/ .indelible/state/00_governance.md
sed -Ei s/a/b/ .indelible/state/00_governance.md
sed --in-place s/a/b/ .indelible/state/00_governance.md
sed -n 'w .indelible/state/00_governance.md' notes.md
perl -pi -e s/a/b/ .indelible/state/00_governance.md
awk 'BEGIN { print "x" > ".indelible/state/00_governance.md" }'
cp notes.md .indelible/state/00_governance.md
cp -t .indelible/state notes.md
cp -l .indelible/state/00_governance.md other.md
install -m 644 notes.md .indelible/state/00_governance.md
mv notes.md .indelible/state/00_governance.md
mv .indelible/state/00_governance.md away.md
mv .indelible away
mv .indelible/state .indelible/old
rm .indelible/state/00_governance.md
rm -f -- .indelible/state/00_governance.md
rm -rf .indelible
rm -rf .
rm -rf ../repo
rm -rf .indelible/state/*
rm .indelible/state/0*.md
rm .indelible/*/00_governance.md
rm -rf .ind*
rm -rf {.indelible,build}
rm .indelible/state/{00,20}_*.md
for f in .indelible/state/*.md; do rm "$f"; done
unlink .indelible/state/00_governance.md
shred -u .indelible/store.db
ln -s /dev/null .indelible/state/00_governance.md
ln .indelible/state/00_governance.md handle.md
ln -sf .indelible/state/00_governance.md handle.md
chmod u+w .indelible/state/00_governance.md
chmod -R u+w .
chattr -i .indelible/state/00_governance.md
truncate -s 0 .indelible/state/00_governance.md
touch .indelible/state/40_new.md
dd if=/dev/null of=.indelible/state/00_governance.md
python3 -c "open('.indelible/state/00_governance.md','w').write('x')"
python -c "import os; os.remove('00_governance.md')"
python3 <<'EOF'\nopen('.indelible/state/00_governance.md', 'w')\nEOF
node -e "fs.writeFileSync('.indelible/state/00_governance.md','')"
ruby -e 'File.write(".indelible/state/00_governance.md", "")'
sqlite3 .indelible/store.db "delete from entries"
sqlite3 .indelible/store.db-wal .dump
bash -c "echo x > .indelible/state/00_governance.md"
bash -lc 'rm -rf .indelible'
sh -c 'sh -c "rm .indelible/store.db"'
eval "rm .indelible/store.db"
bash <<'EOF'\nrm .indelible/store.db\nEOF
echo 'rm .indelible/store.db' | sh
echo .indelible/state/00_governance.md | xargs rm
find .indelible/state -name '00*' | xargs rm -f
find . -name '*.md' -delete
find .indelible -type f -exec rm {} +
find . -name 00_governance.md -exec sed -i s/a/b/ {} ;
git checkout HEAD -- .indelible/state/00_governance.md
git checkout -- .indelible
git restore .indelible/state/00_governance.md
git rm .indelible/state/00_governance.md
git mv .indelible/state/00_governance.md x.md
git clean -fdx
git clean -ffdX
git clean -xdf .indelible
git -C .indelible clean -fdx
git stash --all
git -c alias.zz='!rm .indelible/store.db' zz
curl -o .indelible/state/00_governance.md http://127.0.0.1/
curl http://127.0.0.1/ -o.indelible/state/00_governance.md
wget --output-document=.indelible/state/00_governance.md http://127.0.0.1/
rsync -a other/ .indelible/state/
tar -xf a.tar -C .indelible/state
vim .indelible/state/00_governance.md
nano .indelible/state/00_governance.md
patch .indelible/state/00_governance.md fix.diff
apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: .indelible/state/00_governance.md\n@@\n-a\n+b\n*** End Patch\nEOF
env A=b timeout 5 nice -n 3 rm .indelible/store.db
true && false || rm .indelible/store.db
if true; then rm .indelible/store.db; fi
echo $(rm .indelible/store.db)
cat <(rm .indelible/store.db)
echo hi >(tee .indelible/store.db)
brand-new-tool --force .indelible/state/00_governance.md
indelible state show 00 > .indelible/state/00_governance.md
echo x > link/state/00_governance.md
rm -rf link/
xxd -r dump .indelible/state/00_governance.md
sort -o .indelible/state/30_critic_summary.md .indelible/state/30_critic_summary.md
mkfifo .indelible/state/50_pipe.md
sudo -u root rm .indelible/store.db
sudo -u cat rm .indelible/store.db
env -C .indelible/state rm 99_next_action.md
env -S 'rm .indelible/store.db'
rm .indelible/state/$x
echo x > .indelible/state/$(date +%s)
tee .indelible/state/$f
rm -rf .indelible/$x
cp notes.md .indelible/state/$f
for i in 1 2 3; do rm .indelible/state/$i$j; done
cd $where/.indelible && rm $x
rm $(echo a .indelible/store.db)
f='a .indelible/store.db'; rm $f
f=a; test -d x && f=.indelible/store.db; test -d y && f=b; rm $f
a=(.indelible/store.db b); rm "${a[0]}"
set -- .indelible/store.db; rm "$1"
f=.indelible/store.db; rm ${f:?}
f=.indelible/store.d; rm ${f%d}db
read f <<< .indelible/store.db; rm $f
printf -v f %s .indelible/store.db; rm $f
ls .indelible/state/* | while read f; do rm $f; done
rm ~+/.indelible/store.db
rm .indelibl{e..e}/store.db
rm .indelible/state/{0..9}0_governance.md
shopt -s dotglob; rm -rf *
rm -rf .[^.]*
CDPATH=.indelible cd state; rm 99*
echo x > $'\x2eindelible/store.db\x0'
git commit -m "$(cat <<'EOF'\nit's done\nEOF\n)" && rm .indelible/store.db
git commit -m "$(cat <<'EOF'\nsmile :)\nEOF\n)" && rm .indelible/store.db
(( x = 1 << 2 ))\nrm .indelible/store.db\n2
x=$(( 1 << 2 )); rm .indelible/store.db
cat <<EOF\n$(rm .indelible/store.db)\nEOF
echo ${x:-$(rm .indelible/store.db)}
echo "${x:-`rm .indelible/store.db`}"
bash <(echo 'rm .indelible/store.db')
source <(echo 'rm .indelible/store.db')
echo 'rm .indelible/store.db' | bash -s
echo 'rm .indelible/store.db' | bash -
echo "open('.indelible/store.db','w')" | python3 -
bash -c "$(cat <<'EOF'\nrm .indelible/store.db\nEOF\n)"
bash -c 'rm "$1"' _ .indelible/store.db
bash -c '$0 $1' rm .indelible/store.db
xargs rm <<< .indelible/store.db
cat <<EOF | xargs rm\n.indelible/store.db\nEOF
script -qc 'rm .indelible/store.db' /dev/null
watch -n1 'rm .indelible/store.db'
su -c 'rm .indelible/store.db'
flock /tmp/l -c 'rm .indelible/store.db'
trap 'rm .indelible/store.db' EXIT
alias x='rm .indelible/store.db'\nx
parallel ::: 'rm .indelible/store.db'
tcsh -c 'rm .indelible/store.db'
tmux new-session -d 'rm .indelible/store.db'
at now <<< 'rm .indelible/store.db'
npx -c 'rm .indelible/store.db'
rm .indelible/store.db 'and this stays open
sed --in s/a/b/ .indelible/state/00_governance.md
sed -n 'w.indelible/store.db' notes.md
sed '1e rm .indelible/store.db' notes.md
awk 'BEGIN { print "x" | "tee .indelible/store.db" }'
awk 'BEGIN { "rm .indelible/store.db" | getline }'
find .indelible -name '99*' -exec true {} \; -delete
find .indelible -exec cat {} \; -exec rm {} \;
find . -not -name '*.py' -delete
find . -name '*.py' -o -type f -delete
find . -exec cp {} .indelible/state \;
git diff --output=.indelible/store.db
git log --outp .indelible/store.db
git grep --no-index -O'rm -f' law .indelible/state
git archive -o .indelible/store.db HEAD
git bundle create .indelible/store.db --all
git format-patch -o .indelible/state HEAD~1
git config -f .indelible/config.toml a.b c
git --work-tree=.indelible/state checkout HEAD -- 99_next_action.md
GIT_WORK_TREE=.indelible/state git checkout HEAD -- 99_next_action.md
git apply - <<'EOF'\n--- a/.indelible/store.db\n+++ b/.indelible/store.db\nEOF
git clean -xdf :/
git clean -fdxe foo
xxd notes.md .indelible/store.db
uniq notes.md .indelible/store.db -u
sort --out=.indelible/store.db notes.md
sqlite3 -readonly .indelible/store.db '.shell rm a'
sqlite3 -readonly app.db '.once .indelible/store.db' 'select 1'
view -c 'w! .indelible/store.db' notes.md
rg --pre rm law .indelible/state
fd . .indelible/state --exec rm
fd -u -e md . -x rm
cp notes.md .indelible/store.db -f
cp notes.md .indelible/store.db -S .bak
cp -t.indelible/state notes.md
cp -ft .indelible/state notes.md
cp --target-directory .indelible/state notes.md
cp -r /tmp/.indelible .
mv other/.indelible .
rsync -a --delete empty/ ./
rsync -a --remove-source-files .indelible/state/ away/
echo x > other-name.md
./ls .indelible/store.db
cd .indelible/state; unzip /tmp/x.zip
cd .indelible/state; curl -O http://127.0.0.1/99_next_action.md
indelible load KEY -o .indelible/store.db
indelible recall --repair .indelible/state/00_governance.md
indelible recall --repair=.indelible/store.db
indelible similarity --plot .indelible/state/30_critic_summary.md
indelible checkpoint --output=.indelible/store.db
indelible hooks plugin gemini .indelible/state
/tmp/indelible --clear .indelible/state
sed -i s/a/b/ ./.indelible/state/00_governance.md
cd .indelible; sed -i s/a/b/ state/00_governance.md
sed -i -e s/a/b/ notes.md .indelible/state/00_governance.md
tar -cf.indelible/store.db notes.md
tar cf .indelible/store.db notes.md
tar -c --listed-incremental=.indelible/store.db -f a.tar notes.md
zip .indelible/store.db notes.md
zip a.zip notes.md -O .indelible/store.db
git bisect run rm .indelible/store.db
git submodule foreach 'rm .indelible/store.db'
git rebase -x 'rm .indelible/store.db' main
git config alias.zz '!rm .indelible/store.db'
GIT_EXTERNAL_DIFF='rm .indelible/store.db' git diff
export GIT_PAGER='rm .indelible/store.db'; git log
PAGER='rm .indelible/store.db' man ls
echo '-o .indelible/store.db' | xargs sort notes.md
awk '/"/ { print > ".indelible/store.db" }' notes.md
awk '{ print /"/ , "x" > ".indelible/store.db" }' notes.md
awk '/[/"]/ { print > ".indelible/store.db" } # "' notes.md
sed 's:[:]a:b:w .indelible/store.db' notes.md
rm --r .
cp --t=.indelible/state notes.md
./env cat .indelible/store.db
"""

PASSING = r"""
cat .indelible/state/00_governance.md
cat .indelible/state/*.md
head -5 < .indelible/state/00_governance.md
ls -la .indelible/state
grep -rn law .indelible/state
sha256sum .indelible/state/* > sums.txt
diff .indelible/state/00_governance.md other.md
cp .indelible/state/00_governance.md copy.md
cp -r .indelible backup
wc -l .indelible/state/30_critic_summary.md 2>/dev/null
sed -n 1,5p .indelible/state/00_governance.md
find . -name '*.pyc' -delete
find .indelible -name '*.md'
find .indelible -name '*.md' -exec cat {} +
cat .indelible/state/00_governance.md | tee notes.md
indelible state append 30 -
indelible state write 99 - < next.md
indelible --json boot
python -m indelible state repair
echo "see .indelible/state/00_governance.md" > notes.md
git status
git add -A && git commit -m "keep .indelible/state/00_governance.md as it is"
git checkout main
git clean -fd
git clean -nfdx
git clean -fdx -e .indelible
git stash
rm -rf build dist
rm *.pyc
rm -rf *
mv a.md b.md
pytest tests
python3 -c "print(1)"
make test
echo x > state/00_governance.md.txt
touch governance.md
chmod +x run.sh
chmod 755 .
ln -s a b
sqlite3 -readonly .indelible/store.db .schema
sqlite3 app.db "select 1"
echo x > "$OUT"
rm -rf "$TMPDIR/build"
cat > notes.md <<'EOF'\nrm -rf .indelible\nEOF
# rm -rf .indelible
echo '> .indelible/store.db'
npm run build -- --out dist
tar -xf a.tar -C build
"""

WITH_ODD_CHARACTERS = {
    "here-document in a substitution": "git commit -m \"$(cat <<'EOF'\nkeep .indelible/state as it is, don't touch\nEOF\n)\"",
    "arithmetic": "(( n = 1 << 2 )); echo $n > notes.md",
}

READING = """
ls -la
cat a.md | grep x | head
git status && git diff HEAD~1
git log --oneline -5
git branch -a
cd src; rg TODO
sed -n 5p a.md
find . -name '*.md'
bash -lc 'cat a.md'
indelible boot
indelible save KEY a.md
ls 2>/dev/null
sort a.md | uniq -c
export A=b; echo $A
for f in *.md; do cat $f; done
python3 --version
node -v
command -v node
nproc; free -m
git -c core.quotepath=off status
git config user.name
date +%F
awk 'NR>5' a.md
awk '/a|b/ { print $1 }' a.md
awk -F: '$1 > 5 || /x/ { print }' a.md
sed -n '/a/,/b/p' a.md
sed -e 's/a/b/g' -e '1d' a.md
find . -name '*.md' -exec grep -l law {} +
sqlite3 -readonly a.db .schema 'select 1'
xargs grep -l x < a.md
GIT_PAGER=cat git log
LC_ALL=C sort a.md
/usr/bin/env A=b cat a.md
awk '/"a"/ { print $2 }' a.md
awk '{ print $1 / $2 }' a.md
awk '{ print "a", $1 }' a.md
indelible load KEY
"""

CHANGING = """
git commit -m x
git push
echo x > a.md
python3 run.py
sed -i s/a/b/ a.md
make
npm test
rm a.md
bash run.sh
bash -c 'rm a.md'
find . -delete
git branch -D main
git stash
git -c core.pager='rm a' log
git diff --output=a.md
sort -o a.md a.md
tee a.md
uniq a.md b.md
awk '{ print > "a.md" }' b.md
cat a.md | sh
git tag -a v1
git branch -d old
git branch new
git -c diff.external=x diff
date -s now
sed -f script a.md
sed 's/a/b/e' a.md
sed 's/[/]a/b/w c' a.md
awk -f a.awk b.md
awk 'BEGIN { system("x") }'
find . -exec cat {} ; -delete
find . -fprint a
rg --pre x a
less +!x a.md
history -w a
sqlite3 a.db 'select 1'
./cat a.md
env -S 'x'
bat cache --build
python3 -v
./env cat a.md
/tmp/sudo cat a.md
git -c core.pager='cat; rm a' log
GIT_PAGER='rm a' git log
PATH=. ls
ls | xargs sort
"""


def lines(text: str) -> list[str]:
    return [line.replace("\\n", "\n") for line in text.strip().splitlines()]


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    state = home / "repo" / ".indelible" / "state"
    state.mkdir(parents=True)
    for name in SLOTS:
        (state / name).write_text("law\n")
    (state.parent / "store.db").write_bytes(b"")
    (home / "repo" / "sub").mkdir()
    (home / "repo" / "link").symlink_to(".indelible")
    os.link(state / "30_critic_summary.md", home / "repo" / "other-name.md")
    return home / "repo"


@pytest.fixture(scope="module")
def places(repo: Path) -> Places:
    folder = os.fspath(repo / ".indelible")
    state = os.path.join(folder, "state")
    files = [Place(os.path.join(state, name), STATE) for name in SLOTS]
    store = [Place(os.path.join(folder, "store.db" + end), STORE) for end in ("", "-wal", "-shm")]
    numbers = tuple((os.stat(place.path).st_ino, place.path) for place in files)
    return Places((*files, *store, Place(state, STATE), Place(folder, OWN)), os.fspath(repo.parent), numbers=numbers)


def line(text: str, repo: Path) -> Line:
    return Line(text, os.fspath(repo), {"HOME": os.fspath(repo.parent)})


@pytest.mark.parametrize("text", lines(WRITING))
def test_a_command_that_writes_to_a_protected_place_is_noticed(text: str, repo: Path, places: Places) -> None:
    assert line(text, repo).writes(places)


@pytest.mark.parametrize("text", lines(PASSING))
def test_a_command_that_writes_elsewhere_or_only_reads_passes(text: str, repo: Path, places: Places) -> None:
    assert line(text, repo).writes(places) is None


@pytest.mark.parametrize("text", WITH_ODD_CHARACTERS.values(), ids=WITH_ODD_CHARACTERS.keys())
def test_what_only_looks_odd_passes(text: str, repo: Path, places: Places) -> None:
    assert line(text, repo).writes(places) is None


@pytest.mark.parametrize("text", lines(READING))
def test_plain_reading_is_known(text: str, repo: Path) -> None:
    assert line(text, repo).is_reading


@pytest.mark.parametrize("text", [*lines(CHANGING), ""])
def test_what_may_change_something_is_no_plain_reading(text: str, repo: Path) -> None:
    assert not line(text, repo).is_reading


@pytest.mark.parametrize(
    "text",
    ["indelible boot", "cd /x && indelible boot", "cd /x; indelible boot", "python3 -m indelible boot --json", "uv run indelible --json boot",
     "indelible boot --budget 5000", "indelible boot --characters=9000", "indelible boot 2>&1", "indelible boot 2>/dev/null || exit 1",
     "bash -lc 'indelible boot'", "'bash' '-lc' 'indelible boot'", "sh -c 'indelible boot'", "zsh -lc 'cd /x && indelible boot'",
     "python -I -m indelible boot", f"{os.path.dirname(sys.executable)}/indelible boot"],
)  # fmt: skip
def test_a_boot_that_is_shown_counts_as_reading_the_briefing(text: str, repo: Path) -> None:
    assert line(text, repo).boot


@pytest.mark.parametrize(
    "text",
    ["indelible boot > /dev/null", "indelible boot | head -1", "echo indelible boot", "indelible verify boot", "indelible state show 00",
     "indelible boot --help", "indelible boot --laws", "indelible boot --help; make", "false && indelible boot", "indelible boot; make",
     "(indelible boot) > /dev/null", "{ indelible boot; } > /dev/null", "x=$(indelible boot)", "echo $(indelible boot)", "indelible boot &",
     "exec >/dev/null; indelible boot", "! indelible boot", "if true; then indelible boot; fi", "/tmp/indelible boot", "./indelible boot",
     "indelible --store s boot", "indelible --agent a boot", "indelible boot --agent a", "sh -c 'indelible boot' > /dev/null",
     "A=b sh -c 'indelible boot'", "indelible() { :; }; indelible boot", "alias indelible=true; indelible boot", "indelible boot >&2",
     "sudo indelible boot", "indelible boot 'and", "indelible boot --budget $N"],
)  # fmt: skip
def test_a_boot_that_nobody_sees_does_not(text: str, repo: Path) -> None:
    assert not line(text, repo).boot


@pytest.mark.parametrize(
    "text",
    ["git -c core.hooksPath=/dev/null commit -m x", "git -c CORE.HOOKSPATH= push", "git -C sub -c core.hooksPath=x status",
     "git --config-env=core.hooksPath=NONE commit", "git --config-env core.hooksPath=NONE commit", "git config core.hooksPath /dev/null",
     "git config --global core.hooksPath ''", "git config set --local core.hooksPath x", "git config --unset core.hooksPath", "git config unset core.hookspath",
     "git config --remove-section core", "h=core.hooks; git -c ${h}Path=/dev/null commit", "git -c core.hook's'Path=/dev/null commit",
     "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=/dev/null git commit -m x", "export GIT_CONFIG_PARAMETERS=\"'core.hooksPath=/dev/null'\"",
     "env GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0='core.hooks'Path GIT_CONFIG_VALUE_0=x git commit", "sh -c 'git -c core.hooksPath=/dev/null commit -m x'",
     "cd sub && sudo git -c core.hooksPath=x commit", "echo x | xargs git -c core.hooksPath=/dev/null commit -m",
     "python3 -c \"import subprocess; subprocess.run(['git', '-c', 'core.hooksPath=/dev/null', 'commit'])\"", "git -c alias.x='!git -c core.hooksPath=x commit' x"],
)  # fmt: skip
def test_a_command_that_leaves_gits_hooks_out_is_noticed(text: str, repo: Path) -> None:
    assert line(text, repo).unhooks


@pytest.mark.parametrize(
    "text",
    ["git commit -m 'core.hooksPath is set'", "git config core.hooksPath", "git config --get core.hooksPath", "git config get core.hooksPath", "git config --list",
     "grep -r core.hooksPath .", "echo core.hooksPath >> notes.md", "git log --grep core.hooksPath", "git -c user.name=x commit -m y", "GIT_CONFIG_GLOBAL=/dev/null git status", ""],
)  # fmt: skip
def test_git_with_its_hooks_and_talk_of_them_pass(text: str, repo: Path) -> None:
    assert not line(text, repo).unhooks


@pytest.mark.parametrize(
    ("text", "file"),
    [("chmod u+w state/00_governance.md", "state/00_governance.md"), ("chmod -R 777 state/30_critic_summary.md", "state/30_critic_summary.md"),
     ("chown root:root state/00_governance.md", "state/00_governance.md"), ("chattr -i state/00_governance.md", "state/00_governance.md"),
     ("truncate -s 0 state/00_governance.md", "state/00_governance.md"), ("touch -d yesterday store.db", "store.db"), ("chmod --reference=/etc/passwd store.db", "store.db"),
     ("dd bs=1 of=state/00_governance.md", "state/00_governance.md"), ("chmod u+w state/21_new.md", "state/21_new.md")],
)  # fmt: skip
def test_within_the_folder_the_file_is_named_and_not_the_mode(text: str, file: str, repo: Path, places: Places) -> None:
    """`chmod u+w state/00_governance.md` was said to be about `.indelible/u+w`."""
    folder = repo / ".indelible"
    found = Line(text, os.fspath(folder), {}).writes(places)
    assert found is not None
    assert found.path == os.fspath(folder / file)


def test_a_module_that_lies_in_the_folder_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / "indelible.py").write_text("")
    assert not line("python3 -m indelible boot", tmp_path).boot
    assert line("python3 -I -m indelible boot", tmp_path).boot


@pytest.mark.parametrize(("text", "sealing"), [("indelible state append 30 -", True), ("indelible state write 99 -", True), ("indelible init", True),
    ("indelible --json archive k", True), ("sh -c 'indelible state close'", True), ("indelible save k f", False), ("indelible state show 00", False),
    ("indelible doctor", False), ("indelible", False), ("make", False)])  # fmt: skip
def test_verbs_that_write_into_the_log_are_told_from_those_that_look(text: str, sealing: bool, repo: Path) -> None:
    assert line(text, repo).seals is sealing


def test_what_cannot_be_known_is_refused_with_the_remedy(repo: Path, places: Places) -> None:
    found = line("for f in $(ls .indelible/state); do mv $f $x; done", repo).writes(places)
    assert found
    assert found.place.kind == UNSURE
