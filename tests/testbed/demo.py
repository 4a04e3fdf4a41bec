"""Runs the shop, and suggestions beside it, in real time: spans go to an OTLP receiver, the shop's pools are served."""

import argparse
import logging
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from .application import Application
from .control import Control, serve
from .exporter import Exporter
from .handover import Handover
from .pace import Pace
from .presets.shop import PERIOD, USER_THRESHOLD_MS, USERS, bursts, shop
from .presets.suggest import INDEX, PORT, SUGGEST, suggest
from .proxyless import Proxyless
from .recent import Recent
from .simulation import Simulation
from .spans import Span
from .utilization import MetricsSender, Utilization

log = logging.getLogger("demo")

TICK = 0.02
"""Wall seconds between two looks at the clock."""
LONGEST_STEP = 0.25
"""Virtual seconds run at once: between two steps commands are served, even when the demo is behind."""
REPORT = 30.0
"""Wall seconds between two lines about the state."""
METRICS = 4.0
"""Wall seconds between two readings of utilizations: each window of 10 s has two."""
SUGGEST_SEED = 1_000_003
"""Added to the seed for suggestions, so that its trace ids are others than the shop's."""
MOST_SUGGESTIONS = 10_000
"""Of whose latencies the stats tell."""


class Demo:
    """Owns the simulations; everything but the exporter's thread and the HTTP server's runs in ``run``.

    Suggestions share neither services nor hosts with the shop: what the shop does is the same with and without it.
    """

    def __init__(
        self, seed: int, speed: float, users: int, otlp: str, period: float = PERIOD, recommender: str = ""
    ) -> None:
        self.pace = Pace(speed, time.time_ns())
        self.handover = Handover()
        self.stopping = threading.Event()
        self._recent = Recent(USER_THRESHOLD_MS / 1e3)
        self.simulation = Simulation(shop(users, shape=bursts(period)), seed, self._on_span, self._on_outcome)
        self.suggest = Simulation(suggest(), seed + SUGGEST_SEED, self._on_span, self._on_suggestion)
        self._suggestions: deque[tuple[float, float]] = deque(maxlen=MOST_SUGGESTIONS)
        self._proxyless = proxyless(recommender, self.suggest.application) if recommender else None
        self._chosen = self._turns = 0
        if self._proxyless is not None:
            self.suggest.application.services[INDEX].choose = self._choose
        self.exporter = Exporter(otlp, hosts=hosts_of(self.suggest.application))
        self._utilization = Utilization(self.suggest.application)
        self._metrics = MetricsSender(otlp)

    def _on_span(self, span: Span) -> None:
        wall = self.pace.wall_ns
        self.exporter.offer(span._replace(start_ns=wall(span.start_ns), end_ns=wall(span.end_ns)))

    def _on_outcome(self, second: float, latency: float, failed: bool) -> None:
        speed = self.pace.speed
        self._recent.add(second / speed, latency / speed, failed)

    def _on_suggestion(self, second: float, latency: float, failed: bool) -> None:
        self._suggestions.append((second, latency / self.pace.speed))

    def _choose(self, caller: str) -> str | None:
        assert self._proxyless is not None
        chosen = self._proxyless.pick(caller)
        self._chosen, self._turns = self._chosen + (chosen is not None), self._turns + (chosen is None)
        return chosen

    def _suggest_p95(self) -> float:
        """Of the suggestions of the last minute, in ms; 0 before the first."""
        since = self.suggest.engine.now - 60 * self.pace.speed
        latencies = sorted(latency for second, latency in self._suggestions if second >= since)
        return round(1e3 * latencies[int(0.95 * len(latencies))], 1) if latencies else 0.0

    def control(self) -> Control:
        simulation = self.simulation
        return Control(simulation.pools, simulation.application.services, self.stats, self.handover)

    def stats(self) -> dict[str, Any]:
        """Rates per wall second as users see them over the last 10 s; times in seconds."""
        requests, goodput = self._recent.rates(self.simulation.engine.now / self.pace.speed)
        return {
            "users": self.simulation.users.present,
            "requests_per_s": round(requests, 1),
            "goodput_per_s": round(goodput, 1),
            "threshold_ms": USER_THRESHOLD_MS,
            "suggest_p95_ms": self._suggest_p95(),
            "suggest_calls_by_xds": self._chosen,
            "suggest_calls_in_turn": self._turns,
            "spans_sent": self.exporter.sent,
            "spans_dropped": self.exporter.dropped,
            "spans_queued": self.exporter.queued,
            "export_retries": self.exporter.retries,
            "metrics_sent": self._metrics.sent,
            "metrics_lost": self._metrics.lost,
            "lag_s": round(self.pace.lag_s, 3),
            "slips": self.pace.slips,
            "slipped_s": round(self.pace.slipped_s, 3),
            "simulated_s": round(self.simulation.engine.now, 3),
        }

    def run(self) -> None:
        """Returns when ``stopping`` is set."""
        report = time.monotonic() + REPORT
        metrics = time.monotonic() + METRICS
        slips = 0
        engine = self.simulation.engine
        while not self.stopping.is_set():
            due = self.pace.due(time.time_ns(), engine.now)
            until = min(due, engine.now + LONGEST_STEP)
            self.simulation.run_until(until)
            self.suggest.run_until(until)
            self.handover.serve(TICK if engine.now >= due else 0.0)
            if time.monotonic() >= metrics:
                metrics += METRICS
                self._metrics.send(self._utilization.read(time.time_ns()))
            if time.monotonic() >= report:
                report += REPORT
                log.info("%s", " ".join(f"{key}={value}" for key, value in self.stats().items()))
                if self.pace.slips > slips:
                    log.warning("keep up with the wall clock: slipped %d times so far", self.pace.slips)
                    slips = self.pace.slips
        self._metrics.close()
        if self._proxyless is not None:
            self._proxyless.stop()


