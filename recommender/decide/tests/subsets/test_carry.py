"""From one solution to the next: who is touched changes, and little else."""

import random
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sluice.subsets.application import Application, Call, Container, Host
from sluice.subsets.churn import NamedConnections, changed, churn, named_connections
from sluice.subsets.microns.carry import solve_again
from sluice.subsets.microns.settings import MicronsSettings
from sluice.subsets.microns.solve import solve
from sluice.subsets.predict import all_curves
from sluice.subsets.problem import problem
from sluice.subsets.strategy_result import answer
from sluice_kit.decide.applications import random_application

SEEDS = st.integers(0, 100_000)


def next_one(app: Application, before: NamedConnections, weights: bool) -> NamedConnections:
    result = answer(app, "microns", {}, MicronsSettings(weights=weights), before)
    return named_connections(result.problem, result.solution)


def first(app: Application, weights: bool) -> NamedConnections:
    result = answer(app, "microns", {}, MicronsSettings(weights=weights))
    return named_connections(result.problem, result.solution)


def with_service(app: Application, number: int, containers: tuple[Container, ...]) -> Application:
    services = list(app.services)
    services[number] = replace(services[number], containers=containers)
    return replace(app, services=tuple(services))


def change(app: Application, seed: int, kind: str) -> tuple[Application, str]:
    """One container of a service that is called or calls comes, goes or is drained; and the service."""
    drawn = random.Random(seed)
    number = drawn.randrange(len(app.services))
    service = app.services[number]
    if kind == "added":
        return with_service(
            app, number, (*service.containers, Container(f"{service.name}-new", drawn.choice(app.hosts).name))
        ), service.name
    gone = drawn.randrange(len(service.containers))
    rest = service.containers[:gone] + service.containers[gone + 1 :]
    if kind == "drained":
        rest = (*rest, replace(service.containers[gone], drained=True))
    return with_service(app, number, rest), service.name


def large(seed: int) -> Application:
    """Services of 20 to 30 containers, so that one of them is less than 5 %."""
    app = random_application(seed, services=5, most=1)
    drawn = random.Random(seed)
    for number, service in enumerate(app.services):
        count = drawn.randint(20, 30)
        app = with_service(
            app, number, tuple(Container(f"{service.name}-{at}", drawn.choice(app.hosts).name) for at in range(count))
        )
    return app


@given(SEEDS, st.sampled_from(["added", "removed", "drained"]), st.booleans(), st.booleans())
@example(37102, "removed", True, False)
@settings(max_examples=60, deadline=None)
def test_one_container_changes_at_most_5_percent_or_its_own_and_nothing_elsewhere(
    seed: int, kind: str, weights: bool, stated: bool
) -> None:
    app = large(seed)
    if stated:
        app = replace(app, quota=problem(app).quota)
    previous = first(app, weights)
    after_app, service = change(app, seed, kind)
    after = next_one(after_app, previous, weights)
    most = max(sum(map(len, previous.values())), sum(map(len, after.values())))
    assert sum(changed(previous, after).values()) <= max(int(0.05 * most), _needed(previous, after, after_app))
    elsewhere = sum(count for pair, count in changed(previous, after).items() if service not in pair)
    assert elsewhere <= _left_over(after_app, service, previous)


def _needed(before: NamedConnections, after: NamedConnections, app: Application) -> int:
    """The fewest connections that any answer can change: those of a container that goes; what the whole loses, with one
    for each that only that container called; what one that comes has to have; what the whole gains."""
    there = {
        (service.name, container.name)
        for service in app.services
        for container in service.containers
        if not container.drained
    }
    were = {end for (up, down), ends in before.items() for a, b in ends for end in ((up, a), (down, b))}
    left = {
        (up, down): {b for a, b in ends if (up, a) in there and (down, b) in there}
        for (up, down), ends in before.items()
    }
    own = sum((up, a) not in there or (down, b) not in there for (up, down), ends in before.items() for a, b in ends)
    alone = sum(len({b for _, b in ends if (down, b) in there} - left[up, down]) for (up, down), ends in before.items())
    first_ones = 0
    for name, _ in there - were:
        subsets = {pair: min(app.min_subset, len({b for _, b in ends})) for pair, ends in after.items()}
        first_ones += sum(least if up == name else down == name for (up, down), least in subsets.items())
    lost = sum(map(len, before.values())) - sum(map(len, after.values()))
    return max(own, first_ones, lost + alone, -lost)


def _left_over(app: Application, service: str, before: NamedConnections) -> int:
    """Of the quota that the whole gains or loses, what the pairs of `service` have no room for."""
    solvable = problem(app)
    keys = [
        (solvable.fleets[pair.upstream].service, solvable.fleets[pair.downstream].service) for pair in solvable.pairs
    ]
    mine = [(pair, len(before[key])) for pair, key in zip(solvable.pairs, keys, strict=True) if service in key]
    others = sum(len(ends) for key, ends in before.items() if service not in key)
    wanted = solvable.quota - others
    low, high = sum(pair.fewest for pair, _ in mine), sum(pair.all for pair, _ in mine)
    return max(low - wanted, wanted - high, 0)


