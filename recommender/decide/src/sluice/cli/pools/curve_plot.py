"""Draws a curve and measured points with characters."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Symbols:
    """point: measured in a full pool, or fullness not known. light: measured in a pool that was not full. elsewhere:
    measured on another CPU limit. best: the axis below sizes within 1 % of the best."""

    point: str
    light: str
    elsewhere: str
    fit: str
    band: str
    knee: str
    corner: str
    across: str
    best: str
    up: str


UNICODE = Symbols("●", "○", "×", "·", "░", "┊", "└", "─", "═", "│")
ASCII = Symbols("o", "*", "x", ".", "'", ":", "+", "-", "=", "|")

Point = tuple[float, float]


@dataclass(frozen=True)
class CurvePlot:
    """By concurrency, ascending: `fit` (concurrency, per second), `band` (concurrency, lower, upper).

    scatter: (concurrency, per second) and its symbol. best: the ends of a range of concurrencies.
    """

    scatter: Sequence[tuple[Point, str]]
    fit: Sequence[Point] = ()
    band: Sequence[tuple[float, float, float]] = ()
    knee: float | None = None
    best: tuple[float, float] | None = None


def plot_curve(curve: CurvePlot, width: int = 72, height: int = 16, symbols: Symbols = UNICODE) -> list[str]:
    """Returns height + 2 lines of text, the last with the scale of the concurrency; none if there is nothing to draw.

    Both axes begin at 0. Measured points hide the fit, both hide the knee's vertical line, and all of them hide the
    band, which ends at the highest of them.
    """
    drawn = [*(point for point, _ in curve.scatter), *curve.fit]
    if not drawn:
        return []
    top = max(*(y for _, y in drawn), 0.0) or 1.0
    right = max([x for x, _ in drawn] + ([curve.knee] if curve.knee is not None else [])) or 1.0
    grid = [[" "] * width for _ in range(height)]

    def row_of(y: float) -> int:
        return height - 1 - min(max(round(y / top * (height - 1)), 0), height - 1)

    def put(x: float, y: float, symbol: str) -> None:
        grid[row_of(y)][_column(x, right, width)] = symbol

    lower = _between([(x, low) for x, low, _ in curve.band], right, width)
    upper = _between([(x, high) for x, _, high in curve.band], right, width)
    for (x, low), (_, high) in zip(lower, upper, strict=True):
        for row in grid[row_of(high) : row_of(low) + 1]:
            row[_column(x, right, width)] = symbols.band
    if curve.knee is not None:
        for row in grid:
            row[_column(curve.knee, right, width)] = symbols.knee
    for x, y in _between(curve.fit, right, width):
        put(x, y, symbols.fit)
    for (x, y), symbol in curve.scatter:
        put(x, y, symbol)

    labels = {0: f"{top:.4g}", height - 1: "0"}
    margin = max(len(label) for label in labels.values()) + 1
    lines = [f"{labels.get(i, ''):>{margin}} {symbols.up}{''.join(row).rstrip()}" for i, row in enumerate(grid)]
    lines.append(" " * (margin + 1) + symbols.corner + _axis(curve.best, right, width, symbols))
    lines.append(" " * (margin + 2) + _scale(right, curve.knee, width))
    return lines


def _column(x: float, right: float, width: int) -> int:
    return min(max(round(x / right * (width - 1)), 0), width - 1)


def _between(line: Sequence[Point], right: float, width: int) -> list[Point]:
    """The line with a point in every column, interpolated linearly."""
    filled = list(line)
    for (x0, y0), (x1, y1) in pairwise(line):
        for column in range(_column(x0, right, width) + 1, _column(x1, right, width)):
            x = column / (width - 1) * right
            if x0 < x < x1:
                filled.append((x, y0 + (y1 - y0) * (x - x0) / (x1 - x0)))
    return filled


def _axis(best: tuple[float, float] | None, right: float, width: int, symbols: Symbols) -> str:
    line = [symbols.across] * width
    if best is not None and best[0] <= right:
        for column in range(_column(best[0], right, width), _column(best[1], right, width) + 1):
            line[column] = symbols.best
    return "".join(line)


def _scale(right: float, knee: float | None, width: int) -> str:
    """0 at the left, the largest concurrency at the right, the knee below its line where there is room."""
    line = list("0".ljust(width))
    end = f"{right:.4g}"
    line[width - len(end) :] = end
    if knee is not None:
        text = f"knee {knee:.4g}"
        begin = min(max(_column(knee, right, width) - len(text) // 2, 2), width - len(text))
        if begin + len(text) < width - len(end):
            line[begin : begin + len(text)] = text
    return "".join(line).rstrip()
