"""What is heavy by a command's text, and what is a part of it that an agent may do itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.hosts.test_commands import lines

from indelible.hosts import readings
from indelible.hosts.commands import Line
from indelible.hosts.heavy import files_read, heavy

if TYPE_CHECKING:
    from pathlib import Path

HEAVY = r"""
pytest
pytest -q
pytest -x --tb=short
pytest tests
pytest tests/
python -m pytest -q
python3 -m unittest
uv run pytest
poetry run pytest -q
cd sub && pytest
bash -c 'pytest -q'
time pytest
timeout 600 pytest -q
pytest > out.txt 2>&1
tox
nox
npm test
npm t
npm run test
yarn test
pnpm test
npx jest
npx vitest run
cargo test
cargo test --release
cargo build --release
cargo nextest run
go test ./...
go test -v ./...
go build ./...
flutter test
flutter build apk
dart test
mvn test
mvn clean verify
./mvnw package
./gradlew build
gradle test
dotnet test
bundle exec rspec
rake spec
rails test
make
make -j4
make all
make test
make check
make build
docker build -t x .
docker compose build
docker buildx build .
cmake --build build
ninja
npm run build
next build
bazel test //...
grep -r TODO .
grep -rn TODO
grep -R x *
grep -rn TODO ./
grep -r x /
rg TODO
rg -n TODO .
rg x ..
ag TODO
git grep TODO
find / -name x
find /usr -name x
find ~ -name '*.py'
ls -R
ls -laR .
tree
bazel query deps
slow-thing --all
"""

LIGHT = r"""
pytest tests/test_a.py
pytest -q tests/test_a.py::test_b
pytest -k name
pytest --lf
pytest --collect-only -q
pytest -n 4 tests/unit/test_a.py
python -m pytest tests/test_a.py
python -m unittest tests.test_a
npm test -- sort.test.js
npx jest sort
npx vitest run src/sort.test.ts
cargo test sort
cargo test -p core
cargo build
cargo check
cargo fmt
go test ./pkg
go test -run Sort ./...
flutter test test/a_test.dart
mvn -Dtest=SortTest test
./gradlew test --tests SortTest
bundle exec rspec spec/a_spec.rb
make lint
make clean
make -n
docker ps
docker compose up -d
npm install
npm run lint
npm start
grep -r TODO src
grep -rn TODO docs tests
grep -rl TODO .
grep -rc TODO .
grep -r TODO . | head -20
grep -rn x . | wc -l
grep TODO a.py
grep -n TODO *.py
rg TODO src
rg -l TODO
rg TODO | head
rg -t py TODO src
cd src && rg TODO
git grep -n TODO -- src
git grep -l TODO
git log --grep TODO
find . -name '*.py'
find src -type f
find /w/src -name x
ls -la
ls -R src
tree -L 2
cat a.py
indelible fork tests -- pytest
indelible fork search -- grep -r TODO .
indelible boot
echo pytest
grep pytest Makefile
pip install pytest
git commit -m 'make test'
"""


def said(text: str) -> str:
    return heavy(Line(text, "/w", {"HOME": "/h"}), "/w", "/h", ("bazel query *", "slow-thing"))


@pytest.mark.parametrize("text", lines(HEAVY))
def test_heavy_work_is_known_by_its_text(text: str) -> None:
    assert said(text)


@pytest.mark.parametrize("text", lines(LIGHT))
def test_a_part_of_it_is_not_heavy_and_neither_is_a_fork(text: str) -> None:
    assert said(text) == ""


def test_files_that_a_line_prints_are_counted_once_each(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}.md").write_text("x\n")
    ledger = str(tmp_path / "hooks" / "claude-code-s.1.json")

    def count(text: str) -> int:
        return readings.count(ledger, files_read(Line(text, str(tmp_path), {})))

    assert count("cat 0.md") == 1
    assert count("head -3 0.md 1.md; grep x 2.md") == 2
    assert count("sed -n 1,5p 2.md | tail -2") == 3
    assert count("cat *.md gone.md") == 5
    readings.forget(ledger)
    assert count("cat 4.md") == 1
