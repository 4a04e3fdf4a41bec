"""Critical service localization: runs with one bottleneck, and how often each signal names it (uConAdapter 5.1)."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from integration.path_reference import SpanDict, critical_paths
from integration.path_tables import service_times
from integration.path_waits import waits
from sluice.pools.estimate.critical import Localization, PathTimes, Ranked, localize
from testbed.distributions import Exponential, LogNormal
from testbed.simulation import Scenario, Simulation
from testbed.spans import Span
from testbed.topology import Call, Compute, Parallel, PoolSpec, ServiceSpec, Step, Topology

OPERATION = "GET /"
# Each service with its calls, in order; a tuple of callees is one parallel stage. The first is the root.
Tree = dict[str, tuple[str | tuple[str, ...], ...]]
PATHS: dict[str, Tree] = {
    "ReadHomePost": {"nginx": ("home-timeline",), "home-timeline": ("post-storage",), "post-storage": ()},
    "ReadHomeTimeline": {
        "nginx": ("home-timeline",),
        "home-timeline": ("social-graph", "post-storage"),
        "social-graph": (),
        "post-storage": (),
    },
    "GetFollower": {"nginx": ("social-graph",), "social-graph": ("user",), "user": ()},
    "ComposePost": {
        "nginx": ("compose",),
        "compose": (("text", "media", "user"), "post-storage"),
        "text": ("url",),
        "url": (),
        "media": (),
        "user": (),
        "post-storage": (),
    },
    "Home": {"frontend": (("catalogue", "cart"),), "catalogue": (), "cart": ()},
    "Orders": {
        "frontend": ("orders",),
        "orders": ("user", "cart", "payment", "shipping"),
        "user": (),
        "cart": (),
        "payment": (),
        "shipping": (),
    },
}
BAR = 0.916
THINK_S = 1.0
WARM_S, MEASURED_S = 8.0, 20.0
# As the paper: load under which the 95th percentile of the end to end time lies here.
P95_S = (0.5, 2.0)
THREADS = 8
MOST_TRACES = 300


@dataclass(frozen=True)
class Run:
    found: Localization
    without_cpu: Localization
    p95_s: float


def scenario(tree: Tree, bottleneck: str, threads: bool, rng: random.Random) -> Scenario:
    """Each can do 2 to 4 times what the bottleneck can: its cores are cut or, in half of the runs, its work grows.

    Works of 2 to 8 ms, half before and half after the calls; the bottleneck does 60 requests a second. With `threads`,
    every service but the root has 8: the wait for them stands in its caller's CLIENT span, and not in its own spans.
    """
    rate = 60.0
    services: list[ServiceSpec] = []
    for name, calls in tree.items():
        work = rng.uniform(0.002, 0.008)
        capacity = rate * (1.0 if name == bottleneck else rng.uniform(2, 4))
        cores = max(1.0, capacity * work)
        if name == bottleneck and rng.random() < 0.5:
            work = cores / capacity  # more work on the cores that it has
        elif name == bottleneck:
            cores = capacity * work  # less of a core
        half = Compute(LogNormal(work / 2, 0.5))
        steps: tuple[Step, ...] = (half, *map(_step, calls), half)
        pool = PoolSpec(THREADS, 5000) if threads and services else None
        services.append(ServiceSpec(name, {OPERATION: steps}, cores=cores, threads=pool))
    users = round(rate * (THINK_S + rng.uniform(0.3, 1.2)))
    root = next(iter(tree))
    return Scenario(Topology(tuple(services), entry=root), {OPERATION: 1.0}, Exponential(THINK_S), users, lambda s: 1.0)


def _step(callees: str | tuple[str, ...]) -> Step:
    if isinstance(callees, str):
        return Call(callees, OPERATION)
    return Parallel(tuple(Call(each, OPERATION) for each in callees))


def measure(tree: Tree, bottleneck: str, threads: bool, seed: int) -> Run:
    spans: list[Span] = []
    latencies: list[float] = []
    simulation = Simulation(
        scenario(tree, bottleneck, threads, random.Random(f"{bottleneck}/{threads}/{seed}")),
        seed,
        spans.append,
        lambda at, latency, failed: latencies.append(latency) if at >= WARM_S else None,
    )
    simulation.run_until(WARM_S)
    before = {name: _core_seconds(simulation, name) for name in tree}
    simulation.run_until(WARM_S + MEASURED_S)
    cpu = {
        name: (_core_seconds(simulation, name) - before[name])
        / MEASURED_S
        / simulation.application.instances[name][0].cpu.cores
        for name in tree
    }
    times = path_times([span for span in spans if span.end_ns >= WARM_S * 1e9])
    root = next(iter(tree))
    with_cpu = [PathTimes(**{**vars(each), "cpu": cpu[each.service]}) for each in times]
    return Run(localize(root, with_cpu), localize(root, times), float(np.quantile(latencies, 0.95)))


def _core_seconds(simulation: Simulation, service: str) -> float:
    return simulation.application.instances[service][0].cpu.core_seconds


def path_times(spans: list[Span]) -> list[PathTimes]:
    """What the table `path_services` holds of at most MOST_TRACES whole traces, by the plain walk."""
    traces: dict[int, list[SpanDict]] = defaultdict(list)
    for span in spans:
        traces[span.trace_id].append(
            {
                "span_id": f"{span.span_id:016x}",
                "parent_id": f"{span.parent_id:016x}" if span.parent_id else "",
                "kind": span.site.side.upper(),
                "linked": False,
                "host": span.instance,
                "service": span.site.service,
                "start_ns": span.start_ns,
                "end_ns": span.end_ns,
            }
        )
    whole = [of for of in traces.values() if any(not span["parent_id"] for span in of)]
    parts: dict[str, list[Part]] = defaultdict(list)
    for of in whole[:: max(1, len(whole) // MOST_TRACES)]:
        by_id = {span["span_id"]: span for span in of}
        found = critical_paths(of)
        root = next(each for each in found.sections if each not in found.incomplete)
        y = by_id[root]["end_ns"] - by_id[root]["start_ns"]
        waited = waits(found, root, {name: span["service"] for name, span in by_id.items()})
        for service, (own, _) in service_times(by_id, root, found.sections[root]).items():
            parts[service].append(Part(waited[service].blame, y, own, waited[service].wait))
    return [_sums(service, of) for service, of in parts.items()]


class Part(NamedTuple):
    """A service's part in one path, ns."""

    blame: int
    e2e: int
    own: int
    wait: int


