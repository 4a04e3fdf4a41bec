"""The compiled loops over levels say to the digit what the plain ones do."""

from math import exp, log

import numpy as np

from sluice.pools.estimate.belief.evidence import (
    DRIFT,
    LEAST_SECONDS,
    LN_FULL_STEP,
    LN_PARTIAL_STEP,
    LONG_MEMORY_S,
    MEMORY_S,
    UNREPORTED,
    Evidence,
    Level,
    Second,
)

Sums = dict[tuple[float, bool, bool, int], list[float]]


def drawn(rng: np.random.Generator) -> Second:
    full, saturated = ((False, False), (True, False), (True, True))[rng.integers(3)]
    seconds = float(rng.choice((0.1, 0.5, 1.0, 40.0)))
    done = float(rng.poisson(200 * seconds) + 1)
    return Second(float(rng.choice((0.0, 2.0, 4.0))), full, saturated, float(rng.uniform(0.3, 60)), done, seconds)


def add(levels: Sums, new: Second) -> None:
    own = round(log(new.concurrency) / (LN_FULL_STEP if new.full else LN_PARTIAL_STEP))
    share, gone = exp(-new.seconds / MEMORY_S), []
    for key, sums in levels.items():
        cores, full, saturated, step = key
        if (full, saturated, cores) == (new.full, new.saturated, new.cores):
            drifted = exp(-new.seconds / LONG_MEMORY_S) / (1 + DRIFT * sums[0] * new.seconds)
            left = share if step == own or not saturated else drifted
            sums[:] = [left * each for each in sums]
            if step == own:
                continue
        if sums[1] < LEAST_SECONDS / 2:
            gone.append(key)
    for key in gone:
        del levels[key]
    sums = levels.setdefault((new.cores, new.full, new.saturated, own), [0.0, 0.0, 0.0])
    for at, each in enumerate((new.completions, new.seconds, new.concurrency * new.seconds)):
        sums[at] += each


def test_seconds_are_summed_as_they_are_one_by_one() -> None:
    for seed in range(60):
        rng = np.random.default_rng(seed)
        plain: Sums = {}
        found = Evidence()
        for _ in range(20):
            new = [drawn(rng) for _ in range(rng.integers(1, 6))]
            for each in new:
                add(plain, each)
            found = found.with_seconds(new)
            assert found.levels == tuple(Level(*key, *sums) for key, sums in plain.items()), seed


def test_what_is_asked_of_levels_is_of_those_that_there_are() -> None:
    for seed in range(60):
        rng = np.random.default_rng(seed)
        found = Evidence().with_seconds(drawn(rng) for _ in range(30))
        assert found.longest_stay_s() == max(each.in_flight_s / each.completions for each in found.levels)
        for cores in (UNREPORTED, 2.0, 4.0, 8.0):
            of = [each for each in found.levels if each.cores == cores]
            known = [each for each in found.levels if (each.cores == UNREPORTED) == (cores == UNREPORTED)]
            assert found.seconds_on(cores) == sum(each.seconds for each in of)
            assert found.weight(cores) == sum(each.seconds * (1 + each.saturated) for each in known)
            assert found.ever_full(cores) == any(each.full for each in of)
            sizes = np.arange(1, 70)
            at = [
                sum(
                    each.completions
                    for each in of
                    if each.saturated and abs(log(each.in_flight_s / each.seconds) - log(size)) <= LN_FULL_STEP
                )
                for size in sizes
            ]
            assert found.completions_at(cores, sizes).tolist() == at


def test_without_levels_no_request_stays() -> None:
    assert Evidence().longest_stay_s() == 0.0


def test_levels_are_there_again_when_all_their_kinds_and_steps_are() -> None:
    before = Evidence(tuple(Level(4.0, True, True, step, 100.0, 1.0, 10.0) for step in (40, 46)))
    same = tuple(each._replace(completions=7.0) for each in before.levels)
    assert Evidence(same[::-1]).has_all(before.table)
    assert before.has_all(Evidence().table)
    for other in ({"cores": 2.0}, {"full": False}, {"saturated": False}, {"step": 41}):
        assert not Evidence((same[0]._replace(**other), same[1])).has_all(before.table)
