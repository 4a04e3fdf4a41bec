import numpy as np
import pytest

from testbed.engine import Engine
from testbed.patterns.clients import Held, Limited, PgNode
from testbed.patterns.counting import Counting
from testbed.patterns.pattern import busy_s
from testbed.patterns.process import Slot, pool_of, start
from testbed.patterns.registry import PATTERNS
from testbed.patterns.servers import Ahead, Light, Mixed, Nested, Plain, Probes, Stream
from testbed.patterns.span import Kind, Span
from testbed.patterns.windows import ORIGIN_S, Known

BUCKET = 10 * ORIGIN_S
"""The first of a run."""


def spans_of(kind, seconds, size=None):
    results = []
    kind(1, results.append, size).until(seconds)
    return results


def counted(kind, seconds, plainly=False):
    return Counting(kind, plainly).own(spans_of(kind, seconds))


def span(start_s, end_s, **more):
    fields = {"service": "plain", "trace_id": 1, "span_id": 1, "parent_id": 0, "name": "GET", "kind": Kind.SERVER}
    return Span(**(fields | {"start_s": start_s, "end_s": end_s} | more))


def test_a_request_takes_longer_the_more_share_the_cores():
    assert busy_s(16, 0.02, 0.08) == pytest.approx(0.08 + 0.02 * 8 * 1.24)
    assert busy_s(1, 0.02, 0.08) == pytest.approx(0.1)


def test_who_waits_too_long_for_a_slot_gives_up():
    engine, pool, outcomes = Engine(), pool_of(1), []

    def holds():
        yield Slot(pool)
        yield 5.0
        pool.release()

    def asks(name, timeout_s):
        got = yield Slot(pool, timeout_s)
        outcomes.append((name, got, engine.now))
        if got:
            pool.release()

    start(engine, holds())
    start(engine, asks("impatient", 2.0), 1.0)
    start(engine, asks("patient", None), 1.0)
    engine.run_until(10.0)
    assert outcomes == [("impatient", False, 3.0), ("patient", True, 5.0)]
    assert (pool.in_use, pool.queued) == (0, 0)


def test_a_span_is_spread_over_its_buckets_once_it_is_known():
    known = Known(Counting(Plain), delay_s=2.0)
    known.add(span(0.05, 0.23, failed=True), now_s=0.23)
    assert known.read(2.2).busy_ns.sum() == 0
    columns = known.read(2.3)
    assert (columns.busy_ns[BUCKET : BUCKET + 4] / 1e6).tolist() == [50, 100, 30, 0]
    assert columns.completions[BUCKET : BUCKET + 4].tolist() == [0, 0, 1, 0]
    assert columns.errors[BUCKET + 2] == 1


def test_calls_of_the_service_are_their_callers():
    known = Known(Counting(Plain), delay_s=0.0)
    known.add(span(0.0, 0.1, service="gateway", peer="plain", kind=Kind.CLIENT), now_s=0.1)
    columns = known.read(1.0)
    assert (columns.callers_ns[BUCKET], columns.busy_ns.sum()) == (100_000_000, 0)
    assert [call.took_s for call in known.calls] == [0.1]


def test_columns_grow_with_the_run():
    known = Known(Counting(Plain), delay_s=0.0)
    known.add(span(899.95, 900.05), now_s=900.05)
    columns = known.read(901.0)
    assert (columns.busy_ns[BUCKET + 8999 : BUCKET + 9001] / 1e6).round().tolist() == [50, 50]


def test_of_nested_spans_the_outermost_counts():
    requests = [item for item in spans_of(Nested, 10.0) if item.name == "GET /x"]
    assert len(counted(Nested, 10.0)) == len(requests)
    assert len(counted(Nested, 10.0, plainly=True)) == 2 * len(requests)


def test_what_acquires_probes_or_consumes_does_not_count():
    for kind, left_out in ((PgNode, "pg-pool.connect"), (Mixed, "orders process"), (Probes, "POST /jolokia")):
        names = [{item.name for item in counted(kind, 20.0, plainly)} for plainly in (False, True)]
        assert [left_out in name for name in names] == [False, True]


def test_a_clock_that_is_ahead_shifts_the_service_and_not_its_caller():
    spans = {item.trace_id: {} for item in spans_of(Ahead, 30.0)}
    for item in spans_of(Ahead, 30.0):
        spans[item.trace_id][item.service, item.kind] = item
    for trace in spans.values():
        own, call = trace["ahead", Kind.SERVER], trace["gateway-of-ahead", Kind.CLIENT]
        assert own.end_s == pytest.approx(call.end_s + 1.0)


def test_streams_hold_slots_without_a_span():
    spans = [item for item in spans_of(Stream, 30.0) if item.service == "stream"]
    # 24 streams end each 25 s, one after the other: one in 30 s.
    assert [span.end_s for span in spans if span.name == "Feed/Watch"] == [25.0]


def test_with_half_of_its_threads_a_service_of_streams_does_nothing():
    pattern = Stream(1, size=16)
    pattern.until(20.0)
    assert (pattern.good_per_s(20).sum(), pattern.pool.queued > 0) == (0, True)


def test_the_callee_refuses_what_is_beyond_its_quota():
    at_12, at_24 = Limited(1), Limited(1, size=24)
    at_12.until(30.0)
    at_24.until(30.0)
    assert at_12.failed_per_s(30).sum() == 0
    assert at_24.failed_per_s(30).sum() > 1_000


def test_a_pool_that_is_held_between_queries_looks_idle():
    columns = Known(Counting(Held), 0.0)
    pattern = Held(1, lambda item: columns.add(item, pattern.engine.now))
    pattern.until(60.0)
    sums = columns.read(60.0)
    busy = sums.busy_ns[BUCKET + 100 : BUCKET + 600].sum() / 50e9
    assert (pattern.pool.in_use, pattern.pool.queued > 50) == (4, True)
    # 10 transactions a second, each with a query of 40 ms: 0.4 of 4.
    assert busy == pytest.approx(0.4, rel=0.15)
    # At 8 all that come are served in time.
    larger = Held(1, size=8)
    larger.until(60.0)
    assert larger.good_per_s(60)[10:].mean() == pytest.approx(14, rel=0.1)


def test_the_same_seed_makes_the_same_requests():
    assert spans_of(Light, 10.0) == spans_of(Light, 10.0)
    # With another size the first of each user is the same, as long as nobody waits.
    assert spans_of(Light, 5.0)[:20] == spans_of(Light, 5.0, size=64)[:20]


@pytest.mark.parametrize("name", PATTERNS)
def test_every_pattern_makes_spans_of_its_pool(name):
    kind = PATTERNS[name]
    pattern = kind(1)
    pattern.until(60.0)
    done = pattern.good_per_s(60) + pattern.late_per_s(60) + pattern.failed_per_s(60)
    own = Counting(kind).own(spans_of(kind, 60.0))
    assert {item.service for item in own} == {name}
    # Each response is one span, but those of who waited in vain for a connection.
    assert len(own) == pytest.approx(done.sum(), rel=0.1 if name != "held" else 0.4)
    assert np.all(np.array([item.end_s - item.start_s for item in own]) >= 0)
