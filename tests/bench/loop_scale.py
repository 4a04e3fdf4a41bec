"""A control period of 10,000 pools x 600 buckets: from rows to published answers, beside the bar of 15 s."""

import time

import numpy as np

from fakes import FakeHistory
from humps import BUCKETS, draw_samples, draw_service
from sluice.collect import Window
from sluice.collect.newest import measure_newest
from sluice.collect.rows import Rows
from sluice.config import Config, PoolKey
from sluice.estimate.threshold import Asked, UpstreamTime
from sluice.serve.loop import ControlLoop
from sluice.serve.sizes import Sizes
from sluice.serve.store import Store
from sluice.serve.workers import Workers

POOLS, QUICK_POOLS = 10_000, 1_000
# Different curves; the others repeat them.
CURVES = 100
BAR_S = 15.0
BUCKET_MS = 100
NOW_MS = 1_800_000_000_000


class Rowed:
    """Stands in for the collector: the rows are in memory, as after the query."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.spent_s = 0.0

    def upstream(self, config: Config, now_ms: int) -> dict[Asked, UpstreamTime]:
        return {}

    def collect(self, config: Config, thresholds_ns: dict[PoolKey, int], now_ms: int) -> Window:
        begun = time.perf_counter()
        found = measure_newest(self.rows, config.pools, config, NOW_MS)
        self.spent_s = time.perf_counter() - begun
        return Window(dict(zip((pool.key for pool in config.pools), found, strict=True)))


class Timed(Workers):
    spent_s = 0.0

    def run(self, jobs):  # type: ignore[no-untyped-def]
        begun = time.perf_counter()
        outcomes = super().run(jobs)
        self.spent_s = time.perf_counter() - begun
        return outcomes


def rows_of(pools: int) -> Rows:
    """One instance each, judged by callers; sorted by pool, as the query gives them."""
    rng = np.random.default_rng(1)
    services = [draw_service(rng) for _ in range(CURVES)]
    drawn = [draw_samples(rng, service, highest=3.0 * service.best()) for service in services]
    start = NOW_MS - BUCKET_MS * np.arange(BUCKETS, 0, -1)

    def column(one_of) -> np.ndarray:  # type: ignore[no-untyped-def, type-arg]
        each = [np.asarray(one_of(samples)).astype(np.int64) for samples in drawn]
        return np.concatenate([each[i % CURVES] for i in range(pools)])

    good = column(lambda s: np.rint(s.goodput_per_s / 10))
    done = column(lambda s: s.completions)
    return Rows(
        pool=np.repeat(np.arange(pools), BUCKETS),
        bucket_start_ms=np.tile(start, pools),
        busy_ns=column(lambda s: np.maximum(s.concurrency * BUCKET_MS * 1e6, 1)),
        own_completions=done,
        own_good=good,
        instances=np.ones(pools * BUCKETS, dtype=np.int64),
        judge_completions=done,
        judge_good=good,
    )


def run(quick: bool = False) -> list[tuple[str, str]]:
    """Rows (what, figure) for the table."""
    pools = QUICK_POOLS if quick else POOLS
    config = Config.model_validate(
        {"pools": [{"service": f"service-{i:05}", "side": "server", "threshold": "100ms"} for i in range(pools)]}
    )
    collector, workers, store, sizes = Rowed(rows_of(pools)), Timed(), Store(), Sizes()
    clock = [NOW_MS]
    loop = ControlLoop(config, collector, FakeHistory(), store, sizes, lambda: clock[0], workers=workers)
    figures = []
    try:
        # The first also starts the processes and learns every curve, the second compares all with their memory.
        for name in ("first period", "period"):
            clock[0] += 15_000
            begun = time.perf_counter()
            loop.step()
            spent = time.perf_counter() - begun
            figures.append((f"{name}: {pools:,} pools x {BUCKETS} buckets", f"{spent:.1f} s"))
    finally:
        workers.close()
    states = [answer.content.state for answer in store.newest()]
    rest = spent - collector.spent_s - workers.spent_s
    return [
        *figures,
        ("of it: rows to samples", f"{collector.spent_s:.1f} s"),
        ("of it: estimates, in processes", f"{workers.spent_s:.1f} s"),
        ("of it: the rest", f"{rest:.1f} s"),
        ("pools with a size", f"{states.count('PROVIDED') + states.count('GUARDED'):,}"),
        (f"bar of {BAR_S:.0f} s / period", f"{BAR_S * pools / POOLS / spent:.2f}"),
    ]
