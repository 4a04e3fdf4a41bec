"""The whole loop on a pool without an SLO: nothing is judged, then a threshold is derived, which the file may allow."""

import numpy as np

from sluice.config import Config
from sluice.pools.section import DerivedSlo
from sluice.pools.windows.minutes import Minutes
from sluice_kit.decide.fakes import CART, FakeService
from sluice_kit.decide.worlds import World, codes

NO_SLO = Config.model_validate({"pools": [{"service": "cart", "side": "server"}]})


def seen(world: World) -> None:
    """Ten minutes from now on, of 3 in flight and a p95 of 200 ms."""
    start_s = world.clock() // 60_000 * 60 + np.arange(0, 600, 60)
    world.collector.minutes_of = {CART: Minutes(start_s, *np.array([[3.0, 200.0, 300.0]] * 10).T)}


def test_a_pool_without_an_slo_is_held_until_the_file_says_otherwise() -> None:
    world = World(config=NO_SLO)
    world.collector.services[CART] = FakeService(64)
    first = world.run(90)[-1]
    assert first.content.target is not None
    assert first.content.target < 64
    assert (first.content.state, first.content.action) == ("LEARNING", "HOLD")
    assert codes(first)[1:] == ("SLO_UNCONFIRMED", "NO_THRESHOLD")
    assert not world.publication().HasField("threshold")

    seen(world)
    derived = world.run(300)[-1]
    assert (derived.threshold.value_ms, derived.threshold.source) == (600.0, "derived")
    assert codes(derived)[1:] == ("SLO_UNCONFIRMED", "SLO_DERIVED")
    assert derived.content.action == "HOLD"
    assert world.publication().threshold.ToMilliseconds() == 600

    world.configure(NO_SLO.model_copy(update={"derived_slo": DerivedSlo(apply=True)}))
    answers = world.run(20)
    assert "APPLY" in {answer.content.action for answer in answers}
    assert world.collector.services[CART].size < 64
    assert codes(answers[-1])[-1] == "SLO_DERIVED"


def test_an_slo_in_the_file_replaces_the_derived_threshold() -> None:
    world = World(config=NO_SLO)
    world.collector.services[CART] = FakeService(64)
    assert world.run(5)[-1].threshold.source == "none"
    slos = [{"service": "*", "latency": "500ms"}]
    world.configure(Config.model_validate({"slos": slos, "pools": [{"service": "cart", "side": "server"}]}))
    answer = world.run(2)[-1]
    assert (answer.threshold.value_ms, answer.threshold.source) == (500.0, "slo")
    assert not {"SLO_UNCONFIRMED", "SLO_DERIVED", "NO_THRESHOLD"} & {*codes(answer)}


def test_response_times_that_cannot_be_read_take_no_answer_away() -> None:
    world = World(config=NO_SLO)
    world.collector.services[CART] = FakeService(64)
    world.collector.minutes_problem = ConnectionError("down")
    assert codes(world.run(5)[-1])[-1] == "NO_THRESHOLD"


def test_an_slo_that_targets_declare_is_applied_and_survives_a_takeover() -> None:
    """Without it nothing is applied; the next decider has it from the journal; after the last report it stays a
    minute."""
    world = World(config=NO_SLO)
    service = world.collector.services[CART] = FakeService(64)
    world.log.slo_ms = 250
    answers = world.run(90)
    assert (answers[-1].threshold.value_ms, answers[-1].threshold.source) == (250.0, "target")
    assert "APPLY" in {answer.content.action for answer in answers}
    assert service.size < 64
    assert not {"SLO_UNCONFIRMED", "SLO_DERIVED", "NO_THRESHOLD"} & {*codes(answers[-1])}
    assert world.publication().threshold.ToMilliseconds() == 250

    other = World(clock=world.clock, collector=world.collector, log=world.log, config=NO_SLO)
    assert other.step(0).threshold.source == "target"
    assert other.step(59).threshold.source == "target"
    assert other.step(2).threshold.source == "none"
