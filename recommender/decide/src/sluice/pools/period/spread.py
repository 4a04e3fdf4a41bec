"""Runs the steps of all pools, in this process or in several, each with pools of its own.

A belief saves work and is not part of the state (`Kept`): it stays in the process that made it, and the rest of a
step's result comes back. So the caller has all states, and sends one only where the process does not hold it from the
step before. When a process dies, only beliefs are lost.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import lru_cache
from multiprocessing import get_context
from typing import Any, NamedTuple
from zlib import crc32

from sluice.engine.cpus import cpus, memory_bytes
from sluice.engine.workers import begin
from sluice.fast.changed import changed
from sluice.fast.garbage import search_rarely
from sluice.model.keys import PoolKey
from sluice.pools.estimate.attempt import Failed
from sluice.pools.policy.decision import Decision
from sluice.pools.policy.learn import learn, of_version
from sluice.pools.policy.observation import Buckets, Observation
from sluice.pools.policy.prepare import prepare
from sluice.pools.policy.state import PoolState
from sluice.pools.policy.step import step

log = logging.getLogger(__name__)

# Below this, one process takes half a second, and more would save less than their start and memory cost.
FROM_POOLS = 500
# Memory of each process, the main one included, with 10,000 pools in two (`make bench BENCH=loop-scale`: 1,216 MB).
PROCESS_BYTES = 405 * 10**6
# Pools in a task: many enough for its two hand-overs, and few enough that all processes end at about the same time.
TASK = 50
# Tasks queued for a process: in the first period, a task has 80 s of windows, which are 1.6 MB.
AHEAD = 16
# The module that the fork server loads.
PREPARED = "sluice.pools.period.preload"
# A process without a result for this long hangs, and is killed. Its compilation at start takes some 10 s of CPU.
HANGS_S = 120.0


class Past(NamedTuple):
    """A past window of a pool, to learn from without a decision. version: of its service."""

    buckets: Buckets
    version: str


class StepJob(NamedTuple):
    """context: data for the caller, which is not sent to the process."""

    key: PoolKey
    state: PoolState
    observation: Observation | Past
    now_ms: int
    context: Any = None


class Stepped(NamedTuple):
    """decision: None for a past window. cores: of the state's belief, None without one."""

    state: PoolState
    decision: Decision | None
    cores: float | None


Outcome = Stepped | Failed
_Future = Future[list[Outcome]]