def proxyless(recommender: str, application: Application) -> Proxyless | None:
    """The gRPC clients of suggest's containers, and servers at the addresses of suggest-index's. None where these are
    not free, or the machine has no such addresses: calls then go in turn."""
    callers = [instance.name for instance in application.services[SUGGEST].instances]
    hosts = hosts_of(application)
    callees = {name: f"{hosts[name]}:{PORT}" for name in (one.name for one in application.services[INDEX].instances)}
    try:
        return Proxyless(recommender, SUGGEST, callers, INDEX, callees)
    except (OSError, RuntimeError) as cause:
        log.warning("suggest calls %s in turn: %s", INDEX, cause)
        return None


def hosts_of(application: Application) -> dict[str, str]:
    """By instance, where it has one in the model."""
    return {
        instance.name: instance.host.name
        for service in application.services.values()
        for instance in service.instances
        if instance.host is not None
    }


def main(argv: Sequence[str] | None = None) -> int:
    options = _arguments().parse_args(argv)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    host, port = options.http
    demo = Demo(options.seed, options.speed, options.users, options.otlp, options.period, options.recommender)
    exporter = demo.exporter
    try:
        server = serve(demo.control(), host, port)
    except OSError as error:
        log.error("listen on %s:%d: %s", host, port, error.strerror)
        return 1
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: demo.stopping.set())
    threading.Thread(target=server.serve_forever, name="http", daemon=True).start()
    exporter.start()
    log.info(
        "shop with up to %d users, pools on http://%s:%d/pools, spans to %s", options.users, host, port, options.otlp
    )
    demo.run()
    server.shutdown()
    server.server_close()
    exporter.stop()
    log.info("stopped: %d spans sent, %d dropped", exporter.sent, exporter.dropped)
    return 0


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m testbed.demo", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="same seed, same load (%(default)s)")
    parser.add_argument("--speed", type=_positive, default=1.0, help="virtual seconds per second (%(default)s)")
    parser.add_argument(
        "--period", type=_seconds, default=PERIOD, help="virtual seconds in which the load repeats (%(default)g)"
    )
    parser.add_argument("--users", type=_count, default=USERS, help="the most users at a time (%(default)s)")
    parser.add_argument(
        "--http",
        type=_address,
        default=os.environ.get("SLUICE_DEMO", "127.0.0.1:8090"),
        help="where to serve the pools; SLUICE_DEMO (%(default)s)",
    )
    parser.add_argument(
        "--otlp",
        default=os.environ.get("SLUICE_OTLP_GRPC", "127.0.0.1:4317"),
        help="OTLP/gRPC receiver; SLUICE_OTLP_GRPC (%(default)s)",
    )
    parser.add_argument(
        "--recommender",
        default=os.environ.get("SLUICE_RECOMMENDER", ""),
        help="xDS server whose subsets suggest follows; SLUICE_RECOMMENDER; empty: it calls in turn (%(default)s)",
    )
    return parser


def _address(text: str) -> tuple[str, int]:
    parts = urlsplit(text if "//" in text else f"//{text}")
    try:
        if parts.hostname and parts.port is not None:
            return parts.hostname, parts.port
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"must be HOST:PORT with a port from 0 to 65535, got {text!r}")


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0 < value <= 100:
        raise argparse.ArgumentTypeError(f"must be a number above 0 and up to 100, got {text!r}")
    return value


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 1 <= value <= 3600:
        raise argparse.ArgumentTypeError(f"must be a number from 1 to 3600, got {text!r}")
    return value


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 100_000:
        raise argparse.ArgumentTypeError(f"must be an integer from 1 to 100000, got {text!r}")
    return int(text)


if __name__ == "__main__":
    raise SystemExit(main())
