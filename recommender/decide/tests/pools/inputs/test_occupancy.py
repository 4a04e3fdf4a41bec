"""What targets tell of their use, from the journal to the observation of a pool."""

import pytest

from sluice.pools.inputs.occupancy import OccupancyReport, message_of, occupancy, occupancy_report
from sluice.pools.inputs.sizes import SizeReport, Sizes
from sluice.pools.period import decide as deciding
from sluice.pools.policy.observation import Occupancy as Seen
from sluice.pools.v1.occupancy_pb2 import Occupancy
from sluice_kit.decide.fakes import CART, FakeService
from sluice_kit.decide.worlds import World

FULL = Occupancy(readings=3, full=2, busy=32, busy_mean=30.0, busy_most=32, waiting=5, waiting_mean=2.5, waiting_most=6)
LIGHT = Occupancy(readings=5, full=0, busy=2, busy_mean=4.0, busy_most=7)


def kept_of(*reports: tuple[int, str, int, Occupancy | None]) -> Sizes:
    """reports: (at_ms, instance, size, what was told)."""
    sizes = Sizes()
    for at_ms, instance, size, message in reports:
        told = occupancy_report(message, at_ms) if message is not None else None
        sizes.report(CART, SizeReport(size, at_ms, instance, occupancy=told))
    return sizes


def seen(sizes: Sizes, now_ms: int) -> Seen | None:
    return occupancy((target.occupancy for target in sizes.targets(CART, now_ms)), now_ms)


def test_of_one_target() -> None:
    sizes = kept_of((1_000, "a", 32, FULL))
    # Three readings, 2 s apart: the first one 4 s before the report.
    assert seen(sizes, 2_000) == Seen(30.0, 2.5, 2 / 3, 1_000, 32, 6, 3, since_ms=-3_000, busy_30_s=30.0)


def test_what_no_target_tells_is_none_and_not_0() -> None:
    assert seen(kept_of((1_000, "a", 32, None)), 2_000) is None
    assert occupancy_report(Occupancy(), 1_000) is None
    told = seen(kept_of((1_000, "a", 32, LIGHT)), 2_000)
    assert told is not None
    assert (told.waiting, told.waiting_most) == (None, None)


def test_means_are_over_those_that_tell() -> None:
    """(30 + 4) / 2 in use; a alone tells who waits, and c nothing."""
    sizes = kept_of((1_000, "a", 32, FULL), (3_000, "b", 32, LIGHT), (3_000, "c", 32, None))
    assert seen(sizes, 4_000) == Seen(17.0, 2.5, pytest.approx(1 / 3), 3_000, 32, 6, 8, since_ms=-3_000, busy_30_s=17.0)


def test_what_is_older_than_20_s_says_nothing_of_now() -> None:
    sizes = kept_of((1_000, "a", 32, FULL), (6_000, "b", 32, LIGHT))
    assert seen(sizes, 21_000) is not None
    later = seen(sizes, 21_001)
    assert later is not None
    assert later.busy == 4.0
    assert seen(sizes, 26_001) is None


def test_how_often_it_was_full_is_counted_over_30_s() -> None:
    """At 33 s of 3 and 5 readings; the first 3, of 2 s, count no more."""
    sizes = kept_of((2_000, "a", 32, FULL), (17_000, "a", 32, FULL), (32_000, "a", 32, LIGHT))
    at = seen(sizes, 33_000)
    assert at is not None
    assert (at.full_share, at.readings, at.busy) == (2 / 8, 8, 4.0)
    # 30 in 3 readings, and 4 in 5.
    assert at.busy_30_s == (3 * 30 + 5 * 4) / 8


def test_what_was_told_under_another_size_is_forgotten() -> None:
    sizes = kept_of((1_000, "a", 32, LIGHT), (2_000, "a", 16, None))
    assert seen(sizes, 2_500) is None
    sizes.report(CART, SizeReport(16, 4_000, "a", occupancy=occupancy_report(FULL, 4_000)))
    at = seen(sizes, 4_500)
    assert at is not None
    assert (at.full_share, at.readings) == (2 / 3, 3)


def test_a_write_of_the_same_size_says_nothing_of_use_and_takes_nothing_away() -> None:
    sizes = kept_of((1_000, "a", 32, FULL), (2_000, "a", 32, None))
    assert seen(sizes, 2_500) == Seen(30.0, 2.5, 2 / 3, 1_000, 32, 6, 3, since_ms=-3_000, busy_30_s=30.0)


@pytest.mark.parametrize("message", [FULL, LIGHT])
def test_it_goes_to_a_message_and_back(message: Occupancy) -> None:
    told = occupancy_report(message, 5)
    assert told is not None
    assert message_of(told) == message


def test_more_full_than_readings_is_all_of_them() -> None:
    told = occupancy_report(Occupancy(readings=2, full=7), 5)
    assert told == OccupancyReport(5, 2, 2, (0, 0.0, 0))


def test_a_period_observes_it_and_the_answer_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer is no other one for it: its revision stays."""
    observed = []
    made = deciding.observation
    monkeypatch.setattr(deciding, "observation", lambda *of: observed.append(made(*of)) or observed[-1])
    world = World()
    world.collector.services[CART] = FakeService(64)
    world.log.size(CART, 64, world.clock())
    revision = world.run(5)[-1].revision
    assert observed[-1].occupancy is None
    observed.clear()
    for busy in (32, 33, 34):
        told = Occupancy(readings=1, busy=busy, busy_mean=busy, busy_most=busy)
        world.log.size(CART, 64, world.clock(), occupancy=told)
        world.step(1)
    of_cart = [each.occupancy for each in observed if each.sizes]
    assert [each.busy for each in of_cart] == [32, 33, 34]
    assert world.cart.revision == revision or world.cart.content.action == "APPLY"
    assert world.cart.targets[0].occupancy[-1].busy == (34, 34.0, 34)


@pytest.mark.parametrize(("readings", "full", "share"), [(3, 3, 1.0), (2, 2, 2 / 7), (4, 3, 3 / 9)])
def test_a_newest_report_that_was_always_full_is_of_a_full_pool(readings: int, full: int, share: float) -> None:
    """LIGHT has 5 readings, none of them full. 3 readings are 6 s."""
    busy = Occupancy(readings=readings, full=full, busy=32, busy_mean=32.0, busy_most=32)
    at = seen(kept_of((1_000, "a", 32, LIGHT), (9_000, "a", 32, busy)), 10_000)
    assert at is not None
    assert at.full_share == pytest.approx(share)


def test_a_full_pool_was_full_since_its_first_full_report() -> None:
    """Not full at 15 s; full in 1 reading at 20 s, and in 3 up to 26 s, the first of which was at 22 s."""
    full = [Occupancy(readings=count, full=count, busy=32, busy_mean=32.0, busy_most=32) for count in (1, 3)]
    sizes = kept_of((15_000, "a", 32, LIGHT), (20_000, "a", 32, full[0]), (26_000, "a", 32, full[1]))
    assert seen(sizes, 26_000).since_ms == 20_000
    assert seen(kept_of((15_000, "a", 32, LIGHT), (26_000, "a", 32, full[1])), 26_000).since_ms == 22_000
    # 5 readings up to 15 s, where the newest report is of a pool that was not full.
    assert seen(kept_of((15_000, "a", 32, LIGHT)), 16_000).since_ms == 7_000
