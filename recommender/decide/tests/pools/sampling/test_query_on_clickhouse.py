"""What spans and metrics show of samplers, by the real engine."""

from datetime import UTC, datetime
from typing import Any

import pytest

from sluice.clickhouse.connection import READER, ClickHouse
from sluice.pools.sampling import query
from sluice.pools.sampling.verdict import Kind
from sluice_kit.servers.rows import now

pytestmark = pytest.mark.integration

SPANS = ["service", "window", "window_s", "spans", "stated", "adjusted", "tail", "last_bytes", "most_64", "most_63"]
SPANS += ["most_56", "most_32", "most_head", "least_64", "least_head", "version"]
METRICS = ["service", "instance", "side", "pool", "peer", "figure", "metric_rank", "series", "kind", "start_ns"]
METRICS += ["window", "window_s", "points", "value_sum", "value_min", "value_max", "first_ns", "last_ns", "version"]
LATENCY = ["service", "instance", "host", "window", "window_s", "requests", "errors", "ln_sum", "ln_sum2", "latency"]
LATENCY += ["version"]


def at(now_s: int, age_s: int) -> datetime:
    return datetime.fromtimestamp((now_s - age_s) // 10 * 10, UTC)


def spans(now_s: int, age_s: int, service: str, share: float, last_bytes: range, version: int = 1) -> list[object]:
    most = [int(share * 2**63) - 1] * 5
    counts = dict.fromkeys(last_bytes, 2)
    return [service, at(now_s, age_s), 10, 2 * len(counts), 0, 2_048 * len(counts), 0, counts, *most, 5, 7, version]


def counted(
    now_s: int, age_s: int, figure: str, value: int, kind: str = "counter", service: str = "shop"
) -> list[object]:
    ns = (now_s - age_s) * 10**9
    key = [service, "shop-1", "server", "", "", figure, 1, "http.server.request.duration", kind, 0]
    return [*key, at(now_s, age_s), 10, 1, value, value, value, ns, ns, 1]


def samplings(database: Any, services: list[str], now_s: int) -> dict[str, tuple[Kind, float] | None]:
    found = query.samplings(ClickHouse(database.url, READER), services, 1_000 * now_s)
    return {name: None if one is None else (one.kind, round(one.kept or 0, 3)) for name, one in found.items()}


def test_trace_ids_of_the_newest_windows(database: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query, "SERVICES", 2)
    client = database.client("sluice")
    now_s = round(now(client).timestamp()) // 10 * 10
    rows = [
        spans(now_s, 0, "whole", 1.0, range(100)),
        spans(now_s, 0, "tenth", 0.1, range(100)),
        spans(now_s, 200, "begun", 1.0, range(100)),
        spans(now_s, 0, "begun", 0.1, range(100)),
        # Of two windows: 20 + 20 ids below a half.
        spans(now_s, 10, "halves", 0.5, range(20)),
        spans(now_s, 20, "halves", 0.5, range(20, 40)),
        spans(now_s, 0, "few", 0.5, range(7)),
        # An earlier version, and windows that are too old.
        spans(now_s, 0, "newer", 0.1, range(100)),
        spans(now_s, 0, "newer", 1.0, range(110), version=2),
        spans(now_s, 400, "old", 0.1, range(100)),
    ]
    client.insert("service_sampling", rows, column_names=SPANS)
    names = ["whole", "tenth", "begun", "halves", "few", "newer", "old"]
    assert samplings(database, names, now_s) == {
        "tenth": (Kind.SAMPLED, 0.1),
        "begun": (Kind.SAMPLED, 0.1),
        "halves": (Kind.SAMPLED, 0.5),
        "few": (Kind.UNKNOWN, 0),
        "whole": None,
        "newer": None,
    }


def test_requests_that_metrics_count_and_spans_do_not_show(database: Any) -> None:
    client = database.client("sluice")
    now_s = round(now(client).timestamp()) // 10 * 10
    metrics = [
        # 600 requests in two minutes, 60 of them failed.
        *(counted(now_s, age, "requests", 5_000 - 5 * age) for age in (180, 120, 60)),
        *(counted(now_s, age, "failed_requests", 500 - age // 2) for age in (180, 120, 60)),
        # Of the two deltas the second one counts: 400 in a minute.
        counted(now_s, 180, "requests", 900, "delta", "deltas"),
        counted(now_s, 120, "requests", 400, "delta", "deltas"),
        counted(now_s, 60, "requests", 100, service="once"),
    ]
    client.insert("pool_metrics", metrics, column_names=METRICS)
    # 5 spans in each 10 s from 180 s ago to now; every one of a failed request.
    rows = [
        [service, "shop-1", "node", at(now_s, age), 10, 5, 5 if service == "shop" else 0, 0, 0, {}, 5]
        for service in ("shop", "deltas", "once")
        for age in range(180, 0, -10)
    ]
    names = ["shop", "deltas", "once"]
    client.insert("service_sampling", [spans(now_s, 0, name, 1.0, range(100)) for name in names], column_names=SPANS)
    client.insert("container_latency", rows, column_names=LATENCY)
    assert samplings(database, names, now_s) == {
        "shop": (Kind.TAIL_SAMPLED, 0.1),
        "deltas": (Kind.SAMPLED, 0.075),
        "once": None,
    }


def test_counts_that_are_newer_than_the_spans(database: Any) -> None:
    """20 requests a second, each with a span. Metrics come each 10 s, and the spans of the newest 10 s are on their
    way; or each 15 s, so that windows are parted: 300 requests, and 120 + 180 spans in parts of two windows."""
    client = database.client("sluice")
    now_s = round(now(client).timestamp()) // 10 * 10
    metrics = [counted(now_s, age, "requests", 2_000 - 20 * age, service="newer") for age in (20, 10, 0)]
    metrics += [counted(now_s, age, "requests", 2_000 - 20 * age, service="parted") for age in (39, 24)]
    client.insert("pool_metrics", metrics, column_names=METRICS)
    came = {"newer": {30: 200, 20: 200, 10: 50}, "parted": dict.fromkeys(range(0, 70, 10), 200)}
    rows = [
        [service, "shop-1", "node", at(now_s, age), 10, count, 0, 0, 0, {}, count]
        for service, counts in came.items()
        for age, count in counts.items()
    ]
    names = [*came]
    client.insert("service_sampling", [spans(now_s, 0, name, 1.0, range(100)) for name in names], column_names=SPANS)
    client.insert("container_latency", rows, column_names=LATENCY)
    assert samplings(database, names, now_s) == {"newer": None, "parted": None}
