"""The configuration file of the recommender: `load(path)` gives a checked `Config` or raises `ConfigError`."""

from sluice.config.load import ConfigError, load
from sluice.config.model import Bounds, Config, Pool, PoolKey, Side, Slo

__all__ = ["Bounds", "Config", "ConfigError", "Pool", "PoolKey", "Side", "Slo", "load"]
