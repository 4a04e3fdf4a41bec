"""SCG and SCT as published, on all pools of the application, by the windows in ClickHouse.

Every target is applied as it comes, and a full pool grows, as `bench/controllers/estimated.py` does in simulation. A
decider runs beside and sizes nothing: its thresholds count (the SLO less what is upstream, Sora 3.3).
"""

import math
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from sluice.pools.estimate.growth import as_published
from sluice.pools.estimate.models import estimators
from sluice.pools.estimate.samples import Samples
from sluice_kit.applications.polyglot_pools import POOLS, PoolAt, Sizes, in_force, resize
from sluice_kit.applications.polyglot_scene import Scene
from sluice_kit.machine.beside import beside

PERIOD_S, WINDOW_S, SETTLE_S, BUCKET_S = 15.0, 60, 3, 0.1
MOST = 200
_ROWS = """
    SELECT bucket, toUnixTimestamp64Milli(bucket) AS at_ms,
        sumIf(busy_ns, {own}) AS busy_ns, sumIf(completions, {own}) AS done,
        sumIf(completions, {judges}) AS judged, sumIf(latency_within(latency, {threshold_ms}), {judges}) AS good
    FROM v_windows WHERE ({own} OR {judges})
    AND bucket < (SELECT max(bucket) FROM windows) - INTERVAL {settle} SECOND
    AND bucket >= (SELECT max(bucket) FROM windows) - INTERVAL {whole} SECOND
    GROUP BY bucket HAVING busy_ns > 0 ORDER BY bucket
"""


def query(pool: PoolAt, key: Mapping[str, str], threshold_ms: float) -> str:
    """The windows of a pool, and of the spans that judge it: callers', for threads; its service's, for connections."""
    own = f"(service = '{key['service']}' AND side = '{key['side']}' AND peer = '{key.get('peer', '')}')"
    judges = {
        "server": f"(side = 'client' AND peer = '{pool.service}')",
        "client": f"(side IN ('server', 'consumer') AND service = '{pool.service}')",
        "consumer": own,
    }[pool.side]
    return _ROWS.format(
        own=own, judges=judges, threshold_ms=threshold_ms, settle=SETTLE_S, whole=SETTLE_S + WINDOW_S
    )  # fmt: skip


def samples(rows: Sequence[Mapping[str, Any]], courses: Sequence[tuple[float, int]]) -> Samples | None:
    """courses: (Unix s, size in force from then on), in order. None: nothing was judged.

    Worked: 50 ms of busy time in a bucket of 100 ms with 2 good of 3: concurrency 0.5, goodput 20/s.
    """
    if not sum(int(row["judged"]) for row in rows):
        return None
    at = np.array([int(row["at_ms"]) / 1e3 for row in rows])
    since, sizes = np.array([course[0] for course in courses]), np.array([float(course[1]) for course in courses])
    column = {name: np.array([float(row[name]) for row in rows]) for name in ("busy_ns", "done", "judged", "good")}
    newest = np.searchsorted(since, at, side="right") - 1
    return Samples(
        concurrency=column["busy_ns"] / (1e9 * BUCKET_S),
        goodput_per_s=column["good"] / BUCKET_S,
        throughput_per_s=column["done"] / BUCKET_S,
        completions=column["judged"],
        limit=np.where(newest >= 0, sizes[np.maximum(newest, 0)], math.nan),
        instances=1,
        caller_judged=True,
        start_ms=(at * 1e3).astype(np.int64),
    )


@contextmanager
def published(here: Scene, model: str) -> Iterator[None]:
    estimator, end = estimators()[model], threading.Event()
    now = time.time()
    courses: dict[str, list[tuple[float, int]]] = {
        name: [(now - WINDOW_S, size)] for name, size in in_force(here.app).items()
    }

    def period() -> Sizes:
        thresholds = {
            (size.pool.service, size.pool.peer, size.pool.side): size.threshold.ToMilliseconds()
            for size in here.answers()
            if size.HasField("threshold")
        }
        wanted: Sizes = {}
        for pool in POOLS:
            key = pool.key(here.app)
            found = [
                ms
                for (service, peer, _), ms in thresholds.items()
                if (service, peer) == (key["service"], key.get("peer", ""))
            ]
            if not found:
                continue
            seen = samples(here.stack.rows(query(pool, key, found[0])), courses[pool.name])
            size = courses[pool.name][-1][1]
            target = as_published(estimator.estimate(seen), seen, size).target
            if target is not None and (target := min(max(target, 1), MOST)) != size:
                wanted[pool.name] = target
        return wanted

    def follow() -> None:
        while not end.wait(PERIOD_S):
            if time.time() - now < WINDOW_S:
                continue  # before a whole window the papers have nothing to say
            wanted = period()
            resize(here.app, wanted)
            for name, size in wanted.items():
                courses[name].append((time.time(), size))

    with beside(follow, end):
        yield
