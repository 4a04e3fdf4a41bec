"""Runs estimates in worker processes, once there are too many for one process."""

from __future__ import annotations

import logging
import multiprocessing
import sys
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from sluice.engine.cpus import cpus
from sluice.engine.workers import begin
from sluice.pools.estimate import Estimate, libraries
from sluice.pools.estimate.attempt import EstimateJob, Failed, attempt_all

log = logging.getLogger(__name__)

# Up to this number, the loop's thread takes a third of a second (bench scg: about 1,000 curves/s/core).
FROM_JOBS = 300
# A task costs its pickling and two hand-overs: little beside 50 estimates of 1 ms, and 10,000 estimates spread evenly.
TASK = 50


class Workers:
    """Processes start with the first large batch. When one dies, new ones repeat the batch once.

    Not thread-safe: the loop's thread runs batches, and `close` is called after its end.
    """

    def __init__(self, processes: int | None = None, from_jobs: int = FROM_JOBS) -> None:
        self._processes = processes or cpus()
        self._from_jobs = from_jobs
        self._executor: ProcessPoolExecutor | None = None

    def run(self, jobs: Sequence[EstimateJob]) -> list[Estimate | Failed]:
        """An estimate per job, in their order. Never raises for a failure in a worker."""
        if len(jobs) < self._from_jobs:
            return attempt_all(jobs)
        tasks = [jobs[i : i + TASK] for i in range(0, len(jobs), TASK)]
        done: dict[int, list[Estimate | Failed]] = {}
        for _ in range(2):
            self._run(tasks, done)
            if len(done) == len(tasks):
                break
            log.error("a worker process died; %d of %d tasks are left", len(tasks) - len(done), len(tasks))
            if self._executor is not None and sys.version_info < (3, 11, 5):
                # There its thread would write for ever to the pipe that no worker reads (gh-94777).
                self._executor._call_queue._reader.close()  # type: ignore[attr-defined]
            self.close()
        died = Failed("WorkerDied", "the estimating process died, twice in this period")
        return [one for i, task in enumerate(tasks) for one in done.get(i, [died] * len(task))]

    def close(self) -> None:
        """Ends the processes; unfinished work is lost."""
        executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown(wait=True, cancel_futures=True)

    def _run(self, tasks: list[Sequence[EstimateJob]], done: dict[int, list[Estimate | Failed]]) -> None:
        if self._executor is None:
            # Not fork: this process has threads.
            context = multiprocessing.get_context("forkserver")
            self._executor = ProcessPoolExecutor(self._processes, mp_context=context, initializer=_begin)
        futures: dict[int, Future[list[Estimate | Failed]]] = {}
        try:
            for i, task in enumerate(tasks):
                if i not in done:
                    futures[i] = self._executor.submit(attempt_all, task)
        except BrokenProcessPool:
            pass  # the results of earlier tasks still count
        for i, future in futures.items():
            try:
                done[i] = future.result()
            except BrokenProcessPool:
                continue


def _begin() -> None:
    begin()
    libraries.load()
