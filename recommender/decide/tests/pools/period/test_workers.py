"""Estimates in worker processes: the same as without, over deaths, and none is left behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sluice.model.states import State
from sluice.pools.estimate import Estimate
from sluice.pools.estimate.attempt import EstimateJob, Failed
from sluice.pools.period.workers import TASK, Workers
from sluice_kit.decide.fakes import hump

JOBS = [EstimateJob("scg", hump(highest=20 + i % 20).samples) for i in range(TASK + 3)]


@pytest.fixture
def workers() -> Iterator[Workers]:
    made = Workers(processes=1, from_jobs=2)
    yield made
    made.close()


def targets(outcomes: list[Estimate | Failed]) -> list[int | None]:
    return [outcome.target for outcome in outcomes if isinstance(outcome, Estimate)]


def pids(workers: Workers) -> list[int]:
    assert workers._executor is not None
    return list(workers._executor._processes)


def test_the_same_answers_in_the_same_order(workers: Workers) -> None:
    alone = targets(Workers(from_jobs=10**6).run(JOBS))
    assert len(set(alone)) > 0
    assert targets(workers.run(JOBS)) == alone


def test_a_process_asks_for_as_much_as_the_length_of_the_buckets_says(workers: Workers) -> None:
    """200 buckets are 20 s of 100 ms, too few, and 40 s of 200 ms."""
    some = hump().samples.take(np.arange(600) % 3 == 0)
    outcomes = workers.run([EstimateJob("scg", some), EstimateJob("scg", some, bucket_ms=200)])
    assert pids(workers)
    states = [one.state for one in outcomes if isinstance(one, Estimate)]
    assert states == [State.LEARNING, State.PROVIDED]


def test_few_jobs_need_no_process(workers: Workers) -> None:
    assert len(workers.run(JOBS[:1])) == 1
    assert workers._executor is None


def test_a_worker_that_dies_does_not_take_the_period(workers: Workers) -> None:
    workers.run(JOBS)
    os.kill(pids(workers)[0], signal.SIGKILL)
    assert len(targets(workers.run(JOBS))) == len(JOBS)


class Deadly(np.ndarray):
    """Kills the process in which it is unpickled."""

    def __reduce__(self) -> tuple[object, ...]:
        return os._exit, (1,)


def test_a_job_that_kills_every_worker_fails_and_the_process_lives(workers: Workers) -> None:
    deadly = EstimateJob("scg", replace(JOBS[0].samples, start_ms=np.zeros(1, dtype=np.int64).view(Deadly)))
    outcomes = workers.run([deadly, deadly])
    assert [type(one) for one in outcomes] == [Failed, Failed]
    assert len(targets(workers.run(JOBS))) == len(JOBS)


ORPHAN = """
import os, time
from sluice_kit.decide.fakes import hump
from sluice.pools.estimate.attempt import EstimateJob
from sluice.pools.period.workers import Workers
if __name__ == "__main__":
    workers = Workers(processes=1, from_jobs=1)
    workers.run([EstimateJob("scg", hump().samples)])
    print(*workers._executor._processes, flush=True)
    time.sleep(60)
"""


def test_no_worker_outlives_a_parent_that_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(ORPHAN)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    with subprocess.Popen([sys.executable, str(script)], env=environment, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        parent.kill()
    deadline = time.monotonic() + 20
    while Path(f"/proc/{worker}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(f"/proc/{worker}").exists()
