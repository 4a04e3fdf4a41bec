"""Critical service localization: runs with one bottleneck, and how often each signal names it (uConAdapter 5.1)."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sluice.pools.estimate.critical import Localization, PathTimes, Ranked, localize
from sluice_kit.reference.path_tables import service_times
from sluice_kit.reference.path_waits import Waits, waits
from sluice_kit.reference.path_walk import SpanDict, critical_paths
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
THINK_S = 1.0
WARM_S, MEASURED_S = 8.0, 20.0
# As the paper: load under which the 95th percentile of the end to end time lies here.
P95_S = (0.5, 2.0)
MOST_TRACES = 300
# Threads of each service but the root; the last draws.
Draw = Callable[[random.Random], int]
THREADS: dict[str, Draw | None] = {
    "a thread a request": None,
    "8 threads a service": lambda rng: 8,
    "4 to 32 threads a service": lambda rng: rng.choice((4, 6, 8, 12, 16, 24, 32)),
}


@dataclass(frozen=True)
class Run:
    """`counted`: without CPU, by whom a wait for threads counts for."""

    found: Localization
    counted: dict[str, Localization]
    p95_s: float

    @property
    def without_cpu(self) -> Localization:
        return self.counted[HOLDERS]


def scenario(tree: Tree, bottleneck: str, threads: Draw | None, rng: random.Random) -> Scenario:
    """Each can do 2 to 4 times what the bottleneck can: its cores are cut or, in half of the runs, its work grows.

    Works of 2 to 8 ms, half before and half after the calls; the bottleneck does 60 requests a second. With `threads`,
    every service but the root has so many: the wait for them stands in its caller's CLIENT span, not in its own spans.
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
        pool = PoolSpec(threads(rng), 5000) if threads and services else None
        services.append(ServiceSpec(name, {OPERATION: steps}, cores=cores, threads=pool))
    users = round(rate * (THINK_S + rng.uniform(0.3, 1.2)))
    root = next(iter(tree))
    return Scenario(Topology(tuple(services), entry=root), {OPERATION: 1.0}, Exponential(THINK_S), users, lambda s: 1.0)


def _step(callees: str | tuple[str, ...]) -> Step:
    if isinstance(callees, str):
        return Call(callees, OPERATION)
    return Parallel(tuple(Call(callee, OPERATION) for callee in callees))


