"""The seeds' own programs, unmodified, beside ours."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from indelible.plain.client import PlainClient
from indelible.plain.forms import check, embed, parse_embedded

if TYPE_CHECKING:
    from tests.plain.conftest import PlainServer

SEEDS = Path(__file__).resolve().parents[1] / "vectors" / "seeds"
API_KEY = "4mL_Qtest"
TEXT = "# 기억\r\n다음: 배포 🚀\u2028끝"


@pytest.fixture
def seed(server: PlainServer, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setenv("MEMORY_API_BASE", server.url)
    monkeypatch.setenv("MEMORY_API_KEY_EROS", API_KEY)
    names: dict[str, Any] = {}
    exec(compile((SEEDS / "memory_client.txt").read_text(encoding="utf-8"), "memory_client.py", "exec"), names)  # noqa: S102 - our own file
    return names


def test_what_the_seeds_client_saved_we_load_as_verified(server: PlainServer, seed: dict[str, Any]) -> None:
    assert seed["save"]("MEMORY.md", TEXT)["checksum_saved"]
    with PlainClient(server.url, "eros", API_KEY) as plain:
        loaded = plain.load("MEMORY.md")
    assert (loaded.checksum_ok, loaded.content) == (True, TEXT.encode())


def test_what_we_saved_the_seeds_client_loads_as_verified(server: PlainServer, seed: dict[str, Any]) -> None:
    with PlainClient(server.url, "eros", API_KEY) as plain:
        saved = plain.save("MEMORY.md", TEXT)
    assert seed["load"]("MEMORY.md") == {"content": TEXT, "checksum": f"sha256:{saved.sha256}", "checksum_ok": True}


@pytest.mark.parametrize(
    ("content", "stated"),
    [("a", None), ("a", "other"), ("a", ""), ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")],
)
def test_the_three_states_are_the_seeds(
    server: PlainServer, seed: dict[str, Any], content: str, stated: str | None
) -> None:
    server.put("eros", "MEMORY.md", content)
    if stated is not None:
        server.put("eros", "MEMORY.md.sha256", stated)
    assert check(content.encode(), stated).state is seed["load"]("MEMORY.md")["checksum_ok"]


@pytest.mark.skipif(not shutil.which("curl"), reason="the seed's script posts with curl")
def test_the_seeds_embedding_script_and_ours_write_the_same_bytes(server: PlainServer, tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text('# 기억\n"따옴표" \\ \u2028\n', encoding="utf-8", newline="")
    fill = {
        "/path/to/agents/{agent}/MEMORY.md": str(tmp_path / "MEMORY.md"),
        "https://egs.hyperbook.com": server.url,
        "<AGENT_API_KEY>": API_KEY,
    }
    said = b""
    for name in ("embed_save", "embed_restore"):
        script = (SEEDS / f"{name}.txt").read_text(encoding="utf-8")
        for placeholder, value in fill.items():
            script = script.replace(placeholder, value)
        key = server.rows[0]["key_name"] if server.rows else ""
        (tmp_path / f"{name}.py").write_text(script.replace("MEMORY_MD_20260610", key), encoding="utf-8")
        env = {**os.environ, "PYTHONUTF8": "1", "PYTHONWARNINGS": "ignore", "no_proxy": "*"}
        said = subprocess.run(
            [sys.executable, tmp_path / f"{name}.py"], capture_output=True, check=True, env=env
        ).stdout
    assert b"PASS" in said
    content = server.rows[0]["content"]
    parts = parse_embedded(content.encode())
    assert parts is not None
    assert embed(parts.text, saved_at=parts.saved_at, source=parts.source, branch=parts.branch) == content
    assert (
        json.loads(content)["checksum"] == "sha256:" + hashlib.sha256((tmp_path / "MEMORY.md").read_bytes()).hexdigest()
    )
    assert check(content.encode()).state is True
