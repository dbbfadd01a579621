"""A picture as the bytes of a file: SVG as it is, PNG by way of `resvg-py`."""

from __future__ import annotations

import os

from indelible.errors import IndelibleError, UsageError

ZOOM = 2
"""Pixels of a PNG for each of the SVG's."""


def kind_of(path: str) -> str:
    """`svg` or `png`, by the name of a file.

    Raises:
        UsageError: neither.
    """
    end = os.path.splitext(path)[1].lower()
    if end not in (".svg", ".png"):
        raise UsageError(f"{path} is neither an .svg nor a .png", remedy="Name a file that ends in .svg or .png")
    return end[1:]


def require(kind: str) -> None:
    """Raise where a picture of that kind cannot be made here; asked before the work begins.

    Raises:
        IndelibleError: `resvg-py` is not installed.
    """
    if kind == "png":
        try:
            import resvg_py  # noqa: F401 - only whether it is there
        except ImportError as exc:
            raise IndelibleError(
                "A PNG is drawn by resvg-py, which is not installed",
                remedy="Say: pip install 'indelible[plot]', or name an .svg file, which needs nothing",
            ) from exc


def encode(svg: str, kind: str) -> bytes:
    """The bytes of the file.

    Raises:
        IndelibleError: it could not be drawn.
    """
    if kind == "svg":
        return svg.encode()
    import resvg_py

    try:
        return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=ZOOM))
    except ValueError as exc:
        raise IndelibleError(f"The picture could not be drawn as PNG ({exc})", remedy="Name an .svg file") from exc
