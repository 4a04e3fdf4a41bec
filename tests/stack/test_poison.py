"""What an application can make without end, late or too early: each is bounded and counted, and disturbs nobody."""

import time
from dataclasses import replace

import pytest

from sluice_kit.local_stack.driver import Stack, eventually
from sluice_kit.local_stack.topics import end_offsets
from sluice_kit.reference.graph import calls_in_neo4j, newest_calls
from sluice_kit.reference.settings import setting
from sluice_kit.reference.truth import TABLES, Reference, check_all, records_since
from sluice_kit.traffic.masses import outcomes
from sluice_kit.traffic.messages import SentSpan, message, produce

pytestmark = pytest.mark.usefixtures("good_data_follows")

SECOND = 1_000_000_000
MINUTE = 60 * SECOND
BUCKET_NS = setting("bucket-ms") * 1_000_000
SHORT = 100 * BUCKET_NS


def call(prefix: str, number: int, ahead_ns: int = 0, callee: str = "cart") -> list[SentSpan]:
    """front's root and what it called; `number` tells traces apart. Both clocks are so far ahead."""
    end = time.time_ns() - SECOND + ahead_ns
    trace_id = time.time_ns().to_bytes(8, "big") + number.to_bytes(8, "big")
    front = SentSpan(f"{prefix}front", trace_id, b"front-00", b"", "SERVER", end - SECOND // 10, end)
    cart = replace(front, service=f"{prefix}{callee}", span_id=b"cart--00", parent_id=front.span_id)
    return [front, cart]


def test_a_clock_nine_minutes_ahead_does_not_hide_the_calls_that_follow(stack: Stack) -> None:
    prefix = "ahead-"
    start = end_offsets(stack, "otlp_spans")
    produce(stack.address["SLUICE_KAFKA"], [(message(call(prefix, 1, 9 * MINUTE)), 0)])

    def newest() -> dict[tuple[str, str], tuple[int, int, int]]:
        records = [record for record in records_since(stack, start) if prefix.encode() in (record.message or b"")]
        return newest_calls(Reference(records))

    expected = newest()
    ((window, calls, _),) = expected.values()
    assert (calls, window <= time.time()) == (1, True)
    assert eventually(lambda: calls_in_neo4j(stack, prefix), expected) == expected

    produce(stack.address["SLUICE_KAFKA"], [(message(call(prefix, 2)), 1)])
    expected = newest()
    assert eventually(lambda: calls_in_neo4j(stack, prefix), expected) == expected
    records = [record for record in records_since(stack, start) if prefix.encode() in (record.message or b"")]
    check_all(stack, prefix, Reference(records), TABLES)


def test_call_trees_and_ways_beyond_the_bound_count_as_one(stack: Stack) -> None:
    """Each trace calls another service: the first are told apart in both tables, sums are whole."""
    prefix, most, count = "variant-", setting("root-variants"), 3 * setting("root-variants")
    spans = [span for n in range(count) for span in call(prefix, n, callee=f"callee-{n}")]
    produce(stack.address["SLUICE_KAFKA"], [(message(spans), 0)])
    root = f"WHERE root_service = '{prefix}front'"
    other = """endsWith(tree, '"other":true}')"""
    trees = f"sum(traces), countIf(NOT {other}), sumIf(traces, {other}) FROM call_trees FINAL {root}"
    more = "signature = '(more)'"
    ways = f"sum(traces), countIf(NOT {more}), sumIf(traces, {more}) FROM critical_paths FINAL {root}"
    for query in (trees, ways):

        def sums(query: str = f"SELECT uniqExact(window), {query}") -> list[int]:
            return [int(value) for value in stack.rows(query)[0].values()]

        assert eventually(lambda sums=sums: sums()[1], count) == count  # type: ignore[misc]
        spread, _, distinct, rest = sums()
        assert distinct <= most * spread
        assert (rest, spread) == (count - distinct, spread)
    shown = f"SELECT tree LIKE '%callee-%' FROM v_call_tree {root}"
    assert stack.value(shown) == 1


def test_long_spans_beyond_the_bound_of_rows_keep_their_newest_part(stack: Stack) -> None:
    """As many rows as a partition may make, and as many again: cut, counted, their completions and durations whole.

    Spans over 10 s of other tests take rows of the same partition first: on a slow machine the demo makes some.
    """
    service, length = "long-poll", 10 * MINUTE - BUCKET_NS
    rows = length // BUCKET_NS + 1
    fit = setting("most-spread-rows") // rows
    count = 2 * fit
    end = time.time_ns() // BUCKET_NS * BUCKET_NS - SECOND
    spans = [
        SentSpan(service, end.to_bytes(16, "big"), (n + 1).to_bytes(8, "big"), b"", "SERVER", end - length, end)
        for n in range(count)
    ]
    produce(stack.address["SLUICE_KAFKA"], [(message(spans), 0)])

    def counted() -> dict[str, int]:
        return outcomes(stack, "concurrency", service)

    assert eventually(lambda: sum(counted().values()), count) == count
    whole = counted()["accepted"]
    assert counted() == {"accepted": whole, "accepted_cut": count - whole}
    assert fit // 2 < whole <= fit
    sums = f"SELECT sum(completions), sum(busy_ns), count() FROM windows FINAL WHERE service = '{service}'"
    rows_kept = [count, whole * length + (count - whole) * SHORT, rows]
    assert eventually(lambda: [int(value) for value in stack.rows(sums)[0].values()], rows_kept) == rows_kept
    assert outcomes(stack, "call_graph", service) == {"accepted": count}
