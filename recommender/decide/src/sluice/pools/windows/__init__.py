"""Turns windows in ClickHouse into samples per pool: one query per control period, for new rows."""

from sluice.pools.windows.collector import Collector
from sluice.pools.windows.rows import PoolWindow
from sluice.pools.windows.window import Window

__all__ = ["Collector", "PoolWindow", "Window"]
