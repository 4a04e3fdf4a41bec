"""The decider reads times upstream every five seconds, and at once for another configuration."""

from sluice.model.problems import Problems
from sluice.pools.estimate.threshold import UpstreamRequest, UpstreamTime
from sluice.pools.period.upstream_times import ShardUpstreamTimes
from sluice_kit.decide.fakes import CART, FakeCollector, config

CONFIG, REQUEST = config(), UpstreamRequest(CART, "checkout")


def test_they_are_read_every_five_seconds_and_for_another_configuration() -> None:
    times, collector, other = ShardUpstreamTimes(), FakeCollector(), config()

    def seen(now_ms: int, given: object = CONFIG) -> float:
        collector.above = {REQUEST: UpstreamTime(float(now_ms), 900)}
        return times.of(given, collector, now_ms, Problems())[REQUEST].value_ms  # type: ignore[arg-type]

    assert [seen(ms) for ms in (1_000, 2_000, 5_999, 6_000, 10_999)] == [1_000, 1_000, 1_000, 6_000, 6_000]
    assert [seen(11_500, other), seen(12_500, other), seen(12_600)] == [11_500, 11_500, 12_600]
    assert seen(3_000) == 3_000  # a clock that was set back


def test_after_a_failure_there_are_none_until_the_next_reading() -> None:
    times, collector, problems = ShardUpstreamTimes(), FakeCollector(), Problems()
    collector.above = {REQUEST: UpstreamTime(50.0, 900)}
    collector.upstream_problem = ConnectionError("down")
    assert times.of(CONFIG, collector, 10_000, problems) == {}
    collector.upstream_problem = None
    assert times.of(CONFIG, collector, 14_999, problems) == {}
    assert problems.counts == {"upstream times": 1}
    assert times.of(CONFIG, collector, 15_000, problems) == {REQUEST: UpstreamTime(50.0, 900)}
