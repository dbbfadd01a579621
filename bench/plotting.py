"""The picture of T7 as a plain SVG: exact retrieval against noise, one panel for each store, one line for each network."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from networks import Curve

WIDE, HIGH, LEFT, TOP, APART = 300, 220, 46, 54, 46
STYLES = (
    ("#000000", "", 5), ("#0072b2", "", 2), ("#56b4e9", "6 3", 2), ("#009e73", "2 3", 2), ("#d55e00", "", 2), ("#999999", "", 2),
)  # fmt: skip
"""Colour, dashes and width, in the order of the networks; colours by Okabe and Ito, which colour-blind readers tell apart."""


def drawn(stores: dict[str, list[Curve]], rates: tuple[float, ...]) -> str:
    """The whole picture; its numbers are in the table beside it."""
    curves = next(iter(stores.values()))
    wide = LEFT + len(stores) * (WIDE + APART)
    high = TOP + HIGH + 62 + 20 * len(curves)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" font-family="sans-serif" font-size="13">',
        "<title>Exact retrieval against noise</title>",
        f'<rect width="{wide}" height="{high}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="22" font-size="16">Patterns of 1,024 bits given back exactly, by the share of bits that were flipped</text>',
    ]
    for at, (name, found) in enumerate(stores.items()):
        parts += _panel(LEFT + at * (WIDE + APART), f"{name}", found, rates)
    parts += [line for at, curve in enumerate(curves) for line in _legend(at, curve.network)]
    return "\n".join([*parts, "</svg>", ""])


def _panel(left: int, name: str, curves: list[Curve], rates: tuple[float, ...]) -> list[str]:
    parts = [f'<text x="{left}" y="{TOP - 8}" fill="#333333">{escape(name)}</text>']
    for step in range(0, 11, 2):
        y, x = TOP + HIGH * (1 - step / 10), left + WIDE * step / 10
        parts += [
            f'<path d="M{left} {y:.1f}H{left + WIDE}" stroke="#dddddd"/>',
            f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#555555">{step * 10}%</text>',
            f'<text x="{x:.1f}" y="{TOP + HIGH + 18}" text-anchor="middle" fill="#555555">{step * rates[-1] * 10:.0f}%</text>',
        ]
    for style, curve in zip(STYLES, curves, strict=True):
        points = " ".join(
            f"{left + WIDE * rate / rates[-1]:.1f},{TOP + HIGH * (1 - share):.1f}"
            for rate, share in zip(rates, curve.exact, strict=True)
        )
        parts.append(f'<polyline points="{points}" fill="none" {_stroke(*style)}/>')
    return parts


def _legend(at: int, network: str) -> list[str]:
    y = TOP + HIGH + 48 + 20 * at
    return [
        f'<path d="M{LEFT} {y}h40" {_stroke(*STYLES[at])}/>',
        f'<text x="{LEFT + 50}" y="{y + 5}">{escape(network)}</text>',
    ]


def _stroke(colour: str, dashes: str, width: int) -> str:
    return f'stroke="{colour}" stroke-width="{width}"' + (f' stroke-dasharray="{dashes}"' if dashes else "")