@given(SEEDS, st.floats(0.95, 1.05), st.booleans())
@example(827, 1.0, True)
@example(1344, 0.96875, False)
@settings(max_examples=40, deadline=None)
def test_load_that_moves_by_5_percent_changes_at_most_5_percent(seed: int, factor: float, weights: bool) -> None:
    app = large(seed)
    previous = first(app, weights)
    roots = tuple(
        replace(root, rate_per_s=root.rate_per_s * (factor if number else 1.0)) for number, root in enumerate(app.roots)
    )
    after = next_one(replace(app, roots=roots), previous, weights)
    assert churn(previous, after) <= 0.05
    moved = {call.service for root in app.roots[1:] for call in _calls(root.tree)}
    # The containers that a service calls get other loads with its own, also for other roots.
    touched = {
        below.service
        for root in app.roots
        for call in _calls(root.tree)
        if call.service in moved
        for below in _calls(call)
    }
    assert all(touched & set(pair) for pair in changed(previous, after))


def _calls(call: Call) -> Iterator[Call]:
    yield call
    for stage in call.stages:
        for below in stage:
            yield from _calls(below)


@given(SEEDS, st.booleans())
@example(0, False)
@settings(max_examples=30, deadline=None)
def test_the_same_again_changes_nothing(seed: int, weights: bool) -> None:
    app = random_application(seed)
    previous = first(app, weights)
    once = next_one(app, previous, weights)
    assert not changed(previous, once)


@given(SEEDS, st.sampled_from(["added", "removed", "drained"]), st.booleans())
@settings(max_examples=60, deadline=None)
def test_small_applications_keep_every_bound_too(seed: int, kind: str, weights: bool) -> None:
    app = random_application(seed)
    previous = first(app, weights)
    after_app, _ = change(app, seed, kind)
    if any(all(container.drained for container in service.containers) for service in after_app.services):
        return
    result = answer(after_app, "microns", {}, MicronsSettings(weights=weights), previous)
    assert sum(map(len, result.solution.subsets)) == result.problem.quota
    for pair, subsets in zip(result.problem.pairs, result.solution.subsets, strict=True):
        assert (subsets.sizes() >= pair.least).all()
        assert len(set(subsets.to.tolist())) == pair.containers
        assert np.add.reduceat(subsets.share, subsets.start[:-1]) == pytest.approx(np.ones(len(pair.most)))
    gone = {container.name for service in after_app.services for container in service.containers if container.drained}
    ends = named_connections(result.problem, result.solution)
    assert not gone & {name for pair in ends.values() for end in pair for name in end}


def test_a_host_that_becomes_busy_loses_load_at_once_and_few_connections() -> None:
    app = replace(large(3), hosts=tuple(Host(f"h{number}", 0.2, 0.2, 0.2) for number in range(10)))
    app = replace(
        app,
        services=tuple(
            replace(
                service,
                containers=tuple(
                    replace(container, host=f"h{at % 10}") for at, container in enumerate(service.containers)
                ),
            )
            for service in app.services
        ),
    )
    previous = first(app, True)
    busy = replace(app, hosts=(Host("h0", 0.7, 0.2, 0.2), *app.hosts[1:]))
    after = next_one(busy, previous, True)
    assert churn(previous, after) <= 0.05
    name = next(container.name for container in app.services[1].containers if container.host == "h0")

    def load(of: NamedConnections) -> float:
        return sum(weight for pair in of.values() for (_, to), weight in pair.items() if to == name)

    assert load(after) < 0.5 * load(previous)


def test_from_arrays_it_is_the_same_as_from_names() -> None:
    app = large(5)
    model = {}
    old = problem(app)
    from sluice.subsets.latency.training import latency_model

    trained = latency_model(model, [], 10.0)
    solved = solve(old, all_curves(old, trained), MicronsSettings())
    after_app, service = change(app, 5, "removed")
    fleets = {fleet.service: fleet for fleet in old.fleets if fleet.service != service}
    now = problem(after_app, fleets)
    curves = all_curves(now, trained)
    kept = {fleet.service: curve for fleet, curve in zip(old.fleets, solved.curves, strict=True)}
    curves = [
        kept[fleet.service] if fleet.service in fleets else curve
        for fleet, curve in zip(now.fleets, curves, strict=True)
    ]
    again = solve_again(solved, now, curves, MicronsSettings())
    assert sum(map(len, again.solution.subsets)) == now.quota
    assert all(
        service in pair
        for pair in changed(named_connections(old, solved.solution), named_connections(now, again.solution))
    )


def test_a_budget_of_everything_solves_from_nothing() -> None:
    app = large(7)
    other = answer(app, "sre", {})
    previous = named_connections(other.problem, other.solution)
    free = answer(app, "microns", {}, MicronsSettings(churn_budget=1.0), previous)
    assert named_connections(free.problem, free.solution) == first(app, True)
