"""What the demo's subsets rest on: containers on uneven hosts, spans that name them, and metrics of both."""

from collections import Counter, defaultdict

import numpy as np
import pytest

from testbed.demo import hosts_of
from testbed.host import slowdown
from testbed.mesh import calibration
from testbed.otlp import encode
from testbed.presets.search import HOSTS, SEARCHES_PER_S, search
from testbed.simulation import Simulation
from testbed.utilization import Utilization


def run(seconds, on_span):
    simulation = Simulation(search(), 1, on_span)
    simulation.run_until(seconds)
    return simulation


def test_each_container_of_index_has_enough_requests_and_the_times_of_its_host():
    spans = []
    run(60, spans.append)
    served = defaultdict(list)
    for span in spans:
        if span.site.side == "server" and span.site.service == "index":
            served[span.instance].append((span.end_ns - span.start_ns) / 1e6)
    assert {len(times) // 6 for times in served.values()} <= set(range(30, 50))
    means = [sum(served[f"index-{n}"]) / len(served[f"index-{n}"]) for n in range(1, 7)]
    assert means == sorted(means)
    assert means[-1] > 2.5 * means[0]
    calls = Counter((span.site.service, span.site.side, span.site.peer) for span in spans)
    assert set(calls) == {("search", "server", ""), ("search", "client", "index"), ("index", "server", "")}
    assert calls["index", "server", ""] == pytest.approx(60 * SEARCHES_PER_S, rel=0.1)


def test_spans_name_the_host_of_their_container():
    spans = []
    simulation = run(1, spans.append)
    request = encode(spans, hosts_of(simulation.application))
    named = {
        found["service.instance.id"]: found["host.name"]
        for group in request.resource_spans
        for found in [{each.key: each.value.string_value for each in group.resource.attributes}]
    }
    assert named == {f"index-{n}": f"192.0.2.{n}" for n in range(1, 7)} | {
        f"search-{n}": f"192.0.2.{n}" for n in range(1, 4)
    }


def test_readings_are_of_the_time_since_the_one_before_and_count_the_containers_own_use():
    simulation = Simulation(search(), 1, lambda span: None)
    application = simulation.application
    utilization = Utilization(application)
    simulation.run_until(30)
    first = readings(utilization.read(7))
    assert readings(utilization.read(8)) == {}
    used = first["index-6", "container.cpu.usage"]
    # 4 requests a second of 8 ms of work, slowed by the tenants of the host.
    assert used == pytest.approx(SEARCHES_PER_S / 6 * 0.008 * slowdown(HOSTS[5].others), rel=0.2)
    assert first["192.0.2.6", "system.cpu.utilization"] == pytest.approx(1 - 0.6 - used / 4)
    assert first["192.0.2.6", "system.memory.bandwidth.utilization"] == 0.6
    assert first["192.0.2.6", "hw.network.bandwidth.utilization"] == 0.3
    assert first["index-6", "k8s.container.cpu.limit.current"] == 1.0
    before = {
        name: sum(each.cpu.used() for each in application.services[name].instances) for name in ("search", "index")
    }
    simulation.run_until(40)
    after = {
        name: sum(each.cpu.used() for each in application.services[name].instances) for name in ("search", "index")
    }
    second = readings(utilization.read(9))
    for name in ("search", "index"):
        told = sum(value for (of, what), value in second.items() if of.startswith(name) and what.endswith("usage"))
        assert told == pytest.approx((after[name] - before[name]) / 10)


def used_by(application):
    return {name: sum(each.cpu.used() for each in service.instances) for name, service in application.services.items()}


def readings(request):
    """By instance or host, and metric."""
    return {
        (names.get("service.instance.id", names["host.name"]), metric.name): metric.gauge.data_points[0].as_double
        for group in request.resource_metrics
        for names in [{each.key: each.value.string_value for each in group.resource.attributes}]
        for metric in group.scope_metrics[0].metrics
    }


def test_tenants_slow_as_in_the_mesh():
    for others in ((0.0, 0.0, 0.0), (0.2, 0.5, 0.6), (0.6, 0.6, 0.6)):
        assert slowdown(others) == pytest.approx(float(calibration.slowdown(np.array(others), np.full(3, 1 / 3))))
