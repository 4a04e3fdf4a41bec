"""The goodput curve drawn with characters."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Symbols:
    point: str
    fit: str
    knee: str
    corner: str
    across: str
    up: str


UNICODE = Symbols("●", "·", "┊", "└", "─", "│")
ASCII = Symbols("o", ".", ":", "+", "-", "|")


def plot_curve(
    points: Sequence[tuple[float, float, float | None]],
    knee: float | None,
    width: int = 72,
    height: int = 16,
    symbols: Symbols = UNICODE,
) -> list[str]:
    """Draws (concurrency, goodput/s, fitted goodput/s or None), ascending in concurrency.

    Both axes begin at 0. The measured points cover the fit, and both cover the knee's vertical line. Returns
    height + 2 lines of text, the last with the scale of the concurrency; none for no points.
    """
    if not points:
        return []
    top = max([y for _, y, _ in points] + [fit for *_, fit in points if fit is not None] + [0.0]) or 1.0
    right = max([x for x, *_ in points] + ([knee] if knee is not None else [])) or 1.0
    grid = [[" "] * width for _ in range(height)]

    def put(x: float, y: float, symbol: str) -> None:
        row = height - 1 - min(max(round(y / top * (height - 1)), 0), height - 1)
        grid[row][_column(x, right, width)] = symbol

    if knee is not None:
        for row in grid:
            row[_column(knee, right, width)] = symbols.knee
    for x, y in _between([(x, fit) for x, _, fit in points if fit is not None], right, width):
        put(x, y, symbols.fit)
    for x, y, _ in points:
        put(x, y, symbols.point)

    labels = {0: f"{top:.4g}", height - 1: "0"}
    margin = max(len(label) for label in labels.values()) + 1
    lines = [f"{labels.get(i, ''):>{margin}} {symbols.up}{''.join(row).rstrip()}" for i, row in enumerate(grid)]
    lines.append(" " * (margin + 1) + symbols.corner + symbols.across * width)
    lines.append(" " * (margin + 2) + _scale(right, knee, width))
    return lines


def _column(x: float, right: float, width: int) -> int:
    return min(max(round(x / right * (width - 1)), 0), width - 1)


def _between(fit: Sequence[tuple[float, float]], right: float, width: int) -> list[tuple[float, float]]:
    """The fit at every column between its points, by straight lines."""
    filled = list(fit)
    for (x0, y0), (x1, y1) in pairwise(fit):
        for column in range(_column(x0, right, width) + 1, _column(x1, right, width)):
            x = column / (width - 1) * right
            if x0 < x < x1:
                filled.append((x, y0 + (y1 - y0) * (x - x0) / (x1 - x0)))
    return filled


def _scale(right: float, knee: float | None, width: int) -> str:
    """0 at the left, the largest concurrency at the right, the knee under its line where there is room."""
    line = list("0".ljust(width))
    end = f"{right:.4g}"
    line[width - len(end) :] = end
    if knee is not None:
        text = f"knee {knee:.4g}"
        begin = min(max(_column(knee, right, width) - len(text) // 2, 2), width - len(text))
        if begin + len(text) < width - len(end):
            line[begin : begin + len(text)] = text
    return "".join(line).rstrip()
