"""The whole loop without any actuator: metrics have the size, spans the rest."""

from sluice.pools.metrics.pool_metric import MetricsReading, PoolMetric
from sluice.pools.metrics.use import Figure, FigureReading
from sluice.pools.publication.publication import Publication
from sluice_kit.decide.fakes import CART, FakeService
from sluice_kit.decide.feeds import FALLS
from sluice_kit.decide.worlds import World, codes

S = 1_000


def sends(world: World, *sizes: tuple[str, int]) -> None:
    """Agents send (instance, size) now."""
    at_ms, of = world.clock(), "tomcat.thread.limit tomcat.thread.pool.name="
    new = [
        PoolMetric("cart", instance, "server", "http", "", 1, f"{of}http", size, size, at_ms, at_ms)
        for instance, size in sizes
    ]
    world.collector.metrics = MetricsReading([*world.collector.metrics.sizes, *new], {})


def run(world: World, seconds: int, interval_s: int = 60) -> list[Publication]:
    """A period a second. The agent of one instance sends the size each minute, and nobody applies anything."""
    service = world.collector.services[CART]
    answers = []
    for second in range(seconds):
        if second % interval_s == 0:
            sends(world, ("cart-0", service.size))
        service.works(world.clock(), world.clock() + 1_000)
        world.clock.pass_s(1)
        world.loop.periods()
        answers.append(world.cart)
    return answers


def test_without_an_actuator_the_size_target_and_range_are_told_and_nothing_is_applied() -> None:
    world = World()
    service = world.collector.services[CART] = FakeService(64)
    answers = run(world, 150)
    assert {answer.content.action for answer in answers} == {"HOLD"}
    end = answers[-1]
    assert (end.content.current, end.content.sizes) == (64, (("cart-0", 64),))
    assert end.content.target is not None
    assert end.content.target < 64
    assert end.content.lower_bound is not None
    assert codes(end)[0] == "BETTER"
    assert "NO_ACTUATOR" in codes(end)
    # Between two points of the agent the size stays known.
    assert all(answer.content.current == 64 for answer in answers[10:])

    # A person follows, step by step. No size that they set is foreign, and the last one is as good as the best.
    for _ in range(6):
        target = world.cart.content.target
        if target == service.size:
            break
        service.size = target
        followed = run(world, 60)
        assert not any("FOREIGN" in codes(answer) for answer in followed)
    assert FALLS.throughput(service.size) >= 0.98 * FALLS.throughput(16)
    assert world.cart.content.action == "HOLD"


def test_an_actuator_that_comes_takes_over_and_its_size_counts() -> None:
    world = World()
    world.collector.services[CART] = FakeService(64)
    run(world, 70)
    world.log.size(CART, 64, world.clock(), "cart-0", reporter="file-1")
    first = world.step(1)
    assert first.content.action == "APPLY"
    assert first.content.target is not None
    assert first.content.target < 64
    assert not {"NO_ACTUATOR", "FOREIGN"} & {*codes(first)}


def test_metrics_that_differ_from_the_actuator_are_said_and_lagging_ones_are_not() -> None:
    world = World()
    world.log.size(CART, 32, world.clock(), "cart-0")
    sends(world, ("cart-0", 64))
    assert "METRICS_DIFFER" not in codes(world.step(1))  # the size was just read
    world.clock.pass_s(10)
    world.log.size(CART, 32, world.clock(), "cart-0")
    sends(world, ("cart-0", 64))
    answer = world.step(10)
    assert answer.content.current == 32
    assert "METRICS_DIFFER" in codes(answer)


def test_several_pools_in_metrics_are_in_doubt_and_no_size_is_known() -> None:
    world = World()
    sends(world, ("cart-0", 64))
    other = world.collector.metrics.sizes[0]._replace(pool="https", series="tomcat.thread.limit name=https")
    world.collector.metrics.sizes.append(other)
    answer = world.step(1)
    assert answer.content.current is None
    assert codes(answer)[0] == "NO_SIZE"
    assert "POOL_AMBIGUOUS" in codes(answer)


def test_a_size_that_the_metric_shows_late_after_an_actuator_s_write_is_nobody_s_change() -> None:
    """The actuator writes each decision at once, the agent sends once a minute and so shows the sizes before."""
    world = World()
    service = world.collector.services[CART] = FakeService(64)
    answers = []
    for _ in range(3):
        sends(world, ("cart-0", service.size))
        answers += world.run(40)
    assert service.size < 64
    assert not any("FOREIGN" in codes(answer) for answer in answers)


def test_a_pool_with_a_queue_that_spans_show_idle_is_known_as_full() -> None:
    """4 connections, held between queries: 1 is in flight by spans, 4 are in use by metrics, and 12 callers wait."""
    world = World()
    world.collector.services[CART] = FakeService(4, busy=0.25)
    alone = run(world, 130)[-1]
    assert alone.content.state == "UNSATURATED"

    sizes, at_ms = world.collector.metrics.sizes, world.clock()
    points = {"used": 4, "pending": 12}
    readings = {
        name: Figure(name, [FigureReading(at_ms - age, at_ms - age, 1, of, of, of, of, 1, 0) for age in (60 * S, 0)])
        for name, of in points.items()
    }
    world.collector.metrics = MetricsReading(sizes, {}, {sizes[-1].of: readings})
    answer = world.step(10)
    assert (answer.content.state, answer.content.action) == ("LEARNING", "HOLD")
    texts = {reason.code: reason.text for reason in answer.reasons}
    assert texts["UNACCOUNTED"].endswith(": metrics have 4 of 4 in use, and spans never showed it full")
    assert texts["CALLERS_WAIT"] == "12 callers wait for a thread, by pending"
    (target,) = answer.targets
    assert (target.occupancy[0].busy, target.occupancy[0].waiting) == ((4, 4, 4), (12, 12, 12))
