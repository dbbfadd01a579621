"""README and docs say what is so: every verb, option, slug, code, setting and link is held against the code, and every session is run."""

from __future__ import annotations

import ast
import importlib
import os
import pkgutil
import re
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest
from tests.conftest import environment

import indelible
from indelible.audit import SLUGS
from indelible.audit.findings import UNCHECKED
from indelible.cli.main import cli
from indelible.errors import IndelibleError
from indelible.settings import repository

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

ROOT = Path(__file__).resolve().parents[1]
SRC = Path(indelible.__file__).parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
SETTINGS = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
ERRORS = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
PAGES = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
MANUAL = [page for page in PAGES if "adr" not in page.parts]
"""What tells how it is used; a decision record may name what was not chosen."""
MEMORY = "# MEMORY\n\n- Rule: never push without approval\n"
SHELL = shutil.which("bash")
needs_shell = pytest.mark.skipif(SHELL is None or os.name == "nt", reason="the sessions are written for bash")


def page_name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


# The command line.


def verbs() -> dict[tuple[str, ...], click.Command]:
    """Every command by its words: `("save",)`, `("key", "create")`."""
    found: dict[tuple[str, ...], click.Command] = {}
    context = click.Context(cli)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        found[name,] = command
        if isinstance(command, click.Group):
            found |= {(name, inner): made for inner, made in command.commands.items()}
    return found


VERBS = verbs()
GLOBAL = {option for one in cli.params for option in (*one.opts, *one.secondary_opts)} | {"-h", "--help"}


def options_of(command: click.Command) -> set[str]:
    return GLOBAL | {
        option for one in command.params if isinstance(one, click.Option) for option in (*one.opts, *one.secondary_opts)
    }


ALL_OPTIONS = set().union(*map(options_of, VERBS.values()))


def code_of(text: str) -> Iterator[str]:
    """Every code span and every line of code on a page, comments taken off."""
    fenced = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
    for block in fenced.findall(text):
        if block.startswith("```python"):
            continue
        yield from (line.removeprefix("$ ").partition("  #")[0] for line in block.splitlines()[1:-1])
    rest = fenced.sub("", text)
    yield from (line.partition("  #")[0].strip() for line in rest.splitlines() if line.startswith("    "))
    yield from (
        span for line in rest.splitlines() if not line.startswith("    ") for span in re.findall(r"`([^`]+)`", line)
    )


def calls_of(text: str) -> Iterator[list[str]]:
    """The words of every call of `indelible` on a page, and of every code span that begins with a verb and has an option."""
    for code in code_of(text):
        for found in re.finditer(r"(?:^|(?<=[\s('\"$]))indelible (?![=+])([^|;&)<>'#]*)", code):
            yield found[1].split()
        words = code.split()
        if words and (words[0],) in VERBS and any(word.startswith("-") for word in words):
            yield words


def split_call(words: list[str]) -> tuple[tuple[str, ...], list[str]]:
    """The verb of a call and the options in it."""
    words = words[: words.index("--")] if "--" in words else words  # what is behind it is another program's
    left, options = list(words), [word.partition("=")[0].rstrip(".,:") for word in words if re.match(r"--?[a-z]", word)]
    while left and left[0].startswith("-"):
        left = left[2:] if left[0] in ("--agent", "--store") else left[1:]
    verb = tuple(word.rstrip(".,:") for word in left[:2])
    return (verb if verb in VERBS else verb[:1]), options


@pytest.mark.parametrize("page", MANUAL, ids=page_name)
def test_every_verb_and_option_on_a_page_exists(page: Path) -> None:
    wrong = []
    for words in calls_of(page.read_text(encoding="utf-8")):
        verb, options = split_call(words)
        if not verb or verb[0].isupper() or verb[0].startswith("<"):  # `indelible --version`, `indelible VERB --help`
            wrong += [words for option in options if option not in GLOBAL]
        elif verb not in VERBS or not set(options) <= options_of(VERBS[verb]):
            wrong.append(words)
    assert wrong == []


