"""A panel at its place in the picture."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

from clickhouse_connect.driver.client import Client
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from pictures.answers import WIDTH, Answer, answers, interval_ms
from pictures.boxes import bar_gauge, stat, table, text
from pictures.canvas import DPI, GAP, HEAD, LINE, TITLE, area, lowest
from pictures.charts import points, time_series, trend
from pictures.graph import node_graph
from sluice_kit.fakes.grafana import Scope, expand

DRAWN: dict[str, Callable[[Axes, dict[str, Any], list[Answer]], None]] = {
    "stat": stat,
    "bargauge": bar_gauge,
    "table": table,
    "nodeGraph": node_graph,
}
PLOTTED = {"xychart": points, "trend": trend}


def title_of(panel: dict[str, Any], scope: Scope) -> str:
    """The title with the values of its variables."""
    return expand(panel["title"], scope)


def draw_panel(
    figure: Figure, page: int, panel: dict[str, Any], client: Client, scope: Scope, marks: list[tuple[datetime, str]]
) -> None:
    """Draws the panel on a page of this height in pixels. Raises what a query raises."""
    place = panel["gridPos"]
    x, width = WIDTH * place["x"] / 24 + GAP, WIDTH * place["w"] / 24 - 2 * GAP
    y, height = page - HEAD - LINE * lowest(panel) + GAP, LINE * place["h"] - 2 * GAP
    frame = area(figure, x, y, width, height)
    frame.add_patch(Rectangle((0, 0), width, height, facecolor="white", edgecolor="#d8dde2", clip_on=False))
    frame.text(8, height - TITLE / 2, title_of(panel, scope), fontsize=9, weight="bold", va="center")
    own = replace(scope, interval_ms=interval_ms(scope.until_ms - scope.from_ms, place["w"]))
    found = answers(panel, client, own)
    inner = area(figure, x, y, width, height - TITLE)
    if not found:
        text(inner, _empty(panel))
    elif panel["type"] == "timeseries":
        axes = figure.add_axes(_plot(figure, x, y, width, height))
        time_series(axes, panel, found, marks, (scope.from_ms, scope.until_ms))
    elif panel["type"] in PLOTTED:
        PLOTTED[panel["type"]](figure.add_axes(_plot(figure, x, y, width, height)), panel, found)
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
