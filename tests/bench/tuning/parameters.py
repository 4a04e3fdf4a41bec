"""What is tuned: 29 parameters by the names that the documentation of each program has, and how each is set.

The defaults are those of the programs and libraries. Left out is what changes what is promised (durability,
expiry) and what bounds a service for its own safety.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from sluice_kit.applications.storefront import HIKARI_CONNECTIONS, TOMCAT_THREADS, Storefront

Yaml = dict[str, Any]
TARGET, ROOT = "storefront", "nginx"
_PATIENCE = "30s"
"""The core is full under a configuration that cannot serve its users; it has to be taken back all the same."""
_ON_OFF = {"true": "on", "false": "off"}
_HTTP_1_1 = {"true": "1.1", "false": "1.0"}
_YES_NO = {"true": "yes", "false": "no"}


@dataclass(frozen=True)
class Parameter:
    """One of them.

    kind     as in an application's file: kind, and low, high, scale or choices
    pool     whether it is a pool of threads or connections
    pattern  where it stands in the configuration of its program; empty: of a setting of the Go service by `key`, or of
             a target of the actuator
    """

    service: str
    key: str
    kind: Yaml
    default: int | float | bool
    pool: bool = False
    pattern: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    unit: str = ""
    when: str = ""

    @property
    def name(self) -> str:
        return f"{self.service}.{self.key}"

    def declared(self) -> Yaml:
        """As the application's file has it."""
        results = {"name": self.name, "service": self.service, **self.kind, "default": self.default}
        return {**results, "when": {"parameter": self.when, "is": [True]}} if self.when else results

    def setting(self, at: Storefront) -> Yaml:
        """As the actuator's file has it."""
        mapping: Yaml = {"name": self.name}
        if self.pattern:
            mapping |= {"reload": self.service, "file": {"path": str(at.conf(self.service)), "pattern": self.pattern}}
        elif self.service == "storefront":
            url = f"{at.settings}/{self.key}"
            mapping["http"] = {"read": {"url": url}, "write": {"url": url}, "timeout": _PATIENCE}
        else:
            kind = "tomcat" if self.key == "max_threads" else "hikari"
            mapping[kind] = {"url": at.jolokia, "timeout": _PATIENCE}
        if self.values:
            mapping["values"] = dict(self.values)
        if self.unit:
            mapping["unit"] = self.unit
        return mapping


def _integer(low: int, high: int, scale: str = "log") -> Yaml:
    return {"kind": "integer", "low": low, "high": high, "scale": scale}


def _float(low: float, high: float, scale: str = "linear") -> Yaml:
    return {"kind": "float", "low": low, "high": high, "scale": scale}


_BOOLEAN: Yaml = {"kind": "boolean"}


def _nginx(key: str, kind: Yaml, default: int | bool, pattern: str, **more: Any) -> Parameter:
    return Parameter("nginx", key, kind, default, pattern=pattern, **more)


def _postgresql(key: str, kind: Yaml, default: float | bool, unit: str = "", **more: Any) -> Parameter:
    return Parameter("postgresql", key, kind, default, pattern=rf"^{key} = (\S+)", unit=unit, **more)


def _pool(service: str, key: str, low: int, high: int, default: int) -> Parameter:
    return Parameter(service, key, _integer(low, high), default, pool=True)


