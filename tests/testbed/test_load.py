import pytest

from testbed.distributions import Constant, Exponential, LogNormal, stream
from testbed.mix import Mix
from testbed.shapes import Repeating
from testbed.users import ClosedLoop
from testbed.worlds import World, back, front, wait


def test_a_repeating_shape_worked_by_hand():
    shape = Repeating(40.0, ((0, 0.2), (10, 1.0), (30, 0.2)))
    # Half way up, the peak, half way down, the flat end, and the same one period later.
    assert [shape(t) for t in (5, 10, 20, 35, 45)] == pytest.approx([0.6, 1.0, 0.6, 0.2, 0.6])


def test_a_shape_may_jump():
    shape = Repeating(10.0, ((0, 0.1), (5, 0.1), (5, 0.9)))
    assert [shape(t) for t in (4.999, 5.0)] == pytest.approx([0.1, 0.9])


@pytest.mark.parametrize(
    "points", [(), ((1, 0.5),), ((0, 0.5), (11, 0.5)), ((0, 0.5), (5, 0.1), (4, 0.1)), ((0, 1.5),)]
)
def test_a_shape_out_of_range_is_refused(points):
    with pytest.raises(ValueError, match="build a load shape"):
        Repeating(10.0, points)


@pytest.mark.parametrize(
    ("distribution", "mean", "variance"),
    [(Constant(0.01), 0.01, 0.0), (Exponential(0.01), 0.01, 1e-4), (LogNormal(0.01, 0.5), 0.01, 2.5e-5)],
)
def test_distributions_have_the_moments_that_they_name(distribution, mean, variance):
    draw = distribution.sampler(stream(1, "moments"))
    values = [draw() for _ in range(100_000)]
    assert sum(values) / len(values) == pytest.approx(mean, rel=0.02)
    assert sum((v - mean) ** 2 for v in values) / len(values) == pytest.approx(variance, rel=0.08, abs=1e-12)


def test_streams_depend_on_seed_and_name_only():
    assert stream(1, "a").random() == stream(1, "a").random()
    assert len({stream(1, "a").random(), stream(2, "a").random(), stream(1, "b").random()}) == 3


def test_closed_loop_users_keep_to_littles_law():
    # 40 users, 100 ms service + 4 ms network + 0.3 s think: X = 40 / 0.404 = 99.0 requests/s.
    world, answers = World(front(), back(wait(0.100))), []
    ClosedLoop(
        world.application,
        Mix(world.application, {"GET /": 1.0}),
        Exponential(0.3),
        40,
        lambda second: 1.0,
        1,
        lambda at, latency, failed: answers.append(at),
    )
    world.run(200.0)
    assert sum(at >= 10 for at in answers) / 190 == pytest.approx(40 / 0.404, rel=0.02)


def test_users_follow_the_shape_down_within_a_think_time():
    world = World(front(wait(0.001)))
    users = ClosedLoop(
        world.application,
        Mix(world.application, {"GET /": 1.0}),
        Constant(0.5),
        100,
        lambda second: 1.0 if second < 5 else 0.2,
        1,
        lambda at, latency, failed: None,
    )
    world.run(4.9)
    assert users.present == 100
    world.run(6.0)
    assert users.present == 20


def test_a_shape_is_drawn_out_or_compressed() -> None:
    shape = Repeating(40.0, ((0, 0.2), (10, 1.0), (30, 0.2))).lasting(20.0)
    assert shape.period == 20.0
    assert [shape(second) for second in (2.5, 10.0, 16.0, 22.5)] == pytest.approx([0.6, 0.6, 0.2, 0.6])