@pytest.mark.parametrize("page", MANUAL, ids=page_name)
def test_every_option_that_stands_alone_exists(page: Path) -> None:
    alone = {
        word for span in code_of(page.read_text(encoding="utf-8")) for word in span.split()[:1] if word.startswith("--")
    }
    assert {option.partition("=")[0] for option in alone} - ALL_OPTIONS == set()


@pytest.mark.parametrize("verb", [words for words, made in VERBS.items() if not made.hidden], ids=" ".join)
def test_every_verb_is_in_the_readme(verb: tuple[str, ...]) -> None:
    rows = [line for line in README.splitlines() if line.startswith("| `")]
    spans = [re.findall(r"`([^`]+)`", row) for row in rows]
    if len(verb) == 1:
        assert any(span.split()[0] == verb[0] for row in spans for span in row)
    else:
        assert any(row[0].split()[0] == verb[0] and any(verb[1] in span.split() for span in row) for row in spans)


# Errors, findings, codes.


def table(text: str, *header: str) -> list[list[str]]:
    """The cells of every table with that header, without code marks."""
    rows: list[list[str]] = []
    for block in re.findall(r"^(?:\|.*\n)+", text, re.MULTILINE):
        cells = [
            [cell.strip().replace("`", "") for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])]
            for line in block.splitlines()
        ]
        if cells[0][: len(header)] == list(header):
            rows += cells[2:]
    return rows


def every_error() -> dict[str, tuple[str, str]]:
    """Slug to exit code and HTTP status, of every error class in the package."""
    for module in pkgutil.walk_packages(indelible.__path__, "indelible."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    waiting, found = [IndelibleError], {}
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        if kind.__module__.startswith("indelible."):
            found[kind.slug] = (str(kind.exit_code), str(kind.http_status))
    return found


def assigned_slugs() -> set[str]:
    """Slugs that are given to an error after it was made."""
    texts = (path.read_text(encoding="utf-8") for path in SRC.rglob("*.py"))
    return {slug for text in texts for slug in re.findall(r'\w\.slug = "([a-z-]+)"', text)}


def test_every_error_is_told_with_its_exit_code_and_status() -> None:
    told = {row[0]: (row[1], row[2]) for row in table(ERRORS, "slug", "exit", "HTTP")}
    more = dict.fromkeys(assigned_slugs(), ("2", "409"))
    assert told == every_error() | more


def test_every_finding_of_an_audit_is_told_with_its_severity() -> None:
    told = {row[0]: row[1] for row in table(ERRORS, "slug", "severity")}
    assert told == {slug: kind.severity for slug, kind in SLUGS.items()}
    unchecked = ERRORS.split("could not be checked, and")[1].split(". A *warning*")[0]
    assert set(re.findall(r"`([a-z-]+)`", unchecked)) == UNCHECKED


@pytest.mark.parametrize("text", [README, ERRORS], ids=["README.md", "docs/errors.md"])
def test_the_table_of_exit_codes_is_that_of_the_errors(text: str) -> None:
    told = [row[0] for row in table(text, "code", "meaning")]
    assert told == sorted({"0", *(code for code, _ in every_error().values())}, key=int)


def test_every_http_status_is_told() -> None:
    told = {int(status) for row in table(ERRORS, "status", "when") for status in row[0].split(", ")}
    assert told >= {int(status) for _, status in every_error().values()} | {200, 412}


def constants(node: ast.AST) -> set[str]:
    """The texts in an expression that can be its value: not those of a comparison."""
    if isinstance(node, ast.IfExp):
        return constants(node.body) | constants(node.orelse)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Dict):
        return set().union(*map(constants, node.value.values))
    return {node.value} if isinstance(node, ast.Constant) and isinstance(node.value, str) else set()


def outcome_slugs() -> set[str]:
    """What `--json` has as slug, as the verbs' own code writes it."""
    found: set[str] = set()
    for path in (SRC / "cli").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Dict):
                found |= {
                    slug
                    for key, value in zip(node.keys, node.values, strict=True)
                    if key and constants(key) == {"slug"}
                    for slug in constants(value)
                }
            if path.name == "changing.py" and isinstance(node, ast.Call) and ast.unparse(node.func) == "_say":
                found |= constants(node.args[2])
    return found


