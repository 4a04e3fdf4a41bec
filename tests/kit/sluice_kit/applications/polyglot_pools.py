"""The pools of the application of tests/testbed/polyglot: keys, how they are read and set, an actuator's file."""

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests

from sluice_kit.applications.polyglot import TOKEN, Polyglot

TOMCAT = 'Tomcat:type=ThreadPool,name="http*"'
HIKARI = "com.zaxxer.hikari:type=PoolConfig (HikariPool-1)"
HIKARI_POOL = "com.zaxxer.hikari:type=Pool (HikariPool-1)"
LIMIT_S = 10.0
DATABASE = "postgresql"
IN_GO = ("catalogue", "shipping")


@dataclass(frozen=True)
class PoolAt:
    """A pool by its key. kind: of the actuator's block. at: the program and the pool's name, of a handler. small and
    large: sizes that are too small, and far too large, of which one is drawn."""

    service: str
    side: str
    peer: str
    kind: str
    at: tuple[str, str] = ("", "")
    small: tuple[int, ...] = (1, 2)
    large: tuple[int, ...] = (64, 96, 128)

    @property
    def name(self) -> str:
        return f"{self.service}.{self.peer or self.side}"

    def key(self, app: Polyglot) -> dict[str, str]:
        """As spans name it. A database goes by its address, and in spans that name one (of all but Go) its name."""
        peer = self.peer
        if peer == DATABASE:
            server = urlsplit(app.database)
            peer = f"{server.hostname}:{server.port}" + ("" if self.service in IN_GO else server.path)
        return {"service": self.service, "side": self.side} | ({"peer": peer} if peer else {})


POOLS = (
    PoolAt("gateway", "client", DATABASE, "handler", ("gateway", "connections")),
    PoolAt("gateway", "client", "catalogue", "handler", ("gateway", "catalogue"), small=(2, 3)),
    PoolAt("catalogue", "client", DATABASE, "handler", ("catalogue", "connections"), small=(1, 2, 3)),
    PoolAt("cart", "server", "", "handler", ("cart", "threads"), small=(1, 2)),
    PoolAt("cart", "client", DATABASE, "handler", ("cart", "connections")),
    PoolAt("orders", "server", "", "tomcat", small=(1, 2, 3), large=(100, 200)),
    PoolAt("orders", "client", DATABASE, "hikari"),
    PoolAt("shipping", "consumer", "", "handler", ("shipping", "workers"), small=(1,)),
    PoolAt("shipping", "client", DATABASE, "handler", ("shipping", "connections")),
)
Sizes = dict[str, int]
"""By name of the pool."""


def drawn(seed: int) -> Sizes:
    """The same seed draws the same sizes. Each pool is too small or far too large, with equal chances. PostgreSQL has
    300 connections: all pools of large ones together stay within."""
    rng = random.Random(f"sizes/{seed}")
    return {pool.name: rng.choice(rng.choice((pool.small, pool.large))) for pool in POOLS}


def resize(app: Polyglot, sizes: Sizes) -> None:
    for pool in POOLS:
        if pool.name in sizes:
            _set(app, pool, sizes[pool.name])


def in_force(app: Polyglot) -> Sizes:
    return {pool.name: _read(app, pool) for pool in POOLS}


def _handler(app: Polyglot, pool: PoolAt) -> str:
    program, name = pool.at
    return f"http://{app.handlers[program]}/{name}"


def _set(app: Polyglot, pool: PoolAt, size: int) -> None:
    if pool.kind == "handler":
        headers = {"Authorization": f"Bearer {TOKEN}", "Sluice-Request": "1"}
        answer = requests.put(_handler(app, pool), json={"size": size}, headers=headers, timeout=LIMIT_S)
        answer.raise_for_status()
        return
    if pool.kind == "tomcat":
        bean = _tomcat(app)
        # Tomcat refuses fewer threads than it keeps spare: 10, by default.
        spare = min(size, _jolokia(app, {"type": "read", "mbean": bean, "attribute": "minSpareThreads"}))
        for attribute, value in (("minSpareThreads", spare), ("maxThreads", size)):
            _jolokia(app, {"type": "write", "mbean": bean, "attribute": attribute, "value": value})
        return
    idle = {"type": "write", "mbean": HIKARI, "attribute": "MinimumIdle", "value": size}
    most = {"type": "write", "mbean": HIKARI, "attribute": "MaximumPoolSize", "value": size}
    # HikariCP refuses a minimum above its maximum.
    smaller = size < _jolokia(app, {"type": "read", "mbean": HIKARI, "attribute": "MaximumPoolSize"})
    for request in (idle, most) if smaller else (most, idle):
        _jolokia(app, request)
    # It keeps connections beyond a smaller size until they have been idle for ten minutes.
    _jolokia(app, {"type": "exec", "mbean": HIKARI_POOL, "operation": "softEvictConnections"})


def _read(app: Polyglot, pool: PoolAt) -> int:
    if pool.kind == "handler":
        headers = {"Authorization": f"Bearer {TOKEN}", "Sluice-Request": "1"}
        answer = requests.get(_handler(app, pool), headers=headers, timeout=LIMIT_S)
        answer.raise_for_status()
        return int(answer.json()["size"])
    mbean, attribute = (_tomcat(app), "maxThreads") if pool.kind == "tomcat" else (HIKARI, "MaximumPoolSize")
    return int(_jolokia(app, {"type": "read", "mbean": mbean, "attribute": attribute}))


def _tomcat(app: Polyglot) -> str:
    (found,) = _jolokia(app, {"type": "search", "mbean": TOMCAT})
    return str(found)


def _jolokia(app: Polyglot, request: dict[str, Any]) -> Any:
    answer = requests.post(app.jolokia, json=request, timeout=LIMIT_S).json()
    if answer["status"] != 200:  # it answers HTTP 200 to what it refuses, too
        raise RuntimeError(f"{request}: {answer}")
    return answer["value"]


def actuator_file(app: Polyglot, recommender: str, status: str, apply: bool, state: Path) -> dict[str, Any]:
    """The shipped actuator's configuration: all pools, and the CPU limit of each service. status: IP:PORT of pages."""
    return {
        "name": "polyglot",
        "status_address": status,
        "state": str(state),
        "recommender": {"address": recommender, "interval": "1s"},
        "targets": [_target(app, pool, apply) for pool in POOLS],
        "scaling": [
            {"service": name, "cgroup": {"path": str(group.quota)}}
            for name, group in app.cpu.items()
            if name not in ("stores", "storefront")
        ],
    }


def _target(app: Polyglot, pool: PoolAt, apply: bool) -> dict[str, Any]:
    block: dict[str, Any] = {"url": app.jolokia}
    if pool.kind == "handler":
        block = {"url": _handler(app, pool), "token_file": str(app.token)}
    elif pool.kind == "tomcat":
        block["mbean"] = TOMCAT
    # Of one instance, which goes by the name of its spans where that is known.
    return {
        "name": pool.name,
        "pool": pool.key(app),
        "apply": apply,
        "min": 1,
        "max": 200,
        "settle": "10s",
        pool.kind: block,
    }
