"""The configuration file of the recommender: `load(path)` returns a checked `Config` or raises `ConfigError`."""

from sluice.config.load import load
from sluice.config.model import Config
from sluice.document import ConfigError
from sluice.pools.section import Backend, Bounds, Pool, Slo, Upstream

__all__ = ["Backend", "Bounds", "Config", "ConfigError", "Pool", "Slo", "Upstream", "load"]
