"""Fine windows while running equal those computed from all spans, which are the reference."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from testbed.columns import SpanColumns, longest_good
from testbed.controller import ControlAgent
from testbed.fine import FineWindows
from testbed.judge import judges, owns
from testbed.presets.shop import CART_THREADS, CATALOGUE_CONNECTIONS, shop
from testbed.simulation import Simulation
from testbed.spans import Span, SpanSite
from testbed.windows import latency_index, threshold_index, windows

MS = 1_000_000
SITE = SpanSite("cart", "server", "", "GET /cart")


def reference(spans, since_ns, buckets, length_ns, threshold_ns):
    """Rows (busy, instances, completions, errors, good) of ``windows.windows``, summed over instances."""
    rows = np.zeros((5, buckets), dtype=np.int64)
    for key, window in windows(spans, length_ns).items():
        bucket = (key.bucket_ns - since_ns) // length_ns
        if 0 <= bucket < buckets:
            good = window.within(threshold_ns)
            rows[:, bucket] += (window.busy_ns, window.busy_ns > 0, window.completions, window.errors, good)
    return rows


def rows(counts):
    return np.array([counts.busy_ns, counts.instances, counts.completions, counts.errors, counts.good])


@given(
    st.lists(
        st.tuples(st.integers(0, 3 * 10**9), st.integers(0, 10**9), st.sampled_from(["a", "b", "c"]), st.booleans()),
        max_size=40,
    ),
    st.sampled_from([10 * MS, 50 * MS, 100 * MS, 1000 * MS]),
    st.integers(0, 30),
    st.integers(0, 40),
    st.integers(1, 10**9),
)
def test_columns_count_as_the_reference_does(made, length, skipped, buckets, threshold):
    spans = [
        Span(1, 1, 0, SITE, instance, start, start + duration, failed) for start, duration, instance, failed in made
    ]
    spans.sort(key=lambda span: span.end_ns)
    columns = SpanColumns()
    for span in spans:
        columns.add(span)
    since = skipped * length
    got = columns.counts(since, buckets, length, threshold)
    assert np.array_equal(rows(got), reference(spans, since, buckets, length, threshold))
    inside = [s.end_ns - s.start_ns for s in spans if since <= s.end_ns < since + buckets * length]
    assert list(columns.durations_ns(since, since + buckets * length)) == inside


def test_worked_by_hand():
    columns = SpanColumns()
    for start, end, failed in ((120, 130, True), (50, 230, False), (250, 300, False)):
        columns.add(Span(1, 1, 0, SITE, "cart-1", start * MS, end * MS, failed))
    counts = columns.counts(0, 4, 100 * MS, 60 * MS)
    # 50..230 lies 50, 100 and 30 ms in the first three buckets, 120..130 10 ms in the second, 250..300 50 ms in the
    # third; it ends on the edge, so it completes in the fourth, where nothing was in flight.
    assert list(counts.busy_ns // MS) == [50, 110, 80, 0]
    assert list(counts.instances) == [1, 1, 1, 0]
    assert list(counts.completions) == [0, 1, 1, 1]
    assert list(counts.errors) == [0, 1, 0, 0]
    assert list(counts.good) == [0, 1, 0, 1]


@given(st.integers(1, 10**11))
def test_the_longest_good_duration_is_on_the_edge_of_the_threshold_s_last_bucket(threshold):
    longest = longest_good(threshold)
    assert latency_index(longest) <= threshold_index(threshold) < latency_index(longest + 1)
    assert longest <= threshold + 1


def test_the_documented_longest_good_duration():
    assert longest_good(120 * MS) / MS == pytest.approx(119.14, abs=0.01)


@pytest.mark.parametrize("bucket_ms", [10, 100, 1000])
def test_a_run_s_windows_equal_those_of_its_spans(bucket_ms):
    spans: list[Span] = []

    def both(span):
        spans.append(span)
        fine.add(span)

    fine = FineWindows()
    simulation = Simulation(shop(), 1, both)
    fine.watch(simulation.pools.values())
    for now in (7.03, 20.0):
        simulation.run_until(now)
        for name, threshold_ms in ((CART_THREADS, 150.0), (CATALOGUE_CONNECTIONS, 120.0)):
            pool = simulation.pools[name]
            got = fine.last(pool, now, 10.0, bucket_ms, threshold_ms)
            n, length = len(got.own.busy_ns), bucket_ms * MS
            assert n == min(10_000, int(now * 1000)) // bucket_ms
            for counts, belongs in ((got.own, owns), (got.judge, judges)):
                chosen = [span for span in spans if belongs(pool, span.site)]
                want = reference(chosen, got.since_ns, n, length, round(threshold_ms * MS))
                assert want[2].sum() > 100
                assert np.array_equal(rows(counts), want)
            assert (got.size, got.in_use, got.queued) == (pool.size, pool.in_use, pool.queued)
            assert len(got.judge_durations_ns) == got.judge.completions.sum()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((10.0, 9, 150.0), "bucket_ms"), ((10.0, 1001, 150.0), "bucket_ms"), ((10.0, 100, 0.0), "threshold_ms")],
)
def test_windows_out_of_range_are_refused(arguments, message):
    simulation = Simulation(shop(), 1, lambda span: None)
    fine = FineWindows()
    fine.watch(simulation.pools.values())
    with pytest.raises(ValueError, match=message):
        fine.last(simulation.pools[CART_THREADS], 1.0, *arguments)


class Recorder:
    """A controller that answers 12 threads once, later more than the pool may have, and keeps what it was given."""

    def __init__(self):
        self.given = []

    def decide(self, now_s, windows):
        self.given.append((now_s, windows))
        return {15.0: {CART_THREADS: 12}, 45.0: {CART_THREADS: 1000}}.get(now_s, {})


def test_a_controller_is_asked_every_period_and_its_sizes_are_applied():
    fine = FineWindows()
    simulation = Simulation(shop(), 1, fine.add)
    fine.watch(simulation.pools.values())
    controller = Recorder()
    thresholds = lambda now: {CART_THREADS: 150.0 if now < 40 else 100.0}  # noqa: E731
    agent = ControlAgent(simulation, fine, controller, thresholds, window_s=20.0, settle_s=2.0)
    simulation.run_until(50.0)
    assert [now for now, _ in controller.given] == [15.0, 30.0, 45.0]
    assert agent.applied == [(15.0, CART_THREADS, 12), (45.0, CART_THREADS, 256)]
    records = [windows[CART_THREADS] for _, windows in controller.given]
    # 13 s at first; then the 20 s before the 2 s that are left out.
    assert [(w.since_ns // MS, len(w.own.busy_ns), w.size) for w in records] == [
        (0, 130, 64),
        (8000, 200, 12),
        (23000, 200, 12),
    ]
    assert [w.threshold_ns // MS for w in records] == [150, 150, 100]
    # Buckets that start before 15 s had 64 threads: 70 of those from 8 s on.
    assert list(records[1].sizes) == [64] * 70 + [12] * 130
    assert (records[0].cores, records[0].replicas, records[0].count) == (2, 1, 1)
    used = [0.0, *(w.core_seconds for w in records)]
    assert all(0 < after - before <= 2 * 15 for before, after in pairwise(used))


def test_a_controller_out_of_range_is_refused():
    simulation = Simulation(shop(), 1, lambda span: None)
    with pytest.raises(ValueError, match="period_s and window_s must be > 0"):
        ControlAgent(simulation, FineWindows(), Recorder(), lambda now: {}, period_s=0.0)


def test_a_pool_that_is_not_there_is_named():
    simulation = Simulation(shop(), 1, lambda span: None)
    ControlAgent(simulation, FineWindows(), Recorder(), lambda now: {"x": 1.0}, period_s=1.0)
    with pytest.raises(ValueError, match="control pool 'x': must be one of "):
        simulation.run_until(1.0)
