"""Reading an output: which lines are handed on, however the pieces were cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from indelible.forking import artifact

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

LINES = st.lists(st.sampled_from([b"", b"x", b"{", b"[1]", b'{"a": 1}', b" {", b"x{", b"\r", b"}" * 5]), max_size=12)


@given(lines=LINES, size=st.integers(1, 9), ended=st.booleans())
def test_the_lines_that_begin_like_json_are_handed_on_whole_and_in_order(
    lines: list[bytes], size: int, *, ended: bool
) -> None:
    text = b"\n".join(lines) + (b"\n" if ended else b"")
    found: list[bytes] = []
    cutter = artifact._Cutter(found.append)
    for at in range(0, len(text), size):
        cutter.take(text[at : at + size])
    cutter.end()
    assert found == [line for line in lines if line[:1] in (b"{", b"[")]


def test_a_line_that_is_too_long_is_left_out_and_the_next_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(artifact, "_LONGEST", 10)
    monkeypatch.setattr(artifact, "_PIECE", 4)
    (tmp_path / "output").write_bytes(b"{" + b"x" * 20 + b"\nplain\n{fine}\n")
    found: list[bytes] = []
    measured = artifact.measure(str(tmp_path / "output"), found.append)
    assert (found, measured.lines) == ([b"{fine}"], 3)
