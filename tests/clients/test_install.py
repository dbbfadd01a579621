"""How the clients are brought, and what is said where they cannot be: one line for each, and no failure."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.clients.drivers.table import DRIVERS
from tests.clients.install import why_not

ROOT = Path(__file__).parents[2]
PYTHON_ALONE = os.path.dirname(sys.executable)


def install(clients: Path, *names: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.clients.install", *names],
        cwd=ROOT, env={**os.environ, "CLIENTS": str(clients), **variables}, check=False, capture_output=True, text=True,
    )  # fmt: skip


def test_without_npm_each_client_is_named_with_the_reason_and_nothing_fails(tmp_path: Path) -> None:
    done = install(tmp_path, PATH=PYTHON_ALONE)
    assert done.returncode == 0
    assert done.stdout == f"{tmp_path}\n"
    lines = done.stderr.splitlines()
    assert len(lines) == len(DRIVERS)
    assert all("npm is not on the PATH" in line for line in lines)


def test_a_registry_that_cannot_be_reached_is_tried_once_and_told_for_each_client(tmp_path: Path) -> None:
    if not shutil.which("npm"):
        pytest.skip("npm is not on the PATH")
    done = install(tmp_path, npm_config_registry="http://127.0.0.1:9/", npm_config_cache=str(tmp_path / "cache"))
    assert done.returncode == 0
    assert done.stderr.count("installing") == 1
    skipped = [line for line in done.stderr.splitlines() if "skipped" in line]
    assert [line.split(": ")[2] for line in skipped] == [driver.host for driver in DRIVERS]
    assert all("the npm registry cannot be reached" in line for line in skipped)
    assert all("cannot be reached" in why_not(tmp_path, driver) for driver in DRIVERS)


def test_the_size_is_said_before_anything_is_fetched(tmp_path: Path) -> None:
    if not shutil.which("npm"):
        pytest.skip("npm is not on the PATH")
    done = install(
        tmp_path, "gemini", npm_config_registry="http://127.0.0.1:9/", npm_config_cache=str(tmp_path / "cache")
    )
    assert done.stderr.splitlines()[0] == (
        f"hosts: 1 client, about 100 MB, go to {tmp_path} (once; CLIENTS=… chooses another folder)"
    )


def test_a_client_that_nobody_knows_is_a_usage_error(tmp_path: Path) -> None:
    done = install(tmp_path, "emacs")
    assert done.returncode == 64
    assert "there are claude-code, codex" in done.stderr
    assert not list(tmp_path.iterdir())
