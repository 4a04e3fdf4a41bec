"""A pool that its callers never fill, in the loop with reports of its targets: it is shrunk where it is crowded, and
not where a callee is slow."""

import pytest

from bench.controllers.racers import RACERS, REPORTS
from bench.decision.starts import good_per_s
from bench.racing import HELD, drive
from testbed.single.reading import parse

CROWDED = """
name: crowded
seconds: 120
warm_up_s: 10
slo_ms: 250
users: 204
think_s: 0.3
load: [[0, 1.0]]
service: {cores: 4, compute_ms: 4.0, wait_ms: 5, sigma: 1.0, contention: 0.02, crosstalk: 0.0003, threads: 200}
law: {kind: usl}
"""
# What it calls takes 400 ms from second 20 on: some 100 of 200 threads are in use.
SLOW_CALLEE = """
name: slow_callee
seconds: 120
warm_up_s: 10
slo_ms: 250
users: 1301
think_s: 5.0
load: [[0, 1.0]]
service: {cores: 2, compute_ms: 0.5, wait_ms: 1.0, sigma: 1.0, contention: 0.02, crosstalk: 0.002, threads: 200}
law: {kind: usl}
events: [{at_s: 20, wait: 400.0}]
"""


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_a_crowded_pool_is_shrunk_and_a_hundred_times_as_many_are_in_time(seed: int) -> None:
    crowded = parse(CROWDED, "crowded")
    held, ours = drive(crowded, HELD, seed), drive(crowded, RACERS[REPORTS], seed)
    assert max(size for _, size in held.history) == 200
    assert ours.size <= 32
    assert good_per_s(ours)[60:].mean() > 100 * good_per_s(held)[60:].mean()


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_before_a_slow_callee_it_keeps_its_size(seed: int) -> None:
    ours = drive(parse(SLOW_CALLEE, "slow_callee"), RACERS[REPORTS], seed)
    assert [size for _, size in ours.history] == [200]
