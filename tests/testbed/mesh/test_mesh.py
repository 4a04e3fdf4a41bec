"""Numbers worked out by hand: waits, stages, shares, contention, and what is refused."""

import numpy as np
import pytest

from testbed.mesh.application import Application
from testbed.mesh.judged import judge
from testbed.mesh.meshes import all_to_all, made
from testbed.mesh.run import MeshRun
from testbed.mesh.solution import Solution

LEAF = {"service": "a"}
FIXED = {"cv": 0.0}


def latencies_ms(run):
    rows = run.engine.rows()
    return (rows[:, 1] - rows[:, 0]) * 1e3


def ran(application, seconds, solution=None, **more):
    run = MeshRun(application, solution or all_to_all(application), 1, **more)
    run.until(seconds)
    return run


@pytest.mark.parametrize("cv", [0.0, 0.5, 2.0])
def test_processor_sharing_has_the_mean_of_mm1_whatever_the_work(cv):
    """1 ms of CPU at 0.1 cores is 10 ms; at 50/s half busy: 10 / (1 - 0.5) = 20 ms. Own use of 48 cores slows 0.2 %."""
    run = ran(made({"a": 1}, {"read": (50.0, LEAF)}, {"a": {"work_ms": 1.0, "cv": cv}}), 2400.0)
    assert latencies_ms(run).mean() == pytest.approx(20.0, rel=0.04)
    assert run.engine.busy()[0] / 2400.0 == pytest.approx(0.5, rel=0.03)
    assert run.counters().used_core_s[0] / 2400.0 == pytest.approx(0.05, rel=0.03)


def test_stages_follow_each_other_and_calls_within_one_do_not():
    """Alone: 10 ms of a, the longer of 20 (b) and 5 (c), then 2 calls of c at the same time: 5 ms each, shared: 10."""
    tree = {"service": "a", "stages": [[{"service": "b"}, {"service": "c"}], [{"service": "c", "calls": 2}]]}
    natures = {"a": {"work_ms": 1.0}, "b": {"work_ms": 2.0}, "c": {"work_ms": 0.5}}
    natures = {name: nature | FIXED for name, nature in natures.items()}
    run = ran(made({"a": 1, "b": 1, "c": 1}, {"read": (0.2, tree)}, natures), 300.0)
    assert len(latencies_ms(run)) > 40
    assert np.median(latencies_ms(run)) == pytest.approx(40.0, rel=0.01)
    tallies = run.engine.tallies()[[run.fleet.number[name] for name in ("a-0", "b-0", "c-0")]]
    assert list(tallies["visits"] / tallies["visits"][0]) == [1, 1, 3]
    own = np.exp(tallies["own"] / tallies["visits"])
    assert own == pytest.approx([10.0, 20.0, 10 ** (2 / 3) * 5 ** (1 / 3)], rel=0.03)
    assert np.exp(tallies["whole"][0] / tallies["visits"][0]) == pytest.approx(40.0, rel=0.03)


def test_a_host_at_60_percent_is_five_times_as_slow():
    run = ran(made({"a": 2}, {"read": (0.5, LEAF)}, {"a": {"work_ms": 1.0} | FIXED}, hosts=[0.0, 0.6]), 400.0)
    assert sorted({round(item) for item in latencies_ms(run)})[:1] == [10]
    assert np.percentile(latencies_ms(run), [25, 75]) == pytest.approx([10.0, 50.0], rel=0.01)


def test_connections_take_their_part_of_a_container():
    """100 connections of each a: 1 - 0.0368 of its CPU, 1 - 0.105 of its time, so 10 ms become 11.6."""
    many = made(
        {"a": 1, "b": 100},
        {"read": (0.5, LEAF), "never": (1e-9, LEAF | {"stages": [[{"service": "b"}]]})},
        {"a": {"work_ms": 1.0} | FIXED},
    )
    run = ran(many, 200.0)
    assert np.median(latencies_ms(run)) == pytest.approx(10.0 / (1 - 0.0368) / (1 - 0.105), rel=0.01)
    assert run.connections == 100
    assert run.counters().used_core_s[0] == pytest.approx(200.0 * 0.00368 + len(latencies_ms(run)) * 0.001, rel=0.01)


CALLS = {"service": "a", "stages": [[{"service": "b"}]]}


@pytest.mark.parametrize(
    ("weights", "shares"), [((1, 1, 1), (1, 1, 1)), ((2, 1, 1), (2, 1, 1)), ((0.5, 0, 1.5), (1, 0, 3))]
)
def test_round_robin_gives_each_connection_its_share_to_within_one_call(weights, shares):
    application = made({"a": 1, "b": 3}, {"read": (100.0, CALLS)}, {"a": {"work_ms": 0.1}, "b": {"work_ms": 0.1}})
    run = ran(application, 30.0, all_to_all(application, lambda i, j: weights[j]))
    visits = run.engine.tallies()["visits"][1:]
    assert visits == pytest.approx(np.array(shares) / sum(shares) * visits.sum(), abs=2.0)


