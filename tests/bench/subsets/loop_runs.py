"""An hour of a closed loop at a share of host CPU that is the service's own load, beside even weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from bench.subsets.closed_loop import WINDOW_S, MeshSource
from sluice.subsets.v1 import explanation_pb2
from sluice_kit.decide.subset_worlds import SubsetWorld
from testbed.mesh.application import Application
from testbed.mesh.calibration import Floats, slowdown
from testbed.mesh.memory import ARRIVED, ENDED
from testbed.mesh.run import MeshRun
from testbed.mesh.solution import Solution

SHARES = (0.02, 0.05, 0.1, 0.15, 0.3, 0.5)
"""Of the CPU of a host, what `cart` uses with even weights, as a mean over hosts."""
HOSTS, FRONTS = 16, 8
WORK_MS, BUSY = 2.0, 0.08
LEAST, FULLEST = 0.02, 0.6
OTHERS = 0.5
SENSITIVE = (0.2, 0.4, 0.4)
"""How far contention for CPU, memory bandwidth and network slows `cart`. With more for CPU, the slowed container's own
use of it fills the host for good at the higher shares, whatever the weights."""


@dataclass
class LoopRun:
    """p95_ms: of requests by the minute in which they arrived. weights: those of `cart`'s containers after each window,
    relative to their mean. causes: of the runs of the solver. adoption: as explained after each window. fullest: the
    largest part of a window in which a container of `cart` computed, 0 to 1."""

    p95_ms: Floats = field(default_factory=lambda: np.empty(0))
    weights: list[Floats] = field(default_factory=list)
    causes: list[str] = field(default_factory=list)
    adoption: list[explanation_pb2.Adoption] = field(default_factory=list)
    fullest: float = 0.0


def application(share: float, seed: int) -> Application:
    """`front` on hosts of its own calls `cart`, a container a host.

    With even weights `cart` computes BUSY of the time on average, and uses `share` of a host's CPU on average. What
    others use of a host's memory bandwidth and network is drawn from 0 to OTHERS, and of its CPU from LEAST on, up to
    where the fullest host is FULLEST full under even weights.
    """
    draws = np.random.default_rng(seed)
    drawn, rest = draws.uniform(0.0, 1.0, HOSTS), draws.uniform(0.0, OTHERS, (HOSTS, 2))
    low, high = 0.0, FULLEST
    for _ in range(40):
        middle = (low + high) / 2
        cpu = LEAST + middle * drawn
        low, high = (middle, high) if (cpu + _own(cpu, rest, share)).max() <= FULLEST else (low, middle)
    cpu = LEAST + low * drawn
    cores, slow = BUSY / share, _slow(cpu + _own(cpu, rest, share), rest)
    rate = BUSY / (WORK_MS / 1e3 * float(slow.mean()))
    hosts = [
        {"name": f"h{at:02}", "cpu": used, "memory_bandwidth": memory, "network": network}
        for at, (used, memory, network) in enumerate(np.column_stack([cpu, rest]).tolist())
    ]
    fronts = [{"name": f"f{at}", "cpu": 0.0} for at in range(FRONTS)]
    return Application.model_validate(
        {
            "hosts": [*hosts, *fronts],
            "services": [
                {"name": "front", "containers": [{"name": f"front-{at}", "host": f"f{at}"} for at in range(FRONTS)]},
                {"name": "cart", "containers": [{"name": f"cart-{at:02}", "host": f"h{at:02}"} for at in range(HOSTS)]},
            ],
            "roots": [
                {
                    "name": "read",
                    "rate_per_s": rate * HOSTS,
                    "tree": {"service": "front", "stages": [[{"service": "cart"}]]},
                }
            ],
            "testbed": {
                "host_cores": cores,
                "services": {
                    "front": {"work_ms": 0.05, "cores": 1.0},
                    "cart": {
                        "work_ms": WORK_MS,
                        "cores": 1.0,
                        **dict(zip(("cpu", "memory_bandwidth", "network"), SENSITIVE, strict=True)),
                    },
                },
            },
        }
    )


def _own(cpu: Floats, rest: Floats, share: float) -> Floats:
    """CPU of each host that `cart` uses with even weights: the fixed point of own load and contention. cpu: what others
    use."""
    own = np.full(len(cpu), share)
    for _ in range(200):
        slow = _slow(cpu + own, rest)
        own = share * slow / slow.mean()
    return np.asarray(own)


def _slow(cpu: Floats, rest: Floats) -> Floats:
    """How many times as long work takes on each host."""
    return slowdown(np.column_stack([cpu, rest]), np.array(SENSITIVE))


def even(app: Application) -> Solution:
    """Everybody calls everybody alike."""
    front, cart = (service.containers for service in app.services)
    connections = [{"from": one.name, "to": other.name} for one in front for other in cart]
    return Solution.model_validate({"pairs": [{"upstream": "front", "downstream": "cart", "connections": connections}]})


def published(world: SubsetWorld) -> Solution:
    """The subsets in the journal."""
    connections = [
        {"from": key.instance, "to": end.instance, "weight": end.weight}
        for key, subset in world.subsets.items()
        for end in subset.endpoints
    ]
    return Solution.model_validate({"pairs": [{"upstream": "front", "downstream": "cart", "connections": connections}]})


def looped(
    app: Application,
    seed: int,
    minutes: int,
    options: dict[str, object] | None = None,
    followed: Callable[[Solution], Solution] = lambda solution: solution,
) -> LoopRun:
    """A decider for so many minutes; trainings end before the next window begins. followed: how callers connect, from
    what is published."""
    run = MeshRun(app, even(app), seed)
    world = SubsetWorld(options=options or {})
    source = MeshSource(run, world.clock() // 1000)
    world.source = source  # type: ignore[assignment]
    world.resources.source = source
    result, last = LoopRun(), None
    for _ in range(minutes * 60 // WINDOW_S):
        source.window()
        world.step(WINDOW_S)
        for pending in list(world.resources.training._pending.values()):
            pending.future.exception()
        now = published(world)
        if now != last:
            run.connect(followed(now))
            last = now
            result.causes.append(f"{world.run.cause}@{round(run.now)}")
        result.adoption.append(world.explanation("front", "cart").adoption)
        result.fullest = max(result.fullest, source.fullest())
        result.weights.append(shares(now, app))
    world.resources.training.close()
    result.p95_ms = by_minute(run, minutes)
    return result


def steady(app: Application, seed: int, minutes: int) -> Floats:
    """p95 in ms by minute with even weights."""
    run = MeshRun(app, even(app), seed)
    run.until(minutes * 60.0)
    return by_minute(run, minutes)


def by_minute(run: MeshRun, minutes: int) -> Floats:
    rows = run.engine.rows()
    minute = np.minimum(rows[:, ARRIVED] // 60, minutes - 1).astype(int)
    latency = (rows[:, ENDED] - rows[:, ARRIVED]) * 1e3
    return np.array([np.percentile(latency[minute == at], 95) for at in range(minutes)])


def shares(solution: Solution, app: Application) -> Floats:
    """(containers of cart,) of all calls, relative to their mean; callers call alike."""
    names = {container.name: at for at, container in enumerate(app.services[1].containers)}
    got = np.zeros(len(names))
    for pair in solution.pairs:
        by: dict[str, list[tuple[int, float]]] = {}
        for connection in pair.connections:
            by.setdefault(connection.from_, []).append((names[connection.to], connection.weight))
        for ends in by.values():
            total = sum(weight for _, weight in ends)
            for at, weight in ends:
                got[at] += weight / total
    return np.asarray(got / got.mean())


@dataclass(frozen=True)
class LoopCell:
    """One run beside even weights. Ratios of p95, ours to even. turns: as of `turns`, in the second half."""

    share: float
    seed: int
    even_ms: float
    mean: float
    worst_minute: float
    worst_five: float
    reverts: int
    turns: int


def cell(share: float, seed: int, minutes: int) -> LoopCell:
    app = application(share, seed)
    even_ms, run = steady(app, seed, minutes), looped(app, seed, minutes)
    fives = np.convolve(run.p95_ms, np.ones(5), "valid") / np.convolve(even_ms, np.ones(5), "valid")
    return LoopCell(
        share,
        seed,
        float(even_ms.mean()),
        float(run.p95_ms.mean() / even_ms.mean()),
        float((run.p95_ms / even_ms).max()),
        float(fives.max()),
        sum(cause.startswith("REVERT") for cause in run.causes),
        turns(np.array(run.weights[len(run.weights) // 2 :])),
    )


def turns(weights: Floats, least: float = 0.1) -> int:
    """How many times the weight of the container that turns most often turns back by `least` of the mean or more.

    weights: (windows, containers). Worked: 1.0, 1.2, 1.0, 1.05, 0.8 turns once: from up to down at 1.2.
    """
    most = 0
    for series in weights.T.tolist():
        low = high = series[0]
        direction, count = 0, 0
        for value in series[1:]:
            if direction >= 0 and value <= high - least:
                count += direction > 0
                direction, low = -1, value
            elif direction <= 0 and value >= low + least:
                count += direction < 0
                direction, high = 1, value
            low, high = min(low, value), max(high, value)
        most = max(most, count)
    return most


def table(cells: Sequence[LoopCell]) -> str:
    lines = [
        "| own share | seed | even p95, ms | mean | worst 5 min | worst minute | REVERT | turns |",
        "|---|" + "---|" * 7,
    ]
    lines += [
        f"| {one.share:.0%} | {one.seed} | {one.even_ms:.2f} | {one.mean - 1:+.1%} | {one.worst_five - 1:+.1%} "
        f"| {one.worst_minute - 1:+.1%} | {one.reverts} | {one.turns} |"
        for one in cells
    ]
    return "\n".join(lines) + "\n"


def run(quick: bool) -> str:
    """Quick: one share, one seed, 10 minutes."""
    if quick:
        return table([cell(0.15, 1, 10)])
    return table([cell(share, seed, 60) for share in SHARES for seed in (1, 2, 3)])