def plain_reasons() -> set[str]:
    """The reasons that a plain checksum's verdict can have."""
    nodes = [
        node
        for name in ("forms", "judging")
        for node in ast.walk(ast.parse((SRC / "plain" / f"{name}.py").read_bytes()))
    ]
    return {
        slug
        for node in nodes
        if isinstance(node, ast.keyword) and node.arg == "reason"
        for slug in constants(node.value)
    }


def test_every_outcome_is_told() -> None:
    told = {slug for row in table(ERRORS, "slug", "verb") for slug in row[0].split(", ")}
    assert outcome_slugs() - told == set()


def test_every_reason_of_a_plain_checksum_is_told() -> None:
    assert {row[0] for row in table(ERRORS, "slug", "exit", "state")} == plain_reasons()


def test_everything_that_the_doctor_looks_at_is_told() -> None:
    looked = set(re.findall(r'Finding\(\s*"([a-z-]+)"', (SRC / "examining.py").read_text(encoding="utf-8")))
    assert set(re.findall(r"`([a-z-]+)`", ERRORS.split("## Findings of `doctor`\n")[1].split(": each")[0])) == looked


def test_every_reason_and_note_of_the_gate_is_told_on_the_second_page() -> None:
    page = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")
    texts = [path.read_text(encoding="utf-8") for part in ("gate", "memory") for path in (SRC / part).rglob("*.py")]
    slugs = {slug for text in texts for slug in re.findall(r'Reason\(\s*"([a-z-]+)"', text)}
    slugs |= {slug for text in texts for slug in re.findall(r'_compare\([^)]*?"([a-z]+-?[a-z-]*)"', text)}
    assert len(slugs) > 30
    assert {slug for slug in slugs if f"`{slug}`" not in page} == set()


def test_every_condition_and_preset_is_told_on_the_second_page() -> None:
    presets = importlib.import_module("indelible.gate.presets")
    page = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")
    assert {name for name in (*presets.CONDITIONS, *presets.PRESETS) if f"`{name}`" not in page} == set()


# Settings and figures.


def test_the_table_of_settings_is_that_of_the_code() -> None:
    variables = {
        name for row in table(SETTINGS, "variable", "config.toml") for name in re.findall(r"\b[A-Z]+_[A-Z_]+\b", row[0])
    }
    members = {name for row in table(SETTINGS, "variable", "config.toml") for name in re.findall(r"[a-z_]+", row[1])}
    texts = [path.read_text(encoding="utf-8") for path in (SRC / "settings").glob("*.py")]
    read = {name for text in texts for name in re.findall(r"\b(?:INDELIBLE|MEMORY_API)_[A-Z_]+\b", text)}
    assert variables == read
    assert members == {*repository._TEXTS, *repository._FLAGS, *repository._TABLES, *repository._SECTIONS}


