"""The recommender as a controller: its own control loop, with windows, sizes and scalings from the testbed.

Everything behind the answer is the product's (`sluice.serve.loop`): hold, exploration and its verdicts, remembered
curves, drift, guard. What an actuator would do is done here: the answer is applied, and the size read back reported.
The hardware scaler tells of each new CPU limit, as `NotifyScaling` lets it; a limiter has no such ear.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bench.controllers.bridge import samples_of
from fakes import FakeClock, FakeCollector, FakeHistory
from sluice.collect import Measured
from sluice.config import Config, PoolKey
from sluice.serve.loop import ControlLoop
from sluice.serve.scalings import Scaling, Scalings
from sluice.serve.sizes import Sizes
from sluice.serve.store import Store
from testbed.adjustable import AdjustablePool
from testbed.fine import PoolWindows

BOUNDS = {"min": 1, "max": 256}


class InLoop:
    """One server pool, sized by an estimator of the recommender, with the configuration's defaults."""

    def __init__(self, pool: AdjustablePool, model: str, threshold_ms: float, bucket_ms: int) -> None:
        """The pool at the start of a run: autoscaler and actuator tell what they find then."""
        self._pool = pool.name
        self._key = PoolKey(pool.service, "server", "")
        pool_ = {"service": pool.service, "side": "server", "threshold": f"{threshold_ms:g}ms", "model": model}
        config = Config.model_validate({"pools": [pool_ | {"bounds": BOUNDS}], "bucket": f"{bucket_ms}ms"})
        self._clock, self._collector, self._store, self._sizes = FakeClock(0), FakeCollector(), Store(), Sizes()
        self._scalings = Scalings()
        self._tell(pool.bounded.cores)
        self._sizes.report(self._key, pool.size, 0)
        self._loop = ControlLoop(
            config, self._collector, FakeHistory(), self._store, self._sizes, self._clock, scalings=self._scalings
        )
        self.named = 0
        """Periods in which the estimator itself named a target."""
        self.course: list[tuple[float, str, int | None, tuple[str, ...]]] = []
        """(second, state, target, reason codes) of each answer that differs from the one before."""

    def decide(self, now_s: float, windows: Mapping[str, PoolWindows]) -> Mapping[str, int]:
        seen = windows[self._pool]
        self._clock.now_ms = round(now_s * 1000)
        self._sizes.report(self._key, seen.size, self._clock())
        if seen.cores != self._cores:
            self._tell(seen.cores)
        self._collector.pools[self._key] = measured(seen)
        self._loop.step()
        answer = self._store.get(self._key)
        assert answer is not None
        self.named += answer.estimate.target is not None
        content = answer.content
        brief = (content.state, content.target, content.codes)
        if not self.course or self.course[-1][1:] != brief:
            self.course.append((now_s, *brief))
        if content.target is None or content.target == seen.size:
            return {}
        self._sizes.report(self._key, content.target, self._clock())
        return {self._pool: content.target}

    def _tell(self, cores: float) -> None:
        self._cores = cores
        self._scalings.notify(Scaling(self._clock(), self._key.service, cores, None, "", "testbed"))


def measured(seen: PoolWindows) -> Measured | None:
    """As the collector gives it: buckets with something in flight, and when they start (ms)."""
    samples = samples_of(seen)
    if samples is None:
        return None
    keep = (seen.own.busy_ns > 0) & (seen.own.instances > 0)
    starts = (seen.since_ns + np.flatnonzero(keep) * seen.length_ns) // 1_000_000
    return Measured(samples, starts.astype(np.int64), seen.length_ns // 1_000_000)
