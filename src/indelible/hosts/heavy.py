"""What would fill an agent's context, or take it long: whole test suites, searches of everything, long builds. By a command's text.

A part of it is not heavy: one test file, a search in a folder, a pattern that only counts.
"""

from __future__ import annotations

import os

from indelible.hosts.commands import DEEPEST, SHELLS, Line, name_in, own_words
from indelible.hosts.prefixes import bare, forked, name_of
from indelible.hosts.searching import FINDERS, SEARCHERS, searches
from indelible.hosts.words import spoken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from indelible.hosts.expanding import Command
    from indelible.hosts.words import Word

SUITE, SEARCH, BUILD = "a whole test suite", "a search of everything", "a long build"
_SUITES = frozenset(
    (
        "pytest",
        "py.test",
        "tox",
        "nox",
        "jest",
        "vitest",
        "mocha",
        "rspec",
        "phpunit",
        "ctest",
        "ava",
        "karma",
        "mutmut",
    )
)
_SUITE_WORDS = {
    "cargo": ("test", "t", "bench", "nextest"), "flutter": ("test",), "dart": ("test",), "deno": ("test",), "bun": ("test",), "swift": ("test",),
    "mix": ("test",), "npm": ("test", "t"), "pnpm": ("test", "t"), "yarn": ("test",), "mvn": ("test", "verify"), "mvnw": ("test", "verify"),
    "gradle": ("test", "check"), "gradlew": ("test", "check"), "dotnet": ("test",), "bazel": ("test",), "rails": ("test",), "rake": ("test", "spec"),
    "sbt": ("test",), "stack": ("test",), "cabal": ("test",), "zig": ("test",), "playwright": ("test",), "cypress": ("run",), "ng": ("test",),
    "make": ("test", "tests", "check"), "just": ("test",), "task": ("test",), "django-admin": ("test",),
}  # fmt: skip
_BUILD_WORDS = {
    "docker": ("build", "buildx"), "podman": ("build",), "flutter": ("build",), "mvn": ("package", "install", "deploy"),
    "mvnw": ("package", "install"), "gradle": ("build", "assemble"), "gradlew": ("build", "assemble"), "dotnet": ("publish",), "bazel": ("build",),
    "swift": ("build",), "xcodebuild": ("build", "archive"), "nix": ("build",), "stack": ("build",), "cabal": ("build",),
    "make": ("all", "world", "dist", "build", "release"), "npm": ("build",), "pnpm": ("build",), "yarn": ("build",), "next": ("build",),
    "vite": ("build",), "ng": ("build",), "docker-compose": ("build",), "meson": ("compile",), "sbt": ("compile", "assembly"),
}  # fmt: skip
_ALWAYS_BUILDS = frozenset(("nix-build", "ninja", "msbuild", "webpack"))
_PARTLY = ("-k", "-t", "--grep", "-g", "-run", "--run", "--filter", "--tests", "-R", "-L", "-p", "--package", "--test", "--lib", "--lf", "--last-failed",
           "--version", "-V", "--help", "-h", "--collect-only", "--co", "-n", "--list", "--dry-run", "-e", "-s", "--testNamePattern", "--fixtures",
           "--test_filter", "--only", "-Dtest", "--no-run", "--example", "--bin", "--project", "--scale-down")  # fmt: skip
_WHOLE = frozenset(
    (".", "./", "tests", "tests/", "test", "test/", "./tests", "./test", "spec", "spec/", "./...", "//...", "/...", "*")
)
_TAKES = frozenset(
    ("-n", "-c", "-m", "-o", "-W", "-r", "--maxfail", "--tb", "--durations", "--ignore", "--deselect", "--junitxml", "--rootdir", "--basetemp",
     "--color", "-j", "--jobs", "--manifest-path", "--features", "--target", "--config", "--reporter", "--coverage", "-C", "--dir", "--prefix",
     "--workspace", "-f", "--file", "--cov", "-x", "-d", "--device", "--concurrency", "-P", "--parallel", "--timeout", "-w")
)  # fmt: skip
"""Options of test programs that may have a value behind them."""
_NOT_TAKING = frozenset(("-x", "--cov", "--coverage"))
_ALONE = 2
_MOST_BEFORE = 64
"""Words that may stand before `indelible fork`."""
_MOST_SAID = 4_000
"""Characters of a command that are held against patterns."""


def heavy(line: Line, place: str, home: str, patterns: tuple[str, ...]) -> str:
    """What heavy work a line would do, in words; empty where none.

    Args:
        place: top of the checkout.
        patterns: of more commands that are heavy, as a shell's.
    """
    for command in line.commands:
        short = bare(command)
        if not short.words or own_words(short) or _is_forked(command):
            continue
        if found := _heavy(line, command, short, place, home, patterns):
            return f"{found} ({' '.join(word.text for word in short.words[:3])[:60]})"
        if name_in(short) in SHELLS and line.depth < DEEPEST:
            for one in line.lines(short):
                if found := heavy(one, place, home, patterns):
                    return found
    return ""


def files_read(line: Line) -> Iterator[str]:
    """Paths, or patterns of paths, that plainly reading commands of a line print."""
    for command in line.commands:
        short = bare(command)
        if short.words and name_in(short) in _PRINTERS:
            for word in short.words[1:]:
                if word.text[:1] != "-" and word.is_known:
                    yield os.path.join(spoken(short.cwd), spoken(word.pattern))


