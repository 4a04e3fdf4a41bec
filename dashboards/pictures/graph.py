"""The node graph: services in layers, callers on the left."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyArrowPatch, Wedge

from pictures.answers import Answer
from pictures.units import colour, written

RADIUS = 30  # pixels


def layers(nodes: list[str], edges: list[tuple[str, str]]) -> dict[str, int]:
    """Calls between a node and the farthest node that nothing calls; a call that closes a circle adds none."""
    depth = dict.fromkeys(nodes, 0)
    for _ in nodes:
        changed = False
        for source, target in edges:
            below = depth[source] + 1
            if source != target and depth[target] < below < len(nodes):
                depth[target], changed = below, True
        if not changed:
            break
    return depth


def node_graph(axes: Axes, panel: dict[str, Any], found: list[Answer]) -> None:
    """Circles and arrows, with the figures and units of the panel; the red part of a circle is `arc__failed`."""
    nodes = [dict(zip(found[0].columns, row, strict=True)) for row in found[0].rows]
    calls = found[1] if len(found) > 1 else Answer([], [])
    edges = [dict(zip(calls.columns, row, strict=True)) for row in calls.rows]
    depth = layers([node["id"] for node in nodes], [(edge["source"], edge["target"]) for edge in edges])
    width, height = axes.get_xlim()[1], axes.get_ylim()[1]
    places: dict[str, tuple[float, float]] = {}
    for layer in set(depth.values()):
        members = [name for name in depth if depth[name] == layer]
        for nth, name in enumerate(members):
            x = width * (layer + 0.5) / (max(depth.values()) + 1)
            places[name] = (x, height * (1 - (nth + 0.5) / len(members)))
    for edge in edges:
        _arrow(axes, places[edge["source"]], places[edge["target"]], _figures(edge, panel["options"]["edges"]))
    for node in nodes:
        x, y = places[node["id"]]
        axes.add_patch(Circle((x, y), RADIUS, facecolor="white", edgecolor=colour("green"), linewidth=3, zorder=3))
        failed = 360 * (node.get("arc__failed") or 0)
        axes.add_patch(Wedge((x, y), RADIUS + 1, 90 - failed, 90, width=4, color=colour("red"), zorder=4))
        figures = _figures(node, panel["options"]["nodes"])
        axes.text(x, y, figures, ha="center", va="center", fontsize=6.5, zorder=5)
        axes.text(x, y - RADIUS - 12, node["title"], ha="center", va="center", fontsize=8, weight="bold", zorder=5)


def _figures(item: dict[str, Any], units: dict[str, str]) -> str:
    first = written(item.get("mainstat"), units.get("mainStatUnit"))
    return f"{first}\n{written(item.get('secondarystat'), units.get('secondaryStatUnit'))}".strip()


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], figures: str) -> None:
    arrow = FancyArrowPatch(
        start, end, arrowstyle="-|>", mutation_scale=11, shrinkA=28, shrinkB=28, color="#8c959f", linewidth=1
    )
    axes.add_patch(arrow)
    middle = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
    box = {"facecolor": "white", "edgecolor": "none", "pad": 1}
    axes.text(*middle, figures.replace("\n", ", "), ha="center", va="center", fontsize=6.5, color="#57606a", bbox=box)
