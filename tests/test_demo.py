"""`make demo` is no canned text: it runs here too, with the installed command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.conftest import indelible_command

DEMO = Path(__file__).resolve().parent.parent / "demo" / "demo.py"


def test_the_demo_comes_out_as_it_says(home: Path) -> None:
    command = Path(indelible_command()[0])
    if command.parent != Path(sys.executable).parent:
        pytest.skip("the command is not installed beside this Python")
    done = subprocess.run([sys.executable, str(DEMO)], capture_output=True, check=False, timeout=120, cwd=home)
    said = done.stdout.decode()
    assert done.returncode == 0, said + done.stderr.decode()
    for step in ("[exit 2]", "altered-content", "at commit", '"status":"saved"', "server-attested", "Done"):
        assert step in said
