import pytest

from bench.series import HELD, PLENTY, POOLS, SCT, SLUICE, Seen, Task, against, drawn, report, run_one
from testbed.real.rates import LENGTH, RATES


def test_sizes_are_drawn_by_seed_and_too_small_or_far_too_large() -> None:
    assert drawn(1) == drawn(1)
    sizes = [drawn(seed) for seed in range(50)]
    for name, (small, large) in POOLS.items():
        assert {size[name] for size in sizes} == {*small, *large}


def test_ratios_are_geometric_means_of_pairs() -> None:
    """p99 of 400 and 900 ms, of the rivals 800 and 3,600 ms: 2 and 4, so 2.83. 11 good to 10, and 10 to 10: 1.05."""
    found = {
        Task(method, "step_up", seed): Seen(1.0, p99_ms, good, 0)
        for seed, ours, theirs in ((1, (400.0, 11.0), (800.0, 10.0)), (2, (900.0, 10.0), (3600.0, 10.0)))
        for method in (SLUICE, HELD, SCT, PLENTY)
        for p99_ms, good in (ours if method == SLUICE else theirs,)
    }
    assert "| held | 2 | 2.83 (bar 2.5) | 1.05 (bar 1.1) |" in against(found)
    assert "| 16 of each | 2 | 2.83 | 1.05 |" in against(found)
    assert "| step_up | sluice | 1.0" in report(found)


def test_enough_of_all_pools_is_good_for_all_requests_of_a_series() -> None:
    seen = run_one(Task(PLENTY, "nasa_60s_burst1", 2001))
    requests_per_s = sum(60.0 * RATES["nasa_60s_burst1"](float(second)) for second in range(720)) / LENGTH
    assert seen.good_per_s == pytest.approx(requests_per_s, rel=0.1)
    assert seen.p99_ms < 200
    assert seen.changes == 0
