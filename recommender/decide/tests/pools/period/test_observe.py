"""From windows to an observation."""

import numpy as np

from sluice.config import Backend
from sluice.pools.inputs.scalings import Scalings
from sluice.pools.inputs.sizes import TargetSize
from sluice.pools.period.observations import buckets_of, by_target, ceilings_of
from sluice.pools.policy.decision import Basis
from sluice.pools.policy.learn import learn
from sluice.pools.policy.observation import Buckets
from sluice.pools.policy.state import Change, Facts, Learnt, PoolState
from sluice_kit.decide.fakes import CART, DB, config

COURSE = Scalings().course(CART)


def whole(start_ms: int, in_flight: float, completions: float, buckets: int = 10) -> Buckets:
    return Buckets(start_ms + 100 * np.arange(buckets), np.full(buckets, in_flight), np.full(buckets, completions), 0.1)


def test_what_nobody_told_the_size_of_is_not_taken_yet() -> None:
    assert len(buckets_of(CART, whole(0, 5, 10), None, COURSE)) == 0
    assert len(buckets_of(CART, whole(0, 5, 10), np.full(10, 5.0), COURSE)) == 10


def test_while_targets_differ_each_is_seen_at_its_own_size() -> None:
    """Two seconds of a at 12, full with 100/s, and of b at 64, full with 60/s."""
    each = {"a": whole(0, 12, 10, 20), "b": whole(0, 64, 6, 20), "unknown": whole(0, 5, 5, 20)}
    sizes = {"a": np.full(20, 12.0), "b": np.full(20, 64.0), "unknown": None}
    found = by_target(CART, each, sizes, COURSE)
    assert len(found) == 40
    assert found.start_ms[-1] == 1_900
    levels = learn(Learnt(), found).evidence.levels
    seen = sorted(
        (round(one.in_flight_s / one.seconds), round(one.completions / one.seconds), round(one.seconds, 1))
        for one in levels
    )
    assert [(n, rate) for n, rate, _ in seen] == [(12, 100), (64, 60)]
    assert all(seconds >= 1.9 for _, _, seconds in seen)


def test_targets_of_which_spans_tell_nothing_show_nothing() -> None:
    assert len(by_target(CART, {}, {}, COURSE)) == 0


def test_a_size_that_was_decided_before_another_was_set_is_not_held() -> None:
    """50 was decided long ago, and 10 set by hand since: 90 of 100 are free, and the pool may grow into them."""
    state = PoolState(Facts(current=10, change=Change(25, 50, 1_000, Basis.CURVE)))
    targets = {CART: (), DB: (TargetSize("a", 10, 90_000),)}
    given = config(backends=[Backend(peer="catalogue-db", capacity=100)])
    assert ceilings_of(given, {DB: state}, targets, {CART: 1, DB: 1})[DB].text.count("hold 10:") == 1
    pending = PoolState(Facts(current=25, change=Change(25, 50, 1_000, Basis.CURVE)))
    assert ceilings_of(given, {DB: pending}, targets, {CART: 1, DB: 1})[DB].text.count("hold 50:") == 1
