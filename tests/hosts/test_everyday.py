"""What people and agents type all day: none of it is refused once the briefing was read, by any spelling of our folder in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.hosts.test_commands import line, lines, places, repo

if TYPE_CHECKING:
    from pathlib import Path

    from indelible.hosts.places import Places

__all__ = ["places", "repo"]

EVERYDAY = r"""
git status --short
git log --graph --oneline --all
git diff --stat main...HEAD
git diff .indelible/
git show HEAD~2:src/app.py > old.py
git add -A .
git add .indelible/config.toml
git commit -m "sort by date, see .indelible/state/20_plan_approved.md"
git commit -am 'rename > move, keep .indelible'
git commit --amend --no-edit
git commit -F - <<'EOF'\nstate: keep .indelible/state\n\nrm -rf .indelible would have been wrong\nEOF
git commit -m "$(cat <<'EOF'\nfix: don't lose .indelible/state/99_next_action.md\n\n(the parser's fault)\nEOF\n)"
git commit -m "$(cat <<EOF\nfix: $TICKET in .indelible\nEOF\n)"
git push -u origin HEAD
git pull --rebase origin main
git fetch --all --prune
git checkout -b feature/list
git switch main
git checkout -- src/app.py
git checkout .
git restore --staged src
git reset --hard HEAD~1
git merge --no-ff feature/list
git rebase main
git cherry-pick abc123
git stash push -m work
git stash pop
git clean -fd
git clean -nfdx
git clean -fdx -e .indelible
git clean -fdx --exclude=.indelible
git rm --cached notes.md
git rm -r --cached .indelible/store.db
git mv a.py b.py
git tag -a v1 -m release
git branch -D old
git worktree add ../wt feature
git remote add up git@example.org:a/b.git
git blame src/app.py
git grep -n TODO -- ':!.indelible'
git archive HEAD -o /tmp/a.tar
git apply fix.patch
git -c core.quotepath=off status
ls -la .indelible/state
cat .indelible/state/*.md
cat .indelible/state/30_critic_summary.md | tail -20
tail -n +1 .indelible/state/*.md | head -200
less .indelible/state/00_governance.md
bat -p .indelible/state/00_governance.md
wc -l .indelible/state/* && make test
sha256sum .indelible/state/* > sums.txt
diff .indelible/state/00_governance.md /tmp/g.md
grep -rn --exclude-dir=.indelible TODO .
grep -r law .indelible/state | sort | uniq -c
rg -n TODO -g '!.indelible'
rg --hidden law .indelible
awk 'NR>5' .indelible/state/30_critic_summary.md
awk '/^##/ || $1 > 3 { print $1 }' .indelible/state/30_critic_summary.md
sed -n '/Next/,$p' .indelible/state/99_next_action.md
sed 's/a/b/g' .indelible/state/00_governance.md > copy.md
sed -i 's/foo/bar/' src/app.py
sed -i.bak -e 's/^x$//' -e '1d' src/app.py
sed -i '' 's#a#b#' src/app.py
jq .name package.json
sqlite3 -readonly .indelible/store.db .tables
sqlite3 -readonly .indelible/store.db 'select count(*) from entries'
sqlite3 app.db 'delete from t'
find . -name '*.py' -not -path './.indelible/*'
find . -path ./.indelible -prune -o -name '*.tmp' -exec rm {} +
find . -name '*.tmp' -not -path './.indelible/*' -delete
find . -name __pycache__ -type d -exec rm -rf {} +
find . -type d -empty -delete
find . -maxdepth 1 -type f -delete
find build -delete
find . -name '*.py' | xargs sed -i 's/a/b/'
find . -name '*.py' -print0 | grep -zv .indelible | xargs -0 black
fd -e py -x black
tree -a .indelible
du -sh .indelible
cp notes.md copy.md
cp .indelible/state/00_governance.md law.md
cp -r .indelible /tmp/backup
cp -a . /tmp/whole
cp /tmp/a.txt .
cp -t build a b
mv a.txt .
mv a.txt ..
mv a.txt ~
mv a.txt ~/
mv a.txt /tmp
mv dist/* .
mv "$f" .
mv -n build/out.txt ./
mv src/a.py src/b.py
mv *.log logs/
rm -rf build dist node_modules
rm -rf ./build/*
rm -f *.pyc
rm -r tmp/
mkdir -p src/new
touch src/new.py
chmod +x run.sh
chmod -R u+w build
ln -s ../x y
tar czf b.tgz .indelible
tar czf b.tgz --exclude=.indelible .
tar --exclude .indelible -czf b.tgz .
tar tf b.tgz
tar xf a.tar -C build
zip -r out.zip . -x '.indelible/*'
unzip -o a.zip -d build
rsync -a --exclude=.indelible ./ /tmp/dest/
rsync -a --delete --exclude .indelible src/ ./
rsync -av ./ user@host:/srv/app/
pytest --ignore=.indelible
pytest -q tests -k "state and not slow" 2>&1 | tail -5
python3 -m pytest --ignore .indelible
ruff check --exclude .indelible .
ruff format .
black . --exclude .indelible
flake8 --exclude=.git,.indelible
eslint . --ignore-pattern '.indelible/'
prettier --write . '!.indelible/**'
cloc --exclude-dir=.indelible .
mypy src && npm test
npm ci && npm run build
npx prettier --write src
yarn lint > lint.txt 2>&1
cargo test -- --nocapture
go build ./...
make -j4 2>&1 | tee make.log
docker build -t x .
docker run --rm -v "$PWD":/w x make
docker compose up -d
curl -fsS https://example.org/x -o out.json
gh pr create --title t --body "keeps .indelible/state; rm -rf .indelible is refused"
gh pr create --body-file .indelible/state/99_next_action.md
gh issue list --limit 5
echo '.indelible/' >> .gitignore
echo "see .indelible/state/00_governance.md" > notes.md
printf '%s\n' '- .indelible' | tee -a NOTES.md
cat > a.py <<'EOF'\nopen('.indelible/state/00_governance.md').read()  # don't write\nEOF
cat <<EOF > notes.md\nthe law is in .indelible/state\nrm -rf .indelible\nEOF
cat <<'EOF' | indelible state append 30 -\n## Round 2\nit's agreed\nEOF
indelible boot
indelible state write 99 /tmp/next.md
indelible state append 30 - < /tmp/round.md
indelible state show 00 > /tmp/law.md
indelible save MEMORY.md MEMORY.md && git add MEMORY.md
indelible load MEMORY.md -o /tmp/m.md
python3 - <<'EOF'\nprint("it's")\nEOF
python3 -c 'print(1)'
node -e 'console.log(1)'
perl -pi -e 's/a/b/' src/app.py
for f in .indelible/state/*.md; do echo "== $f"; head -3 "$f"; done
for f in src/*.py; do sed -i s/a/b/ "$f"; done
while read l; do echo "$l"; done < .indelible/state/30_critic_summary.md
if [ -f .indelible/state/00_governance.md ]; then echo yes; fi
x=$(cat .indelible/state/99_next_action.md); echo "$x"
cd .indelible/state && cat 00_governance.md; cd -
cd src && make && cd ..
(cd web && npm run build)
bash -lc 'cat .indelible/state/00_governance.md && make test'
bash scripts/build.sh --fast
sh -c "npm test > out.txt"
time make; echo $?
timeout 60 npm test
nohup npm start > server.log 2>&1 &
trap 'rm -f /tmp/x' EXIT; make
kill %1; wait $!
n=$((n + 1)); (( n > 3 )) && make
export PATH="$HOME/bin:$PATH"; make
pip install -e '.[dev]'
ps aux | grep indelible
env | grep INDELIBLE
which indelible && indelible --version
claude -p 'explain .indelible/state/00_governance.md'
cat .indelible/state/99_next_action.md && npm test -- "$TEST"
patch -p1 < fix.patch
shellcheck *.sh
"""


@pytest.mark.parametrize("text", lines(EVERYDAY))
def test_a_command_of_every_day_passes(text: str, repo: Path, places: Places) -> None:
    assert line(text, repo).writes(places) is None


def test_there_are_many_of_them() -> None:
    assert len(lines(EVERYDAY)) >= 150
