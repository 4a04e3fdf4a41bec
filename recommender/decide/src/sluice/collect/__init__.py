"""Turns windows in ClickHouse into samples per pool: one query per control period for what is new."""

from sluice.collect.collector import Collector
from sluice.collect.rows import Measured
from sluice.collect.whole import Whole
from sluice.collect.window import Window

__all__ = ["Collector", "Measured", "Whole", "Window"]
