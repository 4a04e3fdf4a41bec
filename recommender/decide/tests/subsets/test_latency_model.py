"""The latency model: trees as arrays, curves, training, and what stands in for it."""

import numpy as np
import pytest
import xgboost

from sluice.subsets.latency.accuracy import accuracy, held_out_accuracy
from sluice.subsets.latency.boosted import FEWEST, PARAMETERS, train
from sluice.subsets.latency.curves import Curves
from sluice.subsets.latency.forest import forest
from sluice.subsets.latency.pooled import pooled_latency, slower
from sluice.subsets.latency.samples import LatencySamples
from sluice.subsets.latency.training import latency_model


def drawn(count: int, seed: int = 1) -> LatencySamples:
    """Of a container that takes 4 ms, five times as long at 60 % utilization, and longer the more it has to do."""
    random = np.random.default_rng(seed)
    rate, contention = random.uniform(5, 250, count), random.uniform(0.05, 0.8, (count, 3))
    takes = 4 * np.exp(slower(contention.max(axis=1)))
    busy = np.minimum(rate * takes / 1000 / 8, 0.9)
    return LatencySamples(
        rate, contention, np.log(takes / (1 - busy)) + random.normal(0, 0.02, count), 0.4 + 0.3 * busy
    )


SEEN = drawn(300)


def test_steps_of_a_forest_are_what_xgboost_predicts() -> None:
    data = xgboost.DMatrix(SEEN.features(), label=SEEN.mu)
    booster = xgboost.train(PARAMETERS, data, 40)
    trained = forest(booster)
    rates, hosts = trained.rates(), drawn(20, seed=2).contention.astype(np.float32)
    steps = trained.between(rates).of(hosts)
    # On each threshold (what is not below it goes right), and far below the first.
    loads = np.concatenate([[np.float32(-1)], rates])
    for number, rate in enumerate(loads):
        rows = np.column_stack([np.full(len(hosts), rate, np.float32), hosts])
        assert steps[:, number] == pytest.approx(booster.predict(xgboost.DMatrix(rows)), abs=2e-5)


def test_more_load_and_more_contention_are_never_faster() -> None:
    model = train(SEEN)
    calm, busy = np.full((1, 3), 0.2), np.array([[0.6, 0.2, 0.2]])
    assert (np.diff(model.curves(calm).mu) >= -1e-9).all()
    assert (model.curves(busy).mu >= model.curves(calm).mu - 1e-9).all()


def test_the_same_samples_give_the_same_model() -> None:
    one, other = train(SEEN).curves(SEEN.contention), train(SEEN).curves(SEEN.contention)
    assert (one.mu == other.mu).all()


def test_curves_are_lines_between_points_and_rise_beyond_the_last() -> None:
    curves = Curves(np.array([10.0, 20.0, 40.0]), np.array([[1.0, 2.0, 4.0]]), np.array([[0.1, 0.2, 0.2]]))
    assert [curves.at(np.array([rate]))[0][0] for rate in (0.0, 10.0, 15.0, 30.0, 40.0)] == [1, 1, 1.5, 3, 4]
    mu, sigma = curves.at(np.array([80.0]))
    assert mu[0] == pytest.approx(4 + np.log(4)), "four times the latency at twice the rate"
    assert sigma[0] == 0.2


def test_too_few_samples_are_pooled_and_scaled_by_utilization() -> None:
    calm = LatencySamples(np.full(4, 50.0), np.full((4, 3), 0.2), np.full(4, 1.0), np.full(4, 0.4))
    curves = pooled_latency(calm, "").curves(np.array([[0.2, 0.2, 0.2], [0.2, 0.8, 0.2]]))
    mu, sigma = curves.at(np.array([50.0, 50.0]))
    assert mu == pytest.approx([1.0, 1.0 + np.log(5)])
    assert sigma == pytest.approx([0.4, 0.4])
    assert curves.at(np.array([0.0, 100.0]))[0] == pytest.approx([1 + np.log(0.5), 1 + np.log(5) + np.log(1.5)])


def test_what_latencies_rest_on_is_said() -> None:
    few = SEEN.where(np.arange(len(SEEN)) < FEWEST - 1)
    model = latency_model({"a": SEEN, "b": few}, ["a", "b", "c"])
    assert model.of("a").basis == "XGBoost of 300 samples"
    assert model.of("b").basis == f"pooled: {FEWEST - 1} samples, scaled by utilization"
    assert model.of("c").basis == "pooled: the samples of all services, scaled by utilization"
    assert [note.partition(":")[0] for note in model.notes] == [
        f"fewer than {FEWEST} latency samples of b ({FEWEST - 1})",
        "no latency samples of c",
    ]
    assert model.known


def test_without_samples_utilization_alone_counts() -> None:
    model = latency_model({}, ["a"], 20.0)
    assert not model.known
    mu, _ = model.of("a").curves(np.array([[0.0, 0, 0], [0.6, 0, 0]])).at(np.array([20.0, 20.0]))
    assert mu == pytest.approx([0, np.log(5)])


def test_how_wrong_a_model_is_on_others() -> None:
    measured = held_out_accuracy(drawn(600))
    assert measured is not None
    assert measured.samples == pytest.approx(180, abs=30)
    assert measured.mu < 0.2
    assert measured.sigma < 0.05
    assert held_out_accuracy(drawn(20)) is None


def test_differences_are_relative() -> None:
    flat = LatencySamples(np.full(60, 5.0), np.full((60, 3), 0.2), np.full(60, 1.0), np.full(60, 0.4))
    other = LatencySamples(np.full(2, 5.0), np.full((2, 3), 0.2), np.full(2, 1.0 - np.log(1.25)), np.full(2, 0.5))
    measured = accuracy(train(flat), other)
    assert (measured.mu, measured.sigma, measured.samples) == pytest.approx((0.25, 0.2, 2), abs=1e-3)
