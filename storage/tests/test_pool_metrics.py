"""Figures of pools from metrics: levels, rates of counters over windows, resets, ranks, and versions that replace."""

from datetime import UTC, datetime, timedelta

from clickhouse_connect.driver.client import Client

S = 1_000_000_000
START = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=2)
START_NS = round(START.timestamp()) * S
COLUMNS = ["service", "instance", "side", "pool", "peer", "figure", "metric_rank", "series", "kind", "start_ns"]
COLUMNS += ["window", "window_s", "points", "value_sum", "value_min", "value_max", "first_ns", "last_ns", "version"]


def figure(
    client: Client, name: str, at_s: int, *values: int, kind: str = "level", since: int = 0, **key: object
) -> None:
    """Points of one series of shop-1's pool, one second apart, from `at_s` after START. The version is their number."""
    pool, rank, series = key.get("pool", "p"), key.get("rank", 1), key.get("series", "metric")
    first, last = START_NS + at_s * S, START_NS + (at_s + len(values) - 1) * S
    row = ["shop", "shop-1", "client", pool, "db/shop", name, rank, series, kind, since]
    row += [START + timedelta(seconds=at_s // 10 * 10), 10, len(values), 0 if kind == "counter" else sum(values)]
    client.insert("pool_metrics", [[*row, min(values), max(values), first, last, len(values)]], column_names=COLUMNS)


def values(client: Client, name: str) -> dict[int, float | None]:
    """Values by seconds after START, the same before and after merging."""
    query = (
        "SELECT dateDiff('second', {start:DateTime('UTC')}, window) AS s, value "
        "FROM v_pool_metrics_between(from_ms = 0, until_ms = 4102444800000) WHERE figure = {name:String} ORDER BY s"
    )
    parameters = {"start": START, "name": name}
    before = dict(client.query(query, parameters=parameters).result_rows)
    client.command("OPTIMIZE TABLE pool_metrics FINAL")
    assert dict(client.query(query, parameters=parameters).result_rows) == before
    return before


def test_a_level_is_the_mean_of_its_window_and_a_later_version_replaces(client: Client) -> None:
    figure(client, "used", 0, 4)
    figure(client, "used", 0, 4, 8)
    figure(client, "used", 0, 4)
    assert values(client, "used") == {0: 6.0}


def test_a_size_of_none_is_null_and_series_of_one_pool_do_not_add_up(client: Client) -> None:
    figure(client, "size", 0, 10, series="a")
    figure(client, "size", 0, 10, series="b")
    figure(client, "size", 60, 0)
    assert values(client, "size") == {0: 10.0, 60: None}


def test_a_counter_of_agents_that_send_each_minute_has_a_rate(client: Client) -> None:
    """60 more in 60 s: 1 a second. Its start, 30 s before the first point: 30 in 30 s."""
    since = START_NS - 30 * S
    figure(client, "timeouts", 0, 30, kind="counter", since=since)
    figure(client, "timeouts", 60, 90, kind="counter", since=since)
    assert values(client, "timeouts") == {0: 1.0, 60: 1.0}


def test_a_counter_that_was_reset_has_no_rate_until_it_grows(client: Client) -> None:
    """The process began again: 90, then 10. The sender gives no start."""
    figure(client, "timeouts", 0, 90, kind="counter")
    figure(client, "timeouts", 60, 10, kind="counter")
    figure(client, "timeouts", 120, 40, kind="counter")
    assert values(client, "timeouts") == {120: 0.5}


def test_a_gap_is_not_bridged(client: Client) -> None:
    figure(client, "timeouts", 0, 10, kind="counter")
    figure(client, "timeouts", 160, 90, kind="counter")
    assert values(client, "timeouts") == {}


def test_deltas_are_of_their_window_and_times_are_seconds(client: Client) -> None:
    """3 s of waiting in 10 s: 0.3 requests wait on average."""
    figure(client, "wait_time", 0, 3 * S, kind="delta")
    (value,) = values(client, "wait_time").values()
    assert value == 0.3


def test_the_metric_of_the_lowest_rank_counts(client: Client) -> None:
    figure(client, "used", 0, 7, rank=3, series="old")
    figure(client, "used", 0, 5, rank=1, series="new")
    figure(client, "used", 0, 9, rank=1, series="(more)")
    assert values(client, "used") == {0: 5.0}