def test_least_request_avoids_who_is_slow_and_keeps_to_weights_where_nobody_is():
    natures = {"a": {"work_ms": 0.01}, "b": {"work_ms": 1.0}}
    slow = made({"a": 1, "b": 2}, {"read": (60.0, CALLS)}, natures, hosts=[0.0, 0.5])
    visits = ran(slow, 200.0, routing="least_request").engine.tallies()["visits"]
    assert visits[2] < 0.7 * visits[1]
    idle = made({"a": 1, "b": 2}, {"read": (5.0, CALLS)}, natures)
    visits = ran(idle, 600.0, all_to_all(idle, lambda i, j: 1 + 2 * j), routing="least_request").engine.tallies()[
        "visits"
    ]
    assert visits[2] / visits[1:].sum() == pytest.approx(0.75, abs=0.03)


def test_part_of_a_call_is_that_share_of_visits():
    tree = {"service": "a", "stages": [[{"service": "b", "calls": 1.25}]]}
    run = ran(made({"a": 1, "b": 1}, {"read": (20.0, tree)}), 300.0)
    a, b = run.engine.tallies()["visits"]
    assert b / a == pytest.approx(1.25, abs=0.03)


def test_load_by_second():
    run = ran(made({"a": 2}, {"read": (20.0, LEAF)}), 300.0, levels=np.repeat([1.0, 3.0, 0.0], 100))
    begun = np.histogram(run.engine.rows()[:, 0], [0, 100, 200, 300])[0]
    assert begun == pytest.approx([2000, 6000, 0], rel=0.06)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"upstream": "b"}, "pair b -> b: no call tree has it"),
        ({"connections": [{"from": "a-9", "to": "b-0"}]}, "container 'a-9' is not one of a"),
        ({"connections": [{"from": "a-0", "to": "a-0"}]}, "container 'a-0' is not one of b"),
        ({"connections": [{"from": "a-0", "to": "b-0"}] * 2}, "connection a-0 -> b-0 stands twice"),
        ({"connections": []}, "container a-0 has no connection to b, which it calls"),
        ({"connections": [{"from": "a-0", "to": "b-0", "weight": 0}]}, "container a-0 has no connection to b"),
        ({"connections": [{"from": "a-0", "to": "b-0", "weight": -1}]}, "greater than or equal to 0"),
    ],
)
def test_a_solution_that_does_not_fit_is_refused(change, message):
    pair = {"upstream": "a", "downstream": "b", "connections": [{"from": "a-0", "to": "b-0"}]}
    with pytest.raises(ValueError, match=message):
        ran(made({"a": 1, "b": 1}, {"read": (1.0, CALLS)}), 1.0, Solution.model_validate({"pairs": [pair | change]}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"services": [{"name": "a", "containers": [{"name": "a-0", "host": "x"}]}]},
            "host 'x' is not among the hosts",
        ),
        ({"services": [{"name": "a", "containers": []}]}, "at least 1 item"),
        ({"hosts": [{"name": "h0"}, {"name": "h0"}]}, "host 'h0' stands twice"),
        ({"hosts": [{"name": "h0", "cpu": float("nan")}]}, "finite number"),
        (
            {"roots": [{"name": "r", "rate_per_s": 1, "tree": {"service": "z"}}]},
            "service 'z' is not among the services",
        ),
        ({"testbed": {"services": {"a": {"cpu": 0.9}}}}, "must sum to 1, got 1.5"),
    ],
)
def test_an_application_that_is_not_legal_is_refused(change, message):
    application = made({"a": 1}, {"read": (1.0, LEAF)}).model_dump()
    with pytest.raises(ValueError, match=message):
        Application.model_validate(application | change)


def test_what_only_the_testbed_knows_is_not_told():
    assert set(made({"a": 1}, {"read": (1.0, LEAF)}, {"a": {"work_ms": 7.0}}).public()) == {
        "hosts",
        "services",
        "roots",
        "min_subset",
        "percentile",
    }


def test_calls_follow_the_new_connections_from_the_moment_that_they_change():
    """b-0 gets all of the calls, then b-1; no request is lost at the change."""
    application = made({"a": 1, "b": 2}, {"read": (40.0, CALLS)}, {"a": {"work_ms": 0.1}, "b": {"work_ms": 0.2}})
    run = ran(application, 50.0, all_to_all(application, lambda i, j: 1.0 - j))
    before = run.engine.tallies()["visits"][1:]
    run.connect(all_to_all(application, lambda i, j: float(j)))
    run.until(100.0)
    after = run.engine.tallies()["visits"][1:]
    assert before[1] == 0
    assert after[0] - before[0] <= 2, "what was outstanding"
    assert after[1] == pytest.approx(before[0], rel=0.2)
    assert not run.engine.rows()[:, 3].any()


def test_below_is_the_latency_without_the_first_services_own_time():
    """a computes 10 ms and then waits 20 ms for b, both on idle hosts, at 1 request in some 10 s."""
    tree = {"service": "a", "stages": [[{"service": "b"}]]}
    nature = {"a": {"work_ms": 1.0, **FIXED}, "b": {"work_ms": 2.0, **FIXED}}
    application = made({"a": 1, "b": 1}, {"read": (0.1, tree)}, nature)
    judged = judge(application, all_to_all(application), 1, 50)
    assert judged.latency_ms[0] == pytest.approx(30.0, rel=0.01)
    assert judged.below_ms[0] == pytest.approx(20.0, rel=0.01)
