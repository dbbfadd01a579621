"""Versions of packages, from every lock file that is read; and anchors upon them."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.errors import UsageError
from indelible.gate.anchors.checking import check
from indelible.gate.anchors.locating import Doubt
from indelible.gate.anchors.lockfiles import LOCKS, versions_in

if TYPE_CHECKING:
    from tests.gate.anchors.checkouts import Checkout

NPM3 = json.dumps({
    "lockfileVersion": 3,
    "packages": {
        "": {"name": "app", "version": "9.9.9"},
        "node_modules/react": {"version": "19.0.1"},
        "node_modules/@babel/core": {"version": "7.26.0"},
        "node_modules/a/node_modules/react": {"version": "18.3.1"},
        "packages/own": {"name": "own", "version": "1.0.0"},
        "node_modules/own": {"resolved": "packages/own", "link": True},
    },
})  # fmt: skip
NPM1 = json.dumps({
    "lockfileVersion": 1,
    "dependencies": {"react": {"version": "19.0.1"}, "a": {"version": "1.0.0", "dependencies": {"react": {"version": "18.3.1"}}}},
})  # fmt: skip
YARN1 = """# yarn lockfile v1


"@babel/core@^7.0.0", "@babel/core@^7.1.0":
  version "7.26.0"
  resolved "https://registry.yarnpkg.com/x"
  dependencies:
    version "^1.0.0"

react@^18.0.0, react@^18.2.0:
  version "18.3.1"

react@^19.0.0:
  version "19.0.1"
"""
YARN2 = """__metadata:
  version: 8
  cacheKey: 10c0

"@babel/core@npm:^7.0.0, @babel/core@npm:^7.1.0":
  version: 7.26.0
  resolution: "@babel/core@npm:7.26.0"

"react@npm:^19.0.0":
  version: 19.0.1
"""
PNPM5 = """lockfileVersion: 5.4

dependencies:
  react: 19.0.1

packages:

  /@babel/core/7.26.0_@types+node@20.0.0:
    resolution: {integrity: sha512-x}
  /react/19.0.1:
    engines: {node: '>=0.10.0'}
"""
PNPM6 = """lockfileVersion: '6.0'

packages:

  /@babel/core@7.26.0(supports-color@9.0.0):
    dev: true
  /react@19.0.1:
    dev: false
"""
PNPM9 = """lockfileVersion: '9.0'

importers:

  .:
    dependencies:
      react:
        specifier: ^19.0.0

packages:

  '@babel/core@7.26.0':
    resolution: {integrity: sha512-x}

  react@19.0.1:
    resolution: {integrity: sha512-x}

snapshots:

  react@18.0.0: {}
"""
TOML = """version = 1

[[package]]
name = "Flask_Login"
version = "0.6.3"

[[package]]
name = "app"
source = { editable = "." }

[package.metadata]
x = "y"
"""
REQUIREMENTS = """# pinned
Flask.Login==0.6.3 \\
    --hash=sha256:abc
requests[socks] == 2.32.3 ; python_version > "3.8"  # why
loose>=1.0
wild==1.*
-r other.txt
exact===1.0+local
"""
GO_MOD = """module example.com/app

go 1.23

require github.com/one/mod v1.2.3

require (
\tgolang.org/x/mod v0.22.0 // indirect
)

replace (
\tgithub.com/one/mod => ../mod v0.0.0
)
"""
GO_SUM = """golang.org/x/mod v0.21.0 h1:x=
golang.org/x/mod v0.21.0/go.mod h1:x=
golang.org/x/mod v0.22.0/go.mod h1:x=
"""
GEMFILE = """GEM
  remote: https://rubygems.org/
  specs:
    nokogiri (1.16.0-x86_64-linux)
      racc (~> 1.4)
    rails (7.1.2)

DEPENDENCIES
  rails (~> 7.1)
