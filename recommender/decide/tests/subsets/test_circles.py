"""Services that call each other in a circle, or themselves, are solved, and nothing of their calls is lost."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.subsets.application import Application, Call, PairRate, Root
from sluice.subsets.calls import rates
from sluice.subsets.circles import Calls, in_order
from sluice.subsets.connections import flow
from sluice.subsets.microns.settings import MicronsSettings
from sluice.subsets.problem import problem
from sluice.subsets.strategy import STRATEGIES
from sluice.subsets.strategy_result import answer
from sluice_kit.decide.applications import chain, hosts, service


def way(*names: str) -> Call:
    tree = Call(names[-1])
    for name in reversed(names[:-1]):
        tree = Call(name, ((tree,),))
    return tree


def callback() -> Application:
    """One trace in 3,001 goes back: a -> b -> a."""
    app = chain()
    return replace(app, roots=(Root("read", 10.0, way("a", "b")), Root("back", 10.0 / 3000, way("a", "b", "a"))))


def random_graph(seed: int) -> Application:
    """Pairs in any directions between up to 7 services, calls of a service to itself among them, and a tree."""
    drawn = random.Random(seed)
    count = drawn.randint(2, 7)
    names = [f"s{number}" for number in range(count)]
    ends = [(drawn.choice(names), drawn.choice(names)) for _ in range(drawn.randint(1, 14))]
    pairs = tuple(PairRate(up, down, drawn.uniform(0.01, 100)) for up, down in dict.fromkeys(ends))
    roots = (Root("read", drawn.uniform(1, 100), way(*names[:2])),) if drawn.random() < 0.7 else ()
    if not roots and all(pair.upstream == pair.downstream for pair in pairs):
        roots = (Root("read", 1.0, way(*names[:2])),)
    machines = hosts(*(drawn.uniform(0, 0.9) for _ in range(4)))
    return Application(machines, tuple(service(name, drawn.randint(1, 6)) for name in names), roots, pairs)


def test_the_rarest_calls_of_a_circle_are_cut_and_come_last() -> None:
    # front 0 -> cart 1 -> shop 2 -> front, and from cart to the unconcerned 3.
    pairs = [Calls(2, 0, 0.5), Calls(0, 1, 10.0), Calls(1, 2, 4.0), Calls(1, 3, 0.1)]
    order, cut = in_order(pairs, 4)
    assert cut == {0}
    assert order[-1] == 0
    assert order.index(1) < order.index(2)
    assert order.index(1) < order.index(3)


def test_without_a_circle_nothing_is_cut() -> None:
    order, cut = in_order([Calls(1, 2, 1.0), Calls(0, 1, 9.0), Calls(0, 2, 5.0)], 3)
    assert not cut
    assert order.index(1) < order.index(0)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_callback_in_one_trace_of_3001_is_solved_by_each_strategy_and_said(strategy: str) -> None:
    result = answer(callback(), strategy, {})
    assert [note for note in result.notes if "in a cycle" in note and "b -> a (0.00333/s)" in note]
    for pair, subset in zip(result.problem.pairs, result.solution.subsets, strict=True):
        assert (subset.sizes() >= pair.least).all()
    assert len(result.problem.pairs) == 2


def test_what_comes_back_is_what_was_sent() -> None:
    """a gets 100 from outside and 50 from b, b all of a's 150: work is what flows in, container by container."""
    app = replace(chain(), roots=(Root("read", 50.0, way("a", "b")), Root("back", 50.0, way("a", "b", "a", "b"))))
    solvable = problem(app)
    assert solvable.rate_per_s.tolist() == [150.0, 150.0]
    result = answer(app, "microns", {}).solution
    work, got = flow(solvable, result.subsets)
    to_a, to_b = (next(n for n, pair in enumerate(solvable.pairs) if pair.downstream == down) for down in (0, 1))
    assert work[0] == pytest.approx(25 + got[to_a], abs=1e-4)
    assert work[1] == pytest.approx(got[to_b], abs=1e-4)
    assert got[to_a] == pytest.approx(result.subsets[to_a].received(work[1] / 3, 4), abs=1e-4)


def test_a_call_of_a_service_to_itself_is_none_between_containers() -> None:
    """s -> m -> m -> e, a hundred times a second: m is called by s, and as often from outside."""
    app = Application(
        hosts(0.1, 0.3), tuple(service(name, 3, 2) for name in "sme"), (Root("read", 100.0, way("s", "m", "m", "e")),)
    )
    result = answer(app, "microns", {})
    called = {result.problem.name(pair): pair.rate_per_s for pair in result.problem.pairs}
    assert called == {"m -> e": 100.0, "s -> m": 100.0}
    outside = dict(zip("ems", result.problem.outside.tolist(), strict=True))
    assert outside == {"e": 0.0, "m": 100.0, "s": 100.0}
    inner = Call("m", ((Call("e"),),), calls=3.0)
    often = replace(app, roots=(Root("read", 10.0, Call("s", ((Call("m", ((inner,),)),),))),))
    assert rates(often)["m", "e"] == problem(often).pairs[0].rate_per_s == 30.0


def test_pairs_without_a_tree_have_calls_from_outside() -> None:
    result = answer(replace(chain(), roots=(), pairs=(PairRate("a", "b", 70.0),)), "microns", {})
    assert result.problem.outside.tolist() == [70.0, 0.0]
    work, _ = flow(result.problem, result.solution.subsets)
    assert work[1].sum() == pytest.approx(70)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 100_000), st.booleans())
def test_no_call_is_lost_or_invented_in_any_graph(seed: int, weights: bool) -> None:
    app = random_graph(seed)
    result = answer(app, "microns", {}, MicronsSettings(weights=weights))
    solvable = result.problem
    assert {solvable.name(pair): pair.rate_per_s for pair in solvable.pairs} == pytest.approx(
        {f"{up} -> {down}": rate for (up, down), rate in rates(app).items()}
    )
    work, got = flow(solvable, result.solution.subsets)
    for number, pair in enumerate(solvable.pairs):
        assert got[number].sum() == pytest.approx(pair.rate_per_s, rel=1e-6)
    for number, load in enumerate(work):
        assert load.sum() == pytest.approx(solvable.rate_per_s[number], rel=1e-6)
        comes = sum(
            (got[at] for at, pair in enumerate(solvable.pairs) if pair.downstream == number),
            np.full(len(load), solvable.outside[number] / len(load)),
        )
        assert load == pytest.approx(comes, rel=1e-4, abs=1e-4 * solvable.rate_per_s[number])
    before = [n for n in solvable.order if n not in solvable.cut]
    for at, number in enumerate(before):
        assert solvable.pairs[number].upstream not in {solvable.pairs[later].downstream for later in before[at:]}
    assert sorted(solvable.order) == list(range(len(solvable.pairs)))
