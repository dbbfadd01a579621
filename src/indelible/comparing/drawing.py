"""The picture of a comparison: who is like whom, who stands in whom, and how that went over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from indelible.comparing.svg import LINE, Drawing, fitted, wide

if TYPE_CHECKING:
    from collections.abc import Callable

    from indelible.comparing.report import Report
    from indelible.recall.history import Past

_MARGIN = 24.0
_NAME = 190.0
"""Room for a name, in pixels."""
_CELL, _SMALL = 46.0, 34.0
"""The side of a cell, and from sixteen agents on."""
_MANY = 16
_LINES = 8
"""Pairs that the time line draws in a colour of their own."""
_HUES = ("#0969da", "#bc4c00", "#1a7f37", "#8250df", "#bf3989", "#9a6700", "#0a7c86", "#6e7781")
_RED = "#d1242f"
_LIGHT, _DARK = (222, 235, 247), (8, 69, 148)
"""The ends of the scale of colours."""
_TALL, _BROAD = 220.0, 560.0
_TURN = -45.0


class _Grid(NamedTuple):
    """A heat map: what stands in a cell, by names of row and column."""

    title: str
    note: str
    value: Callable[[str, str], float | None]
    said: Callable[[float], str]
    alarmed: Callable[[str, str], bool]
    power: float = 1.0
    """To which a value is raised for its colour: below 1 brings out small ones."""


def draw(report: Report) -> str:
    """The picture as SVG."""
    drawing = Drawing()
    names = [one.agent for one in report.sides]
    top = _MARGIN
    for grid in _grids(report):
        top = _heat(drawing, top, names, grid) + _MARGIN
    _time_line(drawing, top, report)
    return drawing.format(f"Likeness of the memories of {len(names)} agents, {report.at}")


def _grids(report: Report) -> tuple[_Grid, _Grid]:
    by = {(one.pair.a, one.pair.b): one for one in report.compared}
    scaled = not report.calibration.problem

    def like(row: str, column: str) -> float | None:
        one = by[min(row, column), max(row, column)]
        return one.likeness if scaled else one.pair.cosine

    def within(row: str, column: str) -> float | None:
        one = by[min(row, column), max(row, column)]
        return one.pair.a_in_b if row < column else one.pair.b_in_a

    def alarmed(measures: tuple[str, str]) -> Callable[[str, str], bool]:
        def told(row: str, column: str) -> bool:
            one = by[min(row, column), max(row, column)]
            return any(found.measure == measures[row > column] for found in one.alarms)

        return told

    what = "Likeness: 0.9 and more nearly the same, 0.3 and less separate" if scaled else "Cosine, not calibrated"
    return (
        _Grid(what, "Framed in red: risen above its own past", like, "{:.2f}".format, alarmed(("cosine", "cosine"))),
        _Grid(
            "Containment: what part of the row's text stands in the column's", "In per cent; framed in red: risen above its own past",
            within, lambda value: f"{100 * value:.1f}", alarmed(("a_in_b", "b_in_a")), 0.5,
        ),
    )  # fmt: skip


def _heat(drawing: Drawing, top: float, names: list[str], grid: _Grid) -> float:
    """One heat map; gives where it ends."""
    cell = _CELL if len(names) < _MANY else _SMALL
    shown = _labels(names)
    longest = max((wide(text) for text in shown.values()), default=0.0)
    left = _MARGIN + longest + 10
    drawing.text(_MARGIN, top + 12, grid.title, kind="head")
    drawing.text(_MARGIN, top + 12 + LINE, grid.note, kind="faint")
    first = top + 12 + 2 * LINE + longest * 0.71 + 6
    for number, name in enumerate(names):
        middle = left + cell * (number + 0.5)
        drawing.text(middle + 4, first - 6, shown[name], turn=_TURN)
        drawing.text(left - 8, first + cell * (number + 0.5) + 4, shown[name], anchor="end")
        for other, column in enumerate(names):
            _cell(drawing, (left + cell * other, first + cell * number, cell), name, column, grid)
    drawing.reach(left + cell * len(names) + longest * 0.71 + _MARGIN, first + cell * len(names) + _MARGIN)
    drawing.reach(_MARGIN * 2 + max(wide(grid.title) * 1.25, wide(grid.note)), 0)
    return first + cell * len(names)


def _labels(names: list[str]) -> dict[str, str]:
    """Each name in the room that there is; with a number before it where two would look alike."""
    shown = {name: fitted(name, _NAME) for name in names}
    if len(set(shown.values())) == len(names):
        return shown
    return {name: f"{number}. {fitted(name, _NAME - wide('99. '))}" for number, name in enumerate(names, 1)}


def _cell(drawing: Drawing, place: tuple[float, float, float], row: str, column: str, grid: _Grid) -> None:
    x, y, side = place
    if row == column:
        drawing.box(x + 1, y + 1, side - 2, side - 2, kind="none")
        return
    value = grid.value(row, column)
    if value is None:
        drawing.box(x + 1, y + 1, side - 2, side - 2, kind="none", title=f"{row} · {column}: no words")
        drawing.text(x + side / 2, y + side / 2 + 4, "–", anchor="middle", kind="faint")
        return
    strength = min(1.0, max(0.0, value)) ** grid.power
    shade = "#" + "".join(
        f"{round(low + (high - low) * strength):02x}" for low, high in zip(_LIGHT, _DARK, strict=True)
    )
    if grid.alarmed(row, column):
        drawing.box(x, y, side, side, fill=_RED)
        drawing.box(x + 3, y + 3, side - 6, side - 6, fill=shade, title=f"{row} · {column}: {grid.said(value)}")
    else:
        drawing.box(x + 1, y + 1, side - 2, side - 2, fill=shade, title=f"{row} · {column}: {grid.said(value)}")
    ink = "#ffffff" if strength > 0.5 else "#1f2328"
    drawing.text(x + side / 2, y + side / 2 + 4, grid.said(value), anchor="middle", fill=ink)


def _time_line(drawing: Drawing, top: float, report: Report) -> None:
    """The larger of the two containments of each pair, run by run; those in alarm and the highest in colours, the others grey."""
    runs = sorted({one.at for one in report.history})
    left, first = _MARGIN + 48, top + 12 + 2 * LINE + 8
    drawing.text(_MARGIN, top + 12, "Over time: the greater containment of each pair", kind="head")
    drawing.text(
        _MARGIN,
        top + 12 + LINE,
        f"{len(runs)} comparison{'s' if len(runs) != 1 else ''} that found something new",
        kind="faint",
    )
    series: dict[tuple[str, str], list[Past]] = {}
    for one in report.history:
        series.setdefault((one.a, one.b), []).append(one)
    highest = _round_up(max((_greater(one) for one in report.history), default=0.0))
    for step in range(5):
        y = first + _TALL * (1 - step / 4)
        drawing.line([(left, y), (left + _BROAD, y)], kind="grid")
        drawing.text(left - 6, y + 4, f"{100 * highest * step / 4:.3g} %", anchor="end", kind="faint")
    places = {
        at: left + (_BROAD * number / (len(runs) - 1) if len(runs) > 1 else _BROAD / 2)
        for number, at in enumerate(runs)
    }
    if runs:
        drawing.text(left, first + _TALL + LINE, runs[0], kind="faint")
    if len(runs) > 1:
        drawing.text(left + _BROAD, first + _TALL + LINE, runs[-1], anchor="end", kind="faint")
    alarmed = {(one.pair.a, one.pair.b) for one in report.alarmed}
    order = sorted(series, key=lambda pair: (pair in alarmed, _greater(series[pair][-1]), pair))
    chosen = order[::-1][:_LINES]
    for pair in order:
        hue = _HUES[chosen.index(pair)] if pair in chosen else "#afb8c1"
        points = [(places[one.at], first + _TALL * (1 - _greater(one) / highest)) for one in series[pair]]
        drawing.line(points, stroke=hue, width=2 if pair in chosen else 1, title=f"{pair[0]} · {pair[1]}")
        if pair in chosen:
            drawing.dot(*points[-1], 3.5, _RED if pair in alarmed else hue)
    shown = _labels([one.agent for one in report.sides])
    legend = [(f"{shown[a]} · {shown[b]}", series[a, b], (a, b) in alarmed) for a, b in chosen]
    _legend(drawing, first + _TALL + 2 * LINE + 8, legend)
    drawing.reach(left + _BROAD + _MARGIN, first + _TALL + 3 * LINE)


def _legend(drawing: Drawing, top: float, pairs: list[tuple[str, list[Past], bool]]) -> None:
    for number, (names, past, is_alarmed) in enumerate(pairs):
        y = top + LINE * number
        drawing.line([(_MARGIN, y), (_MARGIN + 24, y)], stroke=_HUES[number], width=3)
        text = f"{names}  {100 * _greater(past[-1]):.1f} %{'  (alarm)' if is_alarmed else ''}"
        drawing.text(_MARGIN + 32, y + 4, text)
        drawing.reach(_MARGIN + 32 + wide(text) + _MARGIN, y + _MARGIN)


def _greater(one: Past) -> float:
    return max(one.a_in_b, one.b_in_a)


def _round_up(value: float) -> float:
    """The least of 1, 2, 4 and 10 per cent and so on that is not less; at least 1 %."""
    return next(limit for limit in (0.01, 0.02, 0.04, 0.1, 0.2, 0.4, 1.0) if value <= limit)
