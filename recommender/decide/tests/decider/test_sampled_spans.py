"""The whole loop where the spans of a service are a sample: shown, never applied, and nothing is learnt from it."""

from collections.abc import Collection
from dataclasses import dataclass

import pytest

from sluice.model.problems import Problems
from sluice.pools.sampling.service_samplings import ServiceSamplings
from sluice.pools.sampling.verdict import Kind, Sampling
from sluice_kit.decide.fakes import CART, FakeCollector, FakeService, config
from sluice_kit.decide.worlds import World, codes

TENTH = Sampling(Kind.SAMPLED, "trace ids fill 10 % of their range, as a head sampler leaves them", 0.1)
TAIL = Sampling(Kind.TAIL_SAMPLED, "spans name the policy of a tail sampler")


@pytest.mark.parametrize("sampling", [TENTH, TAIL])
def test_a_sample_holds_whatever_it_shows(sampling: Sampling) -> None:
    world = World()
    world.collector.services[CART] = FakeService(64)
    world.collector.sampled = {"cart": sampling}
    answers = world.run(60)
    assert {answer.content.action for answer in answers} == {"HOLD"}
    end = answers[-1]
    assert (codes(end)[0], end.content.target, end.content.lower_bound) == (sampling.kind.name, 64, None)
    assert end.reasons[0].text.endswith(f"{sampling.text}; see docs/sampling.md")
    assert world.decider.states[CART].learnt.evidence.seconds_on(4.0) == 0


def test_once_all_spans_come_the_pool_is_decided_by_them_alone() -> None:
    world = World()
    service = world.collector.services[CART] = FakeService(64)
    world.collector.sampled = {"cart": TENTH}
    world.run(30)
    world.collector.sampled = {}
    world.run(11)
    seconds = world.decider.states[CART].learnt.evidence.seconds_on(4.0)
    assert 0 < seconds <= 12
    world.run(120)
    assert service.size < 64


def test_nothing_is_applied_before_there_are_traces_enough_to_tell() -> None:
    world = World()
    world.collector.services[CART] = FakeService(64)
    world.collector.sampled = {"cart": Sampling(Kind.UNKNOWN, "the spans of 7 traces")}
    answers = world.run(30)
    assert {answer.content.action for answer in answers} == {"HOLD"}
    assert codes(answers[-1])[0] == "FEW_TRACES"
    world.collector.sampled = {}
    assert "APPLY" in {answer.content.action for answer in world.run(5)}


def test_a_service_that_the_file_calls_unsampled_is_decided() -> None:
    world = World()
    world.collector.services[CART] = FakeService(64)
    world.collector.sampled = {"cart": TENTH}
    world.configure(world.config.model_copy(update={"unsampled": ["cart"]}))
    assert "APPLY" in {answer.content.action for answer in world.run(30)}


def test_a_service_whose_spans_have_just_begun_waits_for_them_to_be_read() -> None:
    """catalogue has spans all the time. Of cart they begin, and show a sample two seconds later."""
    samplings, asked = ServiceSamplings(), []

    class Collector(FakeCollector):
        def samplings(self, services: Collection[str], now_ms: int) -> dict[str, Sampling | None]:
            asked.append((now_ms, sorted(services)))
            return {name: self.sampled.get(name) for name in services if name != "cart" or "cart" in self.sampled}

    collector, problems = Collector(), Problems()
    samplings.look(config(), collector, 1_000, problems)
    assert samplings.of("catalogue") is None
    unread = samplings.of("cart")
    assert unread is not None
    assert not unread.refuses
    collector.sampled = {"cart": TENTH}
    for now_ms in range(2_000, 12_000, 1_000):
        samplings.look(config(), collector, now_ms, problems)
    assert samplings.of("cart") == TENTH
    assert samplings.of("cart", ["cart"]) is None
    assert asked == [
        (1_000, ["cart", "catalogue"]),
        (3_000, ["cart"]),
        (6_000, ["cart", "catalogue"]),
        (11_000, ["cart", "catalogue"]),
    ]


def test_without_any_reading_all_spans_are_taken_to_be_there() -> None:
    assert ServiceSamplings().of("cart") is None


@dataclass
class Tenth(FakeService):
    """What a sampler leaves of it."""

    def works(self, from_ms: int, until_ms: int) -> None:
        before = len(self.start_ms)
        super().works(from_ms, until_ms)
        for values in (self.concurrency, self.completions):
            values[before:] = [value / 10 for value in values[before:]]


def test_a_sample_with_a_known_probability_names_the_size_and_applies_none() -> None:
    """Somebody tries four sizes. Once all spans come, the size is decided by them alone."""
    world = World()
    service = world.collector.services[CART] = Tenth(64)
    world.collector.sampled = {"cart": TENTH._replace(uniform=True)}
    answers = []
    for service.size in (64, 32, 16, 8):
        answers += world.run(120)
    assert {answer.content.action for answer in answers} == {"HOLD"}
    assert codes(answers[-1])[:2] == ("SAMPLED", "SCALED")
    lower, upper = answers[-1].content.lower_bound or 0, answers[-1].content.upper_bound or 0
    assert world.decider.states[CART].learnt.evidence.seconds_on(4.0) == 0
    world.collector.services[CART], world.collector.sampled = FakeService(64), {}
    world.run(11)
    state = world.decider.states[CART]
    assert state.scaled is None
    assert 0 < state.learnt.evidence.seconds_on(4.0) <= 12
    assert lower <= (world.run(180)[-1].content.target or 0) <= upper
