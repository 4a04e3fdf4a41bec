"""The demo, its file and a decider: from what it sends to subsets that rest on latencies that were learnt.

Tables are those of the reference in plain Python, which the streaming jobs are held to elsewhere.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import yaml

from sluice.subsets.application import Call
from sluice.subsets.fleet import Ints
from sluice.subsets.latency.samples import LatencySamples
from sluice.subsets.observed import ObservedApplication, ObservedContainer, ObservedHost, ObservedTree
from sluice.subsets.v1 import explanation_pb2, subset_pb2
from sluice_kit.decide.subset_worlds import SubsetWorld
from sluice_kit.reference import containers
from sluice_kit.reference.spans import Record
from sluice_kit.reference.truth import Reference
from testbed.demo import hosts_of
from testbed.otlp import encode
from testbed.presets.suggest import suggest
from testbed.simulation import Simulation
from testbed.spans import Span
from testbed.utilization import Utilization

REPOSITORY = Path(__file__).parents[5]
BEGAN_S, SECONDS = 1_800_000_000, 120
LEAST_REQUESTS = 20


@dataclass
class Tables:
    """What `subsets/reader/reading.py` has from ClickHouse."""

    reference: Reference
    hosts: dict[str, ObservedHost]

    def observed(self, now_ms: int, window_ms: float) -> ObservedApplication:
        found: dict[tuple[str, str, str], list[tuple[int, int]]] = defaultdict(list)
        for (service, instance, host, window_s), row in _of(containers.samples, self.reference).items():
            found[service, instance, host].append((window_s, row.requests))
        there = tuple(
            ObservedContainer(*key, sum(n for _, n in rows), min(rows)[0], max(rows)[0] + 10)
            for key, rows in found.items()
        )
        trees = [
            ObservedTree(operation, _call(json.loads(tree)), row["traces"])
            for (_, operation, _, tree), row in self.reference.call_trees().items()
        ]
        newest_s = max(each.last_s for each in there)
        return ObservedApplication(there, tuple(trees), self.hosts, float(newest_s - BEGAN_S), newest_s)

    def samples(self, now_ms: int, learn_ms: float) -> dict[str, tuple[LatencySamples, Ints]]:
        rows: dict[str, list[list[float]]] = defaultdict(list)
        for (service, _, host, window_s), row in sorted(_of(containers.own_times, self.reference).items()):
            if row.requests >= LEAST_REQUESTS:
                mean = row.ln_sum / 1e9 / row.requests
                spread = max(row.ln_sum2 / 1e9 / row.requests - mean * mean, 0) ** 0.5
                of = self.hosts[host]
                busy = [of.cpu or 0, of.memory_bandwidth or 0, of.network or 0]
                rows[service].append([row.requests / 10, *busy, mean - np.log(1e6), spread, window_s])
        tables = {service: np.array(of) for service, of in rows.items()}
        return {
            service: (LatencySamples(of[:, 0], of[:, 1:4], of[:, 4], of[:, 5]), of[:, 6].astype(np.int64))
            for service, of in tables.items()
        }


def _of(job, reference: Reference) -> dict[containers.Key, containers.Sample]:  # type: ignore[no-untyped-def]
    spans = [span for trace in reference.traces for span in trace.spans.values()]
    return dict(job(reference.traces if job is containers.own_times else spans))


def _call(written: list[object]) -> Call:
    service, _, stages = written
    return Call(service, tuple(tuple(_call(callee) for callee in stage) for stage in stages))  # type: ignore[arg-type, union-attr, attr-defined]


@cache
def tables() -> Tables:
    """Two minutes of the demo."""
    spans: list[Span] = []
    simulation = Simulation(suggest(), 1_000_004, spans.append)
    utilization = Utilization(simulation.application)
    records, hosts = [], hosts_of(simulation.application)
    began_ns = BEGAN_S * 10**9
    for second in range(1, SECONDS + 1):
        simulation.run_until(second)
        wall = [span._replace(start_ns=span.start_ns + began_ns, end_ns=span.end_ns + began_ns) for span in spans]
        records.append(Record(encode(wall, hosts).SerializeToString(), (BEGAN_S + second) * 1000))
        spans.clear()
    read: dict[str, dict[str, float]] = defaultdict(dict)
    for group in utilization.read(began_ns).resource_metrics:
        names = {attribute.key: attribute.value.string_value for attribute in group.resource.attributes}
        for metric in group.scope_metrics[0].metrics:
            read[names["host.name"]][metric.name] = metric.gauge.data_points[0].as_double
    busy = {
        host: ObservedHost(
            1 - of["system.cpu.utilization"],
            of["system.memory.bandwidth.utilization"],
            of["hw.network.bandwidth.utilization"],
        )
        for host, of in read.items()
    }
    return Tables(Reference(records), busy)


def test_the_demo_s_suggestions_get_subsets_from_what_it_sends() -> None:
    (asked,) = yaml.safe_load((REPOSITORY / "deploy/local/sluice.yaml").read_text())["subsets"]
    world = SubsetWorld(tables(), options=asked)  # type: ignore[arg-type]
    world.step()
    assert set(world.ends()) == {f"suggest-{number}" for number in range(1, 4)}
    assert {subset.state for subset in world.subsets.values()} == {subset_pb2.STATE_LEARNING}
    means = world.resources
    means.training._pending["demo"].future.result(60)
    world.step(60)
    means.training.close()
    subsets = list(world.subsets.values())
    assert {subset.state for subset in subsets} == {subset_pb2.STATE_PROVIDED}
    assert not any(subset.reasons for subset in subsets), "nothing is missing, addresses are there"
    assert all(2 <= len(subset.endpoints) < 6 for subset in subsets)
    assert all(end.address == f"127.0.1.{end.instance[-1]}:8085" for subset in subsets for end in subset.endpoints)
    explained = world.log.committed(world.log.topics.explanations)
    pair = explanation_pb2.PairExplanation.FromString(explained["pair/suggest/suggest-index"])
    assert pair.basis.startswith("XGBoost of ")
    assert pair.quota == 12
    assert not explanation_pb2.Run.FromString(explained["application/demo"]).missing
    rates = [container.rate_per_s for container in pair.containers]
    assert rates == sorted(rates, reverse=True), "the busier the host, the fewer calls"
    assert pair.predicted_ms < pair.fully_connected_ms
