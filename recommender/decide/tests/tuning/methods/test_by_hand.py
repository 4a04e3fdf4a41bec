"""Steps of the methods with numbers worked out by hand."""

import numpy as np
import pytest

from sluice.tuning.methods import annealing, dds, genetic, swarm
from sluice.tuning.methods.cma_es import generation
from sluice.tuning.methods.improvement import expected_improvement, features, first_trials, tamed
from sluice.tuning.methods.move import perturbed, picked, reflected
from sluice.tuning.methods.question import Question, Tried
from sluice_kit.decide.spaces import MIXED, sphere


def test_dds_moves_fewer_coordinates_as_it_goes() -> None:
    assert dds.chance(1, 15) == 1.0
    assert dds.chance(4, 15) == pytest.approx(0.488, abs=1e-3)  # 1 - ln 4 / ln 15 = 1 - 1.3863 / 2.7081
    assert dds.chance(15, 15) == dds.chance(16, 15) == 0.0
    reported = (Tried(0, np.full(8, 0.5), 1.0),)
    last = dds.propose(Question(sphere(8), 1, 15, 15, reported))
    assert np.count_nonzero(last != 0.5) == 1
    first = dds.propose(Question(sphere(8), 1, 15, 1, reported))
    assert np.count_nonzero(first != 0.5) == 8


def test_dds_steps_by_a_fifth_of_the_range() -> None:
    reported = (Tried(0, np.full(200, 0.5), 1.0),)
    assert np.std(dds.propose(Question(sphere(200), 1, 15, 1, reported))) == pytest.approx(0.2, abs=0.03)


def test_reflection_at_the_bounds() -> None:
    np.testing.assert_allclose(reflected(np.array([-0.2, 0.4, 1.3, -1.4, 2.5])), [0.2, 0.4, 0.7, 0.0, 1.0])


def test_what_was_chosen_to_move_moves() -> None:
    """Rounding would have kept 16 threads of 1 to 16 (up, out of the range), or one choice of two."""
    at = MIXED.point({**MIXED.default, "spare": 16})
    chosen = np.array([False, True, True, True, False, False])
    moved = MIXED.configuration(perturbed(MIXED, at, chosen, 1e-6, np.random.default_rng(1)))
    assert moved["spare"] == 15
    assert moved["model"] != "pooled"
    assert moved["reuse"] is True
    assert (moved["threads"], moved["cache_mb"]) == (64, pytest.approx(10.0))


def test_at_least_one_coordinate_is_picked() -> None:
    assert picked(5, 0.0, np.random.default_rng(1)).sum() == 1
    assert picked(5, 1.0, np.random.default_rng(1)).all()


def test_annealing_stands_at_what_loses_no_more() -> None:
    points = [np.full(2, share) for share in (0.1, 0.2, 0.3)]
    reported = tuple(
        Tried(number, point, loss) for number, (point, loss) in enumerate(zip(points, (5, 3, 4), strict=True))
    )
    cold = Question(sphere(2), 1, 2, 3, reported[:2])
    assert annealing.standing(cold) == reported[1]
    # The last of three loses 1 more; at the end T = 0.01 x (4 - 3): accepted with e^-100.
    assert annealing.standing(Question(sphere(2), 1, 2, 3, reported)) == reported[1]


def test_a_particle_goes_on_and_is_pulled() -> None:
    """With both pulls at nothing (its own best and the swarm's are where it stands) it makes 0.7298 of its last
    move."""
    reported = (Tried(0, np.array([0.2]), 2.0), Tried(3, np.array([0.3]), 1.0))
    assert swarm.propose(Question(sphere(1), 1, 15, 6, reported)) == pytest.approx([0.3 + 0.7298 * 0.1])
    assert (swarm.swarm(15), swarm.swarm(40), swarm.swarm(1000)) == (3, 8, 20)


def test_sizes_by_budget() -> None:
    assert (genetic.population(15), genetic.population(100)) == (5, 20)
    assert (first_trials(15), first_trials(100), first_trials(2)) == (5, 10, 3)
    assert (generation(40, 15), generation(40, 100)) == (4, 15)  # 4 + 3 ln 40 = 15.07


def test_expected_improvement() -> None:
    values = expected_improvement(np.array([1.0, 0.0, 2.0]), np.array([1.0, 0.0, 0.0]), 1.0)
    np.testing.assert_allclose(values, [0.398942, 1.0, 0.0], atol=1e-6)


def test_losses_far_above_the_median_are_pulled_towards_it() -> None:
    """Median 3, deviations 2 1 0 1 97, their median 1: 1.4826. 97 / 1.4826 = 65.4 becomes 2 (1 + ln 32.7) = 8.98."""
    np.testing.assert_allclose(
        tamed(np.array([1.0, 2.0, 3.0, 4.0, 100.0])), [-1.349, -0.6745, 0.0, 0.6745, 8.976], atol=1e-3
    )


def test_a_category_is_a_feature_a_choice() -> None:
    scaled = features(MIXED, MIXED.default_point[None])[0]
    # threads, spare, model x 3, reuse x 2, cache, window
    assert scaled[2:7].tolist() == [1.0, 0.0, 0.0, 1.0, 0.0]
    assert scaled.shape == (9,)
