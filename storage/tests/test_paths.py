"""Views of critical paths: numbers worked out by hand, over windows that were written more than once."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from clickhouse_connect.driver.client import Client

from sluice_kit.servers.rows import MS
from testbed.windows import latency_index

WINDOW = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=2)
ROOT = ["frontend", "GET /", True]
FROM_MS = int(WINDOW.timestamp()) * 1000
RANGE = f"from_ms = {FROM_MS}, until_ms = {FROM_MS + 60_000}"
HALF_BUCKET = 0.0055
LARGEST = 10**38 - 1
OPERATION = ["root_service", "root_operation", "complete"]
EXEMPLARS = ["slowest_ns", "slowest_trace_id", "median_trace_id"]
WAYS = [*OPERATION, "signature", "window_s", "window", "traces", "sum_ns", "sum_ns2", "latency", *EXEMPLARS, "version"]
SUMS = ["self_sum", "self_sum2", "e2e_sum", "e2e_sum2", "self_x_e2e", "upstream_sum", "upstream_sum2"]
SERVICES = [*OPERATION, "service", "window_s", "window", "traces", *SUMS, "self_latency", "upstream_latency", "version"]
WAITS = [
    *("call_upstream_sum", "wait_sum", "blame_sum", "blame_sum2", "blame_x_e2e"),
    *("call_upstream_latency", "blame_latency"),
]


def histogram(*times_ns: int) -> dict[int, int]:
    counts: dict[int, int] = {}
    for ns in times_ns:
        counts[latency_index(ns)] = counts.get(latency_index(ns), 0) + 1
    return counts


def way(signature: str, nth: int, *traces: tuple[int, str], complete: bool = True) -> list[Any]:
    """A row of critical_paths: window number `nth`, traces of (ms, first letter of the id), sorted by ms."""
    times = [ms * MS for ms, _ in traces]
    median = traces[(len(traces) - 1) // 2][1]
    return [
        *["frontend", "GET /", complete, signature, 10, WINDOW + timedelta(seconds=10 * nth), len(times)],
        *[sum(times), sum(ns * ns for ns in times), histogram(*times), times[-1], traces[-1][1] * 32, median * 32],
        len(times),
    ]


def service(name: str, nth: int, *parts: tuple[int, int, int], root: list[Any] = ROOT) -> list[Any]:
    """A row of path_services: window number `nth`, parts of (self, upstream, end to end) in ns."""
    return [
        *[*root, name, 10, WINDOW + timedelta(seconds=10 * nth), len(parts)],
        *[sum(x for x, _, _ in parts), sum(x * x for x, _, _ in parts)],
        *[sum(y for _, _, y in parts), sum(y * y for _, _, y in parts), sum(x * y for x, _, y in parts)],
        *[sum(u for _, u, _ in parts), sum(u * u for _, u, _ in parts)],
        *[histogram(*(x for x, _, _ in parts)), histogram(*(u for _, u, _ in parts)), len(parts)],
    ]


def waited(name: str, nth: int, *parts: tuple[int, int, int, int, int, int]) -> list[Any]:
    """The same, and what waits make of it: parts of (self, upstream, end to end, call upstream, wait, blame) in ns."""
    call_upstream, blame = [part[3] for part in parts], [part[5] for part in parts]
    return [
        *service(name, nth, *(part[:3] for part in parts)),
        *[
            sum(call_upstream),
            sum(part[4] for part in parts),
            sum(blame),
            sum(ns * ns for ns in blame),
        ],
        *[sum(part[5] * part[2] for part in parts), histogram(*call_upstream), histogram(*blame)],
    ]


def insert(client: Client, table: str, *rows: list[Any]) -> None:
    """Each row as a part of its own, twice: before and after a merge."""
    names = WAYS if table == "critical_paths" else [*SERVICES, *WAITS]
    for row in rows:
        client.insert(table, [row], column_names=names[: len(row)])
    client.command(f"OPTIMIZE TABLE {table} FINAL")
    for row in rows:
        client.insert(table, [row], column_names=names[: len(row)])


def named(client: Client, query: str) -> list[dict[str, Any]]:
    return list(client.query(query).named_results())


def test_ways_of_a_root_operation(client: Client) -> None:
    insert(
        client,
        "critical_paths",
        way("frontend > cart", 0, (10, "a")),
        way("frontend > cart", 0, (10, "a"), (20, "b"), (40, "c")),  # a newer version of the same window
        way("frontend > cart", 1, (30, "d"), (80, "e"), (90, "f")),
        way("frontend > mail", 1, (500, "9"), (700, "8")),
        way("cart", 1, (5, "7"), complete=False),
        way("frontend > cart", 6, (9000, "0")),  # after the range
    )
    cart, mail, part = named(client, f"SELECT * FROM v_critical_path_between({RANGE})")
    assert (cart["signature"], cart["traces"], cart["share"]) == ("frontend > cart", 6, 0.75)
    assert cart["mean_ms"] == pytest.approx((10 + 20 + 40 + 30 + 80 + 90) / 6)
    # sorted 10 20 30 40 80 90: the third, and the sixth
    assert cart["p50_ms"] == pytest.approx(30, rel=2 * HALF_BUCKET)
    assert cart["p95_ms"] == cart["p99_ms"] == pytest.approx(90, rel=2 * HALF_BUCKET)
    assert (cart["slowest_ms"], cart["slowest_trace_id"]) == (90, "f" * 32)
    # the windows' medians are 20 (b) and 80 (e): b is nearer to 30
    assert cart["median_trace_id"] == "b" * 32
    assert (mail["signature"], mail["traces"], mail["share"]) == ("frontend > mail", 2, 0.25)
    assert (part["signature"], part["complete"], part["share"]) == ("cart", False, 1.0)


def test_services_on_the_paths_of_a_root_operation(client: Client) -> None:
    # Pairs (1, 10), (2, 30), (3, 20), two in one window and one in the next: 0.5.
    insert(
        client,
        "path_services",
        service("cart", 0, (1, 5, 10)),
        service("cart", 0, (1, 5, 10), (2, 6, 30)),
        service("cart", 1, (3, 7, 20)),
        service("mail", 1, (9, 1, 30)),
        service("cart", 6, (1000, 1, 1)),
    )
    insert(client, "critical_paths", way("frontend > cart", 0, (1, "a"), (1, "b")), way("frontend", 1, *[(1, "c")] * 4))
    cart, mail = named(client, f"SELECT * FROM v_critical_services_between({RANGE}) ORDER BY service")
    assert (cart["service"], cart["traces"], cart["share_of_traces"]) == ("cart", 3, 0.5)
    assert cart["mean_self_ms"] == pytest.approx(2e-6)
    assert cart["share_of_end_to_end"] == pytest.approx(6 / 60)
    assert cart["pearson"] == pytest.approx(0.5, abs=1e-15)
    assert cart["p50_self_ms"] == pytest.approx(2e-6, rel=2 * HALF_BUCKET)
    assert cart["p99_self_ms"] == pytest.approx(3e-6, rel=2 * HALF_BUCKET)
    assert cart["congestion_ratio"] == pytest.approx(1.5, rel=4 * HALF_BUCKET)
    assert cart["mean_upstream_ms"] == pytest.approx(6e-6)
    assert cart["p95_upstream_ms"] == pytest.approx(7e-6, rel=2 * HALF_BUCKET)
    assert (mail["traces"], mail["pearson"]) == (1, None)


def test_what_waits_count_for(client: Client) -> None:
    # Orders takes 1 each time; requests wait 4, 6 and 8 for its threads, of which cart takes three quarters.
    insert(
        client,
        "path_services",
        waited("orders", 0, (1, 9, 20, 5, 4, 2), (1, 9, 30, 3, 6, 3)),
        waited("orders", 1, (1, 9, 25, 1, 8, 3)),
        waited("cart", 0, (7, 10, 20, 10, 0, 10), (17, 10, 30, 10, 0, 22)),
        waited("cart", 1, (12, 10, 25, 10, 0, 18)),
    )
    insert(client, "critical_paths", way("orders > cart", 0, (1, "a"), (1, "b")), way("orders > cart", 1, (1, "c")))
    cart, orders = named(client, f"SELECT * FROM v_critical_services_between({RANGE}) ORDER BY service")
    assert (cart["mean_wait_ms"], orders["mean_wait_ms"]) == (0, pytest.approx(6e-6))
    assert (cart["mean_self_ms"], orders["mean_self_ms"]) == (pytest.approx(12e-6), pytest.approx(1e-6))
    assert (cart["mean_blame_ms"], orders["mean_blame_ms"]) == (pytest.approx(50e-6 / 3), pytest.approx(8e-6 / 3))
    assert (cart["blame_of_end_to_end"], orders["blame_of_end_to_end"]) == (
        pytest.approx(50 / 75),
        pytest.approx(8 / 75),
    )
    # (10, 20), (22, 30), (18, 25) about (50 / 3, 25): 60 / sqrt(224 / 3 x 50)
    assert cart["blame_pearson"] == pytest.approx(60 / (224 / 3 * 50) ** 0.5)
    assert cart["blame_congestion_ratio"] == pytest.approx(22 / 18, rel=4 * HALF_BUCKET)
    assert orders["mean_upstream_ms"] == pytest.approx(9e-6)
    ((above,),) = client.query(
        "SELECT sum(call_upstream_sum) FROM path_services FINAL WHERE service = 'orders'"
    ).result_rows
    assert above == 9


def test_rows_of_a_job_that_knows_no_waits_read_as_if_nobody_had_waited(client: Client) -> None:
    insert(client, "path_services", service("cart", 0, (1, 5, 10), (2, 6, 30)), service("cart", 1, (3, 7, 20)))
    columns = "call_upstream_sum, wait_sum, blame_sum, blame_sum2, blame_x_e2e, call_upstream_latency, blame_latency"
    as_before = "upstream_sum, toUInt64(0), self_sum, self_sum2, self_x_e2e, upstream_latency, self_latency"
    query = "SELECT {} FROM path_services FINAL ORDER BY window"
    assert client.query(query.format(columns)).result_rows == client.query(query.format(as_before)).result_rows
    insert(client, "critical_paths", way("cart", 0, (1, "a"), (1, "b")), way("cart", 1, (1, "c")))
    (cart,) = named(client, f"SELECT * FROM v_critical_services_between({RANGE})")
    assert (cart["blame_pearson"], cart["mean_blame_ms"]) == (cart["pearson"], cart["mean_self_ms"])


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([], None),
        ([(5, 7)], None),
        ([(5, 7), (5, 9), (5, 8)], None),
        ([(1, 7), (2, 7)], None),
        ([(1, 10), (2, 20)], 1.0),
        ([(1, 20), (2, 10)], -1.0),
        ([(1, 10), (2, 30), (3, 20)], 0.5),
        # an hour, give or take a nanosecond: floats see no variance here
        ([(3_600_000_000_000, 3_600_000_000_000), (3_600_000_000_001, 3_600_000_000_001)], 1.0),
        ([(3_600_000_000_001, 3_600_000_000_010)] * 10**5 + [(3_600_000_000_002, 3_600_000_000_030)], 1.0),
    ],
)
def test_pearson(client: Client, pairs: list[tuple[int, int]], expected: float | None) -> None:
    sums = [
        len(pairs),
        sum(x for x, _ in pairs),
        sum(x * x for x, _ in pairs),
        sum(y for _, y in pairs),
        sum(y * y for _, y in pairs),
        sum(x * y for x, y in pairs),
    ]
    arguments = ", ".join(f"toUInt128('{number}')" for number in sums)
    ((got,),) = client.query(f"SELECT pearson({arguments})").result_rows
    assert got == (expected if expected is None else pytest.approx(expected, rel=1e-12))


def test_the_largest_sums_survive(client: Client) -> None:
    """As the job writes them: 2^63 - 1 for sums, 10^38 - 1 for squares; read through FINAL and summed over windows."""
    rows = []
    for nth in (0, 1):
        row = service("cart", nth, (1, 1, 1))
        for name in ("self_sum2", "e2e_sum2", "self_x_e2e", "upstream_sum2"):
            row[SERVICES.index(name)] = LARGEST
        for name in ("self_sum", "e2e_sum", "upstream_sum"):
            row[SERVICES.index(name)] = 2**63 - 1
        rows.append(row)
    insert(client, "path_services", *rows)
    client.command("OPTIMIZE TABLE path_services FINAL")
    stored = client.query(
        "SELECT self_sum2, self_x_e2e, self_sum, sum(self_sum2) OVER () FROM path_services"
    ).result_rows
    assert stored == [(LARGEST, LARGEST, 2**63 - 1, 2 * LARGEST)] * 2
    insert(client, "critical_paths", way("cart", 0, (1, "a"), (1, "b")))
    (cart,) = named(client, f"SELECT mean_self_ms, pearson FROM v_critical_services_between({RANGE})")
    assert cart["mean_self_ms"] == pytest.approx((2**63 - 1) / 1e6)