_PRINTERS = frozenset(
    (
        "cat",
        "head",
        "tail",
        "less",
        "more",
        "bat",
        "nl",
        "sed",
        "awk",
        "tac",
        "od",
        "xxd",
        "strings",
        "zcat",
        "mdcat",
        "glow",
    )
)


def _heavy(line: Line, command: Command, short: Command, place: str, home: str, patterns: tuple[str, ...]) -> str:
    from fnmatch import fnmatchcase

    name = name_of(short).rpartition("/")[2]
    words = _run_by(name, short.words)
    name, texts = words[0].text.rpartition("/")[2], [word.text for word in words[1:]]
    said = " ".join((name, *texts[:_MOST_SAID]))[:_MOST_SAID]
    if any(fnmatchcase(said, pattern) or fnmatchcase(said, f"{pattern} *") for pattern in patterns):
        return "work that the workflow calls heavy"
    if name in _SUITES or _has_word(_SUITE_WORDS, name, texts):
        return SUITE if _is_whole(name, texts) else ""
    if name == "go" and texts[:1] in (["test"], ["build"], ["vet"]) and any(text.endswith("/...") for text in texts):
        return (
            "" if any(text.startswith(("-run", "-list")) for text in texts) else SUITE if texts[0] == "test" else BUILD
        )
    if name in _ALWAYS_BUILDS or _builds(name, texts):
        return "" if any(one in texts for one in ("--help", "--version", "-n", "--dry-run", "-h")) else BUILD
    if name in SEARCHERS or name in FINDERS:
        return SEARCH if searches(line, command, name, words, place, home) else ""
    return ""


def _is_forked(command: Command) -> bool:
    """Whether it is run by a fork of ours, which keeps its output and gives fifteen lines."""
    at = next(
        (
            at
            for at, word in enumerate(command.words[:_MOST_BEFORE])
            if word.text.rpartition("/")[2] in ("indelible", "-m")
        ),
        -1,
    )
    if at < 0:
        return False
    starts = (at, at - 1) if command.words[at].text == "-m" else (at,)
    return any(forked(command._replace(words=command.words[start:])) is not None for start in starts if start >= 0)


def _run_by(name: str, words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The words of the program that another one runs: `python -m pytest`, `npx jest`, `bundle exec rspec`, `npm run test`."""
    texts = [word.text for word in words]
    if name.startswith(("python", "pypy", "py")) and "-m" in texts and texts.index("-m") + 1 < len(texts):
        inner = words[texts.index("-m") + 1 :]
        return (inner[0]._replace(text="pytest"), *inner[1:]) if inner[0].text == "unittest" else inner
    if name in ("npx", "bunx", "pnpx", "uvx", "dotenv") and len(words) > 1:
        return next((words[at:] for at in range(1, len(words)) if texts[at][:1] != "-"), words)
    if texts[1:2] == ["exec"] and len(words) > _ALONE:
        return words[2:]
    if name in ("npm", "pnpm", "yarn", "bun") and texts[1:2] in (["run"], ["run-script"]) and len(words) > _ALONE:
        return (words[0], *words[2:])
    if name in ("docker", "podman") and texts[1:2] == ["compose"] and len(words) > _ALONE:
        return (words[0], *words[2:])
    return words


def _has_word(table: dict[str, tuple[str, ...]], name: str, texts: list[str]) -> bool:
    plainly = [text for text in texts if text[:1] != "-"]
    wanted = table.get(name, ())
    first = plainly[:1] if name not in ("make", "mvn", "mvnw", "gradle", "gradlew", "rake") else plainly
    return any(text in wanted or text.rpartition(":")[2] in wanted for text in first)


def _is_whole(name: str, texts: list[str]) -> bool:
    """Whether nothing in the words makes a part of it."""
    skipped = 0 if name in _SUITES else 1
    for index, text in enumerate(texts):
        before = texts[index - 1] if index else ""
        if text.partition("=")[0] in _PARTLY and not (
            name in ("pytest", "py.test", "make") and text in ("-n", "-p", "-s", "-e", "-R", "-L")
        ):
            return False
        if text[:1] == "-" or (before in _TAKES and before not in _NOT_TAKING and "=" not in before):
            continue
        if text == "run":  # vitest, cargo nextest
            continue
        if skipped:
            skipped -= 1
        elif text not in _WHOLE and name not in (
            "tox",
            "nox",
            "make",
            "mvn",
            "mvnw",
            "gradle",
            "gradlew",
            "just",
            "task",
        ):
            return False
    return True


def _builds(name: str, texts: list[str]) -> bool:
    plainly = [text for text in texts if text[:1] != "-" and "=" not in text]
    if name == "make":
        return not plainly or _has_word(_BUILD_WORDS, name, texts)
    if name == "cargo":
        return plainly[:1] in (["build"], ["b"], ["install"]) and (
            "--release" in texts or "-r" in texts or plainly[0] == "install"
        )
    if name == "cmake":
        return "--build" in texts
    return _has_word(_BUILD_WORDS, name, texts)
