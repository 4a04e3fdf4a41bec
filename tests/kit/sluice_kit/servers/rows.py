"""A handful of rows in every table: two minutes of a small shop, up to now."""

import math
from datetime import UTC, datetime, timedelta
from typing import Any

from clickhouse_connect.driver.client import Client

from testbed.windows import latency_index

SECONDS = 120
MS = 1_000_000
BUCKET_MS = 100
CART = ("cart", "server", "")
CATALOGUE = ("catalogue", "client", "catalogue-db")


def now(client: Client) -> datetime:
    """The server's clock."""
    at: datetime = client.query("SELECT now64(3, 'UTC')").result_rows[0][0]
    return at.replace(tzinfo=UTC)


def rows(client: Client, query: str) -> list[dict[str, Any]]:
    """What a query returns, by the names of its columns."""
    return list(client.query(query).named_results())


def insert_shop(client: Client, end: datetime) -> None:
    """Fills every table with what two minutes of the demo shop before `end` leave there.

    cart's concurrency goes 1..8 and its callers see 20 ms up to 4 in flight, 300 ms above.
    """
    _windows(client, end)
    _edges(client, end)
    _trees(client, end)
    _paths(client, end)
    _counts(client, end)
    _losses(client, end)
    _latencies(client, end)
    _data_sizes(client, end)
    _left_out(client, end)
    _clocks(client, end)
    _sampling(client, end)
    _resources(client, end)
    _pool_metrics(client, end)
    _candidates(client, end)
    _critical(client, end)
    _recommendations(client, end)
    _beliefs(client, end)
    _actuations(client, end)
    _events(client, end)
    _subsets(client, end)
    _tuning(client, end)


def _insert(client: Client, table: str, columns: str, rows: list[list[Any]]) -> None:
    client.insert(table, rows, column_names=columns.split())


