"""What pools stand on, from notifications that come late, twice and out of order."""

import itertools

import numpy as np

from sluice.model.scaling import Scaling
from sluice.pools.inputs.deployments import Deployment, Deployments
from sluice.pools.inputs.scalings import Course, Scalings
from sluice_kit.decide.fakes import CART, DB


def told(
    at_ms: int, service: str = "cart", cores: float | None = None, version: str = "", replicas: int | None = None
) -> Scaling:
    return Scaling(at_ms, service, cores, replicas, version, "vpa")


def course(*events: Scaling) -> Course:
    return Scalings(events).course(CART)


def stands(*events: Scaling) -> tuple[Deployment, int | None]:
    found = course(*events)
    return found.now.own, found.since_ms


def test_nothing_told() -> None:
    assert stands() == (Deployment(), None)
    assert course().cores(CART, np.array([0, 99])).tolist() == [0, 0]


def test_what_an_event_does_not_tell_stays() -> None:
    assert stands(told(1, cores=2), told(5, version="b")) == (Deployment(2, "b"), 5)


def test_an_event_that_changes_no_curve_begins_nothing() -> None:
    assert stands(told(1, cores=2), told(5, cores=2)) == (Deployment(2), 1)
    assert stands(told(1, cores=2), told(9, replicas=4)) == (Deployment(2, replicas=4), 1)


def test_a_limit_that_an_autoscaler_computed_is_the_one_that_it_means() -> None:
    assert stands(told(1, cores=0.1), told(5, cores=0.5 - 0.4)) == (Deployment(0.1), 1)
    assert course(told(1, cores=0.0004)).now.own.cores == 0.001


def test_any_order_and_repeats_give_the_same() -> None:
    events = [told(1, cores=1), told(5, cores=2), told(9, cores=1, version="b")]
    for order in itertools.permutations(events):
        assert stands(*order, order[0]) == (Deployment(1, "b"), 9)


def test_the_cores_of_each_bucket_but_just_before_a_change() -> None:
    found = course(told(10_000, cores=2), told(20_000, cores=4))
    starts = np.array([0, 8_999, 9_000, 10_000, 18_999, 19_000, 19_999, 20_000])
    expected = [0, 0, np.nan, 2, 2, np.nan, np.nan, 4]
    np.testing.assert_array_equal(found.cores(CART, starts), expected)


def test_what_another_version_did_does_not_count_for_this_one() -> None:
    found = course(told(1_000, cores=2, version="a"), told(5_000, version="b"))
    np.testing.assert_array_equal(found.cores(CART, np.array([3_000, 4_999, 5_000])), [np.nan, np.nan, 2])


def test_a_connection_pool_has_its_part_of_what_its_peer_has() -> None:
    """2 replicas of 4 cores, shared by 3 callers."""
    scalings = Scalings()
    for event in (
        told(1, "catalogue", cores=1, replicas=3),
        told(3, "catalogue-db", cores=4, version="15", replicas=2),
    ):
        scalings.notify(event)
    now = scalings.course(DB).now
    assert now == Deployments(Deployment(1, "", 3), Deployment(4, "15", 2))
    assert now.cores("client") == 8 / 3
    assert now.cores("server") == 1
    assert now.version == "15"
    assert scalings.course(CART).now == Deployments()
    assert (scalings.replicas("catalogue"), scalings.replicas("cart")) == (3, None)


def test_what_is_told_moves_what_was_asked_before() -> None:
    scalings = Scalings()
    assert scalings.course(CART).now == Deployments()
    scalings.notify(told(1, cores=2))
    assert scalings.course(CART).now.own.cores == 2