PARAMETERS: tuple[Parameter, ...] = (
    _nginx("worker_processes", _integer(1, 4, "linear"), 1, r"^worker_processes (\d+);"),
    # Under 256 it would refuse users of this load: each takes two.
    _nginx("worker_connections", _integer(256, 8192), 512, r"^\s*worker_connections (\d+);"),
    _nginx("multi_accept", _BOOLEAN, False, r"^\s*multi_accept (\w+);", values=_ON_OFF),
    _nginx("keepalive_requests", _integer(10, 100_000), 1000, r"^\s*keepalive_requests (\d+);"),
    # By default nginx opens a connection for each request to an upstream.
    _nginx("proxy_http_1_1", _BOOLEAN, False, r"^\s*proxy_http_version (\S+);", values=_HTTP_1_1, pool=True),
    _nginx("keepalive", _integer(1, 128), 16, r"^\s*keepalive (\d+);", when="nginx.proxy_http_1_1", pool=True),
    _nginx("proxy_buffers", _integer(4, 64), 8, r"^\s*proxy_buffers (\d+) 4k;"),
    Parameter("memcached", "threads", _integer(1, 8, "linear"), 4, pattern=r"^-t (\d+)"),
    Parameter("memcached", "memory_mb", _integer(16, 256), 64, pattern=r"^-m (\d+)"),
    Parameter("memcached", "growth_factor", _float(1.05, 2.0), 1.25, pattern=r"^-f (\S+)"),
    Parameter("memcached", "requests_per_event", _integer(1, 1000), 20, pattern=r"^-R (\d+)"),
    Parameter("redis", "io_threads", _integer(1, 4, "linear"), 1, pattern=r"^io-threads (\d+)"),
    Parameter("redis", "hz", _integer(1, 100), 10, pattern=r"^hz (\d+)"),
    Parameter("redis", "dynamic_hz", _BOOLEAN, True, pattern=r"^dynamic-hz (\w+)", values=_YES_NO),
    Parameter("redis", "activerehashing", _BOOLEAN, True, pattern=r"^activerehashing (\w+)", values=_YES_NO),
    _postgresql("shared_buffers", _integer(16, 512), 128, "MB"),
    _postgresql("work_mem", _integer(64, 65536), 4096, "kB"),
    _postgresql("effective_cache_size", _integer(16, 8192), 4096, "MB"),
    _postgresql("random_page_cost", _float(1.0, 8.0), 4.0),
    _postgresql("max_parallel_workers_per_gather", _integer(0, 4, "linear"), 2),
    _postgresql("jit", _BOOLEAN, True, values=_ON_OFF),
    _postgresql("bgwriter_delay", _integer(10, 1000), 200, "ms"),
    Parameter("storefront", "gogc", _integer(25, 1600), 100),
    _pool("storefront", "db_max_open", 1, 150, 150),
    _pool("storefront", "db_max_idle", 1, 150, 2),
    _pool("storefront", "http_max_idle", 1, 128, 2),
    _pool("storefront", "memcache_max_idle", 1, 128, 2),
    _pool("storefront", "redis_pool", 1, 128, 10),
    _pool("orders", "max_threads", 2, TOMCAT_THREADS, TOMCAT_THREADS),
    _pool("orders", "maximum_pool_size", 2, 128, HIKARI_CONNECTIONS),
)

#: A trial is 30 s: programs that begin anew, caches that fill, and a window.
WINDOW = {"warm_up_s": 10, "least_s": 20, "most_s": 20}
QUICK_WINDOW = {"warm_up_s": 2, "least_s": 5, "most_s": 5}


def tuned(pools: bool = True) -> tuple[Parameter, ...]:
    return tuple(parameter for parameter in PARAMETERS if pools or not parameter.pool)


def application(parameters: Collection[Parameter], method: str, seed: int, quick: bool = False) -> Yaml:
    """The file of `./sluice tuning`: p95 of all pages as nginx sees them."""
    return {
        "target": TARGET,
        "root": {"service": ROOT},
        "parameters": [parameter.declared() for parameter in parameters],
        "objective": {"minimize": {"p95_ms": 1}, "slos": {"error_share": 0.02}},
        "method": method,
        "seed": seed,
        "budget": 3 if quick else 15,
        "pairs": 2 if quick else 3,
        "window": QUICK_WINDOW if quick else WINDOW,
    }


def settings(parameters: Collection[Parameter], at: Storefront, recommender: str) -> Yaml:
    """The file of `sluice-actuator tune`."""
    programs = sorted({parameter.service for parameter in parameters if parameter.pattern})
    return {
        "recommender": recommender,
        "target": TARGET,
        "settle": _PATIENCE,
        "state": str(at.folder),
        "parameters": [parameter.setting(at) for parameter in parameters],
        "reloads": [{"name": name, "command": at.restart(name), "timeout": "60s"} for name in programs],
    }
