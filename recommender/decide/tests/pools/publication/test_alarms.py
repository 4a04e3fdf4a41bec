"""Alarms of pools: each is told once, when it begins, by a line of the log and in numbers."""

import logging
from dataclasses import replace

import pytest
from prometheus_client import CollectorRegistry

from sluice.model.keys import PoolKey
from sluice.model.reason import Reason
from sluice.pools.counts import PoolMetrics
from sluice.pools.estimate.threshold import Threshold
from sluice.pools.inputs.scalings import Scalings
from sluice.pools.pool_step import PoolStep
from sluice.pools.publication.alarms import Alarms, Entered
from sluice.pools.publication.publication import Publication, undecided
from sluice_kit.decide.fakes import CART, DB, FakeService, config
from sluice_kit.decide.worlds import World, codes

BOTH = {CART, DB}


def of(code: str, text: str = "", key: PoolKey = CART) -> Publication:
    """An answer that says the case, and another reason behind it."""
    made = undecided(PoolStep(config().pools[0], Threshold(60.0, "pool", ""), (), Scalings().course(key), 0))
    return replace(
        made,
        key=key,
        content=replace(made.content, codes=(code, "GAVE_UP_ONLY_IF_FIRST")),
        reasons=(Reason(code, text), Reason("GAVE_UP_ONLY_IF_FIRST", "")),
    )


def entered(alarms: Alarms, *said: str) -> list[int]:
    """How many alarms begin with each answer for cart."""
    return [len(alarms.look([of(code)], BOTH)) for code in said]


def test_an_alarm_begins_once_and_again_after_another_case() -> None:
    alarms = Alarms({})
    assert entered(alarms, "BEST", "GAVE_UP", "GAVE_UP", "BEST", "GAVE_UP", "COLLAPSED") == [0, 1, 0, 0, 1, 1]
    assert alarms.of == {CART: "COLLAPSED"}
    assert alarms.look([of("UNACCOUNTED", "9 wait", DB)], BOTH) == (Entered(DB, "UNACCOUNTED", "9 wait"),)
    assert alarms.look([], {DB}) == ()
    assert alarms.of == {DB: "UNACCOUNTED"}


def test_targets_that_differ_while_they_go_back_do_not_end_it() -> None:
    alarms = Alarms({})
    assert entered(alarms, "GAVE_UP", "MIXED", "NO_SIZE", "AWAITED", "FAILED") == [1, 0, 0, 0, 0]
    assert alarms.of == {CART: "GAVE_UP"}
    assert entered(alarms, "GAVE_UP", "PAUSED", "GAVE_UP") == [0, 0, 1]


def test_what_the_log_says_already_is_not_told_again() -> None:
    alarms = Alarms({CART: ("CHECKED", "FOREIGN"), DB: ("BEST", "CHECKED")})
    assert alarms.of == {CART: "CHECKED"}
    assert entered(alarms, "CHECKED") == [0]
    assert len(alarms.look([of("CHECKED", key=DB)], BOTH)) == 1


def test_changes_that_are_taken_back_are_counted_by_reason_from_zero() -> None:
    registry = CollectorRegistry()
    counts, got = PoolMetrics(registry), registry.get_sample_value
    name = "sluice_decider_taken_back_total"
    reasons = ("GAVE_UP", "COLLAPSED", "NO_GAIN", "ERRORS_RISE", "FEWER_IN_TIME", "CHECKED")
    assert [got(name, {"reason": each}) for each in reasons] == [0, 0, 0, 0, 0, 0]
    alarms = Alarms({})
    for code in ("GAVE_UP", "GAVE_UP", "SPANS_DISAGREE", "CHECKED", "GAVE_UP"):
        counts.entered(alarms.look([of(code)], BOTH))
    assert [got(name, {"reason": each}) for each in reasons] == [2, 0, 0, 0, 0, 1]


def test_a_revert_counts_until_its_size_is_in_force() -> None:
    registry = CollectorRegistry()
    counts, last = PoolMetrics(registry), of("GAVE_UP").content
    away, back = (replace(last, basis="REVERT", current=size, target=32) for size in (16, 32))
    other = replace(last, basis="CURVE", current=16, target=24)
    counts.reverting([away, back, other])
    assert registry.get_sample_value("sluice_decider_pools_not_reverted") == 1


def test_more_in_flight_than_the_pool_holds_is_one_line_and_a_gauge(caplog: pytest.LogCaptureFixture) -> None:
    """40 in flight of 20 threads, as nested SERVER spans show; then 10; then 40 again."""
    caplog.set_level(logging.WARNING)
    world = World()

    def seen(in_flight: int, seconds: int) -> str:
        """The last case."""
        service = world.collector.services[CART]
        service.size = in_flight
        for _ in range(seconds):
            world.log.size(CART, 20, world.clock())
            world.loop.hear()
            service.works(world.clock(), world.clock() + 1_000)
            world.step(1)
        return codes(world.cart)[0]

    def contradicted() -> float | None:
        return world.loop.counts.registry.get_sample_value(
            "sluice_decider_pools_contradicted", {"reason": "SPANS_DISAGREE"}
        )

    def lines() -> list[str]:
        told = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
        return [each for each in told if "SPANS_DISAGREE" in each]

    world.collector.services[CART] = FakeService(40)
    assert seen(40, 20) == "SPANS_DISAGREE"
    assert (contradicted(), len(lines())) == (1, 1)
    assert lines()[0].startswith("cart/server: SPANS_DISAGREE: more requests are in flight than the pool holds")
    assert "40 of 20" in lines()[0]
    assert seen(10, 40) != "SPANS_DISAGREE"
    assert (contradicted(), len(lines())) == (0, 1)
    assert seen(40, 20) == "SPANS_DISAGREE"
    assert (contradicted(), len(lines())) == (1, 2)
    again = World(clock=world.clock, collector=world.collector, log=world.log)
    again.step(1)
    assert again.decider.alarms == {CART: "SPANS_DISAGREE"}
    assert len(lines()) == 2
    assert again.loop.counts.registry.get_sample_value("sluice_decider_pools_given_up") == 0
