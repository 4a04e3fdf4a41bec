"""Loads of a real application: six bursts out of public series, and two steps.

`rates.csv` has windows of NASA-HTTP (1995, a point of 60 s) and of a stream of tweets (2021, a point of 10 s),
compressed in time to a point a second for 720 s, with the peak at 1. They are real rates, and not the papers' series,
which are not published. `nasa_60s_burst1` has the edge of an outage.
"""

import csv
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from ..shapes import Repeating

LENGTH = 720.0
SERIES = (
    "twitter_10s_burst1",
    "twitter_10s_burst2",
    "twitter_10s_burst3",
    "nasa_60s_burst1",
    "nasa_60s_burst2",
    "nasa_60s_burst3",
)
LOW = 0.3
"""Share of the most, on the other side of a step."""


def _read() -> dict[str, Repeating]:
    with Path(__file__).with_name("rates.csv").open() as file:
        rows = list(csv.DictReader(file))
    return {name: Repeating(LENGTH, [(float(row["t_s"]), float(row[name])) for row in rows]) for name in SERIES}


STEPS = {
    "step_up": Repeating(LENGTH, [(0, LOW), (LENGTH / 3, LOW), (LENGTH / 3 + 1, 1.0), (LENGTH, 1.0)]),
    "step_down": Repeating(LENGTH, [(0, 1.0), (2 * LENGTH / 3, 1.0), (2 * LENGTH / 3 + 1, LOW), (LENGTH, LOW)]),
}
RATES: Mapping[str, Repeating] = MappingProxyType(_read() | STEPS)
