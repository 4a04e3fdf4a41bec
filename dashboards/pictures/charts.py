"""Charts with axes: time series and points."""

from datetime import UTC, datetime
from typing import Any

from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, DateFormatter, date2num
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from pictures.answers import Answer, fields, series
from pictures.units import PALETTE, colour, written

MARKS_DASHES = (0, (2, 2))
CHARACTER, LEGEND_LINES = 5.6, 3  # pixels of a character of the legend, and its lines; Grafana scrolls instead


def _axes(axes: Axes, panel: dict[str, Any], unit: str | None) -> None:
    defaults = panel["fieldConfig"]["defaults"]
    axes.grid(color="#e4e7eb", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.tick_params(labelsize=7, length=0, colors="#57606a")
    axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: written(round(value, 9), unit)))
    if defaults.get("min") is not None:
        axes.set_ylim(bottom=defaults["min"])
    if defaults.get("max") is not None:
        axes.set_ylim(top=defaults["max"])


def _legend(axes: Axes) -> None:
    handles, names = axes.get_legend_handles_labels()
    if not names:
        return
    width = axes.get_window_extent().width
    columns = max(int(width / (max(map(len, names)) * CHARACTER + 40)), 1)
    room = LEGEND_LINES * columns
    if len(names) > room:
        handles[room - 1], names[room - 1] = Line2D([], [], linewidth=0), f"and {len(names) - room + 1} more"
    axes.legend(
        handles[:room],
        names[:room],
        loc="upper left",
        bbox_to_anchor=(-0.02, -0.1),
        ncols=columns,
        fontsize=7,
        frameon=False,
        handlelength=1.2,
        columnspacing=1.2,
        borderaxespad=0.2,
    )


def _lines(axes: Axes, panel: dict[str, Any], found: list[Answer]) -> None:
    """Each series of the answers over its first column, as a line or as dots."""
    lines = {name: line for answer in found for name, line in series(panel, answer).items()}
    for nth, (name, (times, values)) in enumerate(lines.items()):
        own = fields(panel, name)
        paint = colour(own["color"]["fixedColor"]) if "color" in own else PALETTE[nth % len(PALETTE)]
        numbers = [float("nan") if value is None else value for value in values]
        step = own.get("custom.lineInterpolation") == "stepAfter"
        target = axes.twinx() if own.get("custom.axisPlacement") == "right" else axes
        if target is not axes:
            _axes(target, {"fieldConfig": {"defaults": own}}, own.get("unit"))
            target.grid(visible=False)
            axes.plot([], [], color=paint, label=name)
        if own.get("custom.fillBelowTo") in lines:
            floor = lines[own["custom.fillBelowTo"]][1]
            low = [float("nan") if value is None else value for value in floor]
            axes.fill_between(times, low, numbers, color=paint, alpha=0.15, step="post" if step else None, linewidth=0)
        dots = own.get("custom.drawStyle") == "points"
        hidden = own.get("custom.hideFrom", {}).get("legend") or target is not axes
        target.plot(
            times,
            numbers,
            color=paint,
            linewidth=0 if dots or own.get("custom.lineWidth") == 0 else 1.1,
            linestyle="--" if own.get("custom.lineStyle", {}).get("fill") == "dash" else "-",
            drawstyle="steps-post" if step else "default",
            marker="." if dots or sum(value is not None for value in values) == 1 else None,
            markersize=own.get("custom.pointSize", 3),
            label=f"_{name}" if hidden else name,
        )


def time_series(
    axes: Axes, panel: dict[str, Any], found: list[Answer], marks: list[tuple[datetime, str]], span: tuple[int, int]
) -> None:
    """Lines over the time range, in epoch ms, with the dashboard's marks and the thresholds of the panel."""
    defaults = panel["fieldConfig"]["defaults"]
    _lines(axes, panel, found)
    if defaults.get("custom", {}).get("thresholdsStyle", {}).get("mode") == "line":
        for threshold in defaults["thresholds"]["steps"][1:]:
            axes.axhline(threshold["value"], color=colour(threshold["color"]), linewidth=0.8, linestyle="--")
    for time, paint in marks:
        at = date2num(time)  # type: ignore[no-untyped-call]
        axes.axvline(at, color=colour(paint), linewidth=0.8, linestyle=MARKS_DASHES)
    moments = [datetime.fromtimestamp(moment / 1000, UTC) for moment in span]
    begin, end = date2num(moments)  # type: ignore[no-untyped-call]
    axes.set_xlim(begin, end)
    locator = AutoDateLocator(maxticks=7)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(DateFormatter("%H:%M"))  # type: ignore[no-untyped-call]
    _axes(axes, panel, defaults.get("unit"))
    _legend(axes)


def trend(axes: Axes, panel: dict[str, Any], found: list[Answer]) -> None:
    """Lines and dots over the numbers of the first column."""
    _lines(axes, panel, found)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    _axes(axes, panel, panel["fieldConfig"]["defaults"].get("unit"))
    x = found[0].columns[0]
    axes.set_xlabel(fields(panel, x).get("custom.axisLabel", x), fontsize=7, color="#57606a", loc="right")
    _legend(axes)


def points(axes: Axes, panel: dict[str, Any], found: list[Answer]) -> None:
    """Points and lines of the series that the panel's options name, of the queries that have rows."""
    for nth, line in enumerate(panel["options"]["series"]):
        x, y = (line[axis]["matcher"]["options"] for axis in ("x", "y"))
        own = fields(panel, y)
        paint = colour(own["color"]["fixedColor"]) if "color" in own else PALETTE[nth]
        for answer in (answer for answer in found if {x, y} <= {*answer.columns}):
            columns, rows = answer.columns, answer.rows
            pairs = [(row[columns.index(x)], row[columns.index(y)]) for row in rows]
            xs, ys = zip(*[pair for pair in pairs if None not in pair], strict=True)
            if own.get("custom.show") == "lines":
                dashed = own.get("custom.lineStyle", {}).get("fill") == "dash"
                axes.plot(
                    xs, ys, color=paint, linewidth=1.1, linestyle="--" if dashed else "-", label=line["name"]["fixed"]
                )
            else:
                axes.scatter(xs, ys, s=14, alpha=0.6, color=paint, label=line["name"]["fixed"])
        if nth == 0:
            axes.set_xlabel(fields(panel, x).get("custom.axisLabel", x), fontsize=7, color="#57606a", loc="right")
    axes.set_xlim(left=0)
    _axes(axes, panel, fields(panel, y).get("unit"))  # last: a limit of the axis ends its scaling
    _legend(axes)
