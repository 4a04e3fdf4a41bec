"""One replay: reads traces, sorts them, moves their times, and sends each when due."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from sluice.cli.traces.replay.pace import Batch, due_s, paced
from sluice.cli.traces.replay.progress import ProgressReport
from sluice.cli.traces.replay.records import Skipped, read_traces
from sluice.cli.traces.replay.sender import SpanSender
from sluice.cli.traces.replay.spool import Spool
from sluice.cli.traces.replay.totals import Totals
from sluice.cli.traces.replay.trace import Trace, shift

Times = Literal["now", "past", "keep"]


@dataclass(frozen=True)
class ReplayPlan:
    """speed: multiple of the recorded pace, None = as fast as the collector accepts spans. limit: traces, None = all.

    times: `now` moves all times so that the first span starts when the replay starts, `past` so that the last span
    ends then, `keep` leaves them.
    """

    paths: tuple[str, ...]
    speed: float | None = 1.0
    times: Times = "now"
    batch_spans: int = 512
    limit: int | None = None


@dataclass(frozen=True)
class Clock:
    """Time from outside. `wait_s` returns False when it stopped early because the replay is to stop."""

    monotonic_s: Callable[[], float]
    unix_ns: Callable[[], int]
    wait_s: Callable[[float], bool]


def system_clock(stop: threading.Event) -> Clock:
    return Clock(time.monotonic, time.time_ns, lambda seconds: not stop.wait(seconds))


def read(
    plan: ReplayPlan, totals: Totals, on_skip: Callable[[Skipped], None], stop: threading.Event
) -> Iterator[Trace]:
    """Yields and counts the traces of all files, up to the limit. Raises OSError when a file cannot be opened."""
    for path in plan.paths:
        totals.files += 1
        for item in read_traces(path):
            if stop.is_set():
                return
            if isinstance(item, Skipped):
                totals.note_skipped(str(item))
                on_skip(item)
                continue
            totals.traces_read += 1
            totals.spans_read += item.spans
            yield item
            if plan.limit is not None and totals.traces_read >= plan.limit:
                return


def replay(
    plan: ReplayPlan,
    traces: Iterable[Trace],
    sender: SpanSender,
    clock: Clock,
    totals: Totals,
    progress: ProgressReport,
) -> None:
    """Sends `traces`; returns when every request has an answer or was given up. Sets `totals.elapsed_s`."""
    begin_s = clock.monotonic_s()
    try:
        if plan.speed is None and plan.times == "keep":
            _send(_batches(((0.0, trace) for trace in traces), plan, clock), sender, totals, progress, None)
            return
        spool = Spool()
        try:
            for trace in traces:
                spool.add(trace)
                progress.reading(totals)
            progress.extent(len(spool), spool.span_of_time_s, plan.speed, plan.times)
            scheduled = _scheduled(spool, plan, clock.unix_ns())
            _send(_batches(scheduled, plan, clock), sender, totals, progress, len(spool))
        finally:
            spool.close()
    finally:
        sender.finish()
        totals.elapsed_s = clock.monotonic_s() - begin_s


def _scheduled(spool: Spool, plan: ReplayPlan, begin_unix_ns: int) -> Iterator[tuple[float, Trace]]:
    first_ns = spool.first_start_ns or 0
    by_ns = {"now": begin_unix_ns - first_ns, "past": begin_unix_ns - spool.last_end_ns, "keep": 0}[plan.times]
    for trace in spool.by_end():
        shift(trace.resource_spans, by_ns)
        yield due_s(trace.end_ns, first_ns, plan.speed), trace


def _batches(scheduled: Iterable[tuple[float, Trace]], plan: ReplayPlan, clock: Clock) -> Iterator[Batch]:
    """The batches of (due, trace), each when due. Times count from this call."""
    begin_s = clock.monotonic_s()
    return paced(scheduled, plan.batch_spans, lambda: clock.monotonic_s() - begin_s, clock.wait_s)


def _send(
    batches: Iterable[Batch], sender: SpanSender, totals: Totals, progress: ProgressReport, of: int | None
) -> None:
    handed = 0
    for batch in batches:
        if not sender.send(batch):
            return
        handed += batch.traces
        progress.sending(totals, handed, of)
