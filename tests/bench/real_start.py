"""A real Tomcat from 128, 64, 36 and 4 threads: how long until the size in force costs its users 1 % at most.

Tomcat and PostgreSQL on one core, with the whole stack beside it, on the other. Each start has a stack without data, so
that nothing is known of the application; then users stay while the actuator applies what it is told. What a size costs
is measured in the last of the scenes, with the stack beside it, by holding each size in turn.
"""

import tempfile
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from statistics import mean
from typing import NamedTuple

import numpy as np

from sluice_kit.applications.real_load import LoadResult
from sluice_kit.applications.real_scene import Scene, scene
from sluice_kit.local_stack.driver import drive, start_anew, started

HANDLER, USERS = "update", 100
STARTS = (128, 64, 36, 4)
SWEPT = (4, 8, 10, 12, 14, 16, 18, 20, 24, 32, 64, 128)
WARM_UP_S, FOLLOWED_S = 30.0, 150.0
COSTS = 0.01

Sweep = dict[int, float]
"""Good responses a second in the mean, by threads."""


class Course(NamedTuple):
    """sizes: (seconds after the actuator began to apply, threads) of each size in force, first that at the start.
    users: what they got all the while."""

    start: int
    sizes: list[tuple[float, int]]
    users: LoadResult


def run(quick: bool = False) -> str:
    starts = STARTS[:1] if quick else STARTS
    courses = []
    sweep: Sweep = {}
    for start in starts:
        start_anew()
        try:
            with tempfile.TemporaryDirectory() as folder, scene(started(), HANDLER, Path(folder)) as here:
                courses.append(course(here, start, 40.0 if quick else FOLLOWED_S))
                if start == starts[-1]:
                    sweep = swept(here, 1 if quick else 3, 4.0 if quick else 8.0)
        finally:
            drive("down")
    return table(courses, sweep)


def course(here: Scene, start: int, seconds: float) -> Course:
    """One start, users from beginning to end."""
    here.application.resize(start)
    here.users(start, USERS, WARM_UP_S)
    with here.actuator("--apply", "all"):
        begun = time.time()
        users = here.users(start, USERS, seconds)
        applied = here.rows(
            "SELECT toString(at) AS at, read_back FROM actuations"
            f" WHERE service = '{HANDLER}' AND outcome = 'APPLIED' ORDER BY at"
        )
    sizes = [(0.0, start)]
    sizes += [(datetime.fromisoformat(f"{row['at']}+00:00").timestamp() - begun, row["read_back"]) for row in applied]
    print(f"from {start}: {sizes}", flush=True)
    return Course(start, sizes, users)


def swept(here: Scene, rounds: int, seconds: float) -> Sweep:
    """In turns, so that a slow minute of the machine meets all sizes."""
    results = [{size: here.users(size, USERS, seconds).good_per_s for size in SWEPT} for _ in range(rounds)]
    return {size: mean(result[size] for result in results) for size in SWEPT}


def cost(sweep: Sweep, size: int) -> float:
    """Share of the best size's goodput that `size` loses; between swept sizes along a straight line."""
    return 1.0 - float(np.interp(size, list(sweep), list(sweep.values()))) / max(sweep.values())


def good_after(course: Course, sweep: Sweep) -> float | None:
    """Seconds until the first size that costs 1 % at most; None without one."""
    return next((at for at, size in course.sizes if cost(sweep, size) <= COSTS), None)


def table(courses: Sequence[Course], sweep: Sweep) -> str:
    lines = [
        f"`/{HANDLER}`, {USERS} users. Good within 250 ms, a second, by threads, the stack on the other core:",
        "",
        f"| threads | {' | '.join(map(str, sweep))} |",
        f"| --- |{' --- |' * len(sweep)}",
        f"| good | {' | '.join(f'{good:.0f}' for good in sweep.values())} |",
        "",
        "| from | costs 1 % at most after | sizes, at s | good a second, all the while | the last size costs |",
        "| --- | --- | --- | --- | --- |",
    ]
    for course in courses:
        after = good_after(course, sweep)
        sizes = ", ".join(f"{size} at {at:.0f}" for at, size in course.sizes)
        lines.append(
            f"| {course.start} | {'never' if after is None else f'{after:.0f} s'} | {sizes}"
            f" | {course.users.good_per_s:.0f} | {cost(sweep, course.sizes[-1][1]):.1%} |"
        )
    return "\n".join(lines) + "\n"
