"""A dashboard as one picture: its rows and panels where their grid positions are."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from clickhouse_connect.driver.client import Client
from matplotlib.figure import Figure

from pictures.answers import WIDTH
from pictures.boxes import GREY
from pictures.canvas import DPI, GAP, HEAD, LINE, PAGE, area, lowest, save
from pictures.panel import draw_panel, title_of
from sluice_kit.fakes.grafana import Scope, expand

SOURCE = "Drawn by Sluice's own harness from the panels' queries, not by Grafana."


def draw(board: dict[str, Any], client: Client, scope: Scope, file: Path) -> None:
    """Writes a PNG of the dashboard as it opens: a collapsed row is its title alone. Raises what a query raises."""
    panels = folded(board["panels"])
    lines = max(map(lowest, panels))
    height = HEAD + LINE * lines + GAP
    figure = Figure(figsize=(WIDTH / DPI, height / DPI), dpi=DPI, facecolor=PAGE)
    whole = area(figure, 0, 0, WIDTH, height)
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
            title = f"{'▸' if inside else '▾'} {title_of(panel, scope)}{after}"
            whole.text(10, y, title, fontsize=10, weight="bold", va="center")
        else:
            draw_panel(figure, height, panel, client, scope, marks)
    save(figure, file)


def folded(panels: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The panels in order, moved up by the lines that collapsed rows above them do not show."""
    found, hidden = [], 0
    for panel in sorted(panels, key=lambda each: (each["gridPos"]["y"], each["gridPos"]["x"])):
        place = {**panel["gridPos"], "y": panel["gridPos"]["y"] - hidden}
        found.append({**panel, "gridPos": place})
        if panel.get("panels"):
            hidden += max(map(lowest, panel["panels"])) - lowest(panel)
    return found


def _marks(board: dict[str, Any], client: Client, scope: Scope) -> list[tuple[datetime, str]]:
    """Time and colour of each annotation."""
    found = []
    for annotation in board["annotations"]["list"]:
        if "rawSql" in annotation.get("target", {}):
            rows = client.query(expand(annotation["target"]["rawSql"], scope)).result_rows
            found += [(row[0], annotation["iconColor"]) for row in rows]
    return found
