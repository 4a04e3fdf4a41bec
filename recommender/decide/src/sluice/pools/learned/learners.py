"""Trains agents beside the control periods. A lesson starts when the last one is done, and no period waits for one.

One process of lower priority has all agents. It ends with the decider. Where it dies alone, another one continues from
the newest checkpoints.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from sluice.engine.workers import begin
from sluice.model.keys import PoolKey
from sluice.model.problems import Problems
from sluice.pools.estimate.attempt import Failed
from sluice.pools.learned.agents import Agents
from sluice.pools.learned.lesson import Learned, Lesson

log = logging.getLogger(__name__)

# Priority of the process, below the deciding ones.
NICE = 10

_Task = tuple[list[Lesson], Future[list[Learned | Failed]]]


class Learners:
    """Not thread-safe, as `Workers`. here: trains in this process and waits, as in simulated time."""

    def __init__(self, problems: Problems | None = None, here: bool = False) -> None:
        self._problems = problems or Problems()
        self._here = Agents() if here else None
        self._executor: ProcessPoolExecutor | None = None
        self._tasks: list[_Task] = []
        self._known: dict[PoolKey, Learned] = {}

    @property
    def known(self) -> Mapping[PoolKey, Learned]:
        """The newest result of each pool."""
        return self._known

    def under_way(self) -> set[PoolKey]:
        """The pools whose last lesson is not done."""
        self._take_back()
        return {lesson.key for lessons, _ in self._tasks for lesson in lessons}

    def teach(self, lessons: Sequence[Lesson], past: bool = False) -> None:
        """Starts lessons, except of pools whose last one is not done: the next lesson includes their windows.
        past: recorded history, which does not come again: always started, one after the other."""
        waiting = set() if past else self.under_way()
        lessons = [lesson for lesson in lessons if lesson.key not in waiting]
        if not lessons:
            return
        if self._here is not None:
            self._keep(lessons, self._here.learn(list(lessons)))
            return
        if self._executor is None:
            context = multiprocessing.get_context("forkserver")
            self._executor = ProcessPoolExecutor(1, mp_context=context, initializer=_begin)
        try:
            self._tasks.append((list(lessons), self._executor.submit(_learn, list(lessons))))
        except BrokenProcessPool:
            self._died()

    def close(self) -> None:
        """Ends the process. Training since the last checkpoint is lost: five minutes at most."""
        executor, self._executor, self._tasks = self._executor, None, []
        if executor is not None:
            for process in (executor._processes or {}).values():
                process.kill()
            executor.shutdown(wait=True, cancel_futures=True)

    def _take_back(self) -> None:
        while self._tasks and self._tasks[0][1].done():
            lessons, future = self._tasks.pop(0)
            try:
                self._keep(lessons, future.result())
            except BrokenProcessPool:
                self._died()

    def _keep(self, lessons: Sequence[Lesson], outcomes: Sequence[Learned | Failed]) -> None:
        for lesson, outcome in zip(lessons, outcomes, strict=True):
            if isinstance(outcome, Failed):
                self._problems.failed(f"lesson of {lesson.key}", outcome.error())
            else:
                self._problems.succeeded(f"lesson of {lesson.key}")
                self._known[lesson.key] = outcome

    def _died(self) -> None:
        log.error("the process that trains agents died; starting another one from the newest checkpoints")
        self.close()


_agents = Agents()
"""Agents of the training process."""


def _begin() -> None:
    begin()
    os.nice(NICE)


def _learn(lessons: list[Lesson]) -> list[Learned | Failed]:
    return _agents.learn(lessons)
