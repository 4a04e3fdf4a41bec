"""What a service can do at a size, by the model and by running it."""

import pytest

from testbed.single.capacity import throughput
from testbed.single.run import FastRun
from testbed.single.scenario import Scenario


def made(**more):
    service = {"cores": 2, "compute_ms": 10, "wait_ms": 30, "threads": 1} | more.pop("service", {})
    usual = {"name": "made", "seconds": 60, "slo_ms": 250, "users": 100, "think_s": 0.01, "load": [[0, 1]]}
    return Scenario.model_validate(usual | {"service": service} | more)


def test_worked_by_hand():
    """One thread: a request each 40 ms. Two never wait for a core: 50/s. Without waiting two fill both cores: 200/s."""
    assert throughput(made(), 2) == pytest.approx([25, 50])
    assert throughput(made(), 64)[-1] == pytest.approx(200)
    assert throughput(made(service={"wait_ms": 0}), 3) == pytest.approx([100, 200, 200])
    assert throughput(made(service={"wait_ms": 0}), 2, cores=1) == pytest.approx([100, 100])


def test_each_law_by_hand():
    # 0.9 x 10 + 0.1 x 100 ms = 19 ms alone; with two in flight 0.9 x 10 + 0.1 x 150 = 24 ms on each of two cores.
    law = {"kind": "bimodal", "share": 0.1, "factor": 10, "cost": 0.5}
    assert throughput(made(law=law, service={"wait_ms": 0}), 2) == pytest.approx([1 / 0.019, 2 / 0.024])
    alone = {"service": {"wait_ms": 0}}
    assert throughput(made(law={"kind": "cliff", "at": 2, "cost": 0.5}, **alone), 4) == pytest.approx(
        [100, 200, 100, 20]
    )
    assert throughput(made(law={"kind": "pauses", "at": 10, "cost": 100}, **alone), 2) == pytest.approx([99, 196])
    # 10 ms of CPU and 40 ms of the lock: one thread 20/s, and never more than 25/s; with 4 behind the holder 60 ms.
    convoy = throughput(made(law={"kind": "convoy", "at": 0, "cost": 40}, **alone), 64)
    assert convoy[0] == pytest.approx(20)
    assert convoy[1] < 25
    assert convoy[20] == pytest.approx(1 / (0.040 * 2), rel=0.1)


@pytest.mark.parametrize(
    "more",
    [
        {"service": {"contention": 0.02, "crosstalk": 0.002}},
        {"law": {"kind": "cliff", "at": 3, "cost": 0.1}},
        {"law": {"kind": "convoy", "at": 2, "cost": 4}},
        {"law": {"kind": "pauses", "at": 10, "cost": 150}},
        {"law": {"kind": "bimodal", "share": 0.1, "factor": 5, "cost": 0.05}},
        {"dependency": {"slots": 3, "ms": 10}},
    ],
    ids=["usl", "cliff", "convoy", "pauses", "bimodal", "dependency"],
)
@pytest.mark.parametrize("threads", [4, 16])
def test_a_full_pool_does_what_the_model_says(more, threads):
    scenario = made(**more | {"service": more.get("service", {}) | {"threads": threads}})
    run = FastRun(scenario, 1)
    run.until(60.0)
    assert run.finished / 60 == pytest.approx(throughput(scenario, threads)[-1], rel=0.08)
