"""Puts users, or open-loop requests, on a real application; prints a JSON line a second of what they saw."""

import argparse
import asyncio
import json
import os
from urllib.parse import urlsplit

from ..bursty import BURSTY as DRAWN
from ..exporter import Exporter
from ..shapes import Repeating
from .connection import Connection
from .open_loop import Arrivals
from .rates import RATES
from .users import Second, Users

BURSTY = Repeating(20.0, [(0, 0.02), (6, 0.35), (10, 1.0), (13, 1.0), (16, 0.1)])
"""Every 20 s from 2 % of the users to all of them and back."""
SHAPES = {"bursty": BURSTY, "steady": Repeating(1.0, [(0, 1.0)]), **DRAWN, **RATES}


def main() -> None:
    options = _arguments().parse_args()
    url = urlsplit(options.url)
    if url.scheme != "http" or not url.hostname or not url.port:
        raise SystemExit(f"url: must be http://HOST:PORT/PATH, got {options.url}")
    host, port = url.hostname, url.port
    shape = SHAPES[options.shape]
    exporter = Exporter(options.otlp, queue=1 << 16) if options.otlp else None
    load = Arrivals if options.open else Users
    users = load(
        lambda: Connection(host, port),
        url.path,
        options.peer,
        options.users,
        shape.lasting(options.length) if options.length else shape,
        think_s=options.think_ms / 1e3,
        threshold_ms=options.threshold_ms,
        seed=options.seed,
        span=exporter.offer if exporter else lambda span: None,
        second=_print,
        traced=bool(options.otlp),
    )
    if exporter:
        exporter.start()
    asyncio.run(users.run(options.seconds))
    if exporter:
        exporter.stop()
        print(json.dumps({"spans_sent": exporter.sent, "spans_dropped": exporter.dropped}), flush=True)


def _print(second: Second) -> None:
    print(json.dumps(second.as_dict()), flush=True)


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m testbed.real", description=__doc__)
    parser.add_argument("url", help="http://HOST:PORT/PATH of the handler")
    parser.add_argument("--peer", default="update", help="the application's service.name (%(default)s)")
    parser.add_argument("--users", type=int, default=110, help="the most at a time (%(default)s)")
    parser.add_argument("--open", action="store_true", help="--users is requests a second, which wait for no answer")
    parser.add_argument("--shape", choices=SHAPES, default="bursty", help="(%(default)s)")
    parser.add_argument("--length", type=float, help="seconds of the shape before it repeats, instead of its own")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long (%(default)s)")
    parser.add_argument("--think-ms", type=float, default=300.0, help="mean think time (%(default)s)")
    parser.add_argument("--threshold-ms", type=float, default=250.0, help="a response is good within it (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of think times and span ids (%(default)s)")
    parser.add_argument("--otlp", default=os.environ.get("SLUICE_OTLP_GRPC", ""), help="receiver of spans; '' for none")
    return parser


if __name__ == "__main__":
    main()
