"""Models of pairs, and own times of recorded visits, by hand."""

import numpy as np
import pytest

from bench.subsets_accuracy import recorded
from bench.subsets_accuracy.pair_models import MODELS
from bench.subsets_accuracy.recorded import Span, fits, own_times
from bench.subsets_accuracy.run import right
from bench.subsets_accuracy.seen import means, pairs_seen
from testbed.mesh.application import Host
from testbed.mesh.presets import SHAPES
from testbed.mesh.presets.deployment import Deployment, deploy
from testbed.mesh.published import rocksteady
from testbed.mesh.run import MeshRun
from testbed.mesh.samples import window


def knee(features):
    """5 + 0.1 load up to 100, then five times as steep."""
    load = features[:, 0]
    return np.where(load <= 100, 5 + 0.1 * load, 15 + 0.5 * (load - 100))


@pytest.fixture
def seen():
    rng = np.random.default_rng(1)
    return np.column_stack([rng.uniform(0, 200, 60), rng.uniform(0.2, 0.4, (60, 3))])


@pytest.mark.parametrize(("name", "factor"), [("Erms", 1.0), ("Derm", np.log(20.0))])
def test_a_piecewise_line_is_found_and_an_exponential_is_three_means(seen, name, factor):
    values = knee(seen)
    model = MODELS[name](seen, values, values)
    for load in (40.0, 170.0):
        asked = np.array([load, 0.3, 0.3, 0.3])
        assert model(asked) == pytest.approx(factor * knee(asked[None, :])[0], rel=0.1)


def test_parslo_looks_its_profile_up(seen):
    values = knee(seen)
    model = MODELS["Parslo"](seen, values, values)
    near = seen[np.argsort(np.abs(seen[:, 0] - 50))[0]]
    assert model(near) == pytest.approx(knee(near[None, :])[0], rel=0.2)


def test_what_is_seen_of_pairs_are_means_of_containers_and_the_percentile_of_own_times():
    application = deploy(SHAPES["hotel"], Deployment(32))
    run = MeshRun(application, rocksteady(application), 1)
    found = pairs_seen(window(run, 20.0))
    assert ("frontend", "search") in found
    one = found["frontend", "search"]
    assert one.features[1:] == pytest.approx(0.3, abs=0.3)
    assert one.mean_ms < one.p95_ms < 10 * one.mean_ms
    assert means(3.0, [Host(name="a", cpu=0.2), Host(name="b", cpu=0.4)]).tolist() == pytest.approx([3.0, 0.3, 0, 0])


def test_own_time_is_what_is_left_without_calls_clipped_and_counted_once():
    spans = [
        Span("1", "", "a", 0.0, 10.0),
        Span("2", "1", "a", 1.0, 3.0),  # a client span, of which b's is below
        Span("3", "2", "b", 1.5, 2.5),
        Span("4", "1", "c", 2.0, 6.0),  # a call without a client span, beside it
        Span("5", "1", "a", 8.0, 9.0),  # work within a
        Span("6", "5", "b", 8.5, 20.0),  # ends after all of them
    ]
    assert list(own_times(spans)) == [("a", 0.0, 4.0), ("b", 1.5, 1.0), ("c", 2.0, 4.0), ("b", 8.5, 11.5)]


def test_log_normal_times_are_told_from_exponential_ones():
    rng = np.random.default_rng(2)
    times = rng.lognormal(1.0, 0.4, 100)
    assert fits("log-normal", times)[1] > 0.05 > fits("exponential", times)[1]
    traces = [[Span(str(at), "", "a", float(at), at + float(each))] for at, each in enumerate(times)]
    found = recorded.tested([("made", traces)])
    assert (found.windows, found.containers, found.kept["log-normal"]) == (1, 1, 1.0)


def test_one_that_is_off_by_more_than_100_percent_is_not_right_at_all():
    assert right(np.array([0.1, -0.3, 5.0])) == pytest.approx((0.9 + 0.7 + 0.0) / 3)
