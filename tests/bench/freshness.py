"""How old a fine window is when its last version reaches ClickHouse, while spans arrive as time goes by."""

import time

from bench import spans_topic
from bench.cluster import RUN, Cluster
from bench.made_spans import Shape

SPANS_PER_S = 5_000.0
WARM_UP_S, SECONDS = 20.0, 40.0
SETTLED_S = 10.0


def freshness(up: Cluster) -> list[tuple[str, str]]:
    """Rows for the table. `written` of a row is ClickHouse's own clock at its last version."""
    up.fresh_taskmanager()
    spans_topic.renew(up.kafka)
    job = up.submit(RUN, "concurrency")
    begun = time.time()
    spans_topic.trickle(up.kafka, Shape(spans_per_s=SPANS_PER_S), WARM_UP_S + SECONDS)
    time.sleep(SETTLED_S)
    up.cancel(job)
    window = (begun + WARM_UP_S, begun + WARM_UP_S + SECONDS)
    at = f"age of a window at its last write, {SPANS_PER_S:,.0f} spans/s"
    return [
        (f"{at}, server side (bar: median 2000 ms)", _ages(up, "server", window)),
        (f"{at}, client side, peers named by their addresses", _ages(up, "client", window)),
    ]


def _ages(up: Cluster, side: str, window: tuple[float, float]) -> str:
    begin, end = window
    ages = up.query(
        "SELECT arrayStringConcat(arrayMap(age -> toString(round(age)), quantiles(0.5, 0.95)(age_ms)), ' ') FROM ("
        "SELECT toUnixTimestamp64Milli(written) - toUnixTimestamp64Milli(bucket) - bucket_ms AS age_ms"
        " FROM windows FINAL"
        f" WHERE side = '{side}' AND completions > 0 AND bucket BETWEEN {begin:.0f} AND {end:.0f})"
    )
    median, late = ages.split()
    return f"median {median} ms, 95th percentile {late} ms"
