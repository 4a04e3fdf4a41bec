"""A dashboard as one picture: its rows and panels where their grid positions are."""

import io
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from clickhouse_connect.driver.client import Client
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from PIL import Image, ImageColor

from pictures.answers import WIDTH, Answer, answers, interval_ms
from pictures.boxes import GREY, bar_gauge, stat, table, text
from pictures.charts import points, time_series
from pictures.graph import node_graph
from pictures.units import COLOURS, PALETTE
from sluice_kit.fakes.grafana import Scope, expand

LINE, HEAD, TITLE, GAP = (
    38,
    58,
    26,
    6,
)  # pixels: the grid's line, the page's head, a panel's title, around it
DPI, SHADES, PAGE = 100, 13, "#f4f5f5"
SOURCE = "Drawn by Sluice's own harness from the panels' queries, not by Grafana."
DRAWN: dict[str, Callable[[Axes, dict[str, Any], list[Answer]], None]] = {
    "stat": stat,
    "bargauge": bar_gauge,
    "table": table,
    "nodeGraph": node_graph,
}


def draw(board: dict[str, Any], client: Client, scope: Scope, file: Path) -> None:
    """Writes a PNG of the dashboard as it opens: a collapsed row is its title alone. Raises what a query raises."""
    panels = folded(board["panels"])
    lines = max(map(_lowest, panels))
    height = HEAD + LINE * lines + GAP
    figure = Figure(figsize=(WIDTH / DPI, height / DPI), dpi=DPI, facecolor=PAGE)
    whole = _area(figure, 0, 0, WIDTH, height)
    begin, end = (datetime.fromtimestamp(moment / 1000, UTC) for moment in (scope.from_ms, scope.until_ms))
    whole.text(10, height - 18, board["title"], fontsize=13, weight="bold", va="center")
    whole.text(WIDTH - 10, height - 18, f"{begin:%Y-%m-%d %H:%M:%S} to {end:%H:%M:%S} UTC", ha="right", va="center")
    chosen = [f"{name}: {value}" for name, value in scope.variables.items() if "source" not in name]
    whole.text(10, height - 42, "   ".join(chosen), fontsize=8, va="center", color=GREY)
    whole.text(WIDTH - 10, height - 42, SOURCE, fontsize=8, ha="right", va="center", color=GREY)
    marks = _marks(board, client, scope)
    for panel in panels:
        if panel["type"] == "row":
            inside = len(panel["panels"])
            after = f" ({inside} {'panel' if inside == 1 else 'panels'})" if inside else ""
            y = height - HEAD - LINE * (panel["gridPos"]["y"] + 0.5)
            title = f"{'▸' if inside else '▾'} {_title(panel, scope)}{after}"
            whole.text(10, y, title, fontsize=10, weight="bold", va="center")
        else:
            _panel(figure, height, panel, client, scope, marks)
    _save(figure, file)


def folded(panels: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The panels in order, moved up by the lines that collapsed rows above them do not show."""
    found, hidden = [], 0
    for panel in sorted(panels, key=lambda each: (each["gridPos"]["y"], each["gridPos"]["x"])):
        place = {**panel["gridPos"], "y": panel["gridPos"]["y"] - hidden}
        found.append({**panel, "gridPos": place})
        if panel.get("panels"):
            hidden += max(map(_lowest, panel["panels"])) - _lowest(panel)
    return found


def _lowest(panel: dict[str, Any]) -> int:
    return int(panel["gridPos"]["y"] + panel["gridPos"]["h"])


def _area(figure: Figure, x: float, y: float, width: float, height: float) -> Axes:
    """An area without axes, in pixels of the picture."""
    total = figure.get_size_inches() * DPI
    axes = figure.add_axes((x / total[0], y / total[1], width / total[0], height / total[1]))
    axes.set_axis_off()
    axes.set(xlim=(0, width), ylim=(0, height))
    return axes


def _title(panel: dict[str, Any], scope: Scope) -> str:
    return expand(panel["title"], scope)


def _marks(board: dict[str, Any], client: Client, scope: Scope) -> list[tuple[datetime, str]]:
    """Time and colour of each annotation."""
    found = []
    for annotation in board["annotations"]["list"]:
        if "rawSql" in annotation.get("target", {}):
            rows = client.query(expand(annotation["target"]["rawSql"], scope)).result_rows
            found += [(row[0], annotation["iconColor"]) for row in rows]
    return found


def _panel(
    figure: Figure, page: int, panel: dict[str, Any], client: Client, scope: Scope, marks: list[tuple[datetime, str]]
) -> None:
    place = panel["gridPos"]
    x, width = WIDTH * place["x"] / 24 + GAP, WIDTH * place["w"] / 24 - 2 * GAP
    y, height = page - HEAD - LINE * _lowest(panel) + GAP, LINE * place["h"] - 2 * GAP
    frame = _area(figure, x, y, width, height)
    frame.add_patch(Rectangle((0, 0), width, height, facecolor="white", edgecolor="#d8dde2", clip_on=False))
    frame.text(8, height - TITLE / 2, _title(panel, scope), fontsize=9, weight="bold", va="center")
    own = replace(scope, interval_ms=interval_ms(scope.until_ms - scope.from_ms, place["w"]))
    found = answers(panel, client, own)
    inner = _area(figure, x, y, width, height - TITLE)
    if not found:
        text(inner, _empty(panel))
    elif panel["type"] in ("timeseries", "xychart"):
        axes = figure.add_axes(_plot(figure, x, y, width, height))
        if panel["type"] == "timeseries":
            time_series(axes, panel, found, marks, (scope.from_ms, scope.until_ms))
        else:
            points(axes, panel, found)
    elif panel["type"] in DRAWN:
        DRAWN[panel["type"]](inner, panel, found)
    else:
        text(inner, f"This harness draws no panel of the type {panel['type']}.")


def _plot(figure: Figure, x: float, y: float, width: float, height: float) -> tuple[float, float, float, float]:
    """The part of a panel within its axes, as shares of the picture."""
    total = figure.get_size_inches() * DPI
    left, right, below = 62, 46, 72
    return (
        (x + left) / total[0],
        (y + below) / total[1],
        (width - left - right) / total[0],
        (height - TITLE - below - 6) / total[1],
    )


def _empty(panel: dict[str, Any]) -> str:
    if panel["type"] == "alertlist":
        return "Grafana lists the alerts that fire here."
    if any("expr" in target for target in panel["targets"]):
        return "From Prometheus, which this picture does not ask."
    return str(panel["fieldConfig"]["defaults"].get("noValue", "No data"))


def _save(figure: Figure, file: Path) -> None:
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
