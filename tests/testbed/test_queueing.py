"""Means against queueing theory. Tolerances are about three standard errors of the runs, whose seeds are fixed."""

from math import factorial

import pytest

from testbed.application import Application
from testbed.distributions import Constant, Exponential, stream
from testbed.engine import Engine
from testbed.spans import Span
from testbed.topology import Compute, PoolSpec, ServiceSpec, Topology, Wait

ARRIVALS = 60_000
SERVICE = 0.010


def run(service, rate):
    """Poisson arrivals; returns (spans, mean response time, time simulated)."""
    spans: list[Span] = []
    times: list[float] = []
    engine = Engine()
    application = Application(Topology((service,), "s", network=Constant(0.0)), engine, 7, spans.append)
    target = application.entry("GET /")
    gaps = stream(7, "arrivals")

    def arrive(left):
        application.submit(target, lambda request: times.append(engine.now - request.submitted))
        if left > 1:
            engine.after(gaps.expovariate(rate), arrive, left - 1)

    engine.at(0.0, arrive, ARRIVALS)
    engine.run_until(ARRIVALS / rate * 1.5)
    assert len(times) == ARRIVALS
    return spans, sum(times) / ARRIVALS, max(span.end_ns for span in spans) / 1e9


def erlang_c(servers, load):
    """Probability that an arrival waits in M/M/c; load in erlangs."""
    waiting = load**servers / factorial(servers) * servers / (servers - load)
    return waiting / (sum(load**k / factorial(k) for k in range(servers)) + waiting)


def test_one_thread_is_m_m_1():
    # rho = 0.7: E[T] = 0.010 / 0.3 = 33.3 ms.
    service = ServiceSpec("s", {"GET /": (Wait(Exponential(SERVICE)),)}, threads=PoolSpec(1, 10**6))
    _, mean, _ = run(service, 70.0)
    assert mean == pytest.approx(SERVICE / 0.3, rel=0.06)


def test_four_threads_are_m_m_4():
    # a = 3.2, C(4, 3.2) = 0.5964; E[T] = 10 ms + 0.5964 * 10 ms / (4 - 3.2) = 17.46 ms.
    assert erlang_c(4, 3.2) == pytest.approx(0.5964, abs=1e-4)
    service = ServiceSpec("s", {"GET /": (Wait(Exponential(SERVICE)),)}, threads=PoolSpec(4, 10**6))
    _, mean, _ = run(service, 320.0)
    assert mean == pytest.approx(0.01746, rel=0.05)


def test_processor_sharing_depends_on_the_mean_of_the_work_alone():
    # M/G/1-PS: E[T] = 0.010 / 0.3 = 33.3 ms, here with constant work, where first come first served would take 21.7 ms.
    service = ServiceSpec("s", {"GET /": (Compute(Constant(SERVICE)),)}, cores=1)
    _, mean, _ = run(service, 70.0)
    assert mean == pytest.approx(SERVICE / 0.3, rel=0.06)


def test_littles_law_holds_for_the_emitted_spans():
    # L = lambda * W, both from the spans: and W of the SERVER spans is the service time alone, as the wait for a
    # thread is not in them: L = 320 * 0.010 = 3.2 threads.
    service = ServiceSpec("s", {"GET /": (Wait(Exponential(SERVICE)),)}, threads=PoolSpec(4, 10**6))
    spans, _, seconds = run(service, 320.0)
    in_flight = sum(span.end_ns - span.start_ns for span in spans) / 1e9 / seconds
    assert in_flight == pytest.approx(3.2, rel=0.02)
