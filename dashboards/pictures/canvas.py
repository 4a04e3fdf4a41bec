"""The picture as a file, and its measures in pixels."""

import io
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image, ImageColor

from pictures.boxes import GREY
from pictures.units import COLOURS, PALETTE

LINE, HEAD, TITLE, GAP = 38, 58, 26, 6  # pixels: the grid's line, the page's head, a panel's title, around it
DPI, SHADES, PAGE = 100, 13, "#f4f5f5"


def lowest(panel: dict[str, Any]) -> int:
    """The grid's line below the panel."""
    return int(panel["gridPos"]["y"] + panel["gridPos"]["h"])


def area(figure: Figure, x: float, y: float, width: float, height: float) -> Axes:
    """An area without axes, in pixels of the picture."""
    total = figure.get_size_inches() * DPI
    axes = figure.add_axes((x / total[0], y / total[1], width / total[0], height / total[1]))
    axes.set_axis_off()
    axes.set(xlim=(0, width), ylim=(0, height))
    return axes


def save(figure: Figure, file: Path) -> None:
    """A PNG of the colours that the panels use, each in SHADES towards white: a third of the bytes of all colours."""
    content = io.BytesIO()
    figure.savefig(content, dpi=DPI, format="png")
    shades = [
        round(255 + (value - 255) * shade / SHADES)
        for paint in sorted({*COLOURS.values(), *PALETTE, GREY})
        for shade in range(1, SHADES + 1)
        for value in ImageColor.getrgb(paint)
    ]
    palette = Image.new("P", (1, 1))
    palette.putpalette([*ImageColor.getrgb(PAGE), 255, 255, 255, *shades])
    Image.open(content).convert("RGB").quantize(palette=palette, dither=Image.Dither.NONE).save(file, optimize=True)
