"""Pools without data whose service works: its targets are busy, or callers' spans still call it."""

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sluice.cli.doctor.clickhouse import ask
from sluice.cli.doctor.finding import Diagnosis, NoStageError, NotAnsweringError, limited
from sluice.cli.doctor.recommender import listed
from sluice.cli.doctor.targets import CAUSES, Target, read_targets
from sluice.cli.environment import Addresses
from sluice.model.keys import PoolKey
from sluice.pools.names import key_of
from sluice.pools.v1.pool_size_pb2 import STATE_NO_DATA, PoolSize

_SHOWN = 6
_CALLERS = 3
#: Calls that began after the service's own newest spans. A service without spans for 10 min has none at all. Once it
#: sends none, traces do not name it, and the peer is its address. `stock:8180` and `stock.shop.svc:80` are of stock.
_CALLS = """
WITH JSONExtract({services:String}, 'Array(String)') AS services
SELECT callee, caller, sum(c.completions) AS calls, sum(c.errors)
FROM
(
    SELECT
        *, toString(service) AS caller,
        if(has(services, peer), toString(peer), splitByChar('.', splitByChar(':', toString(peer))[1])[1]) AS callee
    FROM v_windows_10s
    WHERE side = 'client' AND start > now() - INTERVAL 2 MINUTE
) AS c
LEFT JOIN
(
    SELECT service, max(start) AS newest FROM v_windows_10s
    WHERE side != 'client' AND has(services, service) AND start > now() - INTERVAL 10 MINUTE
    GROUP BY service
) AS own ON own.service = c.callee
WHERE has(services, c.callee) AND c.start > own.newest + INTERVAL 20 SECOND
GROUP BY callee, caller HAVING calls > 0 ORDER BY calls DESC, callee, caller
"""
#: Threads or connections in use, and the size, of each target of a pool that reports its use.
Use = Sequence[tuple[int, int]]


class CallsOfCaller(NamedTuple):
    """The calls of a service, and those of them that failed, in CLIENT spans of a caller."""

    service: str
    caller: str
    calls: int
    failed: int


def silent(where: Addresses, timeout_s: float) -> Diagnosis:
    sizes = {key_of(size.pool): size for size in listed(where, timeout_s) if size.state == STATE_NO_DATA}
    if not sizes:
        return judge({}, [])
    try:
        live = read_targets(where.actuator, timeout_s)
    except (NotAnsweringError, NoStageError):
        live = []
    use = {key: _use_now(key, live) or _use_decided(size) for key, size in sizes.items()}
    try:
        calls = calls_of(where, timeout_s, sorted({key.service for key in sizes if key.side == "server"}))
    except NotAnsweringError:  # the checks of ClickHouse report it
        calls = []
    return judge(use, calls)


def calls_of(where: Addresses, timeout_s: float, services: Sequence[str]) -> list[CallsOfCaller]:
    """The most calls first. Raises NotAnsweringError."""
    if not services:
        return []
    rows = ask(where, timeout_s, _CALLS, {"services": json.dumps(services)})
    return [
        CallsOfCaller(str(service), str(caller), int(calls), int(failed)) for service, caller, calls, failed in rows
    ]


def judge(use: Mapping[PoolKey, Use], calls: Sequence[CallsOfCaller]) -> Diagnosis:
    """use: of each pool without data. calls: of their services, most first."""
    parts = []
    for key, targets in use.items():
        evidence = []
        # One in use may be the reading's own request.
        if any(busy >= min(2, max(1, size)) for busy, size in targets):
            busy, size = map(sum, zip(*targets, strict=True))
            evidence.append(f"its targets report {busy:,} of {size:,} in use")
        callers = [
            f"{call.caller} {call.calls:,}" + (f" ({call.failed:,} failed)" if call.failed else "")
            for call in calls
            if key.side == "server" and call.service == key.service
        ]
        if callers:
            shown = ", ".join(limited(callers, _CALLERS, "callers"))
            evidence.append(f"CLIENT spans of 2 min have calls of {key.service}: {shown}")
        if evidence:
            parts.append(f"{key}: nothing completed for 30 s, and yet {', and '.join(evidence)}")
    if not parts:
        return Diagnosis("ok", "no pool without data is in use")
    return Diagnosis("warn", "; ".join(limited(parts, _SHOWN, "pools")), f"if the service runs, {CAUSES}")


def _use_now(key: PoolKey, live: Sequence[Target]) -> Use:
    return [(target.busy, target.size or 0) for target in live if target.key == key and target.busy is not None]


def _use_decided(size: PoolSize) -> Use:
    """By the decision, of whose time its figures are."""
    return [(target.occupancy.busy, target.size) for target in size.sizes if target.HasField("occupancy")]
