"""What tunes soft resources inside a run: called every period with the newest windows, answers with sizes.

A controller sizes cart's threads, and its users judge it::

    fine, answers = FineWindows(), []
    run = Simulation(CART.build(3500, {}, STEEP_TRI_PHASE), 1, fine.add, lambda at, s, failed: answers.append(s))
    fine.watch(run.pools.values())
    ControlAgent(run, fine, controller, lambda now: {CART_THREADS: 245.0})  # the threshold may change with time
    run.run_until(720)
"""

from collections.abc import Callable, Mapping
from operator import index
from typing import Protocol

from .adjustable import AdjustablePool
from .fine import FineWindows, PoolWindows
from .simulation import Simulation


class Controller(Protocol):
    def decide(self, now_s: float, windows: Mapping[str, PoolWindows]) -> Mapping[str, int]:
        """New sizes by pool, of those that are to change; each as large for every replica.

        ``windows``: by pool, of every pool with a threshold.
        """
        ...


class ControlAgent:
    """Calls a controller every ``period_s`` and applies what it says, clamped to each pool's [min, max].

    The newest buckets of a window are as empty as those in flight make them: ``settle_s`` leaves them out.
    ``threshold_ms`` gives each pool's threshold at a time, so that an SLO may change during a run.
    """

    def __init__(
        self,
        simulation: Simulation,
        fine: FineWindows,
        controller: Controller,
        threshold_ms: Callable[[float], Mapping[str, float]],
        period_s: float = 15.0,
        window_s: float = 60.0,
        bucket_ms: int = 100,
        settle_s: float = 0.0,
    ) -> None:
        if not (period_s > 0 and window_s > 0 and settle_s >= 0):
            raise ValueError(
                f"control: period_s and window_s must be > 0, settle_s >= 0; got {period_s}, {window_s}, {settle_s}"
            )
        self._simulation = simulation
        self._fine = fine
        self._controller = controller
        self._threshold_ms = threshold_ms
        self._period_s = period_s
        self._window_s = window_s
        self._bucket_ms = bucket_ms
        self._settle_s = settle_s
        self.applied: list[tuple[float, str, int]] = []
        """(second, pool, size) of every change."""
        simulation.engine.after(period_s, self._step, None)

    def _step(self, _: None) -> None:
        simulation = self._simulation
        now = simulation.engine.now
        until = max(0.0, now - self._settle_s)
        windows = {
            name: self._fine.last(self._pool(name), until, self._window_s, self._bucket_ms, threshold)
            for name, threshold in self._threshold_ms(now).items()
        }
        for name, wanted in self._controller.decide(now, windows).items():
            pool = self._pool(name)
            size = min(max(index(wanted), pool.min), pool.max)
            if size != pool.size:
                pool.resize(size)
                self.applied.append((now, name, size))
        simulation.engine.after(self._period_s, self._step, None)

    def _pool(self, name: str) -> AdjustablePool:
        try:
            return self._simulation.pools[name]
        except KeyError:
            known = ", ".join(sorted(self._simulation.pools))
            raise ValueError(f"control pool {name!r}: must be one of {known}") from None
