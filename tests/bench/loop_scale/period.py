"""Periods of the real loop: the first, those after it, and those of a decider that takes over."""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.loop_scale.deciders import Deciders, Watched
from bench.loop_scale.processes import cpu_s
from bench.loop_scale.windows import NOW_MS, Collects, Drawn
from sluice.config import Config
from sluice.engine.loop import Loop
from sluice.pools.period.spread import Spread
from sluice_kit.journal.memory_log import pool_shard
from sluice_kit.servers.kafka import kafka

PERIOD_S = 5
PERIODS = 3
"""After the first; the median is told."""
TAKEN_OVER = 2
"""Periods of the decider that takes over: in these it takes up all pools."""


@dataclass(frozen=True)
class Period:
    """By the clock, but cpu_s: of the decider, of the processes that decide for it, and of the database
    meanwhile."""

    spent_s: float
    reading_s: float
    observing_s: float
    stepping_s: float
    committing_s: float
    cpu_s: tuple[float, float, float]

    @property
    def saying_s(self) -> float:
        """What is left: answers, what of them is new, and what is to be written."""
        return self.spent_s - self.reading_s - self.observing_s - self.stepping_s - self.committing_s


def periods(
    config: Config,
    collector: Collects,
    another: Callable[[Spread], Collects],
    drawn: list[Drawn],
    go_on: Callable[[], None] = lambda: None,
    declared: Config | None = None,
) -> list[Period]:
    """another: the collector of the decider that takes over, given the `Spread` of the one before. go_on: what happens
    in between. declared: the deciders' configuration, where they find the pools of `config`."""
    results: list[Period] = []
    with tempfile.TemporaryDirectory() as folder, kafka(Path(folder)) as broker:
        deciders = Deciders(broker, config, drawn, declared)

        def period(loop: Loop, spread: Watched, collector: Collects) -> int:
            deciders.observe(loop)
            begun, cpu, database_s = time.perf_counter(), cpu_s(spread), collector.database_cpu_s()
            loop.periods()
            spent_s = time.perf_counter() - begun
            own_s, others_s = (after - before for before, after in zip(cpu, cpu_s(spread), strict=True))
            # Buckets are made while jobs are.
            in_windows_s = collector.spent_s - collector.queried_s
            results.append(
                Period(
                    spent_s,
                    collector.spent_s,
                    spread.observing_s - in_windows_s,
                    spread.stepping_s,
                    deciders.committing_s,
                    (own_s, others_s, collector.database_cpu_s() - database_s),
                )
            )
            # What fails is logged, and the loop goes on: that would be a fast period.
            answers = pool_shard(loop).answers.values()
            decided = [answer.windows for answer in answers if answer.computed_at_ms == deciders.now_ms]
            assert all(decided)
            deciders.now_ms += 1000 * PERIOD_S
            return len(decided)

        # The decider began before the windows that it is given.
        deciders.now_ms = NOW_MS - 1_000_000
        with begun(config) as spread, deciders.one(collector, spread) as loop:
            deciders.now_ms = NOW_MS
            for which in range(PERIODS + 1):
                if which:
                    go_on()
                assert period(loop, spread, collector) == len(config.pools)
                if which == 0:
                    deciders.record(loop)
            collector = another(spread)
        with begun(config) as spread, deciders.one(collector, spread) as loop:
            for _ in range(TAKEN_OVER):
                go_on()
                in_period = period(loop, spread, collector)
            assert in_period == len(config.pools)
            states = pool_shard(loop).states
    assert {len(state.learnt.full) > 0 for state in states.values()} == {True}
    return results


@contextmanager
def begun(config: Config) -> Iterator[Watched]:
    spread = Watched()
    spread.start(len(config.pools))
    yield spread
    spread.close()
