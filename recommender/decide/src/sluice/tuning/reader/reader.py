"""The measurements of trials in force: blocks of their root's requests, all trials in one query of each kind.

For a service, blocks are seconds of its SERVER spans (`windows`). For one of its operations they are windows of 10 s of
end to end times (`critical_paths`), by the root span's end; its errors are its share of those of all the service's
requests.

Completions in both tables include failures. A block's latencies are of successes, so its errors are subtracted from the
fastest completions: failing fast is no merit.

With CPU time, blocks are windows of 10 s in either case, since points of CPU are no closer. The guard does not wait for
points: a block whose CPU is not known yet has none. The CPU of one operation is its share by the service's requests, as
its errors are.

A block is read once it is complete: `late_s` before the newest data of any service. Where the pipeline is behind, by
however much, the reading waits. Only where nothing of any service was written for `silent_s` is a block of that age
empty: not even the pipeline's delay is known then.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from typing import Any, NamedTuple

from sluice.clickhouse.database import Database
from sluice.tuning.measure import MeasuredSpan, TrialMeasurement
from sluice.tuning.names import TrialName
from sluice.tuning.objective.block import Block
from sluice.tuning.reader.cpu import CpuReading, with_cpu
from sluice.tuning.session.create import PATH_WINDOW_S

_FOLDER = files(__package__)
BLOCKS, PATHS, NEWEST = (
    _FOLDER.joinpath(f"{name}.sql").read_text(encoding="utf-8") for name in ("blocks", "paths", "newest")
)


class _Pace(NamedTuple):
    """Times of one kind of blocks: the length of each, how late it may be, when silence counts; s."""

    block_s: int
    late_s: int
    silent_s: int


SECONDS, WINDOWS = _Pace(1, 2, 15), _Pace(PATH_WINDOW_S, 5, 45)
# How far back the newest data is searched; the second value where the first finds nothing.
_REACH_S = (60, 3_600)


class _Newest(NamedTuple):
    """The newest data of one kind of blocks, of any service, Unix s; 0: none."""

    seen_s: int
    written_s: int

    def upto_s(self, pace: _Pace, now_s: int) -> tuple[int, bool]:
        """The time up to which blocks are complete, and whether silence is the reason."""
        known, silent = self.seen_s - pace.late_s, now_s - pace.silent_s
        if self.written_s <= silent and known < silent:
            return silent, True
        return min(now_s, known), False


class _Row(NamedTuple):
    """Completions by latency index, and the number of them that failed."""

    latencies: dict[int, int]
    failed: int


class TrialReader:
    """Reads the measurements of trials. It raises the database's errors."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._cpu = CpuReading(database)

    def measured(self, spans_of: Mapping[TrialName, MeasuredSpan], now_ms: int) -> dict[TrialName, TrialMeasurement]:
        """The blocks of each trial that are complete now."""
        trials = list(spans_of.items())
        if not trials:
            return {}
        operations = any(span.root.operation for _, span in trials)
        (of_windows, of_paths), now_s = self._newest(now_ms, operations), now_ms // 1000
        services = self._seconds([span for _, span in trials])
        paths = self._windows([span for _, span in trials]) if operations else {}
        measurements = {}
        for number, (trial, span) in enumerate(trials):
            pace, newest = (WINDOWS, of_paths) if span.root.operation else (SECONDS, of_windows)
            block_s = PATH_WINDOW_S if span.cpu else pace.block_s
            upto_s, silent = newest.upto_s(pace, now_s)
            of_service = _summed(services[number], block_s)
            rows = _with_failures(paths[number], of_service) if span.root.operation else of_service
            blocks = dict(_blocks(rows, span, block_s, upto_s))
            complete = 1000 * upto_s >= span.to_ms
            if span.cpu:
                used = self._cpu.used(span.root.service, blocks, upto_s)
                requests = {start: sum(row.latencies.values()) for start, row in of_service.items()}
                blocks = with_cpu(blocks, requests, used)
                complete = complete and (bool(used.unknown) or len(used.cpu_s) == len(blocks))
            measurements[trial] = TrialMeasurement(
                tuple(blocks.values()), complete, silent, used.unknown if span.cpu else ()
            )
        return measurements

    def _newest(self, now_ms: int, operations: bool) -> tuple[_Newest, _Newest]:
        for reach_s in _REACH_S:
            columns = self._database.columns(NEWEST, {"from_ms": now_ms - 1000 * reach_s})
            windows_s, windows_written_s, paths_s, paths_written_s = (int(column[0]) for column in columns)
            if windows_s and (paths_s or not operations):
                break
        return _Newest(windows_s, windows_written_s), _Newest(paths_s, paths_written_s)

    def _seconds(self, spans: list[MeasuredSpan]) -> dict[int, dict[int, _Row]]:
        rows_asked = [(number, span.root.service, *_bounds(span)) for number, span in enumerate(spans)]
        by_span: dict[int, dict[int, _Row]] = defaultdict(dict)
        for number, second, failed, indices, counts in self._rows(BLOCKS, rows_asked, spans, 5):
            by_span[number][second] = _Row(dict(zip(indices, counts, strict=True)), failed)
        return by_span

    def _windows(self, spans: list[MeasuredSpan]) -> dict[int, dict[int, _Row]]:
        rows_asked = [
            (number, span.root.service, span.root.operation, *_bounds(span))
            for number, span in enumerate(spans)
            if span.root.operation
        ]
        by_span: dict[int, dict[int, _Row]] = defaultdict(dict)
        for number, second, indices, counts in self._rows(PATHS, rows_asked, spans, 4, window_s=PATH_WINDOW_S):
            by_span[number][second] = _Row(dict(zip(indices, counts, strict=True)), 0)
        return by_span

    def _rows(
        self, sql: str, bounds: list[Any], spans: list[MeasuredSpan], columns: int, **more: object
    ) -> Iterable[tuple[Any, ...]]:
        parameters: dict[str, object] = {
            "asked": bounds,
            "services": sorted({span.root.service for span in spans}),
            "from_ms": min(span.from_ms for span in spans) - 1000,
            "to_ms": max(span.to_ms for span in spans) + 1000,
            **more,
        }
        return zip(*(self._database.columns(sql, parameters) or [[] for _ in range(columns)]), strict=True)


