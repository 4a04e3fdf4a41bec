"""Netflix' Gradient2 on one pool of the application, by the spans in ClickHouse: as old as the pipeline makes them."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

from bench.controllers.gradient2 import Gradient2
from bench.controllers.signal import Signal
from sluice_kit.applications.polyglot_pools import in_force, resize
from sluice_kit.applications.polyglot_scene import Scene
from sluice_kit.machine.beside import beside

PERIOD_S, WINDOW_S = 1.0, 5
_SEEN = """
    SELECT sum(completions) AS completed, sum(busy_ns) AS busy_ns, max(in_flight) AS most
    FROM (SELECT bucket, sum(completions) AS completions, sum(busy_ns) AS busy_ns, sum(concurrency) AS in_flight
        FROM v_windows WHERE service = '{service}' AND side = 'client' AND peer = '{peer}'
        AND bucket > (SELECT max(bucket) FROM windows WHERE service = '{service}') - INTERVAL {seconds} SECOND
        GROUP BY bucket)
"""


@dataclass(frozen=True)
class Seen:
    """What Gradient2 asks of a signal."""

    mean_s: float
    inflight: float


def mean_s(row: dict[str, Any]) -> float | None:
    """By Little's law. None: nothing completed. Worked: 2 s of busy time of 40 calls are 50 ms."""
    return float(row["busy_ns"]) / 1e9 / int(row["completed"]) if int(row["completed"]) else None


@contextmanager
def limited(here: Scene, pool: str) -> Iterator[None]:
    """pool: SERVICE.PEER, of a client."""
    service, peer = pool.split(".")
    rule, end = Gradient2(), threading.Event()
    resize(here.app, {pool: round(rule.limit)})

    def follow() -> None:
        while not end.wait(PERIOD_S):
            (row,) = here.stack.rows(_SEEN.format(service=service, peer=peer, seconds=WINDOW_S))
            took = mean_s(row)
            if took is None or int(row["completed"]) < rule.enough:
                continue
            wanted = round(rule.update(cast(Signal, Seen(took, float(row["most"])))))
            if wanted != in_force(here.app)[pool]:
                resize(here.app, {pool: wanted})

    with beside(follow, end):
        yield
