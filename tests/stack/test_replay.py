"""A recorded file goes in with `./sluice replay` and every count along the way is the same, to the span."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from neo4j import GraphDatabase
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from sluice_kit.local_stack.driver import REPOSITORY, Stack
from sluice_kit.local_stack.topics import end_offsets, messages_since
from sluice_kit.servers.rollups import ROLLUPS
from sluice_kit.traffic import hotel
from sluice_kit.waiting import eventually

RECORDED = REPOSITORY.parent / "shared/data/traces/dsb_hotel_reservation__hotel_load100.jsonl.gz"
SERVICES = "('frontend', 'search', 'geo', 'rate', 'profile', 'reservation')"


@pytest.fixture(params=["made", "recorded"])
def trace_file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param == "recorded":
        if not RECORDED.exists():
            pytest.skip("the recorded traces are not beside this repository; the made ones are tested")
        return RECORDED
    path = tmp_path / "hotel.jsonl.gz"
    with gzip.open(path, "wt") as out:
        for trace in hotel.traces(400, seed=7):
            out.write(json.dumps(trace) + "\n")
    return path


def test_every_span_of_a_replay_is_counted_at_each_stage(stack: Stack, trace_file: Path) -> None:
    with gzip.open(trace_file, "rt") as lines:
        traces = [json.loads(line) for line in lines]
    spans = sum(len(trace["spans"]) for trace in traces)
    calls = calls_in(traces)
    assert set(calls) == hotel.EDGES
    start = end_offsets(stack, "otlp_spans")
    before, calls_before = counts(stack), calls_in_clickhouse(stack)

    answer = stack.sluice("replay", str(trace_file), "--speed", "max", "-o", "json")
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)["spans_sent"] == spans

    expected = {name: count + spans for name, count in before.items()}
    assert eventually(lambda: counts(stack), expected) == expected
    sums = rollup_sums(stack, "v_windows")
    for rollup in ROLLUPS:
        assert eventually(lambda name=rollup: refreshed(stack, name), sums, steady_s=0) == sums
    assert rollups_on_schedule(stack) == set(ROLLUPS)
    assert sum(map(spans_in, messages_since(stack, start))) == spans
    # The last traces are closed some seconds after their last span.
    assert eventually(lambda: calls_in_clickhouse(stack), calls_before + calls) == calls_before + calls
    assert eventually(lambda: edges_in_neo4j(stack), hotel.EDGES) == hotel.EDGES


def test_the_command_line_has_the_same_rows(stack: Stack) -> None:
    query = "SELECT outcome, job, min(received) AS first FROM ingest_counts GROUP BY outcome, job ORDER BY outcome, job"
    answer = stack.sluice("sql", query, "-o", "json")
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout) == stack.rows(query)


def calls_in(traces: list[dict[str, Any]]) -> Counter[tuple[str, str]]:
    """Calls per (caller, callee): spans whose parent belongs to another service."""
    calls: Counter[tuple[str, str]] = Counter()
    for trace in traces:
        service = {span["spanID"]: trace["processes"][span["processID"]]["serviceName"] for span in trace["spans"]}
        for span in trace["spans"]:
            for reference in span["references"]:
                caller, callee = service.get(reference["spanID"]), service[span["spanID"]]
                if caller and caller != callee:
                    calls[caller, callee] += 1
    return calls


def counts(stack: Stack) -> dict[str, int]:
    """Spans of the hotel's services as each table has them."""
    (row,) = stack.rows(
        f"""
        SELECT
            (SELECT sum(spans) FROM ingest_counts FINAL
             WHERE job = 'concurrency' AND startsWith(outcome, 'accepted') AND service IN {SERVICES}) AS by_concurrency,
            (SELECT sum(spans) FROM ingest_counts FINAL
             WHERE job = 'call_graph' AND startsWith(outcome, 'accepted') AND service IN {SERVICES}) AS by_call_graph,
            (SELECT sum(completions) FROM v_windows WHERE service IN {SERVICES}) AS in_windows,
            (SELECT sum(arraySum(mapValues(latency))) FROM v_windows WHERE service IN {SERVICES}) AS in_histograms
        """
    )
    return {name: int(value) for name, value in row.items()}


def refreshed(stack: Stack, rollup: str) -> dict[str, Any]:
    """Sums of a rollup that was computed now; its schedule has up to 20 s."""
    stack.command(f"SYSTEM REFRESH VIEW fill_{rollup}")
    stack.command(f"SYSTEM WAIT VIEW fill_{rollup}")
    return rollup_sums(stack, f"v_{rollup}")


def rollups_on_schedule(stack: Stack) -> set[str]:
    """Those that are due again, and did not fail last time."""
    rows = stack.command(
        "SELECT view FROM system.view_refreshes WHERE next_refresh_time IS NOT NULL AND exception = ''"
    )
    return {view.removeprefix("fill_") for view in rows.split()}


def rollup_sums(stack: Stack, view: str) -> dict[str, Any]:
    """Completions, errors, time in flight and the histogram of the hotel's services, by a view of windows."""
    (row,) = stack.rows(
        f"""SELECT sum(completions) AS done, sum(errors) AS failed, sum(busy_ns) AS busy, sumMap(latency) AS counts
            FROM {view} WHERE service IN {SERVICES}"""
    )
    return row


def calls_in_clickhouse(stack: Stack) -> Counter[tuple[str, str]]:
    """Calls between the hotel's services."""
    rows = stack.rows(
        f"""SELECT caller, callee, sum(calls) AS calls FROM call_edges FINAL
            WHERE caller IN {SERVICES} GROUP BY caller, callee"""
    )
    return Counter({(row["caller"], row["callee"]): int(row["calls"]) for row in rows})


def edges_in_neo4j(stack: Stack) -> set[tuple[str, str]]:
    credentials = ("neo4j", stack.address["SLUICE_NEO4J_PASSWORD"])
    with GraphDatabase.driver(stack.address["SLUICE_NEO4J"], auth=credentials) as driver:
        records, _, _ = driver.execute_query(
            "MATCH (a:Service)-[r:CALLS]->(b:Service) WHERE a.name IN $services AND r.calls > 0 "
            "RETURN a.name AS caller, b.name AS callee",
            services=sorted({caller for caller, _ in hotel.EDGES}),
        )
    return {(record["caller"], record["callee"]) for record in records}


def spans_in(message: bytes) -> int:
    request = ExportTraceServiceRequest.FromString(message)
    return sum(len(scope.spans) for resource in request.resource_spans for scope in resource.scope_spans)
