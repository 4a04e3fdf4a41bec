"""A real Tomcat on one core, its users on another: spans lead to a size, it is applied live, users see the effect."""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from sluice.pools.v1.pool_size_pb2 import PoolSize, State
from sluice_kit.applications.real_load import LoadResult
from sluice_kit.applications.real_scene import THREADS, Scene, scene, wait_for
from sluice_kit.local_stack.driver import Stack

T = TypeVar("T")

pytestmark = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2,
    reason="an application and its load on one core would be measured together: two cores are needed",
)

# The application is cold at first: its windows are to have left when the answer is taken.
WARM_UP_S, WINDOW_S = 20, 60
WITHIN_S = 300
# A step follows the one before within some periods of a second; at rest there is none.
RESTS_S = 10
# What a machine can measure: the stack, on one core, follows its spans; the load comes when it is to come.
MOST_BEHIND_S, MOST_LATE_MS = 30, 100
MEASURE_S = 8
# Steady users for comparisons. As many as fill the core and more, where too many threads do harm; else as many as are
# served in some 150 ms of the 250: bursts of 110 are not.
UPDATE_USERS, PLAIN_USERS = 100, 80
# Far too many, and bursts of 110 users fill them. 128 are never full, and Sluice leaves such a pool alone.
UPDATE_THREADS = 64


@pytest.fixture
def update(stack: Stack, tmp_path: Path) -> Iterator[Scene]:
    with scene(stack, "update", tmp_path, threads=UPDATE_THREADS) as up:
        yield up


@pytest.fixture
def plain(stack: Stack, tmp_path: Path) -> Iterator[Scene]:
    with scene(stack, "plain", tmp_path) as up:
        yield up


def test_updates_that_meet_have_a_best_size_which_is_found_and_applied(update: Scene) -> None:
    with update.bursts():
        with update.actuator():
            time.sleep(WARM_UP_S + WINDOW_S)
            patiently(update, "size", lambda: named(update))
            print(update.explanation(), flush=True)
        with update.actuator("--apply", "all"):
            steps = patiently(update, "recommended size in the audit table", lambda: audit(update))
        assert steps[0]["previous"] == UPDATE_THREADS
        applied = steps[-1]
        assert applied["read_back"] == applied["requested"] == update.application.max_threads
        # Not only the setting: threads beyond it end with what they are doing.
        assert wait_for("smaller pool", lambda: update.application.threads <= applied["requested"] or None, 60)
    target = applied["requested"]
    sizes = sorted({8, target, 16, 24, UPDATE_THREADS})
    rounds = [{threads: update.users(threads, UPDATE_USERS, MEASURE_S) for threads in sizes} for _ in range(2)]
    in_time(result for results in rounds for result in results.values())
    sweep = {threads: mean(*(results[threads] for results in rounds)) for threads in sizes}
    # 12 to 24 threads are within 9 % of the best (tests/bench/results/real-app.md); a slower core moves them a little.
    assert 8 <= target <= 32
    assert sweep[target] >= 0.8 * max(sweep.values())
    assert sweep[target] >= 1.5 * sweep[UPDATE_THREADS]


def test_threads_that_only_share_a_core_cost_users_nothing_and_are_not_made_too_few(plain: Scene) -> None:
    with plain.bursts(), plain.actuator():
        time.sleep(WARM_UP_S + WINDOW_S)
        size = patiently(plain, "answer", lambda: answer(plain))
        print(plain.explanation(), flush=True)
        keeps_up(plain)
        best, busiest = server_goodput(plain)
    print(f"plain: by SERVER spans {best:.0f} good a second at most, {busiest:.0f} when most is in flight", flush=True)
    assert busiest < 0.7 * best  # a hump, though the pool could not be better
    kept, applied = [], []
    for _ in range(2):  # in turns, so that a slow minute of the machine meets both
        kept.append(plain.users(THREADS, PLAIN_USERS, MEASURE_S))
        applied.append(plain.users(size.target, PLAIN_USERS, MEASURE_S))
    in_time(kept + applied)
    assert mean(*applied) >= 0.9 * mean(*kept)


def patiently(scene: Scene, what: str, probe: Callable[[], T | None]) -> T:
    """Waits for it; where it does not come because the machine is too slow for the stack, that is no failure of it."""
    try:
        return wait_for(what, probe, WITHIN_S)
    except AssertionError:
        keeps_up(scene)
        raise


def keeps_up(scene: Scene) -> None:
    behind_s = scene.behind_s()
    if behind_s > MOST_BEHIND_S:
        pytest.skip(f"on one core the stack is {behind_s:.0f} s behind its spans: too slow or too busy a machine")


def in_time(results: Iterable[LoadResult]) -> None:
    late_ms = max(result.late_ms for result in results)
    if late_ms > MOST_LATE_MS:
        pytest.skip(f"the load came {late_ms:.0f} ms late: others use its core, and what its users saw says nothing")


def mean(*results: LoadResult) -> float:
    return sum(result.good_per_s for result in results) / len(results)


def answer(scene: Scene) -> PoolSize | None:
    """What Sluice says, once it has seen enough to say something."""
    size = scene.answer()
    return size if size.state in (State.STATE_PROVIDED, State.STATE_GUARDED, State.STATE_UNSATURATED) else None


def named(scene: Scene) -> PoolSize | None:
    """The same, once it names a size."""
    size = answer(scene)
    return size if size and size.state != State.STATE_UNSATURATED else None


def audit(scene: Scene) -> list[dict[str, Any]] | None:
    """The steps that were applied, once the pool rests at the newest one's size: no step on the way to another."""
    rows = scene.rows(
        f"""SELECT *, at < now64(3) - INTERVAL {RESTS_S} SECOND AS rests FROM actuations
            WHERE service = '{scene.service}' AND outcome = 'APPLIED' ORDER BY at"""
    )
    size = scene.answer()
    rests = bool(rows) and rows[-1]["rests"] and rows[-1]["read_back"] == size.target and size.reasons[0].code == "BEST"
    return rows if rests else None


def server_goodput(scene: Scene) -> tuple[float, float]:
    """Good completions a second by the SERVER spans alone: with the best number in flight, and in the busiest tenth.

    Numbers in flight in steps of 5; those with less than a second of data cannot be the best.
    """
    (row,) = scene.rows(
        f"""WITH seen AS
            (
                SELECT sum(concurrency) AS in_flight, 10 * sum(latency_within(latency, 250)) AS good_per_s
                FROM v_windows WHERE service = '{scene.service}' AND side = 'server'
                AND bucket >= now64(3) - INTERVAL 60 SECOND GROUP BY bucket
            )
            SELECT
                (SELECT max(mean) FROM (SELECT avg(good_per_s) AS mean FROM seen
                    GROUP BY intDiv(toUInt32(in_flight), 5) HAVING count() >= 10)) AS best,
                (SELECT avg(good_per_s) FROM seen
                    WHERE in_flight >= (SELECT quantileExact(0.9)(in_flight) FROM seen)) AS busiest"""
    )
    return float(row["best"]), float(row["busiest"])
