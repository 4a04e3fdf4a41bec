"""Panels without axes: figures, bars, tables and texts. Coordinates are pixels from the panel's lower left corner."""

from textwrap import fill
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from pictures.answers import Answer, fields
from pictures.units import colour, step_colour, written

CHARACTER, LINE = 5.9, 21  # pixels of a character of a table, and of its rows
GREY = "#57606a"


def text(axes: Axes, words: str) -> None:
    """What a panel says that has no data."""
    width, height = axes.get_xlim()[1], axes.get_ylim()[1]
    lines = fill(words, int(width / 7))
    axes.text(width / 2, height / 2, lines, ha="center", va="center", fontsize=8, color=GREY)


def _figures(panel: dict[str, Any], answer: Answer) -> list[tuple[str, float | None]]:
    """Name and value: of each row where the panel shows all values, else of each column's last row."""
    numbers = answer.numbers()
    if panel["options"]["reduceOptions"].get("values"):
        names = [nth for nth in range(len(answer.columns)) if nth not in numbers]
        return [(" ".join(str(row[nth]) for nth in names), row[numbers[0]]) for row in answer.rows]
    return [
        (answer.columns[nth], next((row[nth] for row in reversed(answer.rows) if row[nth] is not None), None))
        for nth in numbers
    ]


def stat(axes: Axes, panel: dict[str, Any], found: list[Answer]) -> None:
    """Figures beside each other, in the colour of the threshold that they reach."""
    figures = [figure for answer in found for figure in _figures(panel, answer)]
    width, height = axes.get_xlim()[1], axes.get_ylim()[1]
    for nth, (name, value) in enumerate(figures):
        own, x = fields(panel, name), (nth + 0.5) * width / len(figures)
        paint = step_colour(value, own.get("thresholds", {}))
        axes.text(x, height * 0.75, name, ha="center", va="center", fontsize=8, color=GREY)
        shown = own.get("noValue", "") if value is None else written(value, own.get("unit"))
        axes.text(x, height * 0.4, shown, ha="center", va="center", fontsize=16, color=paint)


def bar_gauge(axes: Axes, panel: dict[str, Any], found: list[Answer]) -> None:
    """A bar for each figure, as long as its share of the largest."""
    figures = [figure for answer in found for figure in _figures(panel, answer)]
    width, height = axes.get_xlim()[1], axes.get_ylim()[1]
    left = 20 + 7 * max(len(name) for name, _ in figures)
    room, top = width - left - 80, max((value or 0 for _, value in figures), default=0) or 1
    for nth, (name, value) in enumerate(figures):
        own, y = fields(panel, name), height * (1 - (nth + 0.5) / len(figures))
        tall = min(18.0, height / len(figures) * 0.6)
        paint = step_colour(value, own.get("thresholds", {}))
        axes.text(left - 8, y, name, ha="right", va="center", fontsize=8, color=GREY)
        axes.add_patch(Rectangle((left, y - tall / 2), room, tall, color="#f0f2f4"))
        axes.add_patch(Rectangle((left, y - tall / 2), room * (value or 0) / top, tall, color=paint))
        shown = own.get("noValue", "") if value is None else written(value, own.get("unit"))
        axes.text(left + room + 8, y, shown, va="center", fontsize=8, color=paint)


def table(axes: Axes, panel: dict[str, Any], found: list[Answer]) -> None:
    """Rows that have room, with texts cut to their columns."""
    answer, width, height = found[0], axes.get_xlim()[1], axes.get_ylim()[1]
    own = [fields(panel, column) for column in answer.columns]
    room = max(int(height / LINE) - 2, 1)
    rows = [
        [written(value, field.get("unit")) for value, field in zip(row, own, strict=True)] for row in answer.rows[:room]
    ]
    widths = _widths([answer.columns, *rows], int((width - 12) / CHARACTER))
    for line, cells in enumerate([answer.columns, *rows]):
        y, x = height - (line + 0.5) * LINE, 6.0
        axes.plot([0, width], [y - LINE / 2] * 2, color="#e4e7eb", linewidth=0.6)
        for cell, field, characters in zip(cells, own, widths, strict=True):
            paint = "#0550ae" if line and "links" in field else "#24292e"
            if line and field.get("custom.cellOptions", {}).get("type") == "color-text":
                paint = _mapped(cell, field) or paint
            weight = "normal" if line else "bold"
            axes.text(x, y, _cut(cell, characters - 1), va="center", fontsize=7.2, color=paint, weight=weight)
            x += characters * (width - 12) / sum(widths)
    if len(answer.rows) > room:
        axes.text(6, 6, f"{len(answer.rows)} rows, {room} of them here", fontsize=7, color=GREY)


def _mapped(cell: str, field: dict[str, Any]) -> str | None:
    for mapping in field.get("mappings", []):
        if cell in mapping["options"]:
            return colour(mapping["options"][cell]["color"])
    return None


def _widths(rows: list[list[str]], room: int) -> list[int]:
    """Characters of each column; where room is short the widest give way."""
    natural = [max(map(len, column)) + 2 for column in zip(*rows, strict=True)]
    most = max(natural)
    while sum(min(width, most) for width in natural) > room and most > 4:
        most -= 1
    return [min(width, most) for width in natural]


def _cut(cell: str, characters: int) -> str:
    cell = " ".join(cell.split())
    return cell if len(cell) <= characters else f"{cell[: max(characters - 1, 1)]}…"
