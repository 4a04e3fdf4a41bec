"""One run: an arm, a seed, the load once through its shape. What it came to is a JSON document."""

import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from bench.beside_autoscaler.arms import SHIPPED, Arm
from bench.beside_autoscaler.hardware import HIGHEST, LOWEST, UNITS_A_CORE, Autoscaler, scaling
from support.cpu_limit import cpu_limit, cpu_seconds
from support.real_scene import Scene, scene, wait_for
from support.stack import started

HANDLER, SHAPE, USERS = "update", "large_variation", 90
WARM_UP_S = 15.0
SWEPT = (3, 4, 6, 8, 12, 16, 24, 48, 96, 200)
SWEPT_SHARES = {LOWEST: 0.5, HIGHEST: 1.0}
"""Share of the users that a limit is swept with: more than it can serve."""

Found = dict[str, Any]


def ran(arm: Arm, threads: int, seed: int, seconds: float) -> Found:
    """Raises OSError where control groups cannot be made."""
    with _here(f"{arm.name}-{seed}") as (here, folder):
        here.users(threads, USERS, WARM_UP_S)
        said = folder / "autoscaler.json"
        source = f"{{path: {said}, read: {{cpu_limit_cores: /limits/cpu, since: /since}}}}"
        pid = here.application.pid
        with cpu_limit(pid) as limit:
            hardware = Autoscaler(limit.set, lambda cores: _say(said, cores), lambda: cpu_seconds(pid), arm.soft_first)
            told = f"scaling:\n  - service: {here.service}\n    file: {source}\n"
            flags = ("--apply", "all") if arm.sluice else ()
            with here.actuator(*flags, interval_s=1.0, more=told):
                with scaling(hardware):
                    used = cpu_seconds(pid)
                    began = time.time()
                    seen = here.course(SHAPE, USERS, seconds, seed)
                    used = (cpu_seconds(pid) - used) / (time.time() - began)
                behind_s = here.behind_s()
                last_told = wait_for("limit in the log", lambda: _told(here, hardware.changes[-1][1]), 60)
        applied = here.rows(
            "SELECT toString(at) AS at, read_back FROM actuations"
            f" WHERE service = '{here.service}' AND outcome = 'APPLIED' ORDER BY at"
        )
    sizes = [(began, threads)]
    sizes += [(datetime.fromisoformat(f"{row['at']}+00:00").timestamp(), row["read_back"]) for row in applied]
    return {
        "arm": arm.name, "seed": seed, "threads": threads, "seconds": seen, "limits": hardware.changes,
        "sizes": sizes, "used_cores": used, "behind_s": behind_s, "last_told": last_told,
    }  # fmt: skip


def _told(here: Scene, cores: float) -> float | None:
    """The limit that the log has last; None until it is `cores`."""
    query = f"SELECT argMax(cpu_limit_cores, at) AS cores FROM scaling_events WHERE service = '{here.service}'"
    told = here.rows(query)[0]["cores"]
    return told if told is not None and abs(told - cores) < 1e-6 else None


def swept(seconds: float, sizes: tuple[int, ...] = SWEPT) -> Found:
    """Good responses a second at each size, at the smallest limit and at the largest, by cores and threads; and the
    least size within 3 % of the most at the smallest."""
    good: dict[int, dict[int, float]] = {}
    with _here("swept") as (here, _):
        here.users(SHIPPED, USERS, WARM_UP_S)
        with cpu_limit(here.application.pid) as limit:
            for units, share in SWEPT_SHARES.items():
                limit.set(units / UNITS_A_CORE)
                users = round(share * USERS)
                good[units] = {size: here.users(size, users, seconds).good_per_s for size in sizes}
    small = good[LOWEST]
    sized = min(size for size, each in small.items() if each >= 0.97 * max(small.values()))
    return {"good": {units / UNITS_A_CORE: each for units, each in good.items()}, "sized": sized}


@contextmanager
def _here(service: str) -> Iterator[tuple[Scene, Path]]:
    """The application as `service`, with Tomcat's default of threads, on a stack that is up and knows nothing of it."""
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        config = folder / "sluice.yaml"
        bounds = f"{{min: 2, max: {SHIPPED}}}"
        config.write_text(f"pools: [{{service: {service}, side: server, threshold: 250ms, bounds: {bounds}}}]\n")
        with scene(started(), service, folder, HANDLER, SHIPPED, config) as here:
            yield here, folder


def _say(path: Path, cores: float) -> None:
    """As an autoscaler's object would be: the limit, and since when."""
    new = path.with_suffix(".new")
    new.write_text(json.dumps({"limits": {"cpu": f"{round(1000 * cores)}m"}, "since": time.time()}))
    os.replace(new, path)
