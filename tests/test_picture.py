"""The picture of a terminal shows what its commands print today."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from tests.conftest import indelible_command

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "picture.svg"


def test_the_picture_shows_what_its_commands_print(home: Path) -> None:
    if Path(indelible_command()[0]).parent != Path(sys.executable).parent:
        pytest.skip("the command is not installed beside this Python")
    done = subprocess.run(
        [sys.executable, str(ROOT / "demo" / "picture.py"), "--check"], capture_output=True, check=False, timeout=120, cwd=home
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()


def test_the_picture_fetches_nothing_and_tells_no_path_of_a_machine() -> None:
    text = PICTURE.read_text(encoding="utf-8")
    ET.fromstring(text)
    assert "url(" not in text.replace("url(#", "")
    assert not any(word in text for word in ("/tmp/", "/root", "/work", "href"))


def test_the_picture_can_be_read_aloud() -> None:
    text = PICTURE.read_text(encoding="utf-8")
    assert "<title>indelible</title>" in text
    assert "$ indelible init --host claude-code" in text
