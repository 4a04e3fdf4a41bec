"""`sluice doctor` of pools without data whose service works all the same: judged by hand, and on the real engine."""

from datetime import UTC, datetime
from typing import Any

import pytest

from sluice.cli.doctor import silent
from sluice.cli.doctor.finding import Diagnosis
from sluice.cli.doctor.silent import CallsOfCaller
from sluice.cli.environment import addresses
from sluice.model.keys import PoolKey
from sluice.pools.names import message_of
from sluice.pools.v1.evidence_pb2 import Explanation
from sluice.pools.v1.occupancy_pb2 import Occupancy
from sluice.pools.v1.pool_size_pb2 import STATE_NO_DATA, STATE_PROVIDED, PoolSize, State, TargetSize
from sluice_kit.servers.rows import now

from .http_server import FixedServer
from .pool_server import PoolServer

CART, DB = PoolKey("cart", "server", ""), PoolKey("cart", "client", "cart-db")


def reported(key: PoolKey, state: State.ValueType = STATE_NO_DATA, *sizes: tuple[int, int | None]) -> PoolSize:
    """sizes: size and threads in use of each target."""
    targets = [
        TargetSize(
            instance=f"cart-{n}", size=size, occupancy=None if busy is None else Occupancy(readings=1, busy=busy)
        )
        for n, (size, busy) in enumerate(sizes)
    ]
    return PoolSize(pool=message_of(key), state=state, sizes=targets)


def test_a_silent_pool_without_evidence_is_idle() -> None:
    assert silent.judge({}, []).text == "no pool without data is in use"
    assert silent.judge({CART: [(0, 64)]}, []).level == "ok"
    assert silent.judge({CART: []}, [CallsOfCaller("mail", "shop", 7, 0)]).level == "ok"


def test_evidence_that_the_service_works() -> None:
    calls = [CallsOfCaller("cart", "shop", 1200, 3), CallsOfCaller("cart", "admin", 20, 0)]
    diagnosis = silent.judge({CART: [(64, 64)], DB: []}, calls)
    assert diagnosis.level == "warn"
    assert diagnosis.text == (
        "cart/server: nothing completed for 30 s, and yet its targets report 64 of 64 in use, and CLIENT spans of "
        "2 min have calls of cart: shop 1,200 (3 failed), admin 20"
    )
    for cause in ("OTEL_EXPORTER_OTLP_ENDPOINT", "4318", "OTEL_SERVICE_NAME", "OTEL_TRACES_SAMPLER"):
        assert cause in diagnosis.remedy
    many = silent.judge({PoolKey(f"s{n}", "server", ""): [(9, 9)] for n in range(8)}, [])
    assert many.text.endswith("; 2 more pools")


@pytest.mark.parametrize(("busy", "size", "in_use"), [(1, 64, False), (2, 64, True), (1, 1, True), (0, 1, False)])
def test_one_thread_may_be_the_readings_own(busy: int, size: int, in_use: bool) -> None:
    assert (silent.judge({CART: [(busy, size), (busy, size)]}, []).level == "warn") is in_use


def test_use_is_of_the_newest_reading_that_there_is(pool_server: PoolServer) -> None:
    """A decision on a pool without data stays, with the occupancy of its time."""
    sizes = [reported(CART, STATE_NO_DATA, (64, 0), (64, None)), reported(DB, STATE_NO_DATA, (10, 10))]
    sizes.append(reported(PoolKey("shop", "server", ""), STATE_PROVIDED, (9, 9)))
    pool_server.explanations = [Explanation(pool_size=size) for size in sizes]
    pool = {"service": "cart", "side": "server", "peer": ""}
    rows = [{"name": name, "instance": name, "pool": pool, "size": 64, "busy": 32} for name in ("cart-0", "cart-1")]
    with FixedServer({"/status": {"targets": rows}}) as actuator:
        where = {"SLUICE_RECOMMENDER": pool_server.address, "SLUICE_CLICKHOUSE": "http://127.0.0.1:1"}
        live = silent.silent(addresses(where | {"SLUICE_ACTUATOR": actuator.url}), 2).text
        assert (
            "cart/server: nothing completed for 30 s, and yet its targets report 64 of 128 in use; cart/client" in live
        )
        assert live.endswith(
            "cart/client/cart-db: nothing completed for 30 s, and yet its targets report 10 of 10 in use"
        )
        decided = silent.silent(addresses(where | {"SLUICE_ACTUATOR": "none"}), 2).text
        assert decided.startswith("cart/client/cart-db: ")
        pool_server.explanations = []
        assert silent.silent(addresses(where), 2) == Diagnosis("ok", "no pool without data is in use")


@pytest.mark.integration
def test_calls_after_the_services_last_span_count(database: Any) -> None:
    client = database.client("sluice")
    now_s = round(now(client).timestamp()) // 10 * 10

    def row(service: str, peer: str, age_s: int, done: int, errors: int = 0) -> list[object]:
        start, side = datetime.fromtimestamp(now_s - age_s, UTC), "client" if peer else "server"
        return [side, service, peer, "i", start, 100, 10**6, 1, 1, 1, done, errors, {}, 1, start]

    rows = [
        row("silent-a", "", 90, 50),
        row("silent-shop", "silent-a", 90, 50),  # before the last span
        row("silent-shop", "silent-a", 30, 40, 4),
        row("silent-shop", "silent-a", 20, 2),
        row("silent-mail", "silent-a", 30, 1),
        row("silent-b", "", 10, 50),
        row("silent-shop", "silent-b", 10, 50),  # it goes on
        row("silent-shop", "silent-c", 30, 9),  # no span of it in 10 min
        row("silent-shop", "silent-c", 300, 9),
        row("silent-shop", "silent-c:8180", 30, 7),
        row("silent-mail", "silent-a.shop.svc:80", 20, 3),
        row("silent-shop", "10.0.0.7:80", 20, 3),
        row("silent-shop", "silent-d", 30, 9),
        row("silent-shop", r"o'\t", 30, 5),
    ]
    columns = (
        "side service peer instance start bucket_ms busy_ns busy_buckets min_busy_ns max_busy_ns completions errors"
    )
    client.insert("windows_10s", rows, column_names=[*columns.split(), "latency", "version", "seen"])
    where = addresses({"SLUICE_CLICKHOUSE": database.url})
    assert silent.calls_of(where, 20, ["silent-a", "silent-b", "silent-c", r"o'\t"]) == [
        CallsOfCaller("silent-a", "silent-shop", 42, 4),
        CallsOfCaller("silent-c", "silent-shop", 16, 0),
        CallsOfCaller(r"o'\t", "silent-shop", 5, 0),
        CallsOfCaller("silent-a", "silent-mail", 4, 0),
    ]