def fitting(processors: int, memory: int) -> int:
    """Processes for this many CPUs and bytes, the main one not counted; 1: only the main one."""
    return max(1, min(processors, memory // PROCESS_BYTES - 1))


class Spread:
    """Processes start with the first period that needs them. Not thread-safe, as `Workers`."""

    def __init__(self, processes: int | None = None, from_pools: int = FROM_POOLS, hangs_s: float = HANGS_S) -> None:
        """processes: 1: only this one; None: one a CPU from `from_pools` pools on, as far as the memory suffices."""
        self._configured, self._from_pools, self._hangs_s = processes, from_pools, hangs_s
        self._processes: dict[int, _Process] = {}
        self.died = 0

    def start(self, pools: int) -> None:
        """Starts the processes for this number of pools and waits for them, so that no period has to."""
        count = self._count(pools)
        for ready in [self._process(which).submit(()) for which in range(count if count > 1 else 0)]:
            wait([] if ready is None else [ready])

    def run(self, jobs: Iterable[StepJob], pools: int) -> Iterator[tuple[StepJob, Outcome]]:
        """Each job with its outcome, in any order. pools: their number. Takes further jobs while the first ones run.
        Jobs of a process that died run in another one, and if that dies too, in this one."""
        count = self._count(pools)
        if count == 1:
            yield from ((job, _outcome(job.state, job.observation, job.now_ms)) for job in jobs)
            return
        left: list[StepJob] = []
        yield from self._run(jobs, count, left)
        again: list[StepJob] = []
        yield from self._run(left, count, again)
        yield from ((job, _light(_outcome(job.state, job.observation, job.now_ms))) for job in again)

    @property
    def pids(self) -> list[int]:
        """Ids of the other processes."""
        return [pid for process in self._processes.values() for pid in process.executor._processes or ()]

    def close(self) -> None:
        """Ends the processes; unfinished work is lost."""
        while self._processes:
            self._processes.popitem()[1].executor.shutdown(wait=True, cancel_futures=True)

    def _count(self, pools: int) -> int:
        return self._configured or (fitting(cpus(), memory_bytes()) if pools >= self._from_pools else 1)

    def _run(self, jobs: Iterable[StepJob], count: int, left: list[StepJob]) -> Iterator[tuple[StepJob, Outcome]]:
        """left: gets the jobs of a process that died."""
        waiting: dict[int, list[StepJob]] = defaultdict(list)
        begun: deque[tuple[int, list[StepJob], _Future | None]] = deque()
        dead: Counter[int] = Counter()

        def oldest() -> Iterator[tuple[StepJob, Outcome]]:
            which, task, future = begun.popleft()
            outcomes = self._processes[which].outcomes(task, future, self._hangs_s)
            if outcomes is None:
                left.extend(task)
                dead[which] += len(task)
            else:
                yield from zip(task, outcomes, strict=True)

        for job in jobs:
            which = _number(job.key) % count
            waiting[which].append(job)
            if len(waiting[which]) == TASK:
                task = waiting.pop(which)
                begun.append((which, task, self._process(which).submit(task)))
            if len(begun) > AHEAD * count:
                yield from oldest()
        begun += [(which, task, self._process(which).submit(task)) for which, task in waiting.items()]
        while begun:
            yield from oldest()
        for which, pools in dead.items():
            self.died += 1
            log.error("a deciding process died, going on with another one: %d pools are decided again", pools)
            self._processes.pop(which).executor.shutdown(wait=True)

    def _process(self, which: int) -> _Process:
        if which not in self._processes:
            # Not fork: this process has threads. The fork server prepares them once, and shares the result.
            context = get_context("forkserver")
            context.set_forkserver_preload([__name__, PREPARED])
            self._processes[which] = _Process(ProcessPoolExecutor(1, mp_context=context, initializer=_begin))
        return self._processes[which]


@lru_cache(maxsize=100_000)
def _number(key: PoolKey) -> int:
    """The same number in every period."""
    return crc32(repr(tuple(key)).encode())


@dataclass
class _Process:
    """states: the states that the process has, as it returned them, without those of pools that it works on."""

    executor: ProcessPoolExecutor
    states: dict[PoolKey, PoolState] = field(default_factory=dict)

    def submit(self, task: Sequence[StepJob]) -> _Future | None:
        """The task's future; None when the process is dead."""
        sent = [
            (job.key, None if self.states.pop(job.key, None) is job.state else job.state, job.observation, job.now_ms)
            for job in task
        ]
        try:
            return self.executor.submit(_outcomes, sent)
        except BrokenProcessPool:
            return None

    def outcomes(self, task: Sequence[StepJob], future: _Future | None, hangs_s: float) -> list[Outcome] | None:
        """The task's outcomes; None when the process is dead."""
        try:
            outcomes = future.result(hangs_s) if future is not None else None
        except BrokenProcessPool:
            return None
        except TimeoutError:
            self.kill()
            return None
        for job, outcome in zip(task, outcomes or (), strict=outcomes is not None):
            self.states[job.key] = outcome.state if isinstance(outcome, Stepped) else job.state
        return outcomes

    def kill(self) -> None:
        for process in (self.executor._processes or {}).values():
            process.kill()


_states: dict[PoolKey, PoolState] = {}
"""In a deciding process: its pools' states, with their beliefs."""


def _begin() -> None:
    begin()
    prepare()
    search_rarely()


def _outcomes(sent: Sequence[tuple[PoolKey, PoolState | None, Observation | Past, int]]) -> list[Outcome]:
    """Runs in a deciding process. A state of None is held from the step before."""
    outcomes: list[Outcome] = []
    for key, state, observation, now_ms in sent:
        state = _states[key] if state is None else state
        outcome = _outcome(state, observation, now_ms)
        _states[key] = outcome.state if isinstance(outcome, Stepped) else state
        outcomes.append(_light(outcome))
    return outcomes


def _outcome(state: PoolState, observation: Observation | Past, now_ms: int) -> Outcome:
    """Pure. A failure of one pool does not affect others."""
    try:
        if isinstance(observation, Past):
            learnt = learn(of_version(state.learnt, observation.version), observation.buckets, state.facts.change)
            return Stepped(changed(state, learnt=learnt), None, None)
        state, decision = step(state, observation, now_ms)
    except Exception as cause:
        return Failed(type(cause).__name__, str(cause))
    kept = state.learnt.kept
    cores = kept.cores if kept is not None and kept.evidence is state.learnt.evidence else None
    return Stepped(state, decision, cores)


def _light(outcome: Outcome) -> Outcome:
    """Without the belief, which is most of a state's size."""
    if isinstance(outcome, Failed) or outcome.state.learnt.kept is None:
        return outcome
    state = outcome.state
    return outcome._replace(state=changed(state, learnt=changed(state.learnt, kept=None)))
