"""From windows in ClickHouse to samples per pool: one query per control period, whatever the number of pools."""

from sluice.collect.collector import Collector, Window
from sluice.collect.rows import Measured

__all__ = ["Collector", "Measured", "Window"]
