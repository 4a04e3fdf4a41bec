"""Values as Grafana writes them, and its colours."""

from datetime import datetime
from math import isfinite
from numbers import Real
from typing import Any

COLOURS = {
    "green": "#56a64b",
    "light-green": "#96d98d",
    "yellow": "#e0b400",
    "orange": "#ff780a",
    "red": "#e02f44",
    "blue": "#3274d9",
    "purple": "#a352cc",
    "text": "#24292e",
}
PALETTE = ("#56a64b", "#e0b400", "#3274d9", "#ff780a", "#e02f44", "#a352cc", "#37872d", "#b877d9", "#0a50a1", "#c4162a")
# Unit: largest size first, each with its factor and suffix.
SCALES: dict[str, tuple[tuple[float, str], ...]] = {
    "ms": ((86_400e3, " d"), (3600e3, " h"), (60e3, " min"), (1e3, " s"), (1, " ms")),
    "s": ((86_400, " d"), (3600, " h"), (60, " min"), (1, " s"), (1e-3, " ms")),
    "bytes": ((2**30, " GiB"), (2**20, " MiB"), (2**10, " KiB"), (1, " B")),
    "reqps": ((1e6, "M req/s"), (1e3, "K req/s"), (1, " req/s")),
    "cps": ((1e6, "M c/s"), (1e3, "K c/s"), (1, " c/s")),
    "percentunit": ((0.01, " %"),),
    "short": ((1e9, " Bil"), (1e6, " Mil"), (1e3, " K"), (1, "")),
}


def colour(name: str | None) -> str:
    """The colour of a name in a dashboard's JSON; another text is a colour already."""
    return COLOURS.get(name or "text", name or "")


def written(value: Any, unit: str | None) -> str:
    """Text of one value. Numbers have three digits at least, and no more decimals."""
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, Real):
        return f"{value:%Y-%m-%d %H:%M:%S}" if isinstance(value, datetime) else _text(value)
    number = float(value)
    if not isfinite(number):
        return str(value)
    scale = SCALES.get(unit or "", ((1, ""),))
    factor, suffix = next((size for size in scale if abs(number) >= size[0]), scale[-1])
    return f"{_digits(number / factor)}{suffix}"


def _digits(number: float) -> str:
    if number == round(number) or abs(number) >= 1000:
        return f"{number:.0f}"
    return f"{number:.3g}" if abs(number) >= 0.001 else "0"


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def step_colour(value: float | None, thresholds: dict[str, Any]) -> str:
    """The colour of the highest threshold that the value reaches."""
    reached = [
        step["color"]
        for step in thresholds.get("steps", [])
        if step["value"] is None or (value is not None and value >= step["value"])
    ]
    return colour(reached[-1] if reached else None)
