"""The decider's reading of critical services by the real engine, with shares worked out by hand."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sluice.clickhouse.connection import READER, ClickHouse
from sluice.pools.critical.localizations import SQL, TraceRoot
from sluice.pools.period.critical_services import reader
from testbed.windows import latency_index

pytestmark = pytest.mark.integration

MS = 10**6
NAMES = "root_service root_operation complete {} window_s window traces {} version"
SERVICES = NAMES.format("service", "self_sum self_sum2 e2e_sum e2e_sum2 self_x_e2e self_latency").split()
PATHS = NAMES.format("signature", "latency").split()


def path(service: str, own_ms: list[int], whole_ms: list[int], at: datetime) -> list[Any]:
    """Each pair ten times."""
    x, y = [each * MS for each in own_ms * 10], [each * MS for each in whole_ms * 10]
    squares = (sum(a * a for a in x), sum(y), sum(b * b for b in y), sum(a * b for a, b in zip(x, y, strict=True)))
    latency = {latency_index(ms * MS): 10 * own_ms.count(ms) for ms in own_ms}
    return ["shop", "POST /orders", True, service, 10, at, len(x), sum(x), *squares, latency, len(x)]


def test_each_operation_has_its_services_and_their_share_of_its_p95(database: Any) -> None:
    """Of 52 ms, the p95 of 20, 32, 40 and 52, cart takes 25 + 16 x 520 / 544 (test_critical.py)."""
    at = datetime.now(UTC).replace(microsecond=0) - timedelta(seconds=20)
    whole = [20, 32, 40, 52]
    client = database.client("sluice")
    rows = [path("shop", [10, 12, 10, 12], whole, at), path("cart", [10, 20, 30, 40], whole, at)]
    client.insert("path_services", rows, column_names=SERVICES)
    latency = {latency_index(ms * MS): 10 for ms in whole}
    rows = [["shop", "POST /orders", True, "shop > cart", 10, at, 40, latency, 40]]
    client.insert("critical_paths", rows, column_names=PATHS)
    found = reader(ClickHouse(database.url, READER))()
    assert found.keys() == {TraceRoot("shop", "POST /orders")}
    localization = found[TraceRoot("shop", "POST /orders")]
    assert (localization.traces, localization.critical) == (40, "cart")
    assert localization.p95_ms == pytest.approx(52, rel=0.011)
    assert localization.ranking[0].share_of_p95 == pytest.approx((25 + 16 * 520 / 544) / 52, rel=0.011)


def test_what_is_usual_is_the_median_of_the_windows_before(database: Any) -> None:
    """In seven windows before, of 20 traces each, cart takes 10 ms five times, and 90 ms once; once no path has it:
    median of 0, 10, 10, 10, 10, 10, 90. Now it takes 40 ms. Shop takes 30 as ever."""
    client, now = database.client("sluice"), datetime.now(UTC).replace(microsecond=0)
    for back, cart in enumerate((40, 10, 10, 0, 90, 10, 10, 10)):
        at, whole = now - timedelta(seconds=20 + 60 * bool(back) + 10 * back), 30 + cart
        rows = [path("shop", [30, 30], [whole, whole], at)]
        rows += [path("cart", [cart, cart], [whole, whole], at)] if cart else []
        client.insert("path_services", rows, column_names=SERVICES)
        row = ["shop", "POST /orders", True, "shop", 10, at, 20, 20 * whole * MS, {latency_index(whole * MS): 20}, 20]
        client.insert("critical_paths", [row], column_names=[*PATHS[:7], "sum_ns", *PATHS[7:]])
    columns = client.query(SQL, parameters={"service": "", "operation": "", "seconds": 60}).named_results()
    assert {row["service"]: (row["usual_ms"], row["usual_e2e_ms"]) for row in columns} == {
        "cart": (pytest.approx(10), pytest.approx(40)),
        "shop": (pytest.approx(30), pytest.approx(40)),
    }


def test_rows_of_other_days_are_not_read(database: Any) -> None:
    """30 days are kept, in a partition each."""
    client, now = database.client("sluice"), datetime.now(UTC).replace(microsecond=0)
    latency = {latency_index(20 * MS): 1}
    for days in (0, 5, 10):
        at = now - timedelta(seconds=20, days=days)
        client.insert("path_services", [path("shop", [10], [20], at)], column_names=SERVICES)
        rows = [["shop", "POST /orders", True, "shop", 10, at, 1, latency, 1]]
        client.insert("critical_paths", rows, column_names=PATHS)
    parameters = {"service": "", "operation": "", "seconds": 60}
    planned = client.query(f"EXPLAIN ESTIMATE {SQL}", parameters=parameters).named_results()
    read = {row["table"]: row["rows"] for row in planned}
    assert (read["path_services"], read["critical_paths"]) == (2, 2)  # for now, and for what is usual


def test_an_empty_database_has_none(database: Any) -> None:
    assert reader(ClickHouse(database.url, READER))() == {}
