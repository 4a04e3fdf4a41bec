"""The studies of localization and of the sampling interval: their inputs are what they say, on one small run each."""

import numpy as np
import pytest

from bench.interval import Pair, _rows, bursts, fine_rows, synthetic
from bench.localization import P95_S, PATHS, measure


@pytest.mark.parametrize("threads", ["a thread a request", "8 threads a service"])
def test_one_bottleneck_is_busy_and_the_others_are_not(threads: str) -> None:
    run = measure(PATHS["GetFollower"], "user", threads, seed=2)
    assert P95_S[0] < run.p95_s < P95_S[1]
    cpu = {each.service: each.cpu for each in run.found.ranking}
    assert cpu["user"] is not None
    assert cpu["user"] > 0.9
    assert max(cpu["nginx"] or 0, cpu["social-graph"] or 0) < 0.6
    assert run.found.critical == "user"
    assert run.without_cpu.critical == "user"
    # Threads of social-graph run out, since they wait for user: the wait shows there, and is none of its own.
    waits = {each.service: each.wait_ms for each in run.without_cpu.ranking}
    bounded = threads == "8 threads a service"
    assert (max(waits, key=lambda name: waits[name]) == "social-graph") if bounded else (max(waits.values()) == 0)
    papers = run.counted["the caller, as the papers have it"].critical
    owners = run.counted["the service that owns them"].critical
    assert (papers, owners) == (("nginx", "social-graph") if bounded else ("user", "user"))


def test_bursts_keep_their_jitter_as_long_as_told() -> None:
    """Log-normal jitter of 0.5 s beside a wave of an hour: a correlation of exp(-0.1 / 0.5) = 0.82 after 100 ms."""
    logs = np.log(bursts(np.random.default_rng(3), 3600.0, 0.5))
    logs = logs - np.convolve(logs, np.ones(1000) / 1000, mode="same")
    middle = logs[1000:5000]
    assert np.corrcoef(middle[:-10], middle[10:])[0, 1] == pytest.approx(0.82, abs=0.1)


def test_rows_of_a_study() -> None:
    rows = fine_rows(np.array([2.0, 0.0]), np.array([3, 1]), np.array([2, 1]))
    assert (rows.busy_ns.tolist(), rows.instances.tolist()) == ([20_000_000, 0], [1, 0])
    assert (rows.judge_completions.tolist(), rows.judge_good.tolist()) == ([3, 1], [2, 1])


def test_figures_count_pairs_that_both_answer() -> None:
    pairs = [Pair(0.01, 0.03, 50), Pair(0.03, 0.03, 100), Pair(None, 0.5, 50), Pair(0.5, None, 50)]
    figures = [figure for _, figure in _rows("x", pairs)]
    # Of the first two: 2 % and 3 %; differences -2 % and 0 %: mean -1 %, standard error 1 %.
    assert figures == ["2.00%, 3.00%", "-1.00% +- 2.00%", "3, 3", "50 ms 3, 100 ms 1"]


def test_a_fast_service_is_sampled_faster() -> None:
    assert synthetic(1, (20.0, 40.0), 0.5, rate=5.0).chosen_ms < synthetic(1, (20.0, 40.0), 0.5, rate=0.2).chosen_ms
