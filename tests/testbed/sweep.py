"""Ground truth by brute force: each pool size held fixed over the same load, and what it gives."""

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from .presets.shop import CART_THREADS, USERS, shop
from .simulation import Simulation
from .spans import CLIENT, SERVER, Span

WARM_UP = 10.0
"""Seconds at the start that are not counted."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one pool size gave; rates per simulated second."""

    size: int
    seed: int
    goodput: float
    """Of the pool's judge (see ``judge``), within the threshold."""
    throughput: float
    """Of the pool's judge, whatever the time."""
    p95_ms: float
    """Of the judge's response times."""
    user_goodput: float
    """Users' requests of any kind within ``user_threshold_ms``."""
    user_rate: float
    in_flight: float
    """The pool's own mean concurrency: slots in use."""
    spans: float
    speed: float
    """Simulated seconds per wall second."""


def measure(
    pool: str,
    size: int,
    seconds: float,
    threshold_ms: float,
    user_ms: float,
    seed: int,
    users: int,
    others: Mapping[str, int] = MappingProxyType({}),
) -> Outcome:
    """Runs the shop with one pool at a fixed size.

    The judge stands one level up, because a wait for the pool is invisible in its own spans: for a thread pool the
    callers' CLIENT spans towards the service, for a connection pool the SERVER spans of the service that holds it.
    """
    spans: list[Span] = []
    users_seen: list[tuple[float, float]] = []

    def outcome(at: float, latency: float, failed: bool) -> None:
        if at >= WARM_UP:
            users_seen.append((latency, failed))

    simulation = Simulation(shop(users, {**others, pool: size}), seed, spans.append, outcome)
    target = simulation.pools[pool]
    started = time.perf_counter()
    simulation.run_until(WARM_UP + seconds)
    wall = time.perf_counter() - started

    warm = WARM_UP * 1e9
    counted = [span for span in spans if span.end_ns >= warm]
    if target.side == SERVER:
        judged = [span for span in counted if span.site.side == CLIENT and span.site.peer == target.service]
    else:
        judged = [span for span in counted if span.site.side == SERVER and span.site.service == target.service]
    own = [
        s for s in counted if (s.site.service, s.site.side, s.site.peer) == (target.service, target.side, target.peer)
    ]
    times = sorted(span.end_ns - span.start_ns for span in judged)
    good = sum(not span.failed and span.end_ns - span.start_ns <= threshold_ms * 1e6 for span in judged)
    good_users = sum(not failed and latency <= user_ms / 1e3 for latency, failed in users_seen)
    return Outcome(
        size=size,
        seed=seed,
        goodput=good / seconds,
        throughput=len(judged) / seconds,
        p95_ms=times[int(0.95 * len(times))] / 1e6 if times else float("nan"),
        user_goodput=good_users / seconds,
        user_rate=len(users_seen) / seconds,
        in_flight=sum(span.end_ns - span.start_ns for span in own) / 1e9 / seconds,
        spans=len(counted) / seconds,
        speed=(WARM_UP + seconds) / wall,
    )


def _pair(text: str) -> tuple[str, int]:
    name, _, size = text.partition("=")
    return name, int(size)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m testbed.sweep", description=__doc__)
    parser.add_argument("--pool", default=CART_THREADS, help="cart.threads or catalogue.connections (%(default)s)")
    parser.add_argument("--sizes", default="4,8,12,16,24,32,64", help="pool sizes, by commas (%(default)s)")
    parser.add_argument("--minutes", type=float, default=5.0, help="simulated minutes per size (%(default)s)")
    parser.add_argument("--threshold-ms", type=float, default=150.0, help="of the judge's goodput (%(default)s)")
    parser.add_argument("--user-ms", type=float, default=250.0, help="of the users' goodput (%(default)s)")
    parser.add_argument("--users", type=int, default=USERS, help="at the peak (%(default)s)")
    parser.add_argument(
        "--fix", action="append", type=_pair, default=[], metavar="POOL=SIZE", help="size of another pool"
    )
    parser.add_argument("--seeds", default="1", help="by commas (%(default)s)")
    options = parser.parse_args(argv)
    print("size  seed  goodput/s  all/s  p95 ms  users good/s  users/s  in use  spans/s  sim s/wall s")
    for size in map(int, options.sizes.split(",")):
        for seed in map(int, options.seeds.split(",")):
            row = measure(
                options.pool,
                size,
                options.minutes * 60,
                options.threshold_ms,
                options.user_ms,
                seed,
                options.users,
                dict(options.fix),
            )
            print(
                f"{row.size:4d}  {row.seed:4d}  {row.goodput:9.1f}  {row.throughput:5.1f}  {row.p95_ms:6.0f}"
                f"  {row.user_goodput:12.1f}  {row.user_rate:7.1f}  {row.in_flight:6.1f}  {row.spans:7.0f}"
                f"  {row.speed:12.0f}",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
