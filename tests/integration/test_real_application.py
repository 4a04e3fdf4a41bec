"""A real Tomcat on one core, its users on another: spans lead to a size, it is applied live, users see the effect."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sluice.v1.pool_size_pb2 import PoolSize, State
from support.real_load import Seen
from support.real_scene import THREADS, Scene, scene, wait_for
from support.stack import Stack

pytestmark = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2,
    reason="an application and its load on one core would be measured together: two cores are needed",
)

# The application is cold at first: its windows are to have left when the answer is taken.
WARM_UP_S, WINDOW_S = 20, 60
# On a machine that is three times as slow, too.
WITHIN_S = 300
MEASURE_S = 12
# Steady users for comparisons. As many as fill the core and more, where too many threads do harm; else as many as are
# served in some 150 ms of the 250: bursts of 110 are not.
UPDATE_USERS, PLAIN_USERS = 100, 80


@pytest.fixture
def update(stack: Stack, tmp_path: Path) -> Iterator[Scene]:
    with scene(stack, "update", tmp_path) as up:
        yield up


@pytest.fixture
def plain(stack: Stack, tmp_path: Path) -> Iterator[Scene]:
    with scene(stack, "plain", tmp_path) as up:
        yield up


def test_updates_that_meet_have_a_best_size_which_is_found_and_applied(update: Scene) -> None:
    with update.bursts():
        with update.actuator():
            time.sleep(WARM_UP_S + WINDOW_S)
            wait_for("size", lambda: named(update), WITHIN_S)
            print(update.explanation(), flush=True)
        with update.actuator("--apply", "all"):
            applied = wait_for("APPLIED row in the audit table", lambda: audit(update), WITHIN_S)
        assert applied["previous"] == THREADS
        assert applied["read_back"] == applied["requested"] == update.application.max_threads
        # Not only the setting: threads beyond it end with what they are doing.
        assert wait_for("smaller pool", lambda: update.application.threads <= applied["requested"] or None, 60)
    best = applied["requested"]
    sweep = {threads: update.users(threads, UPDATE_USERS, MEASURE_S) for threads in (5, best, 24, 64)}
    again = {threads: update.users(threads, UPDATE_USERS, MEASURE_S) for threads in (best, 64)}
    assert 9 <= best <= 20
    at_best, at_64 = (mean(sweep[threads], again[threads]) for threads in (best, 64))
    assert at_best >= 0.85 * max(seen.good_per_s for seen in sweep.values())
    assert at_best >= 1.5 * at_64


def test_threads_that_only_share_a_core_cost_users_nothing_and_are_not_made_too_few(plain: Scene) -> None:
    with plain.bursts(), plain.actuator():
        time.sleep(WARM_UP_S + WINDOW_S)
        size = wait_for("answer", lambda: answer(plain), WITHIN_S)
        print(plain.explanation(), flush=True)
        best, busiest = server_goodput(plain)
    print(f"plain: by SERVER spans {best:.0f} good a second at most, {busiest:.0f} when most is in flight", flush=True)
    assert busiest < 0.7 * best  # a hump, though the pool could not be better
    kept, told = [], []
    for _ in range(2):  # in turns, so that a slow minute of the machine meets both
        kept.append(plain.users(THREADS, PLAIN_USERS, MEASURE_S))
        told.append(plain.users(size.target, PLAIN_USERS, MEASURE_S))
    assert mean(*told) >= 0.95 * mean(*kept)


def mean(*seen: Seen) -> float:
    return sum(each.good_per_s for each in seen) / len(seen)


def answer(scene: Scene) -> PoolSize | None:
    """What Sluice says, once it has seen enough to say something."""
    size = scene.answer()
    return size if size.state in (State.PROVIDED, State.GUARDED, State.UNSATURATED) else None


def named(scene: Scene) -> PoolSize | None:
    """The same, once it names a size."""
    size = answer(scene)
    return size if size and size.state != State.UNSATURATED else None


def audit(scene: Scene) -> dict[str, Any] | None:
    rows = scene.rows(f"SELECT * FROM actuations WHERE service = '{scene.service}' AND outcome = 'APPLIED' ORDER BY at")
    return rows[0] if rows else None


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
