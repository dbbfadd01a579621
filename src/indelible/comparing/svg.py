"""A few shapes of SVG, as text: escaped, the same bytes for the same picture, readable on a light and on a dark page.

No font is embedded: names are drawn with whatever sans-serif font shows them where the picture is looked at. How wide a text
will be is therefore an estimate from above: a full-width character takes one size of the font, any other six tenths.
"""

from __future__ import annotations

import unicodedata
from html import escape

SIZE = 12.0
"""Of the font, in pixels."""
LINE = 18.0
_STYLE = (
    "text{font-family:'Noto Sans','Noto Sans CJK KR','NanumGothic','Malgun Gothic','Apple SD Gothic Neo',sans-serif;"
    f"font-size:{SIZE:g}px;fill:#1f2328}}.page{{fill:#ffffff}}.faint{{fill:#59636e}}.head{{font-size:15px;font-weight:600}}"
    ".axis{stroke:#8b949e;stroke-width:1;fill:none}.grid{stroke:#d1d9e0;stroke-width:1}.none{fill:#eaeef2}"
    "@media (prefers-color-scheme:dark){text{fill:#e6edf3}.page{fill:#0d1117}.faint{fill:#9198a1}.grid{stroke:#30363d}.none{fill:#21262d}}"
)


class Drawing:
    """A picture that grows as shapes are put into it."""

    def __init__(self) -> None:
        self._shapes: list[str] = []
        self.width = self.height = 0.0

    def reach(self, x: float, y: float) -> None:
        """Make the picture reach to a point."""
        self.width, self.height = max(self.width, x), max(self.height, y)

    def text(
        self, x: float, y: float, text: str, *, kind: str = "", anchor: str = "start", turn: float = 0, fill: str = ""
    ) -> None:
        """A line of text with its baseline at (x, y), `turn` degrees clockwise."""
        turned = f' transform="rotate({turn:g} {x:.1f} {y:.1f})"' if turn else ""
        style = f' style="fill:{fill}"' if fill else ""
        self._shapes.append(
            f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}"{turned}{style}>{clean(text)}</text>'
        )

    def box(
        self, x: float, y: float, width: float, height: float, *, fill: str = "", kind: str = "", title: str = ""
    ) -> None:
        """A rectangle, with what is shown when one points at it."""
        style = f' style="fill:{fill}"' if fill else ""
        said = f"<title>{clean(title)}</title>" if title else ""
        self._shapes.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" class="{kind}"{style}>{said}</rect>'
        )

    def line(
        self, points: list[tuple[float, float]], *, kind: str = "", stroke: str = "", width: float = 1, title: str = ""
    ) -> None:
        """A line through points."""
        style = f' style="fill:none;stroke:{stroke};stroke-width:{width:g}"' if stroke else ""
        said = f"<title>{clean(title)}</title>" if title else ""
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self._shapes.append(f'<polyline points="{places}" class="{kind}"{style}>{said}</polyline>')

    def dot(self, x: float, y: float, radius: float, fill: str) -> None:
        """A disc."""
        self._shapes.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" style="fill:{fill}"/>')

    def format(self, title: str) -> str:
        """The whole picture."""
        width, height = round(self.width), round(self.height)
        return "\n".join((
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">',
            f"<title>{clean(title)}</title>", f"<style>{_STYLE}</style>", f'<rect width="{width}" height="{height}" class="page"/>',
            *self._shapes, "</svg>", "",
        ))  # fmt: skip


def clean(text: str) -> str:
    """A text that XML can hold and that turns nothing round: what cannot be seen stands there escaped."""
    shown = (
        char if char.isprintable() else char.encode("unicode_escape", "backslashreplace").decode() for char in text
    )
    return escape("".join(shown), quote=True)


def wide(text: str) -> float:
    """How wide a text may be, in pixels."""
    return sum(SIZE if unicodedata.east_asian_width(char) in "WF" else SIZE * 0.6 for char in text)


def fitted(text: str, room: float) -> str:
    """A text that takes at most `room` pixels: what does not fit is taken out of its middle, since names often end differently."""
    text = "".join(
        char if char.isprintable() else char.encode("unicode_escape", "backslashreplace").decode() for char in text
    )
    if wide(text) <= room:
        return text
    head, tail = len(text) // 2, len(text) // 2
    while head + (len(text) - tail) > 2 and wide(text[:head] + "…" + text[tail:]) > room:
        head, tail = (head - 1, tail) if head >= len(text) - tail else (head, tail + 1)
    return text[:head] + "…" + text[tail:]
