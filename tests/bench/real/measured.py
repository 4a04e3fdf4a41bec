"""One run: the application with drawn sizes, a load, a method; what its users saw and what it took."""

import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from bench.real.hardware import scaled
from bench.real.limiter import limited
from bench.real.methods import LIMITED, LIMITER, METHODS, SLO_MS, config, first_sizes
from bench.real.published import published
from sluice.pools.v1.pool_pb2 import Side
from sluice.pools.v1.pool_size_pb2 import PoolSize, State
from sluice_kit.applications.polyglot_pools import Sizes, in_force, resize
from sluice_kit.applications.polyglot_scene import ROOT, Scene, scene
from sluice_kit.applications.real_load import command, going, percentile_ms, summed
from sluice_kit.local_stack.driver import Stack

Task = tuple[str, str, str, int]
"""(method, load, "open" or "closed", seed)"""
Found = dict[str, Any]
USERS, OPEN_PER_S, THINK_MS = 40, 60.0, 300.0
WARM_UP_S, WARM_LOAD = 20.0, "step_up"
"""Before anything is measured: JVMs compile. It is the lower side of a step, as long as the pipeline is not current.
A series of RATES may have minutes without users, in which no window comes: nobody knows then whether it is."""
CURRENT_S, LONGEST_WARM_UP_S, WARM_LENGTH_S = 5.0, 300.0, 1100.0
LOOK_S = 5.0


def words(page: str, load: str, loop: str, seed: int, seconds: float, length: float) -> list[str]:
    """The load's command. Its users send no spans: the gateway begins the traces, as where users are browsers."""
    most = round(OPEN_PER_S) if loop == "open" else USERS
    line = [*command(page, ROOT, load, most, seconds, "", seed), "--threshold-ms", f"{SLO_MS:g}"]
    line += ["--think-ms", f"{THINK_MS:g}", "--length", f"{length:g}"]
    return [*line, "--open"] if loop == "open" else line


def measured(stack: Stack, task: Task, seconds: float, best: Sizes, folder: Path) -> Found:
    method, load, loop, seed = task
    folder.mkdir(parents=True, exist_ok=True)
    with scene(stack, folder, partial(config, METHODS[method].model)) as here:
        resize(here.app, first_sizes(method, seed, best))
        lines = folder / "users.jsonl"
        warmed_s = warmed_up(here, folder)
        line = words(here.app.page, load, loop, seed, seconds + 60, seconds)
        with going(here.others, line, lines):
            with _sized(here, method), scaled(here.app.cpu) as accounts:
                begun, stack_s = time.time(), here.stack_seconds()
                courses = _followed(here, seconds)
                behind_s, stack_s = here.behind_s(), here.stack_seconds() - stack_s
                said = [_said(size) for size in here.answers()] if METHODS[method].model else []
        rows = [row for row in read(lines) if begun <= row["at"] < begun + seconds]
        return figures(rows) | {
            "task": list(task), "seconds": seconds, "cores_used": accounts.cores_used,
            "cores_limited": accounts.cores_limited(), "stack_cores": stack_s / seconds, "behind_s": behind_s,
            "warmed_s": warmed_s, "first": courses[0][1], "last": courses[-1][1], "courses": courses,
            "limits": accounts.limits, "applied": _applied(here, begun), "answers": said,
        }  # fmt: skip


def warmed_up(here: Scene, folder: Path) -> float:
    """Seconds of a light load until the newest window is `CURRENT_S` old. After the longest time the run begins all the
    same, and says how far behind the pipeline was at its end."""
    begun = time.monotonic()
    line = words(here.app.page, WARM_LOAD, "closed", 1, LONGEST_WARM_UP_S + 60, WARM_LENGTH_S)
    with going(here.others, line, folder / "warm-up.jsonl"):
        time.sleep(WARM_UP_S)
        while here.behind_s() > CURRENT_S and time.monotonic() - begun < LONGEST_WARM_UP_S:
            time.sleep(1)
    return time.monotonic() - begun


def figures(rows: Sequence[Mapping[str, Any]]) -> Found:
    """Of the seconds of a load. A percentile that a failure decides is None: JSON has no infinity."""
    result = summed([dict(row) for row in rows])
    shares = {"p50_ms": 0.5, "p95_ms": 0.95, "p99_ms": 0.99}
    times = {name: percentile_ms(rows, share) for name, share in shares.items()}
    return {
        "good_per_s": result.good_per_s, "responses_per_s": result.responses_per_s, "failed": result.failed,
        "mean_ms": result.mean_ms, "late_ms": result.late_ms,
        **{name: value if math.isfinite(value) else None for name, value in times.items()},
    }  # fmt: skip


def read(lines: Path) -> list[Found]:
    whole = lines.read_text().rpartition("\n")[0]
    return [row for row in map(json.loads, whole.splitlines()) if "at" in row]


@contextmanager
def _sized(here: Scene, method: str) -> Iterator[None]:
    with ExitStack() as up:
        if METHODS[method].model:
            up.enter_context(here.actuator(apply=True))
        elif METHODS[method].published:
            up.enter_context(published(here, METHODS[method].published))
        elif method == LIMITER:
            up.enter_context(limited(here, LIMITED))
        yield


def _followed(here: Scene, seconds: float) -> list[tuple[float, Sizes]]:
    """(s, sizes in force) at the start and at each change that is seen."""
    start = time.monotonic()
    courses = [(0.0, in_force(here.app))]
    while (passed := time.monotonic() - start) < seconds:
        time.sleep(min(LOOK_S, max(0.0, seconds - passed)))
        if (now := in_force(here.app)) != courses[-1][1]:
            courses.append((round(time.monotonic() - start, 1), now))
    return courses


def _said(size: PoolSize) -> Found:
    """The recommender's answer on a pool at the end of the run."""
    pool = size.pool
    return {
        "pool": [pool.service, Side.Name(pool.side), pool.peer], "target": size.target, "state": State.Name(size.state),
        "current": size.current if size.HasField("current") else None, "codes": [one.code for one in size.reasons],
    }  # fmt: skip


def _applied(here: Scene, since: float) -> list[dict[str, Any]]:
    """The actuator's own record of what it wrote, in ClickHouse."""
    return here.stack.rows(
        "SELECT service, side, peer, toString(at) AS time, previous, requested, read_back, outcome FROM actuations"
        f" WHERE at >= fromUnixTimestamp64Milli({round(since * 1e3)}) ORDER BY at"
    )
