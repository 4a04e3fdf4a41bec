"""What a hardware scaler and what drifts do to a pool, over the run and in parts of it (`scaling`, `drift`).

The presets' services (`testbed/presets`), each with the size that is best at the start. Scaling: cart under the large
variation, 2 or 4 cores by the threshold scaler of Sora's comparison with ConScale (5.2, figure 11). Drift: post-storage
asked for ten posts instead of two beside the horizontal scaler (Sora 5.3, figure 12); catalogue's database, which waits
three times as long once its data have grown (ConScale III-C). The pool is the threads of the service that it bounds, a
replica; post-storage has connections to its database as well, as many as are never all in use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bench.controllers.racers import HARDWARE, RACERS, SLUICE
from bench.decision import path
from bench.decision.lineup import SEEDS
from bench.decision.premises_race import interval
from bench.decision.summary import markdown
from bench.racing import drive
from testbed.bursty import LARGE_VARIATION, LENGTH
from testbed.path.memory import THREADS
from testbed.path.scenario import PathScenario
from testbed.presets.shop import BURSTS, PERIOD
from testbed.presets.social_network import CONTENTION as POSTS_CONTENTION
from testbed.presets.social_network import CROSSTALK as POSTS_CROSSTALK
from testbed.presets.sock_shop import CONTENTION, CROSSTALK, DB_CONTENTION, DB_CROSSTALK
from testbed.single.scenario import Scenario
from testbed.tiers.run import Floats

WHO = (HARDWARE, SLUICE, "scg as published", "sct as published", "vegas")
WARM_UP_S = 10.0
BASE = {"seconds": LENGTH, "warm_up_s": WARM_UP_S, "slo_ms": 250}
VARIATION = [[float(second), share] for second, share in LARGE_VARIATION.points]
PERIODS = range(int(LENGTH / PERIOD))
SCALING = Scenario.model_validate(
    BASE
    | {"name": "scaling", "users": 440, "think_s": 0.5, "load": VARIATION}
    | {"service": {"cores": 2, "compute_ms": 5.0, "wait_ms": 15.4, "threads": 12}}
    | {"scaler": {"lowest": 2, "highest": 4, "step": 2, "every_s": 5}}
)
SCALING = SCALING.model_copy(
    update={"service": SCALING.service.model_copy(update={"contention": CONTENTION, "crosstalk": CROSSTALK})}
)
DATA = Scenario.model_validate(
    BASE
    | {"name": "drift, data", "users": 395, "think_s": 0.5}
    | {"load": [[PERIOD * number + second, share] for number in PERIODS for second, share in BURSTS.points]}
    | {
        "service": {"cores": 2, "compute_ms": 4.0, "wait_ms": 20.0, "threads": 16}
        | {"contention": DB_CONTENTION, "crosstalk": DB_CROSSTALK}
    }
    | {"events": [{"at_s": 360, "wait": 3.0}]}
)
REQUESTS = PathScenario.model_validate(
    BASE
    | {"name": "drift, requests", "users": 4500, "think_s": 7.0, "load": VARIATION}
    | {"front": {"cores": 4, "compute_ms": 1.0, "threads": 1000}}
    | {
        "caller": {"cores": 2, "compute_ms": 3.0, "threads": 10, "connections": 256}
        | {"contention": POSTS_CONTENTION, "crosstalk": POSTS_CROSSTALK}
    }
    | {"callee": {"cores": 16, "compute_ms": 0.2, "wait_ms": 7.8}}
    | {"scaler": {"highest": 4, "every_s": 15, "ready_s": 15}}
    | {"events": [{"at_s": 450, "compute": 1.57, "wait": 7.1}]}
)


@dataclass(frozen=True)
class Run:
    """Of one racer and seed: second of each response and what it took, s, (n,); (second, size) of every change."""

    at_s: Floats
    latency_s: Floats
    sizes: tuple[tuple[float, int], ...]


@dataclass(frozen=True)
class Part:
    """Of a run: p99, ms; responses within the SLO a second, and their share of all."""

    p99_ms: float
    good_per_s: float
    share: float


def part(run: Run, slo_ms: float, since: float, until: float) -> Part:
    latency_ms = run.latency_s[(run.at_s >= since) & (run.at_s < until)] * 1e3
    if not len(latency_ms):
        return Part(float("inf"), 0.0, 0.0)
    good = int((latency_ms <= slo_ms).sum())
    p99 = float(np.quantile(latency_ms, 0.99, method="lower"))
    return Part(p99, good / (until - since), good / len(latency_ms))


def one(scenario: Scenario, racer: str, seed: int) -> Run:
    run = drive(scenario, RACERS[racer], seed)
    return Run(*run.outcomes(), tuple(run.history))


def on_path(scenario: PathScenario, racer: str, seed: int) -> Run:
    run = path.driven(scenario, (path.RACERS | path.PUBLISHED)[racer], seed)
    return Run(*run.outcomes(), tuple(run.history[THREADS]))


def report(
    name: str,
    runs: Callable[[str, int], Run],
    slo_ms: float,
    parts: Mapping[str, tuple[float, float]],
    seeds: Sequence[int],
) -> str:
    rows = []
    for racer in WHO:
        of_seeds = [runs(racer, seed) for seed in seeds]
        for what, (since, until) in parts.items():
            seen = [part(run, slo_ms, since, until) for run in of_seeds]
            sizes = [size for run in of_seeds for size in in_force(run.sizes, since, until)]
            rows.append(
                [
                    racer,
                    what,
                    interval([item.p99_ms for item in seen]),
                    interval([item.good_per_s for item in seen]),
                    f"{np.mean([item.share for item in seen]):.1%}",
                    f"{min(sizes)} to {max(sizes)}",
                ]
            )
    head = ["racer", "time", "p99 ms", "good/s", "of all", "sizes"]
    return f"### {name}\n\n{markdown(head, rows)}"


def in_force(sizes: Sequence[tuple[float, int]], since: float, until: float) -> list[int]:
    """Worked: 10 from 0 s on and 14 from 30 s on: 10 and 14 from 20 to 40 s, 14 from 40 to 60 s."""
    before = [size for at, size in sizes if at <= since][-1:]
    return before + [size for at, size in sizes if since < at < until]


def scaling(quick: bool) -> str:
    spans = {
        "all": (WARM_UP_S, LENGTH),
        "45 to 95 s": (45.0, 95.0),
        "215 to 300 s": (215.0, 300.0),
        "500 to 590 s": (500.0, 590.0),
    }
    seeds = SEEDS[:2] if quick else SEEDS
    title = "Cart, large variation, 440 users, from 12 threads: 2 or 4 cores"
    return report(title, lambda racer, seed: one(SCALING, racer, seed), SCALING.slo_ms, spans, seeds)


def drift(quick: bool) -> str:
    seeds = SEEDS[:2] if quick else SEEDS
    posts = {"before": (WARM_UP_S, 450.0), "450 to 585 s": (450.0, 585.0), "585 to 720 s": (585.0, LENGTH)}
    data = {"before": (WARM_UP_S, 360.0), "360 to 540 s": (360.0, 540.0), "540 to 720 s": (540.0, LENGTH)}
    first = "Post-storage, large variation, 4,500 users, from 10 a replica: 2 to 10 posts a request at 450 s"
    second = "Catalogue, bursts, 395 users, from 16: its database waits three times as long from 360 s on"
    return "\n".join(
        [
            report(first, lambda racer, seed: on_path(REQUESTS, racer, seed), REQUESTS.slo_ms, posts, seeds),
            report(second, lambda racer, seed: one(DATA, racer, seed), DATA.slo_ms, data, seeds),
        ]
    )
