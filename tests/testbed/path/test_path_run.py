"""The compiled engine of a path does what the plain one did (``vectors``)."""

import pytest
from pydantic import ValidationError

from testbed.path.memory import CONNECTIONS, THREADS
from testbed.path.run import PathRun
from testbed.path.scenario import PathScenario
from testbed.vectors import assert_as_seen, cases, outline, windows_outline


def made(**more):
    caller = {"cores": 1, "compute_ms": 8, "contention": 0.01, "crosstalk": 0.001, "threads": 12, "connections": 4}
    callee = {"cores": 2, "compute_ms": 9, "wait_ms": 12, "contention": 0.01, "crosstalk": 0.002}
    scenario = {
        "name": "made",
        "seconds": 30,
        "slo_ms": 250,
        "users": 60,
        "think_s": 0.2,
        "load": [[0, 0.2], [10, 1.0], [20, 0.3]],
        "caller": caller | more.pop("caller", {}),
        "callee": callee | more.pop("callee", {}),
    }
    return PathScenario.model_validate(scenario | more)


@pytest.mark.parametrize("case", cases("path"))
def test_what_the_plain_engine_did(case):
    """One caller; callers that come, go and drain; a full queue. Both pools are resized in between."""
    scenario = PathScenario.model_validate(case["scenario"])
    run, readings = PathRun(scenario, case["seed"]), []
    for second, pool, size in [*case["resizes"], (scenario.seconds, "", 0)]:
        run.until(second)
        for item in (THREADS, CONNECTIONS):
            readings += windows_outline(run.windows(item, second - 6.0, second, 100, 120.0))
        if pool:
            run.resize(pool, size)
    readings += [outline(part) for part in run.outcomes()]
    assert_as_seen(readings, case["seen"])


def test_callers_come_and_go_and_drain():
    events = [{"at_s": 6, "replicas": 3}, {"at_s": 15, "replicas": 1}, {"at_s": 22, "replicas": 2}]
    run = PathRun(made(events=events, caller={"threads": 40, "connections": 2}, users=120), 1)
    run.until(30.0)
    assert run.replicas == 2
    assert run.windows(THREADS, 10.0, 14.0, 100, 120.0).own.instances.max() == 3
    assert run.windows(THREADS, 24.0, 30.0, 100, 120.0).own.instances.max() == 2


def test_what_is_out_of_range_is_refused():
    with pytest.raises(ValueError, match="size must be an integer from 1 to 256, got 257"):
        PathRun(made(), 1).resize(THREADS, 257)
    with pytest.raises(ValidationError, match="19 instances over the run are not legal; legal: <= 16"):
        made(events=[{"at_s": 5, "replicas": 10}, {"at_s": 6, "replicas": 1}, {"at_s": 7, "replicas": 10}])
    with pytest.raises(ValidationError, match="in the order of their times"):
        made(events=[{"at_s": 5, "replicas": 10}, {"at_s": 4, "replicas": 1}])
