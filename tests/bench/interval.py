"""The automatic sampling interval against fixed 100 ms: humps over time, and the shop's two pools (Sora 3.3)."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bench.estimators import regret
from humps import Floats, draw_service
from sluice.collect.intervals import interval_for, measure_over
from sluice.collect.latency import last_index_within
from sluice.collect.rows import Ints, Rows
from sluice.pools.estimate.models import estimators_at
from testbed.presets.shop import CART_THREADS, CATALOGUE_CONNECTIONS, THRESHOLD_MS, shop
from testbed.simulation import Simulation
from testbed.spans import Span
from testbed.sweep import judges, measure
from testbed.windows import windows

FINEST_MS = 10
FIXED_MS = 100
MODEL = "scg"
WINDOW_MS = 60_000
# Period of the load (s), time in which it forgets its jitter (s), completions beside those of `draw_service`.
PACES = ((20.0, 40.0), (3.0, 8.0), (0.6, 1.5))
JITTERS = (0.05, 0.5)
RATES = (0.2, 1.0, 5.0)
SHOP: Mapping[str, tuple[int, ...]] = {
    CART_THREADS: (4, 6, 8, 9, 10, 11, 12, 13, 14, 16, 20),
    CATALOGUE_CONNECTIONS: (3, 4, 5, 6, 7, 8, 9, 10, 12, 16),
}
OTHERS: Mapping[str, Mapping[str, int]] = {CART_THREADS: {}, CATALOGUE_CONNECTIONS: {CART_THREADS: 12}}


@dataclass(frozen=True)
class Pair:
    """One set of data: what each interval loses, None where it names no size; and the interval that was chosen."""

    auto: float | None
    fixed: float | None
    chosen_ms: int


def run(quick: bool) -> list[tuple[str, str]]:
    """Rows (what, figure) for the table."""
    rows = []
    for rate in RATES:
        pairs = [
            synthetic(seed, pace, jitter, rate)
            for pace in PACES
            for jitter in JITTERS
            for seed in range(5 if quick else 60)
        ]
        rows += _rows(f"humps, {rate:g} x the rate", pairs)
    for pool in SHOP:
        rows += _rows(f"shop, {pool}", shop_pairs(pool, range(1, 3 if quick else 9), seconds=20 if quick else 60))
    return rows


def _rows(what: str, pairs: Sequence[Pair]) -> list[tuple[str, str]]:
    both = np.array([(pair.auto, pair.fixed) for pair in pairs if pair.auto is not None and pair.fixed is not None])
    more = both[:, 0] - both[:, 1]
    error = more.std(ddof=1) / np.sqrt(len(more))
    answered = [sum(getattr(pair, name) is not None for pair in pairs) for name in ("auto", "fixed")]
    chosen = ", ".join(f"{ms} ms {n}" for ms, n in sorted(Counter(pair.chosen_ms for pair in pairs).items()))
    return [
        (f"{what}: mean regret, auto and {FIXED_MS} ms", f"{both[:, 0].mean():.2%}, {both[:, 1].mean():.2%}"),
        (f"{what}: auto less {FIXED_MS} ms, two standard errors", f"{more.mean():+.2%} +- {2 * error:.2%}"),
        (f"{what}: answered of {len(pairs)}, auto and {FIXED_MS} ms", f"{answered[0]}, {answered[1]}"),
        (f"{what}: chosen", chosen),
    ]


def synthetic(seed: int, pace_s: tuple[float, float], jitter_s: float, rate: float) -> Pair:
    """A minute of bursts in steps of 10 ms; completions are Poisson at the goodput of the moment's concurrency."""
    rng = np.random.default_rng(seed)
    drawn = draw_service(rng)
    service = replace(drawn, rate=drawn.rate * rate, threshold_s=drawn.threshold_s / rate)
    best = service.best()
    in_flight = best * rng.uniform(1.5, 4) * bursts(rng, rng.uniform(*pace_s), jitter_s)
    good = rng.poisson(service.goodput(in_flight) * FINEST_MS / 1000)
    done = np.maximum(rng.poisson(service.throughput(in_flight) * FINEST_MS / 1000), good)
    return _pair(fine_rows(in_flight, done, good), lambda size: regret(service, size, best))


