"""The CPU time of all services that a trial's root leads to: the containers of the services that it calls, directly or
not.

The cores of a window of 10 s are those of its next point, which has the usage since the point before: agents send one
every 10 to 60 s. A container without requests in a window and without CPU was not there. A container with requests, and
without CPU within a minute, is unknown, and so is the CPU of the window: missing data are not 0.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import Any

from sluice.clickhouse.database import Database
from sluice.tuning.objective.block import Block
from sluice.tuning.session.create import CPU_LATE_S, PATH_WINDOW_S

CALLS, CPU = (files(__package__).joinpath(f"{name}.sql").read_text(encoding="utf-8") for name in ("calls", "cpu"))
# The longest time from a window to the point that covers it.
_POINT_S = 60
# The most readings that are kept; where more trials are in flight, some are read again each time.
MOST_KEPT = 100


@dataclass
class ContainerWindows:
    """By start of window, Unix s: where it had requests, and its cores where a point gives them."""

    service: str
    instance: str
    worked: set[int] = field(default_factory=set)
    cores: dict[int, float] = field(default_factory=dict)

    def used(self, window_s: int) -> float | None:
        """Cores of the window; None: not known. 0 where it was not there.

        Worked: points at 30 (0.5 cores) and 60 (0.7), one each 30 s: 0.5 at 10, 20 and 30, 0.7 at 40.
        """
        for later_s in range(window_s, window_s + _POINT_S, PATH_WINDOW_S):
            if later_s in self.cores:
                return self.cores[later_s]
        return None if window_s in self.worked else 0.0


@dataclass(frozen=True)
class Used:
    """cpu_s: CPU seconds of all containers by start of window, Unix s, where known. unknown: containers that worked in
    a window and whose points are overdue, as `instance of service`."""

    cpu_s: Mapping[int, float]
    unknown: tuple[str, ...]


class CpuReading:
    """Reads CPU time. It raises the database's errors."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._newest: dict[tuple[str, int], tuple[int, int, Used]] = {}
        """By service and first window: the last window, the time up to which spans were complete, and the reading."""

    def used(self, service: str, windows: Iterable[int], upto_s: int) -> Used:
        """service: of the root. windows: ascending starts, Unix s. upto_s: up to this time spans are complete.

        It reads again for another window, and otherwise once in ten seconds, since a reading scans the points of all
        containers.
        """
        starts = list(windows)
        if not starts:
            return Used({}, ())
        key = service, starts[0]
        if key in self._newest:
            last_s, read_s, known = self._newest[key]
            if last_s == starts[-1] and upto_s < read_s + PATH_WINDOW_S:
                return known
        if len(self._newest) >= MOST_KEPT:
            self._newest.clear()
        used = self._read(service, starts, upto_s)
        self._newest[key] = starts[-1], upto_s, used
        return used

    def _read(self, service: str, starts: list[int], upto_s: int) -> Used:
        bounds: dict[str, object] = {"from_ms": 1000 * starts[0], "to_ms": 1000 * (starts[-1] + PATH_WINDOW_S)}
        calls = self._rows(CALLS, bounds, 2)
        services = sorted(reached(service, calls))
        later = {"to_ms": 1000 * (starts[-1] + _POINT_S)}
        rows = self._rows(CPU, {**bounds, **later, "services": services, "window_s": PATH_WINDOW_S}, 5)
        return used(containers(rows), starts, upto_s)

    def _rows(self, sql: str, parameters: dict[str, object], columns: int) -> Iterator[tuple[Any, ...]]:
        return zip(*(self._database.columns(sql, parameters) or [[] for _ in range(columns)]), strict=True)


def with_cpu(blocks: Mapping[int, Block], requests: Mapping[int, int], used: Used) -> dict[int, Block]:
    """Adds the CPU time to blocks by start, where it is known. requests: of the root's service in each. A block has its
    share of them: worked, 6 s of CPU for 300 requests, 100 of them the operation's: 2 s."""
    blocks_with_cpu = {}
    for start, block in blocks.items():
        done, all_done = block.completions + block.errors, requests.get(start, 0)
        cpu_s = used.cpu_s.get(start)
        share = min(done / all_done, 1.0) if all_done else 1.0
        blocks_with_cpu[start] = block if cpu_s is None else replace(block, cpu_s=cpu_s * share)
    return blocks_with_cpu


def reached(root: str, calls: Iterable[tuple[str, str]]) -> set[str]:
    """The root, and all services that it calls, directly or through others."""
    callees = defaultdict(list)
    for caller, callee in calls:
        callees[caller].append(callee)
    services, ahead = {root}, [root]
    while ahead:
        new = [callee for callee in callees[ahead.pop()] if callee not in services]
        services |= set(new)
        ahead += new
    return services


def containers(rows: Iterable[tuple[str, str, int, int, float | None]]) -> list[ContainerWindows]:
    by_instance: dict[tuple[str, str], ContainerWindows] = {}
    for service, instance, second, worked, cores in rows:
        windows = by_instance.setdefault((service, instance), ContainerWindows(service, instance))
        if worked:
            windows.worked.add(second)
        if cores is not None:
            windows.cores[second] = cores
    return list(by_instance.values())


def used(of: list[ContainerWindows], windows: Iterable[int], upto_s: int) -> Used:
    """The CPU of the windows. A window may be incomplete for CPU_LATE_S. Without any container nothing is known."""
    cpu_s: dict[int, float] = {}
    unknown: dict[str, None] = {}
    for window_s in windows:
        cores = {f"{windows.instance!r} of {windows.service!r}": windows.used(window_s) for windows in of}
        missing = [name for name, value in cores.items() if value is None]
        if of and not missing:
            cpu_s[window_s] = PATH_WINDOW_S * sum(value for value in cores.values() if value is not None)
        elif upto_s >= window_s + PATH_WINDOW_S + CPU_LATE_S:
            unknown |= dict.fromkeys(missing or ["any container"])
    return Used(cpu_s, tuple(unknown))
