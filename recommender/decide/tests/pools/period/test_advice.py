"""What is said of the hardware, from a reading to the journal: with the curve on the CPU limit that is advised."""

from sluice.model.demand import Demand
from sluice.model.keys import PoolKey
from sluice.model.problems import Problems
from sluice.model.scaling import Scaling
from sluice.pools.period.demands import Demands
from sluice.pools.publication.messages import content_of, explanation, pool_size
from sluice.pools.v1.advice_pb2 import Advice
from sluice_kit.decide.fakes import CART, FakeCollector, FakeService, config
from sluice_kit.decide.worlds import World


def overloaded() -> World:
    """Two instances of 4 cores, each asked for 450 a second; at its best size one does 364."""
    world = World()
    world.log.scaling(Scaling(0, CART.service, None, 2, "", "hpa"))
    world.collector.services[CART] = FakeService(16)
    world.collector.demands[CART] = Demand(0, 450.0, 364 / 450)
    return world


def test_it_is_said_in_the_log_with_its_evidence() -> None:
    world = overloaded()
    answer = world.run(120)[-1]
    size = pool_size(answer)
    assert size.advice.kind == Advice.KIND_SCALE_OUT
    assert (size.advice.cpu_limit_cores, size.advice.replicas) == (4.0, 2)
    assert (size.advice.advised_cpu_limit_cores, size.advice.advised_replicas) == (7.0, 4)
    assert [reason.code for reason in size.reasons][-1] == "SCALE_OUT"
    assert content_of(size) == answer.content
    curve = {each.size: each.throughput_per_s for each in explanation(answer).advised_curve}
    assert max(curve.values()) > size.advice.best_per_s


def test_a_reading_that_is_no_other_advice_is_no_new_answer() -> None:
    world = overloaded()
    world.run(120)
    world.collector.demands[CART] = Demand(0, 452.0, 360 / 452)
    revisions = [answer.revision for answer in world.run(40) if answer.content.action == "HOLD"]
    assert len(set(revisions)) <= 2


def test_sizes_are_decided_without_readings() -> None:
    world = overloaded()
    world.collector.demand_problem = RuntimeError("no such table")
    answer = world.run(30)[-1]
    assert answer.advice is None
    assert answer.content.target is not None
    assert world.problems.counts["demand"] >= 3


def test_of_many_pools_each_is_given_once_and_not_all_at_once() -> None:
    keys = [PoolKey(f"service-{number}", "server", "") for number in range(1_000)]
    collector = FakeCollector(demands={key: Demand(0, 1.0, None) for key in keys})
    demands, seen = Demands(), []
    for second in range(100, 110):
        given = demands.newest(config(), collector, {}, 1_000 * second, Problems())
        assert len(given) <= 250
        seen += list(given)
    assert sorted(seen) == sorted(keys)
    assert len(demands.newest(config(), collector, {}, 110_000, Problems())) == 100  # of the next minute
