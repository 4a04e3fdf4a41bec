"""A pool under load, and the process that decides for it: `decider.py FOLDER BOOTSTRAP TOPIC`.

A line on stdin is one second of the pool, decided on, recorded and flushed; a line of JSON on stdout says what came of
it. FOLDER holds what outlives the process besides the log, as ClickHouse and the pool do: windows, the size in force.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from sluice.control.state_log import StateLog
from sluice.core.keys import PoolKey
from sluice.log.kafka import KafkaStateLog
from sluice.pools.policy.decision import Action
from sluice.pools.policy.observation import Buckets, Observation
from sluice.pools.policy.state import PoolState
from sluice.pools.policy.step import step

SHOP = PoolKey("shop", "server", "")
BEGIN_MS, BUCKET_MS, CORES, SLO_S = 1_700_000_000_000, 100, 4.0, 0.5
# What is asked for again each time, as a collector does that waits for late rows: it is not to count twice.
AGAIN_MS = 30_000
FLUSH_S = 60.0


class Pool:
    """Always full. Every minute its throughput changes to that of another hump, so that sizes have to be looked for."""

    def __init__(self, folder: Path) -> None:
        self._windows, self._size = folder / "windows", folder / "size"
        lines = self._windows.read_text().splitlines() if self._windows.exists() else []
        self._seconds: list[list[float]] = [json.loads(line) for line in lines]

    @property
    def now_ms(self) -> int:
        return BEGIN_MS + 1_000 * len(self._seconds)

    @property
    def size(self) -> int:
        return int(self._size.read_text()) if self._size.exists() else 5

    def apply(self, size: int) -> None:
        self._size.write_text(str(size))

    def second(self) -> None:
        number, size = len(self._seconds), self.size
        share, hump = (0.6, 8) if number // 60 % 2 else (1.0, 20)
        rate = share * 50 * size / (1 + 0.02 * size + 0.35 * (size / hump) ** 2)
        completions = np.random.default_rng(number).poisson(rate * BUCKET_MS / 1_000, 1_000 // BUCKET_MS)
        self._seconds.append([size, *completions.tolist()])
        with self._windows.open("a") as windows:
            print(json.dumps(self._seconds[-1]), file=windows)

    def since(self, ms: int) -> Buckets:
        """The buckets of the seconds that begin from `ms` on."""
        first = max(0, -(-(ms - BEGIN_MS) // 1_000))
        rows = np.array(self._seconds[first:])
        each = 1_000 // BUCKET_MS
        size = np.repeat(rows[:, 0], each)
        start_ms = BEGIN_MS + 1_000 * first + BUCKET_MS * np.arange(len(size))
        return Buckets(start_ms, size, rows[:, 1:].ravel(), size, np.full(len(size), CORES), BUCKET_MS / 1_000)


def one_second(state: PoolState, pool: Pool, log: StateLog) -> tuple[PoolState, dict[str, Any]]:
    pool.second()
    seen = Observation({"shop-1": pool.size}, pool.since(state.learnt.until_ms - AGAIN_MS), CORES, SLO_S)
    state, decision = step(state, seen, pool.now_ms)
    log.record({SHOP: state})
    assert log.flush(FLUSH_S)
    if decision.action is Action.APPLY and decision.target is not None:
        pool.apply(decision.target)
    return state, told(state) | {
        "case": decision.reasons[0][0],
        "target": decision.target,
        "basis": decision.basis.name,
        "action": decision.action.name,
    }


def told(state: PoolState) -> dict[str, Any]:
    """The state as JSON has it, without what only saves work."""
    written = replace(state, learnt=replace(state.learnt, kept=None))
    told: dict[str, Any] = json.loads(json.dumps(asdict(written), default=lambda value: value.name))
    return told


def main(folder: str, bootstrap: str, topic: str) -> None:
    log = KafkaStateLog(bootstrap, topic)
    state = log.restore().get(SHOP, PoolState())
    log.start()
    print(json.dumps(told(state)), flush=True)
    pool = Pool(Path(folder))
    for _ in sys.stdin:
        state, line = one_second(state, pool, log)
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