def _bounds(span: MeasuredSpan) -> tuple[int, int]:
    """Whole seconds within the span."""
    return -(-span.from_ms // 1000), span.to_ms // 1000


def _summed(seconds: Mapping[int, _Row], block_s: int) -> dict[int, _Row]:
    """Sums seconds to blocks, by start of block."""
    latencies: dict[int, Counter[int]] = defaultdict(Counter)
    failed: Counter[int] = Counter()
    for second, row in seconds.items():
        start = second - second % block_s
        latencies[start].update(row.latencies)
        failed[start] += row.failed
    return {start: _Row(dict(counts), failed[start]) for start, counts in latencies.items()}


def _blocks(rows: Mapping[int, _Row], span: MeasuredSpan, block_s: int, upto_s: int) -> Iterator[tuple[int, Block]]:
    """Blocks by their starts; also of times in which nothing completed."""
    from_s, to_s = _bounds(span)
    first_s = -(-from_s // block_s) * block_s
    for start in range(first_s, min(to_s, upto_s) - block_s + 1, block_s):
        row = rows.get(start, _Row({}, 0))
        yield start, Block(float(block_s), _succeeded(row), row.failed)


def _with_failures(windows: Mapping[int, _Row], of_service: Mapping[int, _Row]) -> dict[int, _Row]:
    """Gives each window the share of failures of all requests of the service in it."""
    by_start = {}
    for start, row in windows.items():
        all_of_it = of_service.get(start, _Row({}, 0))
        done = sum(all_of_it.latencies.values())
        share = all_of_it.failed / done if done else 0.0
        by_start[start] = _Row(row.latencies, round(share * sum(row.latencies.values())))
    return by_start


def _succeeded(row: _Row) -> dict[int, int]:
    left, succeeded = row.failed, {}
    for index, count in sorted(row.latencies.items()):
        taken = min(left, count)
        left -= taken
        if count > taken:
            succeeded[index] = count - taken
    return succeeded
