"""Ground truth by brute force: each pool size held fixed over the same load, and what it gives."""

import argparse
import time
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from .bursty import BURSTY
from .judge import judges, owns
from .presets.preset import Preset
from .presets.registry import PRESETS
from .presets.shop import SHOP
from .simulation import Simulation
from .spans import Span, SpanSite


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one pool size gave; rates per simulated second."""

    size: int
    seed: int
    goodput: float
    """Of the pool's judge (see ``judge.judges``), within the threshold."""
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


class Tally:
    """Keeps of each span what ``measure`` needs, which is less than the span."""

    def __init__(self, after_ns: int) -> None:
        self.durations_ns = array("q")
        self.failed = array("b")
        self.own_ns = 0
        self.spans = 0
        self._after_ns = after_ns
        self._of_site: dict[int, tuple[SpanSite, bool, bool]] = {}
        self.kind: Callable[[SpanSite], tuple[bool, bool]] = lambda site: (False, False)
        """(judges, owns) of a site, set before the first span."""

    def add(self, span: Span) -> None:
        if span.end_ns < self._after_ns:
            return
        self.spans += 1
        result = self._of_site.get(id(span.site))
        if result is None:
            result = self._of_site[id(span.site)] = (span.site, *self.kind(span.site))
        if result[1]:
            self.durations_ns.append(span.end_ns - span.start_ns)
            self.failed.append(span.failed)
        if result[2]:
            self.own_ns += span.end_ns - span.start_ns


def measure(
    pool: str,
    size: int,
    *,
    seconds: float,
    preset: Preset = SHOP,
    threshold_ms: float | None = None,
    user_threshold_ms: float | None = None,
    seed: int = 1,
    users: int | None = None,
    shape: Callable[[float], float] | None = None,
    others: Mapping[str, int] = MappingProxyType({}),
) -> Outcome:
    """Runs a preset with one pool at a fixed size, and the sizes of ``others`` where they are given.

    What is None is the preset's own.
    """
    warm_up = preset.warm_up_s
    threshold_ns = (threshold_ms or preset.threshold_ms[pool]) * 1e6
    user_threshold = (user_threshold_ms or preset.user_threshold_ms) / 1e3
    answers: list[bool] = []

    def outcome(at: float, latency: float, failed: bool) -> None:
        if at >= warm_up:
            answers.append(not failed and latency <= user_threshold)

    tally = Tally(round(warm_up * 1e9))
    scenario = preset.build(users or preset.users, {**others, pool: size}, shape)
    simulation = Simulation(scenario, seed, tally.add, outcome)
    target = simulation.pools[pool]
    tally.kind = lambda site: (judges(target, site), owns(target, site))
    started = time.perf_counter()
    simulation.run_until(warm_up + seconds)
    wall = time.perf_counter() - started
    times = sorted(tally.durations_ns)
    good = sum(
        not failed and duration <= threshold_ns
        for duration, failed in zip(tally.durations_ns, tally.failed, strict=True)
    )
    return Outcome(
        size=size,
        seed=seed,
        goodput=good / seconds,
        throughput=len(times) / seconds,
        p95_ms=times[int(0.95 * len(times))] / 1e6 if times else float("nan"),
        user_goodput=sum(answers) / seconds,
        user_rate=len(answers) / seconds,
        in_use=tally.own_ns / 1e9 / seconds,
        spans=tally.spans / seconds,
        speed=(warm_up + seconds) / wall,
    )


def main(argv: Sequence[str] | None = None) -> int:
    parser = _arguments()
    options = parser.parse_args(argv)
    preset = PRESETS[options.preset]
    pool = options.pool or next(iter(preset.threshold_ms))
    for name in (pool, *(name for name, _ in options.fix)):
        if name not in preset.threshold_ms:
            parser.error(f"preset {preset.name} has the pools {', '.join(preset.threshold_ms)}, got {name!r}")
    print("size  seed  goodput/s  all/s  p95 ms  users good/s  users/s  in use  spans/s  sim s/wall s")
    for size in options.sizes or preset.sizes:
        for seed in options.seeds:
            row = measure(
                pool,
                size,
                seconds=(options.minutes or preset.minutes) * 60,
                preset=preset,
                threshold_ms=options.threshold_ms,
                user_threshold_ms=options.user_ms,
                seed=seed,
                users=options.users,
                shape=options.shape,
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
    parser.add_argument("--preset", choices=tuple(PRESETS), default=SHOP.name, help="(%(default)s)")
    parser.add_argument("--pool", help="the pool to vary (default: the preset's first)")
    parser.add_argument("--sizes", type=_integers, help="by commas (default: the preset's own)")
    parser.add_argument("--seeds", type=_integers, default="1", help="by commas (%(default)s)")
    parser.add_argument("--minutes", type=_positive, help="simulated minutes per size (default: the preset's own)")
    parser.add_argument("--threshold-ms", type=_positive, help="of the pool's judge (default: the preset's own)")
    parser.add_argument("--user-ms", type=_positive, help="of the users (default: the preset's own)")
    parser.add_argument("--users", type=_integer, help="at the peak (default: the preset's own)")
    parser.add_argument("--shape", type=_shape, help=f"of the load: {', '.join(BURSTY)} (default: the preset's own)")
    parser.add_argument(
        "--fix", action="append", type=_fixed, default=[], metavar="POOL=SIZE", help="size of another pool"
    )
    return parser


def _shape(text: str) -> Callable[[float], float]:
    if text not in BURSTY:
        raise argparse.ArgumentTypeError(f"must be one of {', '.join(BURSTY)}, got {text!r}")
    return BURSTY[text]


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
    name, equals, size = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"must be POOL=SIZE, got {text!r}")
    return name, _integer(size)


if __name__ == "__main__":
    raise SystemExit(main())