def measure(tree: Tree, bottleneck: str, threads: str, seed: int) -> Run:
    spans: list[Span] = []
    latencies: list[float] = []
    simulation = Simulation(
        scenario(tree, bottleneck, THREADS[threads], random.Random(f"{bottleneck}/{threads}/{seed}")),
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
    parts = parts_of([span for span in spans if span.end_ns >= WARM_S * 1e9])
    root = next(iter(tree))
    counted = {name: localize(root, [_sums(*part, x) for part in parts.items()]) for name, x in COUNTED.items()}
    p95_s = float(np.quantile(latencies, 0.95))
    with_cpu = [
        replace(_sums(*part, COUNTED[HOLDERS]), cpu=cpu[part[0]], e2e_p95_ms=1e3 * p95_s) for part in parts.items()
    ]
    return Run(localize(root, with_cpu), counted, p95_s)


def _core_seconds(simulation: Simulation, service: str) -> float:
    return simulation.application.instances[service][0].cpu.core_seconds


class Part(NamedTuple):
    """A service's part in one path, ns: whole path, own time, and what waits make of it."""

    e2e: int
    own: int
    waits: Waits


HOLDERS = "those who held them"
COUNTED: dict[str, Callable[[Part], int]] = {
    HOLDERS: lambda part: part.waits.blame,
    "the service that owns them": lambda part: part.waits.residence,
    "the caller, as the papers have it": lambda part: part.own,
}


def parts_of(spans: list[Span]) -> dict[str, list[Part]]:
    """By service, in at most MOST_TRACES whole traces, by the plain walk."""
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
    whole = [members for members in traces.values() if any(not span["parent_id"] for span in members)]
    parts: dict[str, list[Part]] = defaultdict(list)
    for members in whole[:: max(1, len(whole) // MOST_TRACES)]:
        by_id = {span["span_id"]: span for span in members}
        result = critical_paths(members)
        root = next(section for section in result.sections if section not in result.incomplete)
        y = by_id[root]["end_ns"] - by_id[root]["start_ns"]
        waited = waits(result, root, {name: span["service"] for name, span in by_id.items()})
        for service, (own, _) in service_times(by_id, root, result.sections[root]).items():
            parts[service].append(Part(y, own, waited[service]))
    return parts


def _sums(service: str, parts: list[Part], counted: Callable[[Part], int]) -> PathTimes:
    """What the table `path_services` holds of them, and its quantiles exactly; waits counted in this way."""
    x, y = [counted(part) for part in parts], [part.e2e for part in parts]
    p50, p99 = np.quantile(x, [0.5, 0.99]) / 1e6
    return PathTimes(
        service,
        len(parts),
        sum(x),
        sum(item * item for item in x),
        sum(y),
        sum(item * item for item in y),
        sum(a * b for a, b in zip(x, y, strict=True)),
        sum(part.own for part in parts),
        sum(part.waits.wait for part in parts),
        float(p50),
        float(p99),
    )


def largest(run: Run, signal: Callable[[Ranked], float | None]) -> str | None:
    first = max(run.found.ranking, key=lambda item: signal(item) or 0.0)
    return first.service if signal(first) else None


def critical(counted: str) -> Callable[[Run], str | None]:
    return lambda run: run.counted[counted].critical


SIGNALS: dict[str, Callable[[Run], str | None]] = {
    "localize, CPU known": lambda run: run.found.critical,
    "localize, CPU unknown": lambda run: run.without_cpu.critical,
    **{f"CPU unknown, waits for threads counted for {name}": critical(name) for name in COUNTED if name != HOLDERS},
    "CPU utilization alone": lambda run: largest(run, lambda item: item.cpu),
    "congestion ratio alone": lambda run: largest(run, lambda item: item.congestion_ratio),
    "largest share of the end to end time alone": lambda run: largest(run, lambda item: item.share_of_end_to_end),
    "largest share of p95 alone": lambda run: largest(run, lambda item: item.share_of_p95),
    "largest correlation alone": lambda run: largest(run, lambda item: item.correlation),
    "longest processing time alone": lambda run: largest(run, lambda item: item.mean_ms),
    "longest wait for its threads alone": lambda run: largest(run, lambda item: item.wait_ms),
}


# uConAdapter's average with CPU known; ours without.
BARS = {"localize, CPU known": 0.916, "localize, CPU unknown": 0.95}


def run(quick: bool) -> list[tuple[str, str]]:
    """Rows (what, figure) for the table."""
    seeds = 1 if quick else 6
    right: Counter[tuple[str, str, str]] = Counter()
    runs: Counter[tuple[str, str]] = Counter()
    for path, tree in PATHS.items():
        for threads in THREADS:
            for bottleneck in tree:
                for seed in range(seeds):
                    measured = measure(tree, bottleneck, threads, seed)
                    if not P95_S[0] <= measured.p95_s <= P95_S[1]:
                        continue
                    runs[path, threads] += 1
                    for name, signal in SIGNALS.items():
                        right[name, path, threads] += signal(measured) == bottleneck
    rows = []
    for threads in THREADS:
        total = sum(runs[path, threads] for path in PATHS)
        for name in SIGNALS:
            hits = sum(right[name, path, threads] for path in PATHS)
            by_path = ", ".join(f"{path} {right[name, path, threads] / runs[path, threads]:.0%}" for path in PATHS)
            bar = f" (bar {BARS[name]:.1%})" if name in BARS else ""
            rows.append((f"{name}; {threads}, {total} runs{bar}", f"{hits / total:.1%} ({by_path})"))
    return rows