def bursts(rng: np.random.Generator, period_s: float, jitter_s: float) -> Floats:
    """Shares of the highest load: waves, times log-normal jitter whose correlation falls to 1/e within `jitter_s`."""
    t = np.arange(WINDOW_MS // FINEST_MS) * FINEST_MS / 1000
    wave = (0.5 - 0.5 * np.cos(2 * np.pi * t / period_s + rng.uniform(0, 6))) ** rng.uniform(0.7, 2.5)
    keep = np.exp(-FINEST_MS / 1000 / jitter_s)
    noise, jitter = rng.normal(size=len(t)), np.empty(len(t))
    jitter[0] = noise[0]
    for i in range(1, len(t)):
        jitter[i] = keep * jitter[i - 1] + np.sqrt(1 - keep * keep) * noise[i]
    return np.asarray(np.maximum(wave * np.exp(0.25 * jitter), 0.002))


def fine_rows(in_flight: Floats, done: Floats | Ints, good: Floats | Ints) -> Rows:
    n = len(in_flight)
    busy_ns, none = np.rint(in_flight * FINEST_MS * 1e6), np.zeros(n)
    columns = (none, np.arange(n) * FINEST_MS, busy_ns, done, good, busy_ns > 0, done, good)
    return Rows(*(np.asarray(column, dtype=np.int64) for column in columns))


def shop_pairs(pool: str, seeds: Sequence[int], seconds: float) -> list[Pair]:
    """The shop, its pools at their first sizes; truth: goodput of the pool's judge at fixed sizes (`testbed.sweep`)."""
    goodput = {size: measure(pool, size, seconds=2 * seconds, others=OTHERS[pool]).goodput for size in SHOP[pool]}
    best = max(goodput.values())

    def lost(size: int) -> float:
        return float(1 - np.interp(size, list(goodput), list(goodput.values())) / best)

    return [_pair(shop_rows(pool, seed), lost) for seed in seeds]


def shop_rows(pool: str, seed: int) -> Rows:
    """A minute of the shop in buckets of 10 ms, after 10 s."""
    spans: list[Span] = []
    simulation = Simulation(shop(sizes=OTHERS[pool]), seed, spans.append)
    simulation.run_until(10 + WINDOW_MS / 1000)
    target = simulation.pools[pool]
    own_key = (target.service, target.side, target.peer)
    own = [span for span in spans if (span.site.service, span.site.side, span.site.peer) == own_key]
    last = last_index_within(round(THRESHOLD_MS[pool] * 1e6))
    n = WINDOW_MS // FINEST_MS
    in_flight, done, good = np.zeros(n), np.zeros(n), np.zeros(n)
    for key, window in windows(own, FINEST_MS * 10**6).items():
        at = key.bucket_ns // 10**6 // FINEST_MS - 1000
        if 0 <= at < n:
            in_flight[at] += window.busy_ns / (FINEST_MS * 1e6)
    for key, window in windows([span for span in spans if judges(target, span)], FINEST_MS * 10**6).items():
        at = key.bucket_ns // 10**6 // FINEST_MS - 1000
        if 0 <= at < n:
            done[at] += window.completions
            good[at] += sum(count for index, count in window.latency.items() if index <= last)
    return fine_rows(in_flight, done, good)


def _pair(rows: Rows, lost: Callable[[int], float]) -> Pair:
    interval = interval_for(rows, 0, 0, WINDOW_MS, FINEST_MS)
    assert interval is not None
    sizes = [_size(rows, ms) for ms in (interval.ms, FIXED_MS)]
    auto, fixed = (None if size is None else lost(size) for size in sizes)
    return Pair(auto, fixed, interval.ms)


def _size(rows: Rows, interval_ms: int) -> int | None:
    found = measure_over(rows, 0, 0, WINDOW_MS, FINEST_MS, interval_ms)
    assert found is not None
    return estimators_at(interval_ms)[MODEL].estimate(found.samples).target
