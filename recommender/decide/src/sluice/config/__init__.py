"""The configuration file of the recommender: `load(path)` gives a checked `Config` or raises `ConfigError`."""

from sluice.config.load import ConfigError, load
from sluice.config.model import Backend, Bounds, Config, Limits, Pool, Slo, Upstream

__all__ = ["Backend", "Bounds", "Config", "ConfigError", "Limits", "Pool", "Slo", "Upstream", "load"]
