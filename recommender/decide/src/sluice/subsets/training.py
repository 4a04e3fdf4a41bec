"""Trains the latency models of applications when they are stale, in a separate process."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from enum import Enum, auto
from typing import NamedTuple

import numpy as np

from sluice.engine.workers import begin
from sluice.subsets.application import Application
from sluice.subsets.calls import rates
from sluice.subsets.fleet import Ints
from sluice.subsets.latency.boosted import FEWEST, BoostedLatency
from sluice.subsets.latency.learnt import TrainedModels, learn
from sluice.subsets.latency.samples import LatencySamples

TrainingSamples = Mapping[str, tuple[LatencySamples, Ints]]
"""By service, the samples and the starts of their windows."""


# Until a service has a model of its own, samples are queried this many times as often.
SOONER = 10


class Why(Enum):
    """Why to query samples. WAITS: no service has enough of them for a model yet."""

    STALE = auto()
    WAITS = auto()


class PendingTraining(NamedTuple):
    services: frozenset[str]
    at_ms: int
    future: Future[TrainedModels]


class Training:
    """Use it from one thread; no training blocks it. It trains small models at once, all others in a process."""

    def __init__(self) -> None:
        self._executor: ProcessPoolExecutor | None = None
        self._learnt: dict[str, tuple[frozenset[str], TrainedModels]] = {}
        self._pending: dict[str, PendingTraining] = {}
        self._looked_ms: dict[str, int] = {}

    def newest(
        self,
        name: str,
        application: Application,
        samples: Callable[[], TrainingSamples],
        retrain_ms: float,
        now_ms: int,
    ) -> TrainedModels | None:
        """The newest model of the called services, or None while the first one is in training.

        samples: the query, called where the model is stale or these services are others. Raises what `samples` raises,
        and the error of a failed training.
        """
        services = frozenset(down for _, down in rates(application))
        training = self._pending.get(name)
        if training is not None and training.future.done():
            del self._pending[name]
            try:
                self._learnt[name] = training.services, training.future.result()
            finally:
                # The process takes 260 MB, and the next training is minutes away.
                if not self._pending:
                    self.close()
        if name not in self._pending and (why := self._why(name, services, retrain_ms, now_ms)) is not None:
            samples_of = samples()
            self._looked_ms[name] = now_ms
            if why is Why.STALE or any(
                len(samples_of[service][0]) >= FEWEST for service in services & samples_of.keys()
            ):
                self._begin(name, services, samples_of, _usual(application), now_ms)
        known = self._learnt.get(name)
        return None if known is None else known[1]

    def close(self) -> None:
        """Ends the process. A training in progress is lost."""
        executor, self._executor = self._executor, None
        self._pending.clear()
        if executor is not None:
            executor.shutdown(wait=False, cancel_futures=True)

    def _why(self, name: str, services: frozenset[str], retrain_ms: float, now_ms: int) -> Why | None:
        known = self._learnt.get(name)
        if known is None or known[0] != services or now_ms - known[1].version >= retrain_ms:
            return Why.STALE
        waits = not _trained(known[1], services) and now_ms - self._looked_ms[name] >= retrain_ms / SOONER
        return Why.WAITS if waits else None

    def _begin(self, name: str, services: frozenset[str], samples: TrainingSamples, usual: float, now_ms: int) -> None:
        wanted = {service: samples[service] for service in sorted(services) if service in samples}
        work = wanted or dict(samples), sorted(services), usual, now_ms
        if all(len(samples_of) < FEWEST for samples_of, _ in work[0].values()):
            self._learnt[name] = services, learn(*work)
            return
        if self._executor is None:
            # Not fork: this process has threads.
            context = multiprocessing.get_context("forkserver")
            self._executor = ProcessPoolExecutor(1, mp_context=context, initializer=begin)
        self._pending[name] = PendingTraining(services, now_ms, self._executor.submit(learn, *work))


def _trained(learnt: TrainedModels, services: frozenset[str]) -> bool:
    return any(isinstance(learnt.model.of(service), BoostedLatency) for service in services)


def _usual(application: Application) -> float:
    """The mean rate of a container, in calls per second."""
    counts = {service.name: len(service.containers) for service in application.services}
    pair_rates = [rate / max(counts.get(down, 1), 1) for (_, down), rate in rates(application).items()]
    return float(np.mean(pair_rates)) if pair_rates else 1.0
