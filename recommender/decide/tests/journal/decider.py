"""A pool under load, and a decider of it on a shard's log, a second at a time."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from sluice.pools.estimate.belief.evidence import Evidence
from sluice.pools.policy.decision import Action
from sluice.pools.policy.observation import Buckets, Observation
from sluice.pools.policy.state import PoolState
from sluice.pools.policy.step import step
from sluice.pools.publication.schedule import WriteSchedule
from sluice_kit.journal.place import SHOP, Place, period, pools_of, taken

BEGIN_MS, BUCKET_MS, CORES, SLO_S = 1_700_000_000_000, 100, 4.0, 0.5
# What is asked for again each time, as a collector does that waits for late rows: it is not to count twice.
AGAIN_MS = 30_000


class Pool:
    """Always full. Every minute its throughput changes to that of another hump, so that sizes have to be looked for.

    It outlives deciders, as ClickHouse and the pool itself do.
    """

    def __init__(self) -> None:
        self.size = 5
        self._seconds: list[list[float]] = []

    @property
    def now_ms(self) -> int:
        return BEGIN_MS + 1_000 * len(self._seconds)

    def second(self) -> None:
        number, size = len(self._seconds), self.size
        share, hump = (0.6, 8) if number // 60 % 2 else (1.0, 20)
        rate = share * 50 * size / (1 + 0.02 * size + 0.35 * (size / hump) ** 2)
        completions = np.random.default_rng(number).poisson(rate * BUCKET_MS / 1_000, 1_000 // BUCKET_MS)
        self._seconds.append([size, *completions.tolist()])

    def since(self, ms: int) -> Buckets:
        """The buckets of the seconds that begin from `ms` on."""
        first = max(0, -(-(ms - BEGIN_MS) // 1_000))
        rows = np.array(self._seconds[first:])
        each = 1_000 // BUCKET_MS
        size = np.repeat(rows[:, 0], each)
        start_ms = BEGIN_MS + 1_000 * first + BUCKET_MS * np.arange(len(size))
        return Buckets(start_ms, size, rows[:, 1:].ravel(), BUCKET_MS / 1_000, size, np.full(len(size), CORES))


class Decider:
    """Takes the shard from whoever had it."""

    def __init__(self, pool: Pool, place: Place) -> None:
        self._pool, self._due = pool, WriteSchedule()
        ((self._log, found),) = taken(place.decider("test", shards=1), wanted=1).values()
        states = pools_of(found).states
        self._due.restored(states)
        self.state = states.states().get(SHOP, PoolState())
        self.restored = told(self.state)

    def second(self) -> dict[str, Any]:
        pool = self._pool
        pool.second()
        seen = Observation({"shop-1": pool.size}, pool.since(self.state.learnt.until_ms - AGAIN_MS), CORES, SLO_S)
        state, decision = step(self.state, seen, pool.now_ms)
        self._log.commit(period(self._log.received(), states=dict(self._due.of({SHOP: state}))))
        self.state = state
        if decision.action is Action.APPLY and decision.target is not None:
            pool.size = decision.target
        return told(state) | {
            "case": decision.reasons[0][0],
            "target": decision.target,
            "basis": decision.basis.name,
            "action": decision.action.name,
        }


def told(state: PoolState) -> dict[str, Any]:
    """The state as JSON has it, without what only saves work."""
    # How late windows are is of one step: a decider that begins reads a minute of them at once.
    written = replace(state, learnt=replace(state.learnt, kept=None, lag_ms=0))
    told: dict[str, Any] = json.loads(json.dumps(asdict(written), default=_plain))
    return told


def _plain(value: Any) -> Any:
    """What JSON has no word for: evidence, and enums."""
    return value.table.tolist() if isinstance(value, Evidence) else value.name
