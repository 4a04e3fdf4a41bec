"""Pools that the decider finds: their windows are in memory, and a real ClickHouse has what spans show of them."""

from collections.abc import Sequence
from time import perf_counter

from bench.loop_scale.windows import Drawn, Held
from sluice.clickhouse.connection import READER, ClickHouse
from sluice.config import Config
from sluice.model.keys import PoolKey
from sluice.pools.discovery import query
from sluice.pools.discovery.candidate import Load
from sluice.pools.section import PoolsSection
from sluice_kit.servers.clickhouse import ClickHouse as Server

# Each service has connections to two peers, or to none, and the threads of its server; in the order of their keys.
FILL = """
    INSERT INTO windows_10s (* EXCEPT (written))
    SELECT side, service, peer, 'instance-1', fromUnixTimestamp({from_s:Int64} + 10 * (number % {rows:UInt32})), 100,
        20000000000, 100, 1, 300000000, 100, 0, map(1280, 100), 1, now()
    FROM numbers({services:UInt32} * {parts:UInt32} * {rows:UInt32})
    ARRAY JOIN [leftPad(toString(intDiv(number, {parts:UInt32} * {rows:UInt32})), 5, '0')] AS name
    ARRAY JOIN [concat('service-', name)] AS service
    ARRAY JOIN [3 - {parts:UInt32} + intDiv(number, {rows:UInt32}) % {parts:UInt32}] AS part
    ARRAY JOIN [if(part = 2, 'server', 'client')] AS side
    ARRAY JOIN [['cache', 'db', ''][part + 1]] AS peer
"""
HISTORY_S = 21_600
"""Rows of six hours are stored: a partition has a day, half of it on average."""


def named(pools: int) -> Config:
    """The configuration that names the pools that will be found, in their order."""
    given: list[dict[str, str]] = []
    for number in range(pools // 3):
        service = f"service-{number:05}"
        given += ({"service": service, "side": "client", "peer": peer} for peer in ("cache", "db"))
        given.append({"service": service, "side": "server"})
    return Config.model_validate({"pools": given})


def fill(server: Server, pools: int, until_ms: int, parts: int = 3, history_s: int = HISTORY_S) -> None:
    """parts: pools of a service; 1: its server's threads."""
    given = {
        "from_s": until_ms // 1_000 - history_s,
        "rows": history_s // 10,
        "services": pools // parts,
        "parts": parts,
    }
    server.client("sluice").command(FILL, parameters=given)


class Finding(Held):
    """As `Held`, with the candidates of a database, and how long the newest reading of them took."""

    def __init__(self, drawn: list[Drawn], url: str) -> None:
        super().__init__(drawn)
        self._database = ClickHouse(url, READER)
        self.looks_s: list[float] = []

    def loads(self, config: PoolsSection, now_ms: int) -> Sequence[Load]:
        begun = perf_counter()
        loads = query.loads(self._database, now_ms, config.stored_ms)
        self.looks_s.append(perf_counter() - begun)
        return loads

    def courses(self, config: PoolsSection, pools: Sequence[PoolKey], now_ms: int) -> list[query.CandidateCourse]:
        return query.courses(self._database, pools, now_ms, config.stored_ms)
