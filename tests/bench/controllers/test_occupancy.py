"""When an actuator reports the occupancy of a target: times by hand, by the rules of its `occupancy.go`."""

from bench.controllers.occupancy import Occupied
from sluice.pools.v1.occupancy_pb2 import Occupancy


def reported(*busy: int, size: int = 8) -> list[tuple[int, int, int]]:
    """A reading each 2 s. Seconds, readings and full readings of each report."""
    target, reports = Occupied(), list[tuple[int, Occupancy]]()
    for second in range(2 * len(busy)):
        report = target.report(size, busy[second // 2], 0, 1_000 * second)
        if report is not None:
            reports.append((second, report))
    return [(second, report.readings, report.full) for second, report in reports]


def test_an_unchanged_use_is_reported_every_15_s() -> None:
    """The reading at 16 s is the first one 15 s after 0."""
    assert reported(*[2] * 9) == [(0, 1, 0), (16, 8, 0)]


def test_a_pool_that_became_full_is_reported_at_its_next_reading() -> None:
    assert reported(2, 2, 8, 8) == [(0, 1, 0), (4, 2, 1)]


def test_a_pool_that_is_no_longer_full_is_reported_after_5_s() -> None:
    """Full at 0 s. The reading at 6 s is the first one 5 s after that; with those of 2 and 4 s, none is full."""
    assert reported(8, 2, 2, 2, 2)[:2] == [(0, 1, 1), (6, 3, 0)]


def test_readings_of_another_size_begin_anew() -> None:
    target = Occupied()
    target.report(8, 8, 3, 0)
    report = target.report(4, 4, 5, 2_000)
    assert report is not None
    assert (report.readings, report.full, report.busy_most, report.waiting, report.waiting_most) == (1, 1, 4, 5, 5)
