"""What is not known of a host is missing, and not idle."""

import numpy as np
import pytest

from sluice.subsets.latency.boosted import FEWEST, train
from sluice.subsets.latency.learnt import learn
from sluice.subsets.latency.missing import busiest, complete
from sluice.subsets.latency.pooled import PooledLatency, pooled_latency, slower
from sluice.subsets.latency.samples import LatencySamples
from sluice.subsets.latency.training import latency_model

UNKNOWN = np.nan


def drawn(count: int, missing: float = 0.0) -> LatencySamples:
    """4 ms on an idle host, five times as long at 60 % of CPU; of a part of the samples no host is known."""
    random = np.random.default_rng(3)
    rate = random.uniform(5, 50, count)
    cpu = random.choice([0.02, 0.5, 0.6, 0.7], count)
    contention = np.column_stack([cpu, np.full(count, 0.1), np.full(count, 0.1)])
    mu = np.log(4) + slower(cpu) + random.normal(0, 0.02, count)
    contention[random.random(count) < missing] = UNKNOWN
    return LatencySamples(rate, contention, mu, np.full(count, 0.4))


def idle_ms(samples: LatencySamples) -> float:
    curves = latency_model({"a": samples}, ["a"]).of("a").curves(np.array([[0.02, 0.1, 0.1]]))
    return float(np.exp(curves.at(np.array([20.0]))[0][0]))


@pytest.mark.parametrize("missing", [0.1, 0.3])
def test_idle_hosts_are_as_fast_as_they_are_with_samples_missing(missing: float) -> None:
    """4 ms x e^(ln 5 x 0.02 / 0.6) = 4.2 ms."""
    assert idle_ms(drawn(400, missing)) == pytest.approx(4.22, rel=0.05)
    samples = drawn(400, missing)
    zeros = LatencySamples(samples.rate_per_s, np.nan_to_num(samples.contention), samples.mu, samples.sigma)
    at = train(zeros).curves(np.array([[0.02, 0.1, 0.1]])).at(np.array([20.0]))[0][0]
    assert np.exp(at) > 4.22 * 1.2, "what taking them for idle does"


def test_what_is_left_out_is_counted_and_said() -> None:
    samples = drawn(200, 0.2)
    lost = int(np.isnan(samples.contention[:, 0]).sum())
    model = latency_model({"a": samples}, ["a"])
    assert any(f"a ({lost} of 200)" in note and "unknown" in note for note in model.notes)
    assert model.of("a").basis == f"XGBoost of {200 - lost} samples"
    learnt = learn({"a": (samples, np.arange(200) // 4)}, ["a"], 1.0, 1)
    assert learnt.accuracy["a"].mu < 0.1
    assert not any("not known" in note for note in latency_model({"a": drawn(200)}, ["a"]).notes)


def test_what_most_hosts_do_not_tell_counts_for_none() -> None:
    contention = np.array([[0.5, UNKNOWN, 0.1]] * 7 + [[0.5, 0.9, 0.1]] * 3 + [[UNKNOWN, UNKNOWN, 0.1]] * 2)
    samples = LatencySamples(np.ones(12), contention, np.ones(12), np.ones(12))
    whole, chosen = complete(samples)
    assert chosen.tolist() == [True] * 10 + [False] * 2
    assert whole.contention.tolist() == [[0.5, 0.0, 0.1]] * 10


def test_too_few_whole_samples_are_pooled() -> None:
    """Half of 30 are under FEWEST: the pooled model takes what is known of each."""
    samples = drawn(30)
    samples.contention[:13] = UNKNOWN
    assert FEWEST > 17
    model = latency_model({"a": samples}, ["a"]).of("a")
    assert isinstance(model, PooledLatency)
    assert model.utilization == pytest.approx(samples.contention[13:, :].max(axis=1).mean())
    nothing = LatencySamples(samples.rate_per_s, np.full((30, 3), UNKNOWN), samples.mu, samples.sigma)
    assert pooled_latency(nothing, "").utilization == 0.0
    assert np.isnan(busiest(np.full((1, 3), UNKNOWN))[0])
    assert busiest(np.array([[UNKNOWN, 0.2, 0.1]]))[0] == 0.2
