"""The configuration file of the recommender: `load(path)` returns a checked `Config` or raises `ConfigError`."""

from sluice.config.load import ConfigError, load
from sluice.config.model import Backend, Bounds, Config, Pool, Slo, Upstream

__all__ = ["Backend", "Bounds", "Config", "ConfigError", "Pool", "Slo", "Upstream", "load"]
