"""The drawing, kept by machine: floors, sizes, who may catch everything, and what the hot path may import."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.boot.conftest import Desk, bare, desk
from tests.conftest import loaded_by

import indelible

__all__ = ["bare", "desk"]

SRC = Path(indelible.__file__).parent
ROOT = Path(__file__).resolve().parents[1]
MODULES = sorted(SRC.rglob("*.py"))

MODULE_LINES = 400
FUNCTION_LINES = 60
BROAD_CATCHES = 9
"""Single digits, in the whole package."""

DOORS = ("__main__.py", "cli/", "server/", "hosts/hook.py")
GUARDS = ("gate/policy.py",)
"""What fails closed: whatever breaks there, the memory is held."""
"""Where a process or a request ends, and whatever is left must be turned into an answer."""

HOT = (
    "__main__.py", "boot/__init__.py", "boot/fitting.py", "boot/named.py", "boot/proposing.py", "boot/source.py", "boot/waking.py",
    "cli/briefly.py", "cli/fast.py", "cli/glancing.py", "entry.py", "errors.py", "hosts/claude_code.py", "hosts/gating.py", "hosts/hook.py",
    "hosts/informing.py", "memory/__init__.py", "memory/reading.py", "sealed.py",
    "seal/checkpoint.py", "seal/digest.py", "seal/merkle.py", "seal/note.py", "settings/__init__.py",
    "state/stamps.py", "store/follow.py", "store/follower.py", "store/sqlite.py", "store/store.py", "trust.py",
)  # fmt: skip
"""What `indelible verify` runs through; it may take four times as long to start as Python itself."""

COLD = {"argparse", "base64", "click", "cryptography", "dataclasses", "httpx", "importlib.metadata", "msgspec", "numpy", "pathlib",
        "platformdirs", "rich", "shutil", "starlette", "tempfile", "urllib.parse", "uuid"}  # fmt: skip
"""Imports that were measured at a sixth to five times the start of Python itself."""

LEAN = {
    "__future__", "_collections", "_functools", "_operator", "_sha2", "_sha256", "apsw", "collections", "collections.abc", "contextlib",
    "errno", "functools", "gc", "itertools", "keyword", "operator", "reprlib", "types",
}  # fmt: skip
"""All that is not ours on the ways that a waking agent waits for. Not there, among others: `typing` (0.3 x the start of Python
itself), `hashlib` (0.3 x, for OpenSSL), `re` (0.5 x), `json`; `indelible.light` stands for the first two."""
OURS = {"boot": 56, "verify MEMORY.md": 41}
"""How many modules of our own each of them may load: an empty one costs a hundredth of that start, a named tuple half of one."""


def relative(path: Path) -> str:
    return path.relative_to(SRC).as_posix()


def hot_modules() -> list[Path]:
    return [SRC / name for name in HOT if (SRC / name).exists()]


def python(code: str) -> str:
    """What a fresh interpreter prints."""
    env = {**os.environ, "PYTHONPATH": str(SRC.parent), "NO_COLOR": "1"}
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def broad_catches(path: Path) -> list[ast.ExceptHandler]:
    """Handlers that end everything: `except Exception` and broader, but for those that tidy up and raise it again."""
    found = []
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ExceptHandler) and not isinstance(node.body[-1], ast.Raise):
            kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            if any(kind is None or ast.unparse(kind) in ("Exception", "BaseException") for kind in kinds):
                found.append(node)
    return found


def test_imports_go_down_only() -> None:
    """The layers are written down in pyproject.toml; a needed upward import is a misplaced function."""
    python("import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))")


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_a_module_fits_an_afternoon(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MODULE_LINES


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_a_function_fits_a_screen(path: Path) -> None:
    functions = [
        node
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    sizes = {node.name: (node.end_lineno or node.lineno) - node.lineno + 1 for node in functions}
    assert {name: size for name, size in sizes.items() if size > FUNCTION_LINES} == {}


@pytest.mark.parametrize("path", [path for path in MODULES if path.read_bytes().strip()], ids=relative)
def test_a_module_opens_with_its_contract(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_bytes()))


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_everything_is_caught_only_at_a_door_and_with_the_reason(path: Path) -> None:
    caught = broad_catches(path)
    lines = path.read_text(encoding="utf-8").splitlines()
    if not relative(path).startswith((*DOORS, *GUARDS)):
        assert [handler.lineno for handler in caught] == [], "catch the narrowest thing, where something can be done"
    assert [handler.lineno for handler in caught if "#" not in lines[handler.lineno - 1]] == [], "say what follows"


def test_broad_catches_are_few() -> None:
    assert sum(len(broad_catches(path)) for path in MODULES) <= BROAD_CATCHES


@pytest.mark.parametrize("path", hot_modules(), ids=relative)
def test_the_hot_path_loads_nothing_heavy(path: Path) -> None:
    """Import these in the function that needs them: each costs a hook more than the hook's own work."""
    module = "indelible." + relative(path).removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    # A site hook or an editable install may have loaded some of them before us: those are not ours.
    code = f"import sys; before = set(sys.modules); import {module}; print(*set(sys.modules) - before)"
    assert sorted(COLD & set(python(code).split())) == []


@pytest.mark.parametrize("words", OURS)
def test_what_a_waking_agent_waits_for_loads_little(words: str, desk: Desk) -> None:
    """The real commands: a boot of a full state directory, and a verify, when nothing is new."""
    with desk.memory() as memory:
        memory.save("MEMORY.md", b"the release branch is cut on Thursday\n")
    loaded_by("boot")  # the first one reads how the slots came there
    loaded = loaded_by(*words.split())
    ours = {name for name in loaded if name.partition(".")[0] == "indelible"}
    assert sorted(loaded - ours - LEAN) == []
    assert len(ours) <= OURS[words], sorted(ours)


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_only_settings_and_doors_read_the_environment(path: Path) -> None:
    """`now`, keys and environment come as arguments; `settings` is where they come from."""
    if relative(path).startswith(("settings", *DOORS)):
        return
    reads = re.findall(r"\bos\.(?:environ|getenv)\b", path.read_text(encoding="utf-8"))
    assert reads == []


def project_texts() -> list[Path]:
    """The files that a reader of the project sees, without vectors, which are other people's."""
    tops = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "Makefile", "pyproject.toml")]
    trees = [path for top in ("src", "tests", "docs", "demo", "tools") for path in (ROOT / top).rglob("*")]
    wanted = (".py", ".md", ".toml", ".txt", ".json", ".sh", ".html", "")
    return [
        path
        for path in [*tops, *trees]
        if path.is_file() and path.suffix in wanted and "vectors" not in path.parts and "__pycache__" not in path.parts
    ]


def test_no_text_names_a_path_of_the_machine_it_was_written_on() -> None:
    foreign = re.compile(rb"(?<![\w.~$}/-])/" + rb"work/|\.\./" + rb"shared\b|/root/" + rb"\.|/tmp/" + rb"team\b")
    found = [path.relative_to(ROOT).as_posix() for path in project_texts() if foreign.search(path.read_bytes())]
    assert found == []
