"""Ground truth by brute force: each pool size held fixed over the same load, and what it gives."""

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from .judge import judges
from .presets.shop import CART_THREADS, THRESHOLD_MS, USER_THRESHOLD_MS, USERS, shop
from .simulation import Simulation
from .spans import Span

POOLS = tuple(THRESHOLD_MS)
WARM_UP = 10.0
"""Seconds at the start that are not counted."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one pool size gave; rates per simulated second."""

    size: int
    seed: int
    goodput: float
    """Of the pool's judge (see ``judges``), within the threshold."""
    throughput: float
    """Of the pool's judge, whatever the time."""
    p95_ms: float
    """Of the judge's response times."""
    user_goodput: float
    """Users' requests of any kind within their own threshold."""
    user_rate: float
    in_use: float
    """The pool's own mean concurrency, from its own spans."""
    spans: float
    speed: float
    """Simulated seconds per wall second."""


def measure(
    pool: str,
    size: int,
    *,
    seconds: float,
    threshold_ms: float | None = None,
    user_threshold_ms: float = USER_THRESHOLD_MS,
    seed: int = 1,
    users: int = USERS,
    others: Mapping[str, int] = MappingProxyType({}),
) -> Outcome:
    """Runs the shop with one pool at a fixed size, and the sizes of ``others`` where they are given.

    Without ``threshold_ms`` the shop's own for that pool.
    """
    threshold_ns = (threshold_ms or THRESHOLD_MS[pool]) * 1e6
    spans: list[Span] = []
    answers: list[tuple[float, bool]] = []

    def outcome(at: float, latency: float, failed: bool) -> None:
        if at >= WARM_UP:
            answers.append((latency, failed))

    simulation = Simulation(shop(users, {**others, pool: size}), seed, spans.append, outcome)
    target = simulation.pools[pool]
    started = time.perf_counter()
    simulation.run_until(WARM_UP + seconds)
    wall = time.perf_counter() - started

    counted = [span for span in spans if span.end_ns >= WARM_UP * 1e9]
    judged = [span for span in counted if judges(target, span.site)]
    times = sorted(span.end_ns - span.start_ns for span in judged)
    own_key = (target.service, target.side, target.peer)
    own = [span for span in counted if (span.site.service, span.site.side, span.site.peer) == own_key]
    return Outcome(
        size=size,
        seed=seed,
        goodput=sum(not s.failed and s.end_ns - s.start_ns <= threshold_ns for s in judged) / seconds,
        throughput=len(judged) / seconds,
        p95_ms=times[int(0.95 * len(times))] / 1e6 if times else float("nan"),
        user_goodput=sum(not failed and latency <= user_threshold_ms / 1e3 for latency, failed in answers) / seconds,
        user_rate=len(answers) / seconds,
        in_use=sum(span.end_ns - span.start_ns for span in own) / 1e9 / seconds,
        spans=len(counted) / seconds,
        speed=(WARM_UP + seconds) / wall,
    )


def main(argv: Sequence[str] | None = None) -> int:
    options = _arguments().parse_args(argv)
    print("size  seed  goodput/s  all/s  p95 ms  users good/s  users/s  in use  spans/s  sim s/wall s")
    for size in options.sizes:
        for seed in options.seeds:
            row = measure(
                options.pool,
                size,
                seconds=options.minutes * 60,
                threshold_ms=options.threshold_ms,
                user_threshold_ms=options.user_ms,
                seed=seed,
                users=options.users,
                others=dict(options.fix),
            )
            print(
                f"{row.size:4d}  {row.seed:4d}  {row.goodput:9.1f}  {row.throughput:5.1f}  {row.p95_ms:6.0f}"
                f"  {row.user_goodput:12.1f}  {row.user_rate:7.1f}  {row.in_use:6.1f}  {row.spans:7.0f}"
                f"  {row.speed:12.0f}",
                flush=True,
            )
    return 0


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m testbed.sweep", description=__doc__)
    parser.add_argument("--pool", choices=POOLS, default=CART_THREADS, help="the pool to vary (%(default)s)")
    parser.add_argument("--sizes", type=_integers, default="4,8,12,16,24,32,64", help="by commas (%(default)s)")
    parser.add_argument("--seeds", type=_integers, default="1", help="by commas (%(default)s)")
    parser.add_argument("--minutes", type=_positive, default=5.0, help="simulated minutes per size (%(default)s)")
    parser.add_argument("--threshold-ms", type=_positive, help="of the pool's judge (default: the shop's own)")
    parser.add_argument("--user-ms", type=_positive, default=USER_THRESHOLD_MS, help="of the users (%(default)s)")
    parser.add_argument("--users", type=_integer, default=USERS, help="at the peak (%(default)s)")
    parser.add_argument(
        "--fix", action="append", type=_fixed, default=[], metavar="POOL=SIZE", help="size of another pool"
    )
    return parser


def _integers(text: str) -> list[int]:
    return [_integer(item) for item in text.split(",")]


def _integer(text: str) -> int:
    if not text.strip().isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be an integer from 1, got {text!r}")
    return int(text)


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number above 0, got {text!r}")
    return value


def _fixed(text: str) -> tuple[str, int]:
    name, _, size = text.partition("=")
    if name not in POOLS:
        raise argparse.ArgumentTypeError(f"must name one of {', '.join(POOLS)}, got {text!r}")
    return name, _integer(size)


if __name__ == "__main__":
    raise SystemExit(main())
