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
from multiprocessing import get_context

from sluice.engine.cpus import cpus, memory_bytes
from sluice.engine.workers import begin
from sluice.fast.changed import changed
from sluice.fast.garbage import search_rarely
from sluice.model.keys import PoolKey, number_of
from sluice.pools.estimate.attempt import Failed
from sluice.pools.policy.decision import Decision
from sluice.pools.policy.learn import learn, of_version
from sluice.pools.policy.observation import Buckets, Observation
from sluice.pools.policy.prepare import prepare
from sluice.pools.policy.state import PoolState
from sluice.pools.policy.step import step
from sluice.pools.pool_step import PoolStep

log = logging.getLogger(__name__)

# Below this, one process takes half a second, and more would save less than their start and memory cost.
FROM_POOLS = 500
# Memory of each process, the main one included, with 10,000 pools in two (`make bench BENCH=loop-scale`: 2,269 MB).
PROCESS_BYTES = 757 * 10**6
# Pools in a task: many enough for its two hand-overs, and few enough that all processes end at about the same time.
TASK = 50
# Tasks queued for a process: in the first period, a task has 80 s of windows, which are 1.6 MB.
AHEAD = 16
# The module that the fork server loads.
PREPARED = "sluice.pools.period.preload"
# A process without a result for this long hangs, and is killed. Its compilation at start takes some 10 s of CPU.
HANGS_S = 120.0

_Past = tuple[Buckets, str]
"""A past window of a pool, to learn from without a decision, and the version of its service."""
_Outcome = tuple[PoolState, Decision | None, float | None] | Failed
"""As in `PoolStep`: the next state, the decision, cores."""
_Sent = tuple[PoolKey, PoolState | None, Observation | _Past, int]
"""As a step is sent to a process. A state of None: the process holds it from the step before."""
_Future = Future[list[_Outcome]]


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

    def run(self, steps: Iterable[PoolStep], pools: int) -> Iterator[PoolStep]:
        """Each step after its decision, in any order. pools: their number. Takes further steps while the first ones
        run. Steps of a process that died run in another one, and if that dies too, in this one."""
        count = self._count(pools)
        if count == 1:
            yield from (_after(pool_step, _outcome(*_before(pool_step))) for pool_step in steps)
            return
        left: list[PoolStep] = []
        yield from self._run(steps, count, left)
        again: list[PoolStep] = []
        yield from self._run(left, count, again)
        yield from (_after(pool_step, _light(_outcome(*_before(pool_step)))) for pool_step in again)

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

    def _run(self, steps: Iterable[PoolStep], count: int, left: list[PoolStep]) -> Iterator[PoolStep]:
        """left: gets the steps of a process that died."""
        waiting: dict[int, list[PoolStep]] = defaultdict(list)
        begun: deque[tuple[int, list[PoolStep], _Future | None]] = deque()
        dead: Counter[int] = Counter()

        def oldest() -> Iterator[PoolStep]:
            which, task, future = begun.popleft()
            outcomes = self._processes[which].outcomes(task, future, self._hangs_s)
            if outcomes is None:
                left.extend(task)
                dead[which] += len(task)
            else:
                yield from (_after(*pair) for pair in zip(task, outcomes, strict=True))

        for pool_step in steps:
            which = number_of(pool_step.key) % count
            waiting[which].append(pool_step)
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


@dataclass
class _Process:
    """states: the states that the process has, as it returned them, without those of pools that it works on."""

    executor: ProcessPoolExecutor
    states: dict[PoolKey, PoolState] = field(default_factory=dict)

    def submit(self, task: Sequence[PoolStep]) -> _Future | None:
        """The task's future; None when the process is dead."""
        sent: list[_Sent] = []
        for pool_step in task:
            state, observation, now_ms = _before(pool_step)
            held = self.states.pop(pool_step.key, None) is state
            sent.append((pool_step.key, None if held else state, observation, now_ms))
        try:
            return self.executor.submit(_outcomes, sent)
        except BrokenProcessPool:
            return None

    def outcomes(self, task: Sequence[PoolStep], future: _Future | None, hangs_s: float) -> list[_Outcome] | None:
        """The task's outcomes; None when the process is dead."""
        try:
            outcomes = future.result(hangs_s) if future is not None else None
        except BrokenProcessPool:
            return None
        except TimeoutError:
            self.kill()
            return None
        for pool_step, outcome in zip(task, outcomes or (), strict=outcomes is not None):
            self.states[pool_step.key] = _before(pool_step)[0] if isinstance(outcome, Failed) else outcome[0]
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


def _outcomes(sent: Sequence[_Sent]) -> list[_Outcome]:
    """Runs in a deciding process."""
    outcomes: list[_Outcome] = []
    for key, state, observation, now_ms in sent:
        state = _states[key] if state is None else state
        outcome = _outcome(state, observation, now_ms)
        _states[key] = state if isinstance(outcome, Failed) else outcome[0]
        outcomes.append(_light(outcome))
    return outcomes


def _outcome(state: PoolState, observation: Observation | _Past, now_ms: int) -> _Outcome:
    """Pure. A failure of one pool does not affect others."""
    try:
        if isinstance(observation, tuple):
            buckets, version = observation
            learnt = learn(of_version(state.learnt, version), buckets, state.facts.change)
            return changed(state, learnt=learnt), None, None
        state, decision = step(state, observation, now_ms)
    except Exception as cause:
        return Failed(type(cause).__name__, str(cause))
    kept = state.learnt.kept
    cores = kept.cores if kept is not None and kept.evidence is state.learnt.evidence else None
    return state, decision, cores


def _light(outcome: _Outcome) -> _Outcome:
    """Without the belief, which is most of a state's size."""
    if isinstance(outcome, Failed):
        return outcome
    state, decision, cores = outcome
    if state.scaled is not None:
        state = changed(state, scaled=changed(state.scaled, learnt=changed(state.scaled.learnt, kept=None)))
    if state.learnt.kept is not None:
        state = changed(state, learnt=changed(state.learnt, kept=None))
    return state, decision, cores


def _before(pool_step: PoolStep) -> tuple[PoolState, Observation | _Past, int]:
    """The arguments of `_outcome`: all that a process needs of a step."""
    state, observation = pool_step.state or PoolState(), pool_step.observation
    if isinstance(observation, Observation):
        return state, observation, pool_step.now_ms
    return state, (observation, pool_step.course.now.version), pool_step.now_ms


def _after(pool_step: PoolStep, outcome: _Outcome) -> PoolStep:
    if isinstance(outcome, Failed):
        return pool_step._replace(state=None, failure=outcome)
    state, decision, cores = outcome
    return pool_step._replace(state=state, decision=decision, cores=cores)
