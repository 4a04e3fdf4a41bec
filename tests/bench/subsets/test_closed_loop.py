"""The bench of the closed loop: a decider sees the mesh as the pipeline would show it, and the mesh follows."""

import numpy as np
import pytest

from bench.subsets.closed_loop import MeshSource, percentile
from bench.subsets.loop_runs import SHARES, LoopCell, application, even, looped, shares, steady, table, turns
from testbed.mesh.memory import BINS, FINEST, STEP
from testbed.mesh.run import MeshRun


@pytest.mark.parametrize("share", SHARES)
def test_cart_uses_the_asked_share_of_its_hosts_with_even_weights(share: float) -> None:
    app = application(share, 1)
    run = MeshRun(app, even(app), 1)
    run.until(60.0)
    others = np.array([host.cpu for host in app.hosts[:16]])
    used = run.counters().utilization_s[:16, 0] / 60.0
    assert (used - others).mean() == pytest.approx(share, rel=0.1)
    assert not run.engine.rows()[:, 3].any()


def test_a_source_shows_the_rates_hosts_and_own_times_of_the_mesh() -> None:
    app = application(0.15, 1)
    run = MeshRun(app, even(app), 1)
    source = MeshSource(run, 1_000)
    for _ in range(6):
        source.window()
    observed = source.observed(1_060_000, 300_000.0)
    rate = app.roots[0].rate_per_s
    assert observed.trees[0].traces / observed.window_s == pytest.approx(rate, rel=0.05)
    assert observed.measured["cart"].rate_per_s == pytest.approx(rate, rel=0.05)
    assert observed.measured["cart"].p95_ms == pytest.approx(steady(app, 1, 1)[0], rel=0.1), "front takes little"
    assert observed.hosts["h00"].cpu == pytest.approx(run.counters().utilization_s[0, 0] / 60.0)
    sampled, windows = source.samples(1_060_000, 3_600_000.0)["cart"]
    assert len(sampled) == 6 * 16
    assert sorted(set(windows.tolist())) == [0, 10, 20, 30, 40, 50]


def test_percentile_of_a_histogram() -> None:
    """60 and 40 in two bins: the 80th lies in the middle of the second."""
    counts = np.zeros(BINS, dtype=int)
    counts[500], counts[501] = 60, 40
    assert percentile(counts, 0.8) == pytest.approx(np.exp(FINEST + 501.5 * STEP))


def test_turns_are_counted_where_a_weight_turns_back() -> None:
    assert turns(np.array([[1.0], [1.2], [1.0], [1.05], [0.8]])) == 1
    assert turns(np.array([[1.0], [1.2], [1.0], [1.2], [1.0]])) == 3
    assert turns(np.array([[1.0], [1.1], [1.2], [1.3], [1.4]])) == 0
    assert turns(np.array([[1.0, 1.0], [1.05, 1.2], [1.0, 1.0]])) == 1


def test_the_mesh_follows_what_the_decider_publishes() -> None:
    app = application(0.15, 1)
    result = looped(app, 1, 3)
    assert result.causes[0] == "START@10"
    assert result.weights[0].std() > 0.05, "busy hosts get less"
    assert len(result.p95_ms) == 3
    assert result.p95_ms[1:].mean() < steady(app, 1, 3)[1:].mean()
    assert shares(even(app), app) == pytest.approx(np.ones(16))


def test_a_row_has_ratios_as_differences() -> None:
    row = table([LoopCell(0.15, 2, 8.94, 0.85, 0.92, 0.88, 1, 0)]).splitlines()[2]
    assert row == "| 15% | 2 | 8.94 | -15.0% | -12.0% | -8.0% | 1 | 0 |"