"""

CASES = [
    ("package-lock.json", NPM3, {"react": "18.3.1,19.0.1", "@babel/core": "7.26.0", "own": "1.0.0"}),
    ("npm-shrinkwrap.json", NPM1, {"react": "18.3.1,19.0.1", "a": "1.0.0"}),
    ("yarn.lock", YARN1, {"react": "18.3.1,19.0.1", "@babel/core": "7.26.0"}),
    ("yarn.lock", YARN2, {"react": "19.0.1", "@babel/core": "7.26.0"}),
    ("pnpm-lock.yaml", PNPM5, {"react": "19.0.1", "@babel/core": "7.26.0"}),
    ("pnpm-lock.yaml", PNPM6, {"react": "19.0.1", "@babel/core": "7.26.0"}),
    ("pnpm-lock.yaml", PNPM9, {"react": "19.0.1", "@babel/core": "7.26.0"}),
    ("poetry.lock", TOML, {"flask-login": "0.6.3"}),
    ("uv.lock", TOML, {"flask-login": "0.6.3"}),
    ("pdm.lock", TOML, {"flask-login": "0.6.3"}),
    ("pylock.toml", TOML.replace("[[package]]", "[[packages]]").replace("[package.metadata]", "[metadata]"), {"flask-login": "0.6.3"}),
    ("Pipfile.lock", json.dumps({"default": {"flask-login": {"version": "==0.6.3"}}, "develop": {"own": {"path": "."}}}), {"flask-login": "0.6.3"}),
    ("requirements-dev.txt", REQUIREMENTS, {"flask-login": "0.6.3", "requests": "2.32.3", "exact": "1.0+local"}),
    ("Cargo.lock", '[[package]]\nname = "serde"\nversion = "1.0.1"\n[[package]]\nname = "serde"\nversion = "0.9.0"\n', {"serde": "0.9.0,1.0.1"}),
    ("go.mod", GO_MOD, {"github.com/one/mod": "v1.2.3", "golang.org/x/mod": "v0.22.0"}),
    ("go.sum", GO_SUM, {"golang.org/x/mod": "v0.21.0"}),
    ("Gemfile.lock", GEMFILE, {"nokogiri": "1.16.0-x86_64-linux", "rails": "7.1.2"}),
    ("composer.lock", json.dumps({"packages": [{"name": "Symfony/Console", "version": "v7.1.0"}], "packages-dev": []}), {"symfony/console": "v7.1.0"}),
]  # fmt: skip


@pytest.mark.parametrize(("file", "text", "expected"), CASES, ids=[f"{case[0]} {number}" for number, case in enumerate(CASES)])  # fmt: skip
def test_a_lock_file_gives_the_versions_that_it_pins(file: str, text: str, expected: dict[str, str]) -> None:
    for content in (text.encode(), b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()):
        found = versions_in(file, content)
        assert {name: ",".join(versions) for name, versions in found.items()} == expected


@pytest.mark.parametrize("file", [lock.pattern.replace("*", "") for lock in LOCKS])
@given(content=st.binary(max_size=200) | st.text(max_size=200).map(str.encode) | st.sampled_from([b"[]", b"{}", b"null", b'{"packages": 1}', b'{"packages": {"a": []}}', b"package = 1"]))  # fmt: skip
def test_a_lock_file_that_is_none_is_a_doubt_and_never_a_crash(file: str, content: bytes) -> None:
    with suppress(Doubt):
        assert isinstance(versions_in(file, content), dict)


def test_a_package_is_anchored_in_each_lock_file_that_has_it(app: Checkout) -> None:
    app.write("package-lock.json", NPM3)
    app.write("web/yarn.lock", YARN2)
    anchors = app.capture("package:react")
    assert [(anchor.type, anchor.path, anchor.value) for anchor in anchors] == [
        ("package", "package-lock.json", "npm:react@18.3.1,19.0.1")
    ]
    from indelible.gate.anchors.capturing import capture

    both = capture("package:npm:@babel/core", app.files(), str(app.top / "web"))
    assert [anchor.path for anchor in both] == ["package-lock.json", "web/yarn.lock"]
    assert check((*anchors, *both), app.files()) == ()
    app.write("package-lock.json", NPM3.replace("19.0.1", "19.1.0"))
    (reason,) = check((*anchors, *both), app.files())
    assert reason.slug == "anchor-changed"
    assert "19.1.0" in reason.message
    app.write("package-lock.json", "{}")
    app.write("web/yarn.lock", b"\xff")
    assert [reason.slug for reason in check((*anchors, both[1]), app.files())] == ["anchor-missing", "anchor-unknown"]


def test_the_selected_version_counts_before_the_checksums_of_older_ones(app: Checkout) -> None:
    app.write("go.mod", GO_MOD)
    app.write("go.sum", GO_SUM)
    assert app.anchor("package:golang.org/x/mod").value == "go:golang.org/x/mod@v0.22.0"


def test_a_name_is_compared_as_its_registry_does(app: Checkout) -> None:
    app.write("requirements.txt", REQUIREMENTS)
    anchor = app.anchor("package:FLASK_login")
    assert anchor.value == "pypi:flask-login@0.6.3"
    app.write("requirements.txt", "flask-login==0.6.3\n")
    assert check((anchor,), app.files()) == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [("package:nowhere", "yarn.lock"), ("package:cargo:react", "none here"), ("package:", "yarn.lock")],
)
def test_an_unknown_package_is_named_with_where_it_was_looked_for(app: Checkout, text: str, words: str) -> None:
    app.write("yarn.lock", YARN2)
    with pytest.raises(UsageError, match=words):
        app.capture(text)


def test_a_lock_file_that_cannot_be_read_is_said(app: Checkout) -> None:
    app.write("package-lock.json", "{")
    with pytest.raises(UsageError, match="cannot be read as the lock file"):
        app.capture("package:react")
