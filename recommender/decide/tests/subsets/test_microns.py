"""What holds for every answer, over random applications."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.subsets.application import Application, Call, Host, Root
from sluice.subsets.churn import named_connections
from sluice.subsets.document.solution import solution_object
from sluice.subsets.microns.settings import MicronsSettings
from sluice.subsets.problem import problem
from sluice.subsets.strategy import RIVALS
from sluice.subsets.strategy_result import answer
from sluice_kit.decide.applications import chain, hosts, random_application
from sluice_kit.decide.capacities import passed, with_capacities

SEEDS = st.integers(0, 100_000)


def shuffled(application: Application, seed: int) -> Application:
    """The same, with every list in another order that means nothing."""
    drawn = random.Random(seed)

    def mixed(items: tuple) -> tuple:  # type: ignore[type-arg]
        return tuple(drawn.sample(items, len(items)))

    def call(one: Call) -> Call:
        return replace(one, stages=tuple(mixed(tuple(call(callee) for callee in stage)) for stage in one.stages))

    services = tuple(replace(service, containers=mixed(service.containers)) for service in application.services)
    roots = tuple(replace(root, tree=call(root.tree)) for root in application.roots)
    return replace(application, hosts=mixed(application.hosts), services=mixed(services), roots=mixed(roots))


@given(SEEDS, st.booleans(), st.integers(0, 3), st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_every_answer_holds_its_bounds(seed: int, weights: bool, zones: int, more: float) -> None:
    app = random_application(seed, zones=zones)
    pairs = problem(app).pairs
    low, high = sum(pair.fewest for pair in pairs), sum(pair.all for pair in pairs)
    quota = int(low + more * (high + 3 - low))
    result = answer(replace(app, quota=quota), "microns", {}, MicronsSettings(weights=weights))
    solvable, solution = result.problem, result.solution
    assert sum(map(len, solution.subsets)) == min(quota, high), "the quota, or everybody connected"
    for pair, subsets in zip(solvable.pairs, solution.subsets, strict=True):
        sizes = subsets.sizes()
        assert pair.fewest <= len(subsets) <= pair.all
        assert (sizes >= np.minimum(app.min_subset, pair.most)).all()
        assert (sizes <= pair.most).all()
        keys = subsets.source() * pair.containers + subsets.to
        assert (np.diff(keys) > 0).all(), "nobody twice"
        assert np.add.reduceat(subsets.share, subsets.start[:-1]) == pytest.approx(np.ones(len(sizes)))
        assert (subsets.share > 0).all()
        below = solvable.fleets[pair.downstream].zone
        allowed = (pair.zone[subsets.source()] < 0) | (pair.zone[subsets.source()] == below[subsets.to])
        assert allowed.all()
        assert len(set(subsets.to.tolist())) == pair.reachable, "everybody is reached"
        assert zones or pair.reachable == pair.containers


@given(SEEDS, SEEDS, st.sampled_from(["microns", *RIVALS]))
@settings(max_examples=60, deadline=None)
def test_the_order_of_lists_changes_nothing(seed: int, order: int, strategy: str) -> None:
    app = random_application(seed)
    one, other = answer(app, strategy, {}), answer(shuffled(app, order), strategy, {})
    assert solution_object(one) == solution_object(other)


@given(SEEDS, st.booleans())
@settings(max_examples=40, derandomize=True, deadline=None)
def test_it_is_predicted_to_be_no_worse_than_any_rival_with_as_many_connections(seed: int, weights: bool) -> None:
    app = random_application(seed, services=4, most=20)
    ours = answer(app, "microns", {}, MicronsSettings(weights=weights))
    assert ours.solution.converged
    mine = _whole(ours)
    for rival in RIVALS:
        # An aperture has weights and more connections than it is told.
        if rival != "full" and (weights or rival != "aperture"):
            assert mine <= 1.05 * _whole(answer(app, rival, {})), rival


def _whole(found) -> float:  # type: ignore[no-untyped-def]
    from sluice.subsets.latency.training import latency_model
    from sluice.subsets.predict import all_curves, predict

    solvable = found.problem
    usual = float((solvable.rate_per_s / [len(fleet) for fleet in solvable.fleets]).mean())
    return predict(solvable, all_curves(solvable, latency_model({}, [], usual)), found.solution.subsets).mean_ms


def test_containers_on_busy_hosts_get_less() -> None:
    """h0 and h1 are calm, h2 and h3 busy; of eight containers below two are on each."""
    app = replace(chain(8, 8), hosts=hosts(0.1, 0.1, 0.6, 0.6))
    for weights in (True, False):
        result = answer(app, "microns", {}, MicronsSettings(weights=weights))
        got = result.solution.subsets[0].received(np.full(8, 12.5), 8)
        calm, busy = got[[0, 1, 4, 5]].sum(), got[[2, 3, 6, 7]].sum()
        assert calm > 3 * busy


def test_an_answer_by_names_says_what_weights_are_relative_to() -> None:
    result = answer(chain(4, 6), "microns", {})
    ends = named_connections(result.problem, result.solution)["a", "b"]
    for above in ("a-0", "a-3"):
        weights = [weight for (one, _), weight in ends.items() if one == above]
        assert np.mean(weights) == pytest.approx(1.0)


def test_ten_thousand_containers_are_answered() -> None:
    app = replace(chain(50, 10_000), roots=(Root("read", 1e5, Call("a", ((Call("b"),),))),))
    result = answer(app, "microns", {})
    assert sum(map(len, result.solution.subsets)) == 10_000


def test_capacity_that_is_too_small_is_said() -> None:
    app = chain(4, 6)
    small = tuple(replace(container, capacity_per_s=1.0) for container in app.services[1].containers)
    result = answer(replace(app, services=(app.services[0], replace(app.services[1], containers=small))), "microns", {})
    assert any("capacity_per_s of its containers is less than the calls to them" in note for note in result.notes)


@given(st.integers(0, 100_000), st.sampled_from([1.1, 1.5, 3.0]), st.booleans())
@settings(max_examples=25, deadline=None)
def test_a_capacity_is_kept_or_who_passes_it_is_named(seed: int, room: float, weights: bool) -> None:
    """Optimal loads keep capacities; connections may not allow those loads."""
    result = with_capacities(seed, room, weights)
    for fleet, over in zip(result.problem.fleets, passed(result), strict=True):
        worst = fleet.names[int(np.argmax(over))]
        notes = [note for note in result.notes if note.startswith(f"{fleet.service}: ") and "capacity_per_s" in note]
        assert bool(notes) == (float(over.max()) > 1.01)
        assert all(worst in note for note in notes)


def test_a_zone_without_downstream_containers_uses_those_of_others() -> None:
    machines = tuple(Host(f"h{number}", zone=zone) for number, zone in enumerate(["x", "x", "y", "z"]))
    result = answer(replace(chain(4, 3), hosts=machines, keep_in_zone=True), "microns", {})
    subsets = result.solution.subsets[0]
    assert subsets.sizes()[3] >= 2
