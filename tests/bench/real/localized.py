"""Who is named as the bottleneck while a fault is in: by Sluice's localization, and by CPU alone."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from bench.real.faults import AMPLE, FAULTS, Fault
from bench.real.measured import Found, words
from bench.real.methods import config
from bench.run_files import load, save
from sluice.pools.critical.localizations import SQL, TraceRoot, path_times
from sluice.pools.estimate.critical import PathTimes, localize
from sluice_kit.applications.polyglot_pools import resize
from sluice_kit.applications.polyglot_scene import ROOT, Scene, scene
from sluice_kit.applications.real_load import going
from sluice_kit.local_stack.driver import Stack

WARM_UP_S, REST_S = 40.0, 10.0
MEASURED_S, QUICK_S = 60.0, 30.0
LEAST_BEHIND_S, AT_REST_S, QUERY_S = 600.0, 15.0, 120.0


def named(rows: Sequence[Sequence[Any]], cpu: Mapping[str, float]) -> dict[str, str | None]:
    """By each way, the service. rows: of services.sql. cpu: of each service, used of its limit, as a kubelet has it."""
    roots: dict[TraceRoot, list[PathTimes]] = {}
    for service, operation, *columns in rows:
        times = replace(path_times(columns), cpu=None)
        roots.setdefault(TraceRoot(service, operation), []).append(times)
    mine = [(root, times) for root, times in roots.items() if root.service == ROOT]
    if not mine:
        return {"sluice": None, "sluice, CPU known": None, "CPU alone": max(cpu, key=lambda name: cpu[name])}
    root, services = max(mine, key=lambda item: max(times.traces for times in item[1]))
    known = [replace(times, cpu=cpu.get(times.service)) for times in services]
    return {
        "sluice": localize(root.service, services).critical,
        "sluice, CPU known": localize(root.service, known).critical,
        "CPU alone": max(cpu, key=lambda name: cpu[name]),
    }


def localized(
    stack: Callable[[], Stack], faults: Sequence[Fault], seed: int, seconds: float, folder: Path
) -> list[Found]:
    """Of each fault: who was named. One comes after the other, on one application with ample pools; each is a file."""
    files = {fault: folder / f"{fault.name.replace(' ', '_')}.json" for fault in faults}
    if todo := [fault for fault, path in files.items() if not path.exists()]:
        folder.mkdir(parents=True, exist_ok=True)
        _put_in(stack(), todo, files, seed, seconds, folder)
    return [load(path) for path in files.values()]


def _put_in(
    stack: Stack, faults: Sequence[Fault], files: Mapping[Fault, Path], seed: int, seconds: float, folder: Path
) -> None:
    """First all faults, then, once the load has ended and the pipeline has caught up, what the tables say of each."""
    seen: dict[Fault, Found] = {}
    with scene(stack, folder, partial(config, "")) as here:
        resize(here.app, AMPLE)
        line = words(here.app.page, "steady", "closed", seed, 36_000, 720)
        with going(here.others, line, folder / "users.jsonl"):
            time.sleep(WARM_UP_S)
            for fault in faults:
                with fault.put(here.app):
                    time.sleep(REST_S)
                    seen[fault] = _seen(here, seconds)
                print(f"{fault.name}: {seen[fault]['cpu']}", flush=True)
                time.sleep(REST_S / 2)
    lag_s = _current(stack, max(one["until"] for one in seen.values()))
    for fault, one in seen.items():
        rows = stack.rows(_between(one["since"], one["until"]), within_s=QUERY_S)
        found = {"fault": fault.name, "culprit": fault.culprit, "lag_s": lag_s, **one}
        found |= named([list(row.values()) for row in rows], one["cpu"])
        save(files[fault], lambda found=found: found)  # type: ignore[misc]


def _seen(here: Scene, seconds: float) -> Found:
    """CPU by the limits in force; a service without one has the application's core as its limit."""
    before, since = {name: group.core_seconds() for name, group in here.app.cpu.items()}, time.time()
    time.sleep(seconds)
    until = time.time()
    cpu = {
        name: (group.core_seconds() - before[name]) / (until - since) / (group.cores() or 1.0)
        for name, group in here.app.cpu.items()
        if name != "stores"
    }
    return {"cpu": cpu, "since": since, "until": until}


def _current(stack: Stack, ended: float) -> float:
    """Waits until no critical path is written any more; how long after the end of the load that is. RuntimeError: they
    come and come."""
    newest = "SELECT toFloat64(max(window)) AS at, count() AS rows FROM critical_paths"
    before: Found = {}
    while (row := stack.rows(newest, within_s=QUERY_S)[0]) != before or float(row["at"]) < ended - AT_REST_S:
        if time.time() - ended > LEAST_BEHIND_S:
            raise RuntimeError(f"the pipeline is {LEAST_BEHIND_S:.0f} s behind")
        before = row
        time.sleep(AT_REST_S)
    return time.time() - ended


def _between(since: float, until: float) -> str:
    """services.sql of an interval that has passed, in place of the last {seconds} s."""
    text = SQL.replace("{service:String}", "''").replace("{operation:String}", "''")
    text = text.replace("now64(3)", f"fromUnixTimestamp64Milli({round(until * 1e3)})")
    return text.replace("{seconds:Int64}", str(round(until - since))).replace(
        "window > since - toI", f"window < fromUnixTimestamp({round(until)}) AND window > since - toI"
    )


def score(found: Sequence[Found], way: str) -> tuple[int, int]:
    return sum(item[way] == item["culprit"] for item in found), len(found)


ALL = {fault.name: fault for fault in FAULTS}
