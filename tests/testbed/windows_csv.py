"""Prints the exact windows of a run of the shop as CSV: what the streaming job should find, without the pipeline."""

import argparse
import csv
import sys
from collections.abc import Sequence

from .presets.shop import CART_THREADS, CATALOGUE_CONNECTIONS, USERS, shop
from .simulation import Simulation
from .spans import Span
from .windows import WindowKey, windows

HEADER = (*WindowKey._fields, "bucket_ms", "busy_ns", "completions", "errors", "latency")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m testbed.windows_csv", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="simulated (%(default)s)")
    parser.add_argument("--bucket-ms", type=int, default=100, help="length of a bucket (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="(%(default)s)")
    parser.add_argument("--users", type=int, default=USERS, help="at the peak (%(default)s)")
    parser.add_argument("--cart-threads", type=int, default=64, help="(%(default)s)")
    parser.add_argument("--catalogue-connections", type=int, default=12, help="(%(default)s)")
    options = parser.parse_args(argv)
    sizes = {CART_THREADS: options.cart_threads, CATALOGUE_CONNECTIONS: options.catalogue_connections}
    spans: list[Span] = []
    Simulation(shop(options.users, sizes), options.seed, spans.append).run_until(options.seconds)
    out = csv.writer(sys.stdout)
    out.writerow(HEADER)
    for key, window in sorted(windows(spans, options.bucket_ms * 1_000_000).items()):
        latency = " ".join(f"{index}:{count}" for index, count in sorted(window.latency.items()))
        out.writerow((*key, options.bucket_ms, window.busy_ns, window.completions, window.errors, latency))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