def _sums(service: str, parts: list[Part]) -> PathTimes:
    x, y = [part.blame for part in parts], [part.e2e for part in parts]
    p50, p99 = np.quantile(x, [0.5, 0.99]) / 1e6
    return PathTimes(
        service,
        len(parts),
        sum(x),
        sum(each * each for each in x),
        sum(y),
        sum(each * each for each in y),
        sum(a * b for a, b in zip(x, y, strict=True)),
        sum(part.own for part in parts),
        sum(part.wait for part in parts),
        float(p50),
        float(p99),
    )


def largest(run: Run, signal: Callable[[Ranked], float | None]) -> str:
    return max(run.found.ranking, key=lambda each: signal(each) or 0.0).service


SIGNALS: dict[str, Callable[[Run], str | None]] = {
    "localize, CPU known": lambda run: run.found.critical,
    "localize, CPU unknown": lambda run: run.without_cpu.critical,
    "CPU utilization alone": lambda run: largest(run, lambda each: each.cpu),
    "congestion ratio alone": lambda run: largest(run, lambda each: each.congestion_ratio),
    "longest processing time alone": lambda run: largest(run, lambda each: each.mean_ms),
    "longest wait for its threads alone": lambda run: largest(run, lambda each: each.wait_ms),
}


def run(quick: bool) -> list[tuple[str, str]]:
    """Rows (what, figure) for the table."""
    seeds = 1 if quick else 6
    right: Counter[tuple[str, str, bool]] = Counter()
    runs: Counter[tuple[str, bool]] = Counter()
    for path, tree in PATHS.items():
        for threads in (False, True):
            for bottleneck in tree:
                for seed in range(seeds):
                    one = measure(tree, bottleneck, threads, seed)
                    if not P95_S[0] <= one.p95_s <= P95_S[1]:
                        continue
                    runs[path, threads] += 1
                    for name, signal in SIGNALS.items():
                        right[name, path, threads] += signal(one) == bottleneck
    rows = []
    for threads, label in ((False, "a thread a request"), (True, f"{THREADS} threads a service")):
        total = sum(runs[path, threads] for path in PATHS)
        for name in SIGNALS:
            hits = sum(right[name, path, threads] for path in PATHS)
            each = ", ".join(f"{path} {right[name, path, threads] / runs[path, threads]:.0%}" for path in PATHS)
            rows.append((f"{name}; {label}, {total} runs (bar {BAR:.1%})", f"{hits / total:.1%} ({each})"))
    return rows
