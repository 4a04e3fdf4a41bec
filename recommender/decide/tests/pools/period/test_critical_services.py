"""Critical services over periods: when they are read, and what of them is published."""

from concurrent.futures import Executor, Future
from typing import Any

from prometheus_client import CollectorRegistry

from sluice.model.problems import Problems
from sluice.pools.counts import PoolMetrics
from sluice.pools.critical.localizations import Localizations, TraceRoot, localizations
from sluice.pools.period.critical_services import CriticalPaths
from sluice.pools.v1.log_pb2 import CriticalServices
from sluice_kit.decide.fakes import AtOnce
from sluice_kit.decide.worlds import World

MS = 10**6
NOW_MS = 1_800_000_000_000
CHECKOUT = TraceRoot("shop", "POST /orders")


def row(service: str, blame_ms: list[int], e2e_ms: list[int]) -> list[object]:
    """40 traces: each pair ten times; the p95 is the longest."""
    x, y = [each * MS for each in blame_ms * 10], [each * MS for each in e2e_ms * 10]
    squares = (sum(a * a for a in x), sum(y), sum(b * b for b in y), sum(a * b for a, b in zip(x, y, strict=True)))
    sums = [str(each) for each in (len(x), sum(x), *squares, 0, 0)]
    return [*CHECKOUT, service, *sums, 10.0, 20.0, None, None, None, float(max(e2e_ms)), None, None]


def seen() -> Localizations:
    """Cart takes 77.5 % of 52 ms (test_critical.py)."""
    whole = [20, 32, 40, 52]
    return localizations([row("shop", [10, 12, 10, 12], whole), row("cart", [10, 20, 30, 40], whole)])


def test_paths_are_read_every_thirty_seconds_and_written_once() -> None:
    count = 0

    def read() -> Localizations:
        nonlocal count
        count += 1
        return seen()

    paths = CriticalPaths(read)
    for second in range(60):
        paths.look(NOW_MS + 1_000 * second, AtOnce(), Problems())
    assert count == 2
    record = paths.unwritten()
    assert record is not None
    assert record.at.ToMilliseconds() == NOW_MS + 30_000
    assert [(row.service, row.rank, row.critical) for row in record.services] == [("cart", 1, True), ("shop", 2, False)]
    assert paths.unwritten() is None


def test_after_a_failed_reading_the_last_one_stays() -> None:
    readings: list[Localizations | Exception] = [seen(), ConnectionError("down")]

    def read() -> Localizations:
        reading = readings.pop(0)
        if isinstance(reading, Exception):
            raise reading
        return reading

    paths = CriticalPaths(read)
    paths.look(NOW_MS, AtOnce(), Problems())
    held = paths.held
    paths.look(NOW_MS + 30_000, AtOnce(), Problems())
    assert readings == []
    assert paths.held is held is not None


def test_answers_say_what_a_pool_holds_up_and_the_journal_has_the_record() -> None:
    world = World()
    world.step()
    assert not world.publication().HasField("blame")
    world.resources.critical = CriticalPaths(seen)
    world.step(60)
    (held,) = world.publication().blame.holds_up
    assert (held.root_service, held.root_operation, held.critical) == ("shop", "POST /orders", True)
    assert round(held.share_of_p95, 3) == 0.775
    value = world.log.committed(world.log.topics.explanations)["critical"]
    assert [row.service for row in CriticalServices.FromString(value).services] == ["cart", "shop"]


def test_a_period_waits_for_no_reading() -> None:
    waiting: list[Future[Any]] = []

    class Later(Executor):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            waiting.append(Future())
            return waiting[-1]

    paths = CriticalPaths(seen)
    for second in range(60):
        paths.look(NOW_MS + 1_000 * second, Later(), Problems())
    assert len(waiting) == 1
    waiting[0].set_result(seen())
    paths.look(NOW_MS + 61_000, Later(), Problems())
    assert paths.held is not None


def test_the_metric_has_the_critical_service_of_each_operation() -> None:
    registry = CollectorRegistry()
    metrics = PoolMetrics(registry)
    labels = {"root_service": "shop", "root_operation": "POST /orders", "service": "cart"}
    metrics.critical(seen())
    share = registry.get_sample_value("sluice_decider_holds_up_ratio", labels)
    assert share is not None
    assert round(share, 3) == 0.775
    metrics.critical({})
    assert registry.get_sample_value("sluice_decider_holds_up_ratio", labels) is None
