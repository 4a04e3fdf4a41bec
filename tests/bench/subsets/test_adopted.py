"""The bench of partial adoption: who follows, and what is judged of it."""

from __future__ import annotations

from bench.subsets.adopted import AdoptedCell, followers, partly, table, verdicts
from bench.subsets.closed_loop import MeshSource
from bench.subsets.loop_runs import LoopRun, application, even
from sluice.subsets.v1.explanation_pb2 import Adoption
from testbed.mesh.run import MeshRun
from testbed.mesh.solution import Solution


def one_each() -> Solution:
    """front-0 calls cart-00 alone, and so on."""
    connections = [{"from": f"front-{at}", "to": f"cart-{at:02}"} for at in range(8)]
    return Solution.model_validate({"pairs": [{"upstream": "front", "downstream": "cart", "connections": connections}]})


def test_the_first_callers_follow_the_others_call_all() -> None:
    assert followers(0.25) == ["front-0", "front-1"]
    app = application(0.15, 1)
    by = {}
    for connection in partly(app, followers(0.25), one_each()).pairs[0].connections:
        by.setdefault(connection.from_, []).append(connection.to)
    assert by["front-1"] == ["cart-01"]
    assert {len(by[f"front-{at}"]) for at in range(2, 8)} == {16}


def test_a_source_shows_who_called_whom() -> None:
    """All calls of front, in each window: those of followers go to one container."""
    app = application(0.15, 1)
    run = MeshRun(app, even(app), 1)
    source = MeshSource(run, 1_000)
    source.window()
    run.connect(partly(app, followers(0.25), one_each()))
    source.window()
    calls = source.observed(1_020_000, 300_000.0).calls
    assert {one.start_s for one in calls} == {1_000, 1_010}
    later = [one for one in calls if one.start_s == 1_010]
    assert {one.container for one in later if one.instance == "front-0"} == {"cart-00"}
    assert len({one.container for one in later if one.instance == "front-7"}) == 16
    made = run.engine.calls()
    assert sum(one.calls for one in calls) == made.sum()
    visits = run.counters().tallies["visits"][run.fleet.service == run.fleet.services.index("cart")]
    assert made.sum() - visits.sum() in range(40), "those that are under way"


def test_verdicts_count_from_when_they_last() -> None:
    """Windows of 10 s; wrong at first, then unknown, then right to the end."""
    others = [f"front-{at}" for at in range(4, 8)]
    wrong = Adoption(following=3, not_following=5, not_following_instances=["front-0", *others])
    unknown = Adoption(following=3, not_following=4, unknown=1, not_following_instances=others)
    right = Adoption(following=4, not_following=4, not_following_instances=others)
    run = LoopRun(adoption=[wrong, right, unknown, right, right])
    assert verdicts(run, followers(0.5), 10.0) == (40.0, 1)
    assert verdicts(LoopRun(adoption=[right, unknown]), followers(0.5), 10.0) == (None, 0)


def test_a_row_has_ratios_as_differences() -> None:
    row = table([AdoptedCell(0.5, 2, 8.94, 0.85, 0.92, 1.01, 40.0, 0, 0.16, 1)]).splitlines()[2]
    assert row == "| 50% | 2 | 8.94 | -15.0% | -8.0% | +1.0% | 40 | 0 | 16% | 1 |"
