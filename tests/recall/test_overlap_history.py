"""What earlier comparisons found, and when a pair is out of its past."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.errors import IndelibleError
from indelible.recall import alarm, history
from indelible.recall.history import Past

if TYPE_CHECKING:
    from pathlib import Path

LINE = Past("2026-11-30T09:00:00Z", "of0", "among", "ngrams/1", "eros", "rudex", 0.1, None, 0.0, 0.01)
SHARES = st.floats(0, 1)
NAMES = st.text(min_size=1, max_size=8)


def past(*values: float, measure: str = "a_in_b") -> list[Past]:
    return [measured(LINE, measure, value)._replace(of=f"then{at}") for at, value in enumerate(values)]


def measured(line: Past, measure: str, value: float) -> Past:
    members = {**line._asdict(), measure: value}
    return Past(**members)


def judged(now: Past, lines: list[Past], shared: int = 100) -> list[str]:
    return [
        one.measure
        for one in alarm.judge(now, alarm.levels(lines, of="now", among="among", vectors="ngrams/1"), shared)
    ]


NOW = LINE._replace(of="now")


@given(
    st.builds(
        Past, NAMES, NAMES, NAMES, NAMES, NAMES, NAMES, st.none() | st.floats(-1, 1), st.none() | SHARES, SHARES, SHARES
    )
)
def test_a_line_comes_back_as_it_was_written(line: Past) -> None:
    assert history.parse(history.format(line)) == line
    assert history.format(line).count(b"\n") == 1


@pytest.mark.parametrize(
    "line",
    [
        b"", b"[]", b"{}", b"x", b'{"schema":2}', history.format(LINE).replace(b"0.01", b"NaN"), history.format(LINE).replace(b"0.01", b"1.5"),
        history.format(LINE).replace(b"0.01", b"true"), history.format(LINE).replace(b'"eros"', b"7"), history.format(LINE).replace(b"0.01", b"null"),
        history.format(LINE)[:40], b"[" * 100_000,
    ],
)  # fmt: skip
def test_what_is_no_line_of_ours_is_left_out_and_told(tmp_path: Path, line: bytes) -> None:
    file = tmp_path / "h.jsonl"
    file.write_bytes(history.format(LINE) + line + b"\n" + history.format(NOW))
    found = history.load(str(file))
    assert found.lines == (LINE, NOW)
    assert (found.problems != ()) == (line != b"")


def test_a_cut_last_line_is_told_and_the_next_begins_on_its_own(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "h.jsonl"
    history.append(str(file), [LINE, LINE])
    file.write_bytes(file.read_bytes()[:-30])
    found = history.load(str(file))
    assert found.lines == (LINE,)
    assert "was cut" in found.problems[0]
    history.append(str(file), [NOW])
    assert history.load(str(file)).lines == (LINE, NOW)


def test_none_is_an_empty_past(tmp_path: Path) -> None:
    assert history.load(str(tmp_path / "none.jsonl")) == history.History(())
    history.append(str(tmp_path / "none.jsonl"), [])
    assert not (tmp_path / "none.jsonl").exists()


def test_a_file_that_has_grown_makes_way_and_is_still_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MOST", 1000)
    monkeypatch.setattr(history, "_RUNS", 1)
    file = str(tmp_path / "h.jsonl")
    for number in range(40):
        history.append(file, [LINE._replace(of=f"of{number}")])
    lines = history.load(file).lines
    assert 5 <= len(lines) < 15
    assert [one.of for one in lines] == [f"of{number}" for number in range(40 - len(lines), 40)]
    assert sum(os.path.getsize(path) for path in tmp_path.iterdir()) < 3000


def test_a_history_that_cannot_be_read_or_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "h").mkdir()
    with pytest.raises(IndelibleError, match="cannot be read"):
        history.load(str(tmp_path / "h"))
    with pytest.raises(IndelibleError, match="could not be added"):
        history.append(str(tmp_path / "h"), [LINE])


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    if os.name != "posix":
        pytest.skip("links are POSIX ones here")
    (tmp_path / "h").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(IndelibleError):
        history.append(str(tmp_path / "h"), [LINE])
    assert not (tmp_path / "elsewhere").exists()


# Alarms.


@given(SHARES, st.integers(1, 40), st.sampled_from(sorted(alarm.FLOORS)))
def test_a_past_that_never_moved_gives_no_alarm_to_what_does_not_move(value: float, runs: int, measure: str) -> None:
    now = measured(NOW._replace(a_in_b=0, b_in_a=0, cosine=None), measure, value)
    assert judged(now, past(*[value] * runs, measure=measure)) == []


@given(st.lists(SHARES, min_size=1, max_size=40), SHARES)
def test_what_is_not_above_all_of_the_past_gives_no_alarm(values: list[float], value: float) -> None:
    now = NOW._replace(a_in_b=min(value, *values), b_in_a=0.0)
    assert "a_in_b" not in judged(now, past(*values))


def test_a_first_look_has_no_past_and_no_alarm() -> None:
    assert judged(NOW._replace(a_in_b=1.0, b_in_a=1.0, cosine=1.0), []) == []
    assert alarm.level("cosine", []) == alarm.Level("cosine", 0, None, None)


def test_containment_jumps_from_the_second_look_on_and_a_cosine_needs_five() -> None:
    assert judged(NOW._replace(a_in_b=0.05), past(0.0)) == ["a_in_b"]
    risen = NOW._replace(cosine=0.5, b_in_a=0)
    assert judged(risen, past(0.1, 0.1, 0.1, 0.1, measure="cosine")) == []
    assert judged(risen, past(0.1, 0.1, 0.1, 0.1, 0.1, measure="cosine")) == ["cosine"]


def test_a_past_that_moves_much_allows_much() -> None:
    calm, wild = past(0.10, 0.11, 0.10, 0.09, 0.10), past(0.02, 0.2, 0.1, 0.18, 0.05)
    now = NOW._replace(a_in_b=0.2, b_in_a=0.01)
    assert judged(now, calm) == ["a_in_b"]
    assert judged(now, wild) == []


def test_a_few_words_in_common_are_no_jump() -> None:
    assert judged(NOW._replace(a_in_b=0.5), past(0.0, 0.0), shared=alarm.SHINGLES - 1) == []


def test_to_look_again_at_the_same_memories_takes_no_alarm_back() -> None:
    seen = [*past(0.0, 0.0), *[NOW._replace(a_in_b=0.3)] * 50]
    assert judged(NOW._replace(a_in_b=0.3), seen) == ["a_in_b"]


def test_a_cosine_among_others_or_by_other_vectors_is_not_compared() -> None:
    low = past(*[0.1] * 9, measure="cosine")
    now = NOW._replace(cosine=0.9, b_in_a=0)
    assert judged(now, [one._replace(among="others") for one in low]) == []
    assert judged(now, [one._replace(vectors="model@1") for one in low]) == []
    assert judged(now._replace(cosine=None), low) == []


def test_only_the_newest_runs_count() -> None:
    level = alarm.level("a_in_b", [0.0] * 100 + [0.5] * alarm.WINDOW)
    assert (level.median, level.runs) == (0.5, alarm.WINDOW)
