"""The picture: valid whatever the agents are called, the same each time, and no label over another."""

from __future__ import annotations

import sys
from itertools import pairwise
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.comparing import Compared, Report, Side
from indelible.comparing.drawing import draw
from indelible.comparing.picture import encode, kind_of, require
from indelible.comparing.svg import Drawing, fitted, wide
from indelible.errors import IndelibleError, UsageError
from indelible.recall.alarm import Alarm, Level
from indelible.recall.bands import Calibration
from indelible.recall.history import Past
from indelible.recall.overlap import Pair

if TYPE_CHECKING:
    from collections.abc import Iterable

SVG = "{http://www.w3.org/2000/svg}"
LONG = "한국어 이름이 아주 긴 에이전트 제{}호 서울 사무소 운영팀"
SCALE = Calibration(0.8, 0.1, 3, 105, 3)


def report(names: Iterable[str], runs: int = 3, scale: Calibration = SCALE) -> Report:
    ordered = sorted(names)
    compared: list[Compared] = []
    lines: list[Past] = []
    for at, a in enumerate(ordered):
        for b in ordered[at + 1 :]:
            alarms = (Alarm("a_in_b", 0.12, Level("a_in_b", 5, 0.01, 0.02)),) if not compared else ()
            compared.append(Compared(Pair(a, b, 0.2, 0.12, 0.01, 9), 0.4, "between", (), alarms))
            lines += [
                Past(f"2026-11-{run + 1:02}T00:00:00Z", f"of{run}", "x", "ngrams/1", a, b, 0.2, 0.4, 0.01 * run, 0.0)
                for run in range(runs)
            ]
    sides = tuple(Side(name, 1, 9) for name in ordered)
    return Report(
        "2026-11-30T00:00:00Z", sides, tuple(compared), scale, "ngrams/1", True, (), (), (), tuple(sorted(lines))
    )


def texts(svg: str) -> list[ET.Element]:
    return list(ET.fromstring(svg).iter(f"{SVG}text"))


@given(st.lists(st.text(min_size=1, max_size=30), min_size=0, max_size=5, unique=True))
def test_it_is_valid_whatever_the_agents_are_called(names: list[str]) -> None:
    svg = draw(report(names))
    ET.fromstring(svg.encode())
    assert svg == draw(report(names))


@pytest.mark.parametrize("count", [2, 7, 20])
def test_no_label_lies_over_another_or_out_of_the_picture(count: int) -> None:
    svg = draw(report(LONG.format(number) for number in range(count)))
    root = ET.fromstring(svg)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    straight, turned = [], []
    for one in texts(svg):
        x, y, long = float(one.attrib["x"]), float(one.attrib["y"]), wide(one.text or "")
        start = {"start": x, "middle": x - long / 2, "end": x - long}[one.attrib["text-anchor"]]
        if "transform" in one.attrib:
            turned.append((x, y))
            assert x + long * 0.71 <= width
            assert y - long * 0.71 >= 0
        else:
            straight.append((start, start + long, y - 11, y + 3))
            assert 0 <= start <= start + long * 0.8 <= width
            assert 0 <= y <= height
    boxes = sorted(straight)
    clashes = [(one, other) for at, one in enumerate(boxes) for other in boxes[at + 1 :] if _clash(one, other)]
    assert clashes == []
    assert all(abs(b[0] - a[0]) * 0.707 >= 15 for a, b in pairwise(turned) if a[1] == b[1])


def _clash(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


def test_names_that_would_look_alike_are_numbered() -> None:
    svg = draw(report(LONG.format(number) for number in range(12)))
    shown = {one.text for one in texts(svg) if "transform" in one.attrib}
    assert len(shown) == 12


def test_nobody_gets_into_the_picture_by_a_name() -> None:
    svg = draw(report(['<script>alert("1")</script>', "a&b", "\u202eturned", "\x00zero", "plain"]))
    root = ET.fromstring(svg)
    assert not list(root.iter(f"{SVG}script"))
    assert "\u202e" not in svg
    assert "\x00" not in svg


def test_it_has_both_looks_and_no_font_of_its_own() -> None:
    svg = draw(report("abc"))
    assert "prefers-color-scheme:dark" in svg
    assert "@font-face" not in svg
    assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")


def test_an_alarm_is_framed_and_an_empty_agent_has_a_dash() -> None:
    made = report("abc")
    assert "#d1242f" in draw(made)
    none = made._replace(
        compared=tuple(
            one._replace(pair=one.pair._replace(cosine=None), likeness=None, alarms=()) for one in made.compared
        )
    )
    assert [one.text for one in texts(draw(none))].count("–") == 6


def test_what_is_not_calibrated_is_called_a_cosine() -> None:
    assert "not calibrated" in draw(report("abc", scale=SCALE._replace(problem="too little")))


@given(st.text(max_size=60), st.floats(30, 300))
def test_a_text_fits_its_room(text: str, room: float) -> None:
    assert wide(fitted(text, room)) <= max(room, 3 * 12.0)


def test_the_two_ends_of_a_name_stay() -> None:
    shown = fitted(LONG.format(17), 150)
    assert shown.startswith("한국")
    assert shown.endswith("운영팀")
    assert "…" in shown


def test_an_empty_drawing_is_a_picture_too() -> None:
    ET.fromstring(Drawing().format("nothing"))


@pytest.mark.parametrize(("path", "kind"), [("a.svg", "svg"), ("b/C.PNG", "png")])
def test_the_kind_is_in_the_name(path: str, kind: str) -> None:
    assert kind_of(path) == kind


def test_another_kind_is_refused() -> None:
    with pytest.raises(UsageError, match="neither"):
        kind_of("a.gif")


def test_a_png_without_its_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(IndelibleError, match=r"pip install 'indelible\[plot\]'"):
        require("png")
    require("svg")


def test_a_png_is_one() -> None:
    pytest.importorskip("resvg_py")
    assert encode(draw(report("abc")), "png").startswith(b"\x89PNG\r\n")
    with pytest.raises(IndelibleError, match="could not be drawn"):
        encode("no picture", "png")
