"""The compiled loops over buckets and rows say to the digit what the plain functions do that they stand in for."""

from math import inf, isnan, log

import numpy as np

from sluice.fast.belief_seconds import falls
from sluice.pools.estimate.belief.edge import DEEPER, STANDS, STEEPER, SURE, _first_fallen
from sluice.pools.estimate.belief.evidence import SecondRun, ended, runs, second, share_full
from sluice.pools.estimate.belief.family import Floats, Ints

Buckets = tuple[Ints, Floats, Floats, Floats, Floats]


def drawn(rng: np.random.Generator) -> Buckets:
    """A window with gaps, of a size and cores that change now and then, and are not told at times."""
    count = int(rng.integers(1, 60))
    start_ms = 1_700_000_000_000 + 100 * np.cumsum(rng.choice((1, 1, 1, 7), count))
    size, cores = (
        np.repeat(rng.choice(values, 60), rng.integers(1, 30, 60))[:count]
        for values in ((4.0, 9.0, 40.0, np.nan), (0.0, 2.0, 4.0, np.nan))
    )
    load = rng.choice((0.2, 0.9, 1.0, 1.3), count if rng.random() < 0.3 else 1)
    concurrency = np.minimum(rng.poisson(10, count) / 10 * np.nan_to_num(size, nan=5.0) * load, 60.0)
    concurrency *= rng.random(count) < 0.97
    completions = rng.poisson(rng.choice((0.02, 0.5, 20.0)), count).astype(np.float64)
    return start_ms, concurrency, completions, size, cores


def plain(buckets: Buckets, bucket_s: float, now_ms: float) -> list[SecondRun]:
    start_ms, concurrency, completions, size, cores = buckets
    keys = [(at // 1_000, str(of), str(on)) for at, of, on in zip(start_ms, size, cores, strict=True)]
    lows = [at for at in range(len(keys)) if at == 0 or keys[at] != keys[at - 1]]
    found = []
    for low, high in zip(lows, [*lows[1:], len(keys)], strict=True):
        full, seen, of = float("nan"), None, concurrency[low:high].tolist()
        if not isnan(size[low]):
            full = share_full(int(size[low]), of)
            if not isnan(cores[low]):
                age_s = max(0.0, (now_ms - (int(start_ms[high - 1]) + 1_000 * bucket_s)) / 1_000)
                done = completions[low:high].tolist()
                seen = second(float(cores[low]), int(size[low]), of, done, bucket_s, age_s)
        found.append(SecondRun(low, full, seen))
    return found


def test_a_window_is_cut_into_the_same_seconds() -> None:
    for seed in range(300):
        rng = np.random.default_rng(seed)
        buckets = drawn(rng)
        now_ms = float(rng.choice((inf, buckets[0][-1] + 100, buckets[0][-1] + 2_000)))
        assert str(runs(buckets, 0.1, now_ms)) == str(plain(buckets, 0.1, now_ms)), seed


def test_of_what_has_not_ended_the_plain_function_is_asked() -> None:
    """Worked in `ended`: 5 seen of a pool of 8, 10 done in the second that was over just now."""
    numbers = np.full(10, 5.0), np.full(10, 1.0), np.full(10, 8.0), np.full(10, 4.0)
    (run,) = runs((1_000_000 + 100 * np.arange(10), *numbers), 0.1, 1_002_000.0)
    assert ended(8, [5.0] * 10, 10.0) != [5.0] * 10
    assert run.second is not None
    assert run.second.concurrency > 5.0


def test_an_edge_is_looked_for_where_the_plain_function_finds_one() -> None:
    found = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        count = int(rng.integers(0, 9))
        ln_n = np.log(rng.choice((2, 4, 8, 16, 24, 32), count).astype(np.float64))
        ln_rate = ln_n - rng.choice((0.0, 1.5), count) * (ln_n > log(12)) + rng.normal(0, 0.2, count)
        full, scale, variance = rng.random(count) < 0.8, rng.choice((1.0, 0.5), count), np.full(count, 1e-3)
        there = False
        for of in set(scale.tolist()):
            at = np.flatnonzero(full & (scale == of))
            at = at[np.argsort(ln_n[at], kind="stable")]
            there |= _first_fallen(ln_n[at], ln_rate[at], variance[at]) is not None
        assert falls(ln_n, ln_rate, variance, full, scale, STANDS, STEEPER, DEEPER, SURE) == there, seed
        found += there
    assert 20 < found < 280
