"""Loads and hosts beyond those of the latency samples: named in the notes, and bounded."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.subsets.application import Application, Call, Root
from sluice.subsets.latency.curves import Curves
from sluice.subsets.latency.samples import LatencySamples
from sluice.subsets.strategy import STRATEGIES
from sluice.subsets.strategy_result import StrategyResult, answer
from sluice_kit.decide.applications import chain, hosts, service

#: ln of the most that a load beyond the samples adds: 2 ln 4 + 2 is a factor of 118.
MOST = 2 * np.log(4) + 2


def samples(highest: float = 60.0, cpu: float = 0.4) -> LatencySamples:
    """5 ms, longer on busier hosts, at rates up to `highest` and CPU up to `cpu`."""
    rate, used = np.linspace(1.0, highest, 200), np.linspace(0.0, cpu, 200)[np.random.default_rng(1).permutation(200)]
    contention = np.column_stack([used, np.full(200, 0.1), np.full(200, 0.1)])
    return LatencySamples(rate, contention, np.log(5.0) + used + rate / 100, np.full(200, 0.3))


def solved(rate_per_s: float, strategy: str = "microns", cpu: float = 0.2) -> StrategyResult:
    """a calls the only container of b."""
    app = Application(
        hosts(cpu),
        (service("a", 2, 1), service("b", 1, 1)),
        (Root("read", rate_per_s, Call("a", ((Call("b"),),))),),
        min_subset=1,
    )
    return answer(app, strategy, {"b": samples()})


def predicted_ms(result: StrategyResult) -> float:
    assert result.predicted is not None
    return result.predicted.mean_ms


def notes_of(result: StrategyResult) -> list[str]:
    return [note for note in result.notes if note.startswith("b: ")]


@pytest.mark.parametrize("rate_per_s", [500.0, 1e9])
def test_a_load_beyond_the_samples_is_named_and_its_latency_bounded(rate_per_s: float) -> None:
    result = solved(rate_per_s)
    assert notes_of(result) == [
        f"b: b-0 gets up to {rate_per_s:.3g} calls/s, and no latency sample has more than 60/s: the latency there is"
        " extrapolated"
    ]
    assert predicted_ms(result) <= predicted_ms(solved(60.0)) * np.exp(MOST) * 1.001


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_each_strategy_names_it(strategy: str) -> None:
    assert notes_of(solved(500.0, strategy))
    assert not notes_of(solved(50.0, strategy))


def test_a_host_that_is_busier_than_any_in_the_samples_is_named() -> None:
    assert notes_of(solved(50.0, cpu=0.9)) == [
        "b: the host of b-0 is busier than in any latency sample: its latency is that of the busiest ones"
    ]


def test_of_many_containers_three_are_named() -> None:
    app = replace(chain(), roots=(Root("read", 6_000.0, Call("a", ((Call("b"),),))),))
    (note,) = notes_of(answer(replace(app, hosts=hosts(0.2, 0.2, 0.2, 0.2)), "full", {"b": samples()}))
    assert note.startswith("b: b-0, b-1, b-2 and 3 more get up to 1e+03 calls/s")


@given(st.floats(1.0, 1e12), st.floats(1.0, 1e12))
def test_beyond_the_samples_latency_still_rises_and_stays_bounded(one: float, other: float) -> None:
    curves = Curves(np.array([10.0, 60.0]), np.zeros((1, 2)), np.ones((1, 2)))
    low, high = (float(curves.at(np.array([rate]))[0][0]) for rate in sorted((one, other)))
    assert low <= high <= MOST
    assert curves.at(np.array([120.0]))[0][0] == pytest.approx(np.log(4)), "as the square of the load, up to four times"
    assert curves.at(np.array([240.0]))[0][0] == pytest.approx(2 * np.log(4))
    assert curves.at(np.array([480.0]))[0][0] == pytest.approx(2 * np.log(4) + 1)