def test_the_limits_in_the_threat_model_are_those_of_the_server() -> None:
    service, serving = (
        importlib.import_module("indelible.server.service"),
        importlib.import_module("indelible.server.serving"),
    )
    text = " ".join((ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8").split())
    said = f"{service.CONTENT_LIMIT >> 20} MiB a memory (`--max-content`), bounded bodies, {service.PATIENCE:.0f} seconds for a body to come, {serving.CONNECTIONS} connections"
    assert said in text
    assert f"127.0.0.1:{serving.PORT}" in README


# The pages themselves.


def anchors(page: Path) -> set[str]:
    """The headings of a page, as links name them."""
    heads = re.findall(
        r"^#+ (.+)$",
        re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL),
        re.MULTILINE,
    )
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_every_link_within_the_project_leads_somewhere(page: Path) -> None:
    text = re.sub(r"`[^`]*`", "", page.read_text(encoding="utf-8"))
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = target.partition("#")
        if "://" in path or path.startswith("mailto:"):
            continue
        there = page if not path else (page.parent / path).resolve()
        if not there.exists() or (anchor and anchor not in anchors(there)):
            broken.append(target)
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_a_page_speaks_of_the_product_and_not_of_how_it_was_made(page: Path) -> None:
    banned = (
        "session " + "number",
        "work" + "place",
        "sub" + "-agent",
        "the " + "lead ",
        "TO" + "DO",
        "FIX" + "ME",
        "/" + "work/",
        "/tmp/" + "team",
        "../" + "shared",
    )
    text = page.read_text(encoding="utf-8")
    assert [word for word in banned if word.lower() in text.lower()] == []


def test_the_readme_stays_a_readme() -> None:
    lines = README.splitlines()
    assert len(lines) <= 250
    assert "## 한국어" in lines


def test_the_figures_in_the_readme_are_those_of_the_latest_full_run() -> None:
    inside = README.split("<!-- bench:start -->")[1].split("<!-- bench:end -->")[0].split("\n")
    run = (ROOT / "bench" / "README.md").read_text(encoding="utf-8").split("## The latest full run")[1]
    lines = {line.removeprefix("### ") for line in run.splitlines()}
    assert [line for line in inside if line.removesuffix(":") not in lines] == []
    assert any(line.startswith("| Indelible |") for line in inside)


# What is shown is run.


def blocks(language: str, page: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def steps(session: str) -> list[tuple[str, str]]:
    """Each command of a session with what it is said to print."""
    return [
        (step.partition("\n")[0], step.partition("\n")[2])
        for step in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]
    ]


def normal(text: str, here: Path) -> str:
    """Without what differs from run to run: keys, commits, the folder."""
    return re.sub(r"commit [0-9a-f]{12}", "commit COMMIT", steady(text, here))


def steady(text: str, here: Path) -> str:
    """Without keys, times and the folder."""
    text = text.replace(str(here), "/home/you/app")
    text = re.sub(r"\+[0-9a-f]{8}\+[A-Za-z0-9+/]{43,44}=?", "+KEY", text)
    return re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME", text)


@pytest.fixture
def app(home: Path) -> Path:
    """A repository with a MEMORY.md, and on the PATH what the README takes for granted."""
    here = home / "work"
    (here / "MEMORY.md").write_text(MEMORY, encoding="utf-8")
    shutil.copy(ROOT / "tests" / "vectors" / "seeds" / "memory_client.txt", here / "memory_client.py")
    for words in (
        ["init", "-q"],
        ["add", "MEMORY.md"],
        ["commit", "-qm", "memory"],
        ["remote", "add", "origin", "https://git.example.org/demo/app.git"],
    ):
        subprocess.run(["git", *words], cwd=here, check=True)
    make_tools(home / "bin")
    return here


def make_tools(folder: Path) -> None:
    """Programs that the sessions take for granted."""
    folder.mkdir()
    for name, command in (("sqlite3", "-m apsw"), ("python3", ""), ("indelible", "-m indelible")):
        (folder / name).write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {command} "$@"\n', encoding="utf-8")
        (folder / name).chmod(0o755)


def shell(app: Path, commands: Iterable[str], more: Mapping[str, str] | None = None) -> list[str]:
    """Run commands in one shell; what each of them printed."""
    mark = "=====next====="
    script = "\n".join(f"{command}\necho {mark}" for command in commands)
    path = f"{app.parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
    env = environment({"PATH": path, "LC_ALL": "C.UTF-8", "PYTHONUTF8": "1", **(more or {})})
    ended = subprocess.run([str(SHELL), "-c", f"trap 'kill $(jobs -p) 2>/dev/null' EXIT\n{script}"], cwd=app, env=env, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False)  # fmt: skip
    return ended.stdout.decode().split(f"{mark}\n")[:-1]


@needs_shell
def test_the_session_of_the_readme_comes_out_as_it_says(app: Path) -> None:
    told = steps(blocks("console")[0])
    printed = shell(app, [command for command, _ in told])
    assert [normal(text, app) for text in printed] == [normal(text, app) for _, text in told]


@needs_shell
def test_an_agent_wakes_up_as_the_readme_says(app: Path) -> None:
    told = steps(blocks("console")[1])
    printed = shell(app, [command for command, _ in told])
    assert [marked(normal(text, app)) for text in printed] == [text for _, text in told]


def marked(text: str) -> str:
    """Without the marks of a briefing."""
    return re.sub(r"(?<=\[)(indelible )?[0-9a-f]{16,32}(?= )", r"\1MARK", text)


@needs_shell
def test_a_change_holds_a_memory_and_a_review_brings_it_back_as_the_second_page_says(app: Path) -> None:
    (session,) = blocks("console", (ROOT / "docs" / "gate.md").read_text(encoding="utf-8"))
    told = steps(session)
    printed = shell(app, [command for command, _ in told])
    assert [normal(text, app) for text in printed] == [normal(text, app) for _, text in told]


@needs_shell
def test_the_older_client_works_as_the_readme_says(app: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    told = steps(
        blocks("console")[3].replace("indelible serve", f"indelible serve --port {port}").replace("8420", str(port))
    )
    ready = f"until python3 -c \"import socket; socket.create_connection(('127.0.0.1', {port}))\" 2>/dev/null; do sleep 0.1; done"
    printed = shell(app, [f"{command}\n{ready}" if command.endswith("&") else command for command, _ in told])
    assert printed == [text for _, text in told]


def test_the_library_example_prints_what_it_says(app: Path) -> None:
    (code,) = blocks("python")
    told = re.findall(r"print\(.*\)  # (.*)$", code, re.MULTILINE)
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=app, env=environment(), capture_output=True, text=True, check=True
    )
    assert ended.stdout.splitlines() == told


@needs_shell
def test_a_fresh_container_verifies_and_saves_with_the_key_and_pin_that_it_is_given(app: Path) -> None:
    given = app.parent / "given"
    begun = (
        "INDELIBLE_AGENT=eros indelible save MEMORY.md MEMORY.md",
        "INDELIBLE_AGENT=eros indelible checkpoint -o eros.pin",
    )
    keys = "mkdir ../given; mv eros.pin ../given; cp ../config/indelible/keys/indelible+local+eros.key ../given/eros.key; rm -r ../config ../state"
    shell(app, ["indelible --agent eros init", *begun, keys])
    lines = (
        (ROOT / "docs" / "containers.md")
        .read_text(encoding="utf-8")
        .split("    ", 1)[1]
        .split("\n\n")[0]
        .replace("    ", "")
        .replace("/run/secrets", str(given))
        .splitlines()
    )
    printed = "".join(shell(app, [*lines, "indelible save MEMORY.md MEMORY.md; echo exit $?"]))
    assert "verified" in printed
    assert "rollback not checked" not in printed
    assert printed.endswith("exit 0\n")


def test_the_table_of_hosts_is_that_of_the_code() -> None:
    """Every event that is answered stands under its purpose, and no other does."""
    from indelible.hosts import host
    from indelible.hosts.registry import HOSTS

    page = (ROOT / "docs" / "hosts.md").read_text(encoding="utf-8")
    columns = ((host.START,), (host.PROMPT,), (host.BEFORE_TOOL,), (host.AFTER_TOOL,), (host.BEFORE_COMPACTION,),
               (host.SUBAGENT_START, host.SUBAGENT_STOP))  # fmt: skip
    for row in table(page, "host", "version", "measured", "start", "prompt", "before a tool", "after a tool"):
        found = next(one for one in HOSTS if one.name == row[0])
        assert row[2] == ("yes" if found.proven else "no")
        for cell, purposes in zip(row[3:], columns, strict=True):
            answered = [one.name for one in found.hooked if one.purpose in purposes]
            # One event of Antigravity means a start or what follows a tool, by the number of the model call.
            told = [] if cell == "–" else cell.split(", ")
            assert told == answered or (found.name == "antigravity" and told == ["PreInvocation"])
