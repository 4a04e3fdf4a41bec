"""What the demo's subsets rest on: containers on uneven hosts, spans that name them, and metrics of both."""

from collections import Counter, defaultdict

import numpy as np
import pytest

from testbed.demo import hosts_of
from testbed.host import slowdown
from testbed.mesh import calibration
from testbed.otlp import encode
from testbed.presets.suggest import HOSTS, SUGGESTIONS_PER_S, suggest
from testbed.simulation import Simulation
from testbed.utilization import Utilization


def run(seconds, on_span):
    simulation = Simulation(suggest(), 1, on_span)
    simulation.run_until(seconds)
    return simulation


def test_each_container_of_index_has_enough_requests_and_the_times_of_its_host():
    spans = []
    run(60, spans.append)
    served = defaultdict(list)
    for span in spans:
        if span.site.side == "server" and span.site.service == "suggest-index":
            served[span.instance].append((span.end_ns - span.start_ns) / 1e6)
    assert {len(times) // 6 for times in served.values()} <= set(range(30, 50))
    means = [sum(served[f"suggest-index-{n}"]) / len(served[f"suggest-index-{n}"]) for n in range(1, 7)]
    assert means == sorted(means)
    assert means[-1] > 2.5 * means[0]
    calls = Counter((span.site.service, span.site.side, span.site.peer) for span in spans)
    assert set(calls) == {
        ("suggest", "server", ""),
        ("suggest", "client", "suggest-index"),
        ("suggest-index", "server", ""),
    }
    assert calls["suggest-index", "server", ""] == pytest.approx(60 * SUGGESTIONS_PER_S, rel=0.1)


def test_spans_name_the_host_of_their_container():
    spans = []
    simulation = run(1, spans.append)
    request = encode(spans, hosts_of(simulation.application))
    named = {
        item["service.instance.id"]: item["host.name"]
        for group in request.resource_spans
        for item in [{attribute.key: attribute.value.string_value for attribute in group.resource.attributes}]
    }
    assert named == {f"suggest-index-{n}": f"127.0.1.{n}" for n in range(1, 7)} | {
        f"suggest-{n}": f"127.0.1.{n}" for n in range(1, 4)
    }


def test_readings_are_of_the_time_since_the_one_before_and_count_the_containers_own_use():
    simulation = Simulation(suggest(), 1, lambda span: None)
    application = simulation.application
    utilization = Utilization(application)
    simulation.run_until(30)
    first = readings(utilization.read(7))
    assert readings(utilization.read(8)) == {}
    used = first["suggest-index-6", "container.cpu.usage"]
    # 4 requests a second of 8 ms of work, slowed by the tenants of the host.
    assert used == pytest.approx(SUGGESTIONS_PER_S / 6 * 0.008 * slowdown(HOSTS[5].others), rel=0.2)
    assert first["127.0.1.6", "system.cpu.utilization"] == pytest.approx(1 - 0.6 - used / 4)
    assert first["127.0.1.6", "system.memory.bandwidth.utilization"] == 0.6
    assert first["127.0.1.6", "hw.network.bandwidth.utilization"] == 0.3
    assert first["suggest-index-6", "k8s.container.cpu.limit.current"] == 1.0
    before = {
        name: sum(instance.cpu.used() for instance in application.services[name].instances)
        for name in ("suggest", "suggest-index")
    }
    simulation.run_until(40)
    after = {
        name: sum(instance.cpu.used() for instance in application.services[name].instances)
        for name in ("suggest", "suggest-index")
    }
    second = readings(utilization.read(9))
    for name in ("suggest", "suggest-index"):
        reported = sum(
            value for (of, what), value in second.items() if of.rpartition("-")[0] == name and what.endswith("usage")
        )
        assert reported == pytest.approx((after[name] - before[name]) / 10)


def used_by(application):
    return {
        name: sum(instance.cpu.used() for instance in service.instances)
        for name, service in application.services.items()
    }


def readings(request):
    """By instance or host, and metric."""
    return {
        (names.get("service.instance.id", names["host.name"]), metric.name): metric.gauge.data_points[0].as_double
        for group in request.resource_metrics
        for names in [{attribute.key: attribute.value.string_value for attribute in group.resource.attributes}]
        for metric in group.scope_metrics[0].metrics
    }


def test_tenants_slow_as_in_the_mesh():
    for others in ((0.0, 0.0, 0.0), (0.2, 0.5, 0.6), (0.6, 0.6, 0.6)):
        assert slowdown(others) == pytest.approx(float(calibration.slowdown(np.array(others), np.full(3, 1 / 3))))
