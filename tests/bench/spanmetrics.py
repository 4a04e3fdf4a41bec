"""The OpenTelemetry Collector's spanmetrics connector on the same spans: spans per second of the collector's CPU."""

import http.client
import os
import time
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.cluster import cpu_s, otlp_http
from bench.made_spans import SPANS_PER_ROUND, MadeSpans, Shape
from bench.otlp import post
from sluice_kit.machine.processes import running
from stack.layout import BIN

CONFIG = Path(__file__).with_name("spanmetrics.yaml")
WARM_UP = 0.3


def run(shape: Shape, spans: int) -> float:
    """Sends the messages over HTTP on one connection; each is answered when its spans are counted."""
    address = otlp_http()
    made = MadeSpans(shape)
    rounds = -(-spans // SPANS_PER_ROUND)
    warm_up = int(WARM_UP * rounds)
    start_ns = time.time_ns() - rounds * made.round_ns
    with TemporaryDirectory() as directory:
        command: list[str | Path] = [BIN / "bench-collector", "--config", CONFIG]
        variables = os.environ | {"SLUICE_OTLP_HTTP": address}
        log = Path(directory) / "collector.log"
        with running("collector", command, lambda: _answers(address), log, 60.0, variables) as process:
            connection = http.client.HTTPConnection(address, timeout=60.0)
            numbered = [made.round(number, start_ns + number * made.round_ns) for number in range(warm_up)]
            for message in chain.from_iterable(numbered):
                post(connection, message)
            begun = cpu_s(process.pid)
            for number in range(warm_up, rounds):
                for message in made.round(number, start_ns + number * made.round_ns):
                    post(connection, message)
            used = cpu_s(process.pid) - begun
    return (rounds - warm_up) * SPANS_PER_ROUND / used


def _answers(address: str) -> bool:
    connection = http.client.HTTPConnection(address, timeout=1.0)
    try:
        connection.request("GET", "/")
        connection.getresponse().read()
    except OSError:
        return False
    finally:
        connection.close()
    return True
