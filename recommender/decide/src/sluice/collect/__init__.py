"""From windows in ClickHouse to samples per pool: one query per control period for what is new."""

from sluice.collect.collector import Collector, Window
from sluice.collect.rows import Measured

__all__ = ["Collector", "Measured", "Window"]
