"""What looking costs: nothing is compiled for prose, and no line is worth more than its length."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import suppress

import pytest

from indelible.errors import SecretRefused
from indelible.screening import screen

PROSE = (
    "The build runs in three steps. First the parser reads the grammar and writes the tables; then the compiler takes them and makes "
    "a module for each; last the linker joins what is there. Tests that need a database are skipped unless one is running. "
    "빌드는 세 단계로 진행됩니다. 먼저 파서가 문법을 읽습니다. "
) * 3
UNITS = [
    "a", "eyJ", "eyJ.", "-", "_", "password", "password=", "password: ", 'pass = "', '"', "://a:", "://", "sk-", "SG.", "a:1:b:c", "token|",
    "Bearer ", "--password ", "-----BEGIN PRIVATE KEY-----", "-----BEGIN X PRIVATE KEY-----A\\n", "비밀번호: ", "[masked: x]", "\0p", "MII", "ghp_",
    "AccountKey=", "curl -u", "discord bot M.", "password: a[", "\n", "password=a1b2c3d4 ", "passphrase: a b c ", "\udcff=",
]  # fmt: skip


def seconds(content: bytes) -> float:
    begun = time.process_time()
    with suppress(SecretRefused):
        screen(content, mode="mask")
    return time.process_time() - begun


@pytest.mark.parametrize("unit", UNITS, ids=ascii)
def test_a_line_of_anything_takes_time_in_proportion_to_its_length(unit: str) -> None:
    data = unit.encode("utf-8", "surrogateescape")
    short, long = (data * (size // len(data)) for size in (1 << 14, 1 << 17))
    screen(b"password rules: 12", mode="mask")
    # Eight times the length; a quadratic search would take sixty-four times as long.
    assert seconds(long) <= 24 * max(min(seconds(short) for _ in range(3)), 0.004)


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["eyJ", "password=", "--password ", "AccountKey=", "-----BEGIN PRIVATE KEY-----"])
def test_a_line_of_a_megabyte_is_looked_at_in_seconds(unit: str) -> None:
    assert seconds(unit.encode() * ((1 << 20) // len(unit))) < 20


def test_prose_loads_no_detector_and_no_library() -> None:
    code = (
        "import sys; from indelible.screening import screen; screen(sys.argv[1].encode(), mode='refuse', names={'key': 'MEMORY.md'});"
        "print(*(name for name in sys.modules if name.startswith(('detect_secrets', 'requests', 'indelible.screening.'))))"
    )
    ended = subprocess.run([sys.executable, "-c", code, PROSE], capture_output=True, text=True, check=True)
    assert set(ended.stdout.split()) <= {f"indelible.screening.{name}" for name in ("found", "prefilter", "screen")}


def test_the_library_is_loaded_only_for_a_line_that_may_be_its_affair() -> None:
    code = (
        "import sys; from indelible.screening import screen; screen(sys.argv[1].encode(), mode='mask');"
        "print('detect_secrets' in sys.modules)"
    )
    for line, loaded in (("password: hunter2x and a token: later", "False"), ("bot token: " + "x1" * 12, "True")):
        ended = subprocess.run([sys.executable, "-c", code, line], capture_output=True, text=True, check=True)
        assert ended.stdout.strip() == loaded, line


def test_prose_of_500_bytes_is_looked_at_in_microseconds() -> None:
    content = PROSE.encode()[:500]
    best = 1.0
    for _ in range(30):
        begun = time.process_time()
        for _ in range(100):
            screen(content, mode="refuse", names={"key": "MEMORY.md"})
        best = min(best, (time.process_time() - begun) / 100)
    assert best < 60e-6, "15 µs is what it takes on an idle machine"
