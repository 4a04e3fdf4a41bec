"""Pacing with a clock that only moves when something waits."""

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Span

from sluice.cli.traces.replay.pace import due_s, paced
from sluice.cli.traces.replay.spool import Spool
from sluice.cli.traces.replay.trace import Trace, measure, shift


class FakeClock:
    """`stop_at_s`: the wait that would pass this moment ends there and answers False."""

    def __init__(self, stop_at_s: float = float("inf")) -> None:
        self.now_s = 0.0
        self.stop_at_s = stop_at_s

    def read(self) -> float:
        return self.now_s

    def wait(self, seconds: float) -> bool:
        self.now_s = min(self.now_s + seconds, self.stop_at_s)
        return self.now_s < self.stop_at_s


def trace(spans: int = 1, end_ns: int = 1_000, start_ns: int = 0, name: str = "") -> Trace:
    resource = ResourceSpans()
    scope = resource.scope_spans.add()
    for _ in range(spans):
        scope.spans.add(name=name, start_time_unix_nano=start_ns, end_time_unix_nano=end_ns)
    return measure((resource,))


@pytest.mark.parametrize(("speed", "expected"), [(1.0, 5.0), (10.0, 0.5), (0.5, 10.0), (None, 0.0)])
def test_a_trace_that_ended_5_s_after_the_first_start(speed: float | None, expected: float) -> None:
    assert due_s(105_000_000_000, 100_000_000_000, speed) == pytest.approx(expected)


def sent(traces: list[tuple[float, Trace]], batch_spans: int, clock: FakeClock) -> list[tuple[float, int, int]]:
    """(moment, spans, traces) of each batch."""
    return [(clock.now_s, b.spans, b.traces) for b in paced(traces, batch_spans, clock.read, clock.wait)]


def test_each_trace_is_sent_when_it_is_due() -> None:
    traces = [(1.0, trace()), (2.5, trace()), (7.0, trace())]
    # A batch waits for company only until the next trace is known to be more than 0.1 s away.
    assert sent(traces, 512, FakeClock()) == [(1.0, 1, 1), (2.5, 1, 1), (7.0, 1, 1)]


def test_traces_within_100_ms_share_a_request() -> None:
    traces = [(1.0, trace(2)), (1.05, trace(3)), (1.1, trace(4)), (1.11, trace(5))]
    assert sent(traces, 512, FakeClock()) == [(1.1, 9, 3), (1.11, 5, 1)]


def test_a_full_batch_leaves_at_once() -> None:
    assert sent([(0.0, trace(3))] * 4, 6, FakeClock()) == [(0.0, 6, 2), (0.0, 6, 2)]


def test_a_trace_larger_than_a_batch_is_sent_in_pieces_with_every_span_once() -> None:
    big = trace(25)
    for number, span in enumerate(big.resource_spans[0].scope_spans[0].spans):
        span.name = str(number)
    batches = list(paced([(0.0, trace(2)), (0.0, big)], 10, lambda: 0.0, lambda _: True))
    assert [(b.spans, b.traces) for b in batches] == [(2, 1), (10, 0), (10, 0), (5, 1)]
    names = [s.name for b in batches for r in b.resource_spans for sc in r.scope_spans for s in sc.spans]
    assert names[2:] == [str(n) for n in range(25)]


def test_late_traces_are_sent_without_waiting() -> None:
    clock = FakeClock()
    clock.now_s = 100.0
    assert sent([(1.0, trace()), (2.0, trace())], 512, clock) == [(100.0, 1, 1), (100.0, 1, 1)]


def test_a_stop_ends_the_waiting_and_sends_nothing_that_is_not_due() -> None:
    clock = FakeClock(stop_at_s=3.0)
    assert sent([(1.0, trace()), (2.0, trace()), (9.0, trace())], 512, clock) == [(1.0, 1, 1), (2.0, 1, 1)]


def test_the_spool_gives_traces_back_by_end_and_knows_the_first_start() -> None:
    spool = Spool()
    for name, start, end in (("c", 30, 90), ("a", 10, 40), ("b", 5, 60), ("b2", 7, 60)):
        spool.add(trace(2, end, start, name))
    order = [(t.resource_spans[0].scope_spans[0].spans[0].name, t.end_ns, t.spans) for t in spool.by_end()]
    assert order == [("a", 40, 2), ("b", 60, 2), ("b2", 60, 2), ("c", 90, 2)]
    assert (spool.first_start_ns, spool.last_end_ns, len(spool), spool.spans) == (5, 90, 4, 8)
    spool.close()


def test_shift_moves_starts_ends_and_events() -> None:
    moved = trace(1, 2_000, 1_000)
    moved.resource_spans[0].scope_spans[0].spans[0].events.append(Span.Event(time_unix_nano=1_500))
    shift(moved.resource_spans, 10)
    span = moved.resource_spans[0].scope_spans[0].spans[0]
    assert (span.start_time_unix_nano, span.end_time_unix_nano, span.events[0].time_unix_nano) == (1_010, 2_010, 1_510)
    shift(moved.resource_spans, -10_000)
    assert span.start_time_unix_nano == 0
