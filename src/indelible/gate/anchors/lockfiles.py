"""Which version of a package a lock file holds, for the lock files that people have.

Each reader takes the file's text and gives the versions by name. A name is compared as its registry compares it.
"""

from __future__ import annotations

import json
import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, NamedTuple

from indelible.gate.anchors.locating import UNKNOWN, Doubt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


class Lock(NamedTuple):
    """One kind of lock file."""

    pattern: str
    ecosystem: str
    read: Callable[[str], Iterator[tuple[str, str]]]


def versions_in(file: str, content: bytes) -> Mapping[str, tuple[str, ...]]:
    """The versions of each package in a lock file, by its normalised name.

    Raises:
        Doubt: it is no lock file that is known, or cannot be read.
    """
    lock = kind_of(file)
    if lock is None:
        raise Doubt(UNKNOWN, "is no lock file that is known")
    found: dict[str, set[str]] = {}
    try:
        for name, version in lock.read(content.decode("utf-8-sig")):
            found.setdefault(normal(name, lock.ecosystem), set()).add(_text(version))
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        raise Doubt(UNKNOWN, "cannot be read as the lock file that its name says") from None
    return {name: tuple(sorted(versions)) for name, versions in found.items()}


def _text(version: object) -> str:
    if not isinstance(version, str):
        raise TypeError
    return version


def kind_of(file: str) -> Lock | None:
    """Which kind of lock file a file is, by its name."""
    return next((lock for lock in LOCKS if fnmatchcase(file, lock.pattern)), None)


def normal(name: str, ecosystem: str) -> str:
    """A package's name as its registry compares it."""
    if ecosystem == "pypi":
        return re.sub(r"[-_.]+", "-", name).lower()  # PEP 503
    return name.lower() if ecosystem == "composer" else name


def _npm(text: str) -> Iterator[tuple[str, str]]:
    document = json.loads(text)
    for path, about in document.get("packages", {}).items():
        if path and "version" in about and not about.get("link"):
            _, installed, name = path.rpartition("node_modules/")
            yield name if installed else about.get("name", path), about["version"]
    if "packages" not in document:
        yield from _npm_tree(document.get("dependencies", {}))


def _npm_tree(dependencies: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, about in dependencies.items():
        yield name, about["version"]
        yield from _npm_tree(about.get("dependencies", {}))


_YARN_VERSION = re.compile(r'  version:? "?([^"\s]+)"?')


def _yarn(text: str) -> Iterator[tuple[str, str]]:
    """Classic (`version "1.2.3"`) and berry (`version: 1.2.3`)."""
    name = ""
    for line in text.splitlines():
        if line and line[0] not in " #" and line.endswith(":"):
            first = line.rstrip(":").split(",")[0].strip('"')
            at = first.find("@", 1)
            name = first[:at] if at > 0 else ""
        elif name and (found := _YARN_VERSION.fullmatch(line)):
            yield name, found[1]
            name = ""


_PNPM_OLD = re.compile(r"/((?:@[^/]+/)?[^/]+)/([^_/(]+)")
_PNPM_NEW = re.compile(r"/?(@?[^@(]+)@([^(_]+)")


def _pnpm(text: str) -> Iterator[tuple[str, str]]:
    """The keys under `packages:`; `/name/1.2.3` up to format 5, `name@1.2.3(peer@1)` from 6 on."""
    key, inside = _PNPM_NEW, False
    for line in text.splitlines():
        if line.startswith("lockfileVersion:") and line.partition(":")[2].strip(" '\"").startswith("5"):
            key = _PNPM_OLD
        if line and not line.startswith((" ", "#")):
            inside = line.rstrip() == "packages:"
        elif inside and line.startswith("  ") and not line.startswith("   ") and line.rstrip().endswith(":"):
            found = key.match(line.strip().removesuffix(":").strip("'\""))
            if found:
                yield found[1], found[2]


def _toml_packages(text: str) -> Iterator[tuple[str, str]]:
    """poetry.lock, uv.lock, pdm.lock, Cargo.lock: `[[package]]`; pylock.toml (PEP 751): `[[packages]]`."""
    import tomllib

    document = tomllib.loads(text)
    for package in document.get("package", document.get("packages", [])):
        if "version" in package:  # a project that is worked on may have none
            yield package["name"], package["version"]


def _pipfile(text: str) -> Iterator[tuple[str, str]]:
    document = json.loads(text)
    for section in ("default", "develop"):
        for name, about in document.get(section, {}).items():
            if "version" in about:
                yield name, about["version"].removeprefix("==")


_PIN = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*={2,3}\s*([^\s;,#\\*]+)\s*(?:[;#\\].*|--.*)?")


def _requirements(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        if found := _PIN.fullmatch(line):
            yield found[1], found[2]


_GO_REQUIRE = re.compile(r"\s*(?:require\s+)?([^\s/]+\.[^\s]*|[^\s]+/[^\s]+)\s+(v[^\s]+)\s*(?://.*)?")


def _go_mod(text: str) -> Iterator[tuple[str, str]]:
    block = ""
    for line in text.splitlines():
        words = line.split()
        if words[1:2] == ["("]:
            block = words[0]
        elif words[:1] == [")"]:
            block = ""
        elif (block == "require" or words[:1] == ["require"]) and (found := _GO_REQUIRE.fullmatch(line)):
            yield found[1], found[2]


def _go_sum(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        words = line.split()
        if len(words) == 3 and not words[1].endswith("/go.mod"):
            yield words[0], words[1]


_GEM = re.compile(r"    ([^\s(]+) \(([^)]+)\)")


def _gemfile(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        if found := _GEM.fullmatch(line):
            yield found[1], found[2]


def _composer(text: str) -> Iterator[tuple[str, str]]:
    document = json.loads(text)
    for package in (*document.get("packages", []), *document.get("packages-dev", [])):
        yield package["name"], package["version"]


LOCKS = (
    Lock("package-lock.json", "npm", _npm),
    Lock("npm-shrinkwrap.json", "npm", _npm),
    Lock("yarn.lock", "npm", _yarn),
    Lock("pnpm-lock.yaml", "npm", _pnpm),
    Lock("poetry.lock", "pypi", _toml_packages),
    Lock("uv.lock", "pypi", _toml_packages),
    Lock("pdm.lock", "pypi", _toml_packages),
    Lock("pylock*.toml", "pypi", _toml_packages),
    Lock("Pipfile.lock", "pypi", _pipfile),
    Lock("requirements*.txt", "pypi", _requirements),
    Lock("Cargo.lock", "cargo", _toml_packages),
    Lock("go.mod", "go", _go_mod),
    Lock("go.sum", "go", _go_sum),
    Lock("Gemfile.lock", "gem", _gemfile),
    Lock("composer.lock", "composer", _composer),
)
"""In the order in which they are looked at."""
