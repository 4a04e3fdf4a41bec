"""The study of localization: its input is what it says, on one small run."""

import pytest

from bench.localization import P95_S, PATHS, measure


@pytest.mark.parametrize("threads", ["a thread a request", "8 threads a service"])
def test_one_bottleneck_is_busy_and_the_others_are_not(threads: str) -> None:
    run = measure(PATHS["GetFollower"], "user", threads, seed=2)
    assert P95_S[0] < run.p95_s < P95_S[1]
    cpu = {item.service: item.cpu for item in run.found.ranking}
    assert cpu["user"] is not None
    assert cpu["user"] > 0.9
    assert max(cpu["nginx"] or 0, cpu["social-graph"] or 0) < 0.6
    assert run.found.critical == "user"
    assert run.without_cpu.critical == "user"
    # Threads of social-graph run out, since they wait for user: the wait shows there, and is none of its own.
    waits = {item.service: item.wait_ms for item in run.without_cpu.ranking}
    bounded = threads == "8 threads a service"
    assert (max(waits, key=lambda name: waits[name]) == "social-graph") if bounded else (max(waits.values()) == 0)
    papers = run.counted["the caller, as the papers have it"].critical
    owners = run.counted["the service that owns them"].critical
    assert (papers, owners) == (("nginx", "social-graph") if bounded else ("user", "user"))
