"""What the package promises to importers: `__all__` is sorted and true, and asking for nothing costs nothing."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import indelible

SRC = Path(indelible.__file__).parent
INITS = sorted(SRC.rglob("__init__.py"))


def named(path: Path) -> str:
    """The import name of a source file of the package."""
    parts = path.relative_to(SRC.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def declared(path: Path) -> list[str] | None:
    """The names in a module's `__all__`, read without importing it; None where it has none."""
    for statement in ast.parse(path.read_bytes()).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
            return list(ast.literal_eval(statement.value))
    return None


def isort_order(name: str) -> tuple[int, str]:
    """CONSTANTS, then Classes, then functions: the order that ruff's RUF022 asks for."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2
    return kind, name


PUBLIC = [path for path in sorted(SRC.rglob("*.py")) if declared(path) is not None]


@pytest.mark.parametrize("path", PUBLIC, ids=named)
def test_all_is_sorted_and_has_no_duplicates(path: Path) -> None:
    names = declared(path)
    assert names == sorted(set(names or ()), key=isort_order)


@pytest.mark.parametrize("path", PUBLIC, ids=named)
def test_every_name_in_all_is_there(path: Path) -> None:
    module = importlib.import_module(named(path))
    missing = [name for name in declared(path) or () if not hasattr(module, name)]
    assert missing == []


def test_every_error_class_is_handed_on_at_the_top() -> None:
    errors = importlib.import_module("indelible.errors")
    classes = {name for name, value in vars(errors).items() if isinstance(value, type)}
    assert classes - {"annotations"} == set(indelible.__all__) - {
        "Memory",
        "StateDirectory",
        "__version__",
        "open_memory",
        "open_reviewer",
        "open_state",
        "similarity",
    }


def test_dir_lists_what_all_promises() -> None:
    assert dir(indelible) == sorted(indelible.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = indelible.no_such_name


@pytest.mark.parametrize("path", INITS, ids=named)
def test_an_init_only_hands_names_on(path: Path) -> None:
    statements = ast.parse(path.read_bytes()).body
    made = [one.name for one in statements if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]
    assert [name for name in made if name not in ("__getattr__", "__dir__")] == []


def test_importing_the_package_imports_nothing_else_of_it_or_of_others() -> None:
    code = "import sys; before = set(sys.modules); import indelible; print(*sorted(set(sys.modules) - before))"
    env = {**os.environ, "PYTHONPATH": str(SRC.parent)}
    ended = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert set(ended.stdout.split()) <= {"__future__", "indelible"}


def test_the_version_is_the_one_that_is_installed() -> None:
    metadata = pytest.importorskip("importlib.metadata")
    try:
        assert metadata.version("indelible") == indelible.__version__
    except metadata.PackageNotFoundError:
        pytest.skip("not installed: run from the source tree")
