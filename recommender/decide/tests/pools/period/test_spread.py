"""Steps in several processes: the same answers as in one, to the digit, over deaths, and no process is left behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

from sluice.config import Config
from sluice.model.keys import PoolKey
from sluice.model.scaling import Scaling
from sluice.pools.estimate.threshold import Threshold
from sluice.pools.inputs.scalings import Scalings
from sluice.pools.period.resources import PoolResources
from sluice.pools.period.spread import AHEAD, TASK, Spread
from sluice.pools.policy.observation import Buckets, Observation
from sluice.pools.policy.state import PoolState
from sluice.pools.pool_step import PoolStep
from sluice.pools.publication.publication import Publication
from sluice.pools.section import Pool
from sluice_kit.decide.fakes import BUCKET_MS, FakeClock, FakeCollector, FakeService
from sluice_kit.journal.memory_log import MemoryLog, pool_shard


@dataclass
class Noisy(FakeService):
    """What completes is by chance, and what is in flight comes and goes."""

    chance: np.random.Generator = field(default_factory=lambda: np.random.default_rng(1))

    def works(self, from_ms: int, until_ms: int) -> None:
        for start in range(from_ms, until_ms, BUCKET_MS):
            wanted = self.size * self.busy * (1 + 0.4 * np.sin(start / 9_000))
            in_flight = float(np.clip(self.chance.normal(wanted, wanted**0.5), 0.2, self.size))
            self.start_ms.append(start)
            self.concurrency.append(in_flight)
            self.completions.append(float(self.chance.poisson(self.curve.throughput(in_flight) * BUCKET_MS / 1000)))


class Town:
    """Many pools whose sizes are what is decided."""

    def __init__(self, spread: Spread, pools: int) -> None:
        given = [{"service": f"s-{i}", "side": "server", "threshold": "100ms"} for i in range(pools)]
        self.config = Config.model_validate({"pools": given})
        draw = np.random.default_rng(2)
        self.services: dict[PoolKey, FakeService] = {
            pool.key: Noisy(
                int(draw.integers(4, 96)), busy=draw.uniform(0.4, 1.6), chance=np.random.default_rng(number)
            )
            for number, pool in enumerate(self.config.pools)
        }
        self.clock, self.log = FakeClock(), MemoryLog()
        for pool in self.config.pools[::2]:
            self.log.scaling(Scaling(0, pool.service, 4.0, None, "", "vpa"))
        collector = FakeCollector(services=self.services)
        self.loop = self.log.loop(self.config, collector, self.clock, PoolResources(spread=spread))

    def period(self) -> list[Publication]:
        now_ms = self.clock()
        for key, service in self.services.items():
            self.log.size(key, service.size, now_ms, written=True)
            service.works(now_ms, now_ms + 1_000)
        self.clock.pass_s(1)
        self.loop.periods()
        answers = [pool_shard(self.loop).answers[pool.key] for pool in self.config.pools]
        for answer in answers:
            if answer.content.action == "APPLY" and answer.content.target is not None:
                self.services[answer.key].size = answer.content.target
        return answers

    @property
    def states(self) -> dict[PoolKey, PoolState]:
        return dict(pool_shard(self.loop).states)


@pytest.fixture
def spread() -> Iterator[Spread]:
    made = Spread(2)
    yield made
    made.close()


@pytest.mark.parametrize(("pools", "periods"), [(30, 12), pytest.param(100, 30, marks=pytest.mark.long)])
def test_the_same_answers_as_of_one_process_to_the_digit_and_the_same_sizes_over_a_death(
    spread: Spread, pools: int, periods: int
) -> None:
    """A belief that is made anew leaves out other shapes that hardly count: that moves a chance by 1e-4 at most."""
    one, several = Town(Spread(1), pools), Town(spread, pools)
    for number in range(periods):
        if number == periods // 2:
            os.kill(spread.pids[0], signal.SIGKILL)
        ours, theirs = several.period(), one.period()
        if number < periods // 2:
            assert ours == theirs, number
            assert several.states == one.states, number
        assert [(each.revision, each.content) for each in ours] == [(each.revision, each.content) for each in theirs]
        assert [each.confidence for each in ours] == pytest.approx([each.confidence for each in theirs], abs=1e-3)
    assert spread.died == 1
    assert len(spread.pids) == 2
    assert len({answer.content.target for answer in theirs}) > 10
    assert all(state.learnt.kept is None for state in several.states.values())


def seen(cores: float = 4.0) -> Observation:
    eight, ten, four = (np.full(10, value) for value in (8.0, 10.0, 4.0))
    buckets = Buckets(np.arange(0, 1_000, 100), eight, ten, 0.1, size=eight, cores=four)
    return Observation({"a": 8}, buckets, cores, 0.1)


def steps(count: int) -> list[PoolStep]:
    course, threshold = Scalings().course(PoolKey("s", "server", "")), Threshold(100.0, "pool", "")
    given = [{"service": f"s-{i}", "side": "server", "threshold": "100ms"} for i in range(count)]
    pools = [Pool.model_validate(pool) for pool in given]
    return [PoolStep(pool, threshold, (), course, 2_000, state=PoolState(), observation=seen()) for pool in pools]


def by_key(spread: Spread, given: list[PoolStep]) -> dict[PoolKey, PoolStep]:
    return {done.key: done for done in spread.run(given, len(given))}


def test_few_pools_need_no_process() -> None:
    spread = Spread(from_pools=10)
    assert len(list(spread.run(steps(9), 9))) == 9
    assert spread.pids == []


def test_a_pool_that_fails_leaves_the_others_alone_and_its_state_where_it_was(spread: Spread) -> None:
    first = by_key(spread, steps(3))
    good = [step._replace(state=first[step.key].state, now_ms=3_000) for step in steps(3)]
    later = replace(seen().buckets, start_ms=seen().buckets.start_ms + 1_000, size=np.zeros(3))  # lengths that differ
    broken = replace(seen(), buckets=later)
    found = by_key(spread, [good[0]._replace(observation=broken), *good[1:]])
    assert [key for key, of in found.items() if of.failure is not None] == [good[0].key]
    assert found[good[0].key].state is None
    assert by_key(spread, good[:1]) == by_key(Spread(1), good[:1])


def test_what_a_process_that_hangs_was_to_do_is_done_all_the_same() -> None:
    spread = Spread(2, hangs_s=1.0)
    spread.start(4)
    os.kill(spread.pids[0], signal.SIGSTOP)
    given = steps(4)
    assert by_key(spread, given) == by_key(Spread(1), given)
    assert spread.died >= 1
    spread.close()


def test_jobs_are_asked_for_when_those_before_are_done_and_all_come_back(spread: Spread) -> None:
    asked = 0

    def given() -> Iterator[PoolStep]:
        nonlocal asked
        for step in steps(count):
            asked += 1
            yield step

    count = 2 * TASK * (AHEAD + 2) * 2
    found = spread.run(given(), count)
    first = next(found)
    assert asked < count
    assert sorted([first.key, *(done.key for done in found)]) == sorted(step.key for step in steps(count))


def test_what_was_not_taken_back_is_not_held(spread: Spread) -> None:
    """As when a period fails in the middle: the next one goes on from the states that are known here."""
    given = steps(120)
    for _ in spread.run(given, len(given)):
        break
    later = [step._replace(now_ms=9_000) for step in given]
    assert by_key(spread, later) == by_key(Spread(1), later)


class Deadly(np.ndarray):
    """Kills a process in which it is unpickled."""

    def __reduce__(self) -> tuple[object, ...]:
        return os._exit, (1,)


def test_a_pool_that_kills_every_process_is_decided_in_this_one(spread: Spread) -> None:
    given = steps(5)
    deadly = replace(seen(), buckets=replace(seen().buckets, size=np.full(10, 8.0).view(Deadly)))
    found = list(spread.run([given[0]._replace(observation=deadly), *given[1:]], 5))
    assert sorted(done.key for done in found) == [step.key for step in given]
    assert all(done.decision is not None for done in found)
    assert spread.died == 2


ORPHAN = """
import time
from sluice.pools.period.spread import Spread
from test_spread import steps
if __name__ == "__main__":
    spread = Spread(2)
    list(spread.run(steps(20), 20))
    print(*spread.pids, flush=True)
    time.sleep(60)
"""


def test_no_process_outlives_one_that_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(ORPHAN)
    path = [str(Path(__file__).parent), *sys.path]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(each for each in path if each)}
    with subprocess.Popen([sys.executable, str(script)], env=environment, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pids = [int(each) for each in parent.stdout.readline().split()]
        parent.kill()
    assert len(pids) == 2
    deadline = time.monotonic() + 20
    while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