def _windows(client: Client, end: datetime) -> None:
    first = end - timedelta(seconds=SECONDS)
    rows = []
    for nth in range(SECONDS * 1000 // BUCKET_MS):
        bucket = first + timedelta(milliseconds=BUCKET_MS * nth)
        level = 1 + nth % 8
        latency_ms = 20.0 if level <= 4 else 300.0
        for side, service, peer, instance, in_flight, ms in (
            ("client", "frontend", "cart", "frontend-0", level + 1, latency_ms),
            ("server", "cart", "", "cart-0", level, 15.0),
            ("client", "cart", "cart-db", "cart-0", level / 2, 5.0),
            ("client", "frontend", "catalogue", "frontend-0", 2, 12.0),
            ("server", "catalogue", "", "catalogue-0", 2, 10.0),
            ("client", "catalogue", "catalogue-db", "catalogue-0", 1, 4.0),
        ):
            histogram = {latency_index(round(ms * MS)): level}
            busy_ns = round(in_flight * BUCKET_MS * 1e6)
            rows.append(
                [side, service, peer, instance, bucket, BUCKET_MS, busy_ns, level, level // 8, histogram, level]
            )
    names = "side service peer instance bucket bucket_ms busy_ns completions errors latency version"
    _insert(client, "windows", names, rows)


def _ten_seconds(end: datetime) -> list[datetime]:
    """Starts of the 10 s windows that have ended, oldest first."""
    last = end.replace(second=end.second // 10 * 10, microsecond=0) - timedelta(seconds=10)
    return [last - timedelta(seconds=10 * nth) for nth in reversed(range(SECONDS // 10))]


def _edges(client: Client, end: datetime) -> None:
    pairs = [("frontend", "cart"), ("frontend", "catalogue"), ("cart", "cart-db"), ("catalogue", "catalogue-db")]
    rows = [
        [caller, callee, window, 10, 400, 4, {latency_index(20 * MS): 390, latency_index(300 * MS): 10}, 400]
        for window in _ten_seconds(end)
        for caller, callee in pairs
    ]
    _insert(client, "call_edges", "caller callee window window_s calls errors latency version", rows)
    names = "caller caller_instance callee callee_instance window window_s calls version"
    calls = [["frontend", "frontend-0", "cart", "cart-0", window, 10, 400, 400] for window in _ten_seconds(end)]
    _insert(client, "container_calls", names, calls)


def _trees(client: Client, end: datetime) -> None:
    """Of 40 requests in a window 30 read the cart and the catalogue at once, 10 one after the other."""
    root = '{"service":"frontend","operation":"GET /","stages":%s}'
    cart, catalogue = '{"service":"cart","operation":"read"}', '{"service":"catalogue","operation":"list"}'
    trees = [(root % f"[[{cart},{catalogue}]]", 30), (root % f"[[{cart}],[{catalogue}]]", 10)]
    rows = [
        ["frontend", "GET /", window, 10, tree, traces, traces]
        for window in _ten_seconds(end)
        for tree, traces in trees
    ]
    _insert(client, "call_trees", "root_service root_operation window window_s tree traces version", rows)


def _paths(client: Client, end: datetime) -> None:
    """In each window 9 requests of 20 ms (cart takes 12 of them) and one of 300 ms (cart 200), and a late part."""
    root = ["frontend", "GET /", True]
    ways, services, counts = [], [], []
    for window in _ten_seconds(end):
        times = {latency_index(20 * MS): 9, latency_index(300 * MS): 1}
        squares = (9 * 20**2 + 300**2) * MS**2
        exemplars = [300 * MS, "f" * 32, "1" * 32]
        ways.append([*root, "frontend > cart", 10, window, 10, 480 * MS, squares, times, *exemplars, 10])
        for service, (usual, slow), (above, above_slow) in (
            ("frontend", (8, 100), (0, 0)),
            ("cart", (12, 200), (8, 100)),
        ):
            own = [(9 * usual + slow) * MS, (9 * usual**2 + slow**2) * MS**2]
            upstream = [(9 * above + above_slow) * MS, (9 * above**2 + above_slow**2) * MS**2]
            product = (9 * usual * 20 + slow * 300) * MS**2
            own_times = {latency_index(usual * MS): 9, latency_index(slow * MS): 1}
            upstream_times = {latency_index(above * MS): 9, latency_index(above_slow * MS): 1} if above else {-1: 10}
            services.append(
                [
                    *root,
                    service,
                    10,
                    window,
                    10,
                    *own,
                    480 * MS,
                    squares,
                    product,
                    *upstream,
                    own_times,
                    upstream_times,
                    10,
                ]
            )
        counts += [["closed_quiet", "frontend", window, 10, 40, 10]]
        counts += [[cause, "cart", window, 1, 2, 1] for cause in ("closed_quiet", "late", "incomplete")]
    names = "root_service root_operation complete signature window_s window traces sum_ns sum_ns2 latency"
    _insert(client, "critical_paths", f"{names} slowest_ns slowest_trace_id median_trace_id version", ways)
    names = "root_service root_operation complete service window_s window traces self_sum self_sum2 e2e_sum e2e_sum2"
    _insert(
        client,
        "path_services",
        f"{names} self_x_e2e upstream_sum upstream_sum2 self_latency upstream_latency version",
        services,
    )
    _insert(client, "trace_counts", "cause service received traces spans version", counts)


def _counts(client: Client, end: datetime) -> None:
    rows = []
    for received in _ten_seconds(end):
        written = received + timedelta(seconds=10, milliseconds=700)
        for job in ("concurrency", "call_graph"):
            rows.append([job, "accepted", "cart", received, 0, 4000, 4000 * 250, 9, written])
            rows.append([job, "accepted_cut", "cart", received, 0, 1000, 1000 * 350, 9, written])
            rows.append([job, "ends_before_start", "cart", received, 0, 3, 0, 3, written])
            rows.append([job, "repeated_message", "cart", received, 0, 50, 0, 1, written])
            rows.append([job, "malformed_message", "", received, 1, 0, 0, 1, written])
    _insert(client, "ingest_counts", "job outcome service received messages spans emit_lag_ms version written", rows)


def _losses(client: Client, end: datetime) -> None:
    """Two rows that ClickHouse refused, one of them twice, and 40 records that were gone before they were read."""
    rows = [
        [
            "clickhouse",
            "windows",
            "not_encodable",
            "cart|server||cart-0",
            1,
            "no place for -1",
            end - timedelta(seconds=s),
        ]
        for s in (60, 30)
    ]
    rows.append(["clickhouse", "windows", "not_encodable", "cart|client|db|cart-0", 1, "no place for -2", end])
    _insert(client, "rejected_rows", "store table reason key rows detail at", rows)
    gap = ["sluice-streaming", "otlp_spans", 1, 1000, 1040, end, 1, end]
    names = "flink_job topic partition first_missing first_read received version written"
    _insert(client, "offset_gaps", names, [gap])


def _latencies(client: Client, end: datetime) -> None:
    """100 requests of 20 ms in each window of cart-0, 12 of them its own."""
    names = "service instance host window window_s requests errors ln_sum ln_sum2 latency version"
    for table, ms in (("container_latency", 20), ("container_own_time", 12)):
        ln = math.log(ms * MS)
        moments = [100 * round(1e9 * ln), 100 * round(1e9 * ln * ln)]
        rows = [
            ["cart", "cart-0", "node-1", window, 10, 100, 1, *moments, {latency_index(ms * MS): 100}, 100]
            for window in _ten_seconds(end)
        ]
        _insert(client, table, names, rows)


def _data_sizes(client: Client, end: datetime) -> None:
    """In each window 100 calls of catalogue to its database, of 20 rows and 2,000 bytes each; cart says bytes alone."""
    names = "side service peer instance window window_s row_spans row_sum byte_spans byte_sum version"
    rows: list[list[object]] = []
    for window in _ten_seconds(end):
        rows.append(["client", "catalogue", "catalogue-db", "catalogue-0", window, 10, 100, 2_000, 100, 200_000, 200])
        rows.append(["server", "cart", "", "cart-0", window, 10, 0, 0, 50, 25_000, 50])
    _insert(client, "data_sizes", names, rows)


def _left_out(client: Client, end: datetime) -> None:
    """In one window: 300 probes of cart of 2 ms each, 100 spans of it within others, and 50 waits of catalogue. A proxy
    has 40 of the spans that count."""
    names = "side service peer operation action rule window window_s spans duration_ns version"
    window = _ten_seconds(end)[0]
    rows: list[list[object]] = [
        ["server", "cart", "", "GET /healthz", "leave_out", "probe-path", window, 10, 300, 300 * 2 * MS, 300],
        ["server", "cart", "", "", "sidecar", "envoy", window, 10, 40, 40 * 30 * MS, 40],
        ["server", "cart", "", "GET /cart", "nested", "nested", window, 10, 100, 100 * 30 * MS, 100],
        [
            "client",
            "catalogue",
            "catalogue-db",
            "pg-pool.connect",
            "waiting",
            "acquire",
            window,
            10,
            50,
            50 * 4 * MS,
            50,
        ],
    ]
    _insert(client, "spans_left_out", names, rows)


def _clocks(client: Client, end: datetime) -> None:
    """What cart-0 sends comes 200 ms after its end at least, 1.2 s at most; the clock of catalogue-0 is 1 s ahead."""
    names = "service instance window window_s spans least_ms sum_ms version"
    rows: list[list[object]] = []
    for window in _ten_seconds(end):
        rows.append(["cart", "cart-0", window, 10, 1_000, 200, 700_000, 1_000])
        rows.append(["catalogue", "catalogue-0", window, 10, 100, -800, -30_000, 100])
    _insert(client, "instance_clocks", names, rows)


def _sampling(client: Client, end: datetime) -> None:
    """cart's spans are all there; a tenth of catalogue's traces was kept, as their spans say."""
    names = "service window window_s spans stated adjusted tail last_bytes most_64 most_63 most_56 most_32 most_head"
    whole, of_all = [2**63 - 1] * 5, dict.fromkeys(range(256), 4)
    rows: list[list[object]] = []
    for window in _ten_seconds(end):
        rows.append(["cart", window, 10, 1_024, 0, 1_024**2, 0, of_all, *whole, 0, 0, 1_024])
        rows.append(["catalogue", window, 10, 1_024, 1_024, 10 * 1_024**2, 0, of_all, *whole, 0, 0, 1_024])
    _insert(client, "service_sampling", f"{names} least_64 least_head version", rows)


def _resources(client: Client, end: datetime) -> None:
    """node-1 is 75 % idle; cart-0 uses half a core."""
    rows = []
    for window in _ten_seconds(end):
        at = round(window.timestamp()) * 10**9
        for role, instance, series, value in (
            ("host_cpu_idle", "", "system.cpu.utilization cpu=cpu0,state=idle", 750_000_000),
            ("container_cpu", "cart-0", "container.cpu.usage", 500_000_000),
        ):
            rows.append([role, "node-1", instance, 1, series, "level", 0, window, 10, 1, *[value] * 3, at, at, 1])
    names = (
        "role host instance metric_rank series kind start_ns window window_s points value_sum value_min value_max "
        "first_ns last_ns version"
    )
    _insert(client, "resource_metrics", names, rows)


def _pool_metrics(client: Client, end: datetime) -> None:
    """cart-0 has 64 threads in Tomcat."""
    metric, pool, rows = "tomcat.thread.limit", "http-nio-8080", []
    for window in _ten_seconds(end)[::6]:
        at = round(window.timestamp()) * 10**9
        key = ["cart", "cart-0", "server", pool, "", "size", 1, f"{metric} tomcat.thread.pool.name={pool}", "level"]
        rows.append([*key, 0, window, 10, 1, 64, 64, 64, at, at, 1])
    names = (
        "service instance side pool peer figure metric_rank series kind start_ns window window_s points value_sum "
        "value_min value_max first_ns last_ns version"
    )
    _insert(client, "pool_metrics", names, rows)


def _candidates(client: Client, end: datetime) -> None:
    """Metrics have the size of cart's threads, and nothing has that of catalogue's connections."""
    names = "service side peer at found_by found_at why concurrency instances size size_from seen"
    pool = [*CART, end, "METRICS", end, "metrics of its service had its size", 8.0, 1, 64, "METRICS", end]
    none = ["catalogue", "client", "db", end, "", None, "no actuator and no metric has its size", 1.0, 1, None, "", end]
    _insert(client, "pool_candidates", names, [pool, none])


def _critical(client: Client, end: datetime) -> None:
    """Cart holds up the frontend."""
    names = "root_service root_operation service at rank critical traces p95_ms share_of_p95 blame_ms correlation"
    at = end.replace(second=end.second // 30 * 30, microsecond=0)
    rows: list[list[object]] = [
        ["frontend", "GET /cart", "cart", at, 1, True, 600, 80.0, 0.7, 40.0, 0.9],
        ["frontend", "GET /cart", "frontend", at, 2, False, 600, 80.0, 0.3, 15.0, 0.2],
    ]
    _insert(client, "critical_services", names, rows)


def _recommendations(client: Client, end: datetime) -> None:
    rows = []
    for nth in range(SECONDS // 15):
        at = end - timedelta(seconds=SECONDS - 15 * nth - 14)
        lease, data_until = at + timedelta(seconds=45), at - timedelta(milliseconds=1800)
        learnt = nth >= 2
        answer = ["LEARNING", "HELD", "HOLD", 64, None, None, None, None, 0.0]
        if learnt:
            answer = ["PROVIDED", "CURVE", "APPLY", 64, 6, 5, 8, 6, 0.8]
        rows.append(
            [
                *CART,
                at,
                *answer,
                250.0,
                "scg",
                ["KNEE"] if learnt else ["FEW_SAMPLES"],
                600,
                data_until,
                lease,
                2 if learnt else 1,
                *([30.0, 0.5, 40.0] if learnt else [None] * 3),
                1,
                128,
            ]
        )
        rows.append(
            [
                *CATALOGUE,
                at,
                "UNSATURATED",
                "HELD",
                "APPLY",
                8,
                8,
                None,
                None,
                None,
                0.3,
                250.0,
                "scg",
                ["STILL_RISING"],
                600,
                data_until,
                lease,
                1,
                *[None] * 3,
                1,
                1_000,
            ]
        )
    names = (
        "service side peer at state basis action current target lower_bound upper_bound unguarded_target confidence "
        "threshold_ms model reasons buckets newest_bucket valid_until revision asked_per_s in_time best_per_s "
        "least most"
    )
    _insert(client, "recommendations", names, rows)


def _beliefs(client: Client, end: datetime) -> None:
    """An older belief of cart's threads, which knew less, and the newest of each pool."""
    names = "service side peer at sizes expected_per_s lower_per_s upper_per_s knee best upper seconds cpu_limit_cores"
    curve = [[1, 2, 4, 8, 16], [10, 20, 40, 60, 55], [9, 18, 35, 50, 40], [11, 22, 45, 70, 80]]
    rows: list[list[object]] = [
        [*CART, end - timedelta(minutes=20), [1], [10], [5], [20], 1, 1, 1, 5, 2],
        [*CART, end - timedelta(seconds=5), *curve, 5, 6, 8, 100, 2],
        [*CATALOGUE, end - timedelta(seconds=5), *curve, 5, 6, 8, 100, 1],
    ]
    _insert(client, "pool_beliefs", names, rows)


def _actuations(client: Client, end: datetime) -> None:
    target = ["cart.threads", "cart-0", "actuator-0"]

    def ago(seconds: int) -> datetime:
        return end - timedelta(seconds=seconds)

    rows: list[list[Any]] = [
        [*CART, ago(110), *target, "OBSERVED", None, 64, 64, 0, ""],
        [*CART, ago(95), *target, "OBSERVED", None, 64, 64, 0, ""],
        [*CART, ago(60), *target, "APPLIED", 6, 64, 6, 2, ""],
        [*CART, ago(30), *target, "OBSERVED", None, 6, 6, 2, ""],
    ]
    names = "service side peer at target_name instance actuator outcome requested previous read_back revision detail"
    _insert(client, "actuations", names, rows)


def _events(client: Client, end: datetime) -> None:
    """cart got a CPU limit of 2 cores, a release, and a pause of its threads."""
    ago = [end - timedelta(seconds=seconds) for seconds in (50, 40, 20)]
    rows: list[list[Any]] = [
        ["cart", ago[0], 2.0, None, "", "kubernetes"],
        ["cart", ago[1], None, None, "1.4", "kubernetes"],
    ]
    _insert(client, "scaling_events", "service at cpu_limit_cores replicas version source", rows)
    _insert(client, "pool_pauses", "service side peer at paused by why", [[*CART, ago[2], True, "ada", "a drill"]])


def _subsets(client: Client, end: datetime) -> None:
    """Two revisions of one container's subset; the first was taken up, the second refused. A plan
    predicts 10 ms for the first half of the windows, and another 16 ms for the second."""
    columns = "upstream instance downstream at state strategy endpoints addresses weights reasons revision recorded"
    first, then = end - timedelta(seconds=60), end - timedelta(seconds=10)
    pair = ["frontend", "frontend-0", "cart"]
    _insert(
        client,
        "subsets",
        columns,
        [
            [*pair, first, "LEARNING", "microns", ["cart-0"], ["10.0.0.1:80"], [1], ["START"], 1, first],
            [
                *pair,
                then,
                "PROVIDED",
                "microns",
                ["cart-0", "cart-1"],
                ["10.0.0.1:80", "10.0.0.2:80"],
                [2, 1],
                [],
                2,
                then,
            ],
        ],
    )
    _insert(
        client,
        "subset_deliveries",
        "upstream instance downstream at outcome revision client detail by request_id received",
        [
            [*pair, first, "APPLIED", 1, "frontend~frontend-0", "", "frontend", "1", first],
            [*pair, then, "REFUSED", 2, "frontend~frontend-0", "no such zone", "frontend", "2", then],
        ],
    )
    names = "application service version learnt basis held_out mu_error sigma_error pair_error recorded"
    learnt = ["default", "cart", round(first.timestamp() * 1000), first, "XGBoost of 2140 samples", 640]
    _insert(client, "latency_models", names, [[*learnt, 0.06, 0.1, 0.07, then]])
    windows = _ten_seconds(end)
    predicted = [
        ["default", "frontend", "cart", windows[0], 0.95, 10, 9, 11, 2, 1, 2, 10, None, None, None, None],
        ["default", "frontend", "cart", windows[6], 0.95, 16, 9, 11, 2, 1, 2, 10, 0, 1, 0, 1.0],
    ]
    names = "application upstream downstream at percentile predicted_ms best_ms fully_connected_ms quota least most"
    _insert(client, "subset_pairs", f"{names} rate_per_s following not_following unknown fixed_share", predicted)


def _tuning(client: Client, end: datetime) -> None:
    """Session `shop`: the default takes 120 ms. Trial 2 takes 60 ms, but its repeat failed; trial 3 takes 90 ms, and a
    repeat is in flight. An earlier session had the name an hour ago."""
    names = "session number purpose parameters verdict value lower upper excess why confirms place asked_at told_at"
    good: list[object] = ["SEARCH", {"cart.threads": "64"}, "GOOD", 120.0, 110.0, 130.0, None, "", None, 0]
    rows: list[list[object]] = [
        [0, *good],
        [1, "SEARCH", {"cart.threads": "4"}, "UNSAFE", None, None, None, 0.2, "p99_ms 600 of 500", None, 1],
        [2, "SEARCH", {"cart.threads": "8"}, "GOOD", 60.0, 55.0, 65.0, None, "", None, 2],
        [3, "SEARCH", {"cart.threads": "16"}, "GOOD", 90.0, 84.0, 96.0, None, "", None, 3],
        [4, "WINNER", {"cart.threads": "8"}, "FAILED", None, None, None, None, "the target refuses 8", 2, 4],
        [5, "WINNER", {"cart.threads": "16"}, "", None, None, None, None, "", 3, None],
    ]
    times = [end - timedelta(seconds=100 - 15 * number) for number in range(len(rows) + 1)]
    trials: list[list[object]] = [
        ["shop", *row, times[nth], times[nth + 1] if row[-1] is not None else None, end, times[nth + 1]]
        for nth, row in enumerate(rows)
    ]
    hour = end - timedelta(hours=1)
    trials.append(["shop", 0, *good[:2], "GOOD", 10.0, *good[4:], hour, hour, hour, hour])
    trials.append(["shop", 0, *good[:2], "", *[None] * 4, "", None, None, times[0], None, end, times[0]])
    _insert(client, "tuning_trials", f"{names} due_at recorded", trials)
