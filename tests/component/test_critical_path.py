"""`./sluice critical-path`, the Java walk behind it included, against the plain Python one."""

import gzip
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from sluice_kit.local_stack.driver import REPOSITORY
from sluice_kit.reference.path_walk import SpanDict, critical_paths, jaeger_spans
from sluice_kit.reference.shared_ids import derived
from sluice_kit.traffic import hotel
from sluice_kit.traffic.path_traces import KINDS, RECORDED, random_trace

CONFORMANCE = Path(os.environ.get("SLUICE_CONFORMANCE", REPOSITORY.parent / "shared/conformance"))
JAR = REPOSITORY / "streaming-jobs/functions/target/sluice-functions.jar"
RANDOM_TRACES = 3000

Section = tuple[str, Decimal, Decimal]


@pytest.fixture(scope="module", autouse=True)
def jar() -> None:
    assert JAR.exists(), f"{JAR} is not built: run `make setup`"


def critical_path(path: Path) -> tuple[dict[str, dict[str, list[Section]]], set[str], str]:
    """Sections by trace and root (span id, start us, end us), the roots of incomplete paths, standard error."""
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "recommender/decide/src")}
    words = [sys.executable, "-m", "sluice.cli", "critical-path", "-o", "jsonl", str(path)]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    sections: dict[str, dict[str, list[Section]]] = {}
    incomplete = set()
    for line in done.stdout.splitlines():
        section = json.loads(line, parse_float=Decimal, parse_int=Decimal)
        of_trace = sections.setdefault(section["trace_id"], {})
        of_trace.setdefault(section["root_span_id"], []).append(
            (section["span_id"], section["start_us"], section["end_us"])
        )
        if section["incomplete"]:
            incomplete.add(section["root_span_id"])
    return sections, incomplete, done.stderr


def check(path: Path, traces: dict[str, list[SpanDict]]) -> None:
    actual, incomplete, stderr = critical_path(path)
    expected: dict[str, dict[str, list[Section]]] = {}
    excluded: dict[str, int] = {}
    for trace_id, spans in traces.items():
        walked = critical_paths(spans)
        sent = {derived(bytes.fromhex(span["span_id"])).hex(): span["span_id"] for span in spans}
        of_trace = {
            sent.get(root, root): [
                (sent.get(name, name), Decimal(start) / 1000, Decimal(end) / 1000) for name, start, end in sections
            ]
            for root, sections in walked.sections.items()
            if sections
        }
        if of_trace:
            expected[trace_id] = of_trace
        for cause, count in walked.excluded.items():
            excluded[cause] = excluded.get(cause, 0) + count
        orphans = {sent.get(root, root) for root in walked.incomplete}
        assert orphans & of_trace.keys() == incomplete & of_trace.keys()
    assert len(expected) > 0
    assert actual.keys() == expected.keys()
    for trace_id, paths in expected.items():
        assert actual[trace_id] == paths, trace_id
    for count in filter(None, excluded.values()):
        assert f"on no path: {count:,} spans" in stderr


def otlp_line(trace_id: str, spans: Iterable[SpanDict]) -> str:
    resources = []
    for span in spans:
        attributes = [("service.name", span["service"])] + ([("host.name", span["host"])] if span["host"] else [])
        out = {
            "traceId": trace_id,
            "spanId": span["span_id"],
            "parentSpanId": span["parent_id"],
            "name": "op",
            "kind": 1 + KINDS.index(span["kind"]),
            "startTimeUnixNano": str(span["start_ns"]),
            "endTimeUnixNano": str(span["end_ns"]),
            "links": [{"traceId": trace_id, "spanId": span["span_id"]}] if span["linked"] else [],
        }
        resource = {"attributes": [{"key": k, "value": {"stringValue": v}} for k, v in attributes]}
        resources.append({"resource": resource, "scopeSpans": [{"spans": [out]}]})
    return json.dumps({"resourceSpans": resources}) + "\n"


def test_random_traces_in_pieces_and_shuffled(tmp_path: Path) -> None:
    rng = random.Random(20)
    traces = {f"{n + 1:032x}": random_trace(rng, f"{n + 1:08x}") for n in range(RANDOM_TRACES)}
    lines = []
    for trace_id, spans in traces.items():
        shuffled = rng.sample(spans, len(spans))
        cut = rng.randint(0, len(spans))
        lines += [otlp_line(trace_id, part) for part in (shuffled[:cut], shuffled[cut:]) if part]
    rng.shuffle(lines)
    path = tmp_path / "traces.jsonl"
    path.write_text("".join(lines))
    check(path, traces)


def test_calls_that_overlap_by_a_microsecond_are_serial(tmp_path: Path) -> None:
    """Checkout calls stock for 40 ms, then pay for 60; the first may end 1 us after the second starts, or just then."""
    for overlap_us in (0, 1):
        path = tmp_path / f"{overlap_us}.json"
        spans = [
            jaeger_span("1", "", "checkout", "server", 0, 100_000),
            jaeger_span("2", "1", "checkout", "client", 0, 40_000 + overlap_us),
            jaeger_span("3", "1", "checkout", "client", 40_000, 60_000),
        ]
        path.write_text(json.dumps(jaeger_export(spans)))
        sections, _, _ = critical_path(path)
        ms = [(name[-1], (end - start) / 1000) for name, start, end in next(iter(sections.values()))[f"{1:016x}"]]
        assert ms == [("2", 40), ("3", 60)]


def test_shared_ids_give_the_same_path_as_ids_apart(tmp_path: Path) -> None:
    lengths_ms = {}
    for server in ("2", "4"):
        path = tmp_path / f"{server}.json"
        spans = [
            jaeger_span("1", "", "web", "server", 0, 50_000),
            jaeger_span("2", "1", "web", "client", 5_000, 35_000),
            jaeger_span(server, "1" if server == "2" else "2", "stock", "server", 9_000, 22_000),
            jaeger_span("3", server, "stock", "client", 10_000, 20_000),
        ]
        path.write_text(json.dumps(jaeger_export(spans)))
        sections, incomplete, stderr = critical_path(path)
        assert not incomplete
        assert "on no path" not in stderr
        lengths_ms[server] = [(end - start) / 1000 for _, start, end in next(iter(sections.values()))[f"{1:016x}"]]
    # web's server and client spans, stock's server and client spans, and back.
    assert lengths_ms["2"] == lengths_ms["4"] == [5, 4, 1, 20, 1, 9, 10]


def jaeger_span(span_id: str, parent: str, service: str, kind: str, start_us: int, duration_us: int) -> dict[str, Any]:
    return {
        "traceID": "ab",
        "spanID": span_id,
        "operationName": "op",
        "processID": service,
        "startTime": 1_700_000_000_000_000 + start_us,
        "duration": duration_us,
        "references": [{"refType": "CHILD_OF", "traceID": "ab", "spanID": parent}] if parent else [],
        "tags": [{"key": "span.kind", "type": "string", "value": kind}],
    }


def jaeger_export(spans: list[dict[str, Any]]) -> dict[str, Any]:
    processes = {span["processID"]: {"serviceName": span["processID"]} for span in spans}
    return {"data": [{"traceID": "ab", "spans": spans, "processes": processes}]}


def test_made_hotel_traces(tmp_path: Path) -> None:
    made = hotel.traces(200, seed=5)
    path = tmp_path / "hotel.jsonl"
    path.write_text("".join(json.dumps(trace) + "\n" for trace in made))
    check(path, {trace["traceID"].zfill(32): jaeger_spans(trace) for trace in made})


@pytest.mark.parametrize("load", [25, 50, 75, 100, 125, 150])
def test_recorded_hotel_traces(load: int) -> None:
    path = RECORDED / f"dsb_hotel_reservation__hotel_load{load}.jsonl.gz"
    if not path.exists():
        pytest.skip(f"the recorded traces are not beside this repository ({RECORDED}); the made ones are tested")
    with gzip.open(path, "rt") as lines:
        traces = [json.loads(line) for line in lines]
    check(path, {trace["traceID"].zfill(32): jaeger_spans(trace) for trace in traces})


def test_agreed_paths(tmp_path: Path) -> None:
    """The traces on whose paths two published implementations agree, through the command and by the reference."""
    agreed = CONFORMANCE / "critical-path/agreed.json"
    if not agreed.exists():
        pytest.skip(f"no {agreed}: set SLUICE_CONFORMANCE to its folder")
    traces: dict[str, list[SpanDict]] = {}
    expected = {}
    for number, fixture in enumerate(json.loads(agreed.read_text())["fixtures"], start=1):
        names = sorted(span["span_id"] for span in fixture["spans"])
        ids = {name: f"{number:08x}{n:08x}" for n, name in enumerate(names, start=1)}
        traces[f"{number:032x}"] = [
            {
                "span_id": ids[span["span_id"]],
                "parent_id": ids.get(span["parent_span_id"], ""),
                "kind": (span["kind"] or "internal").upper(),
                "service": span["service"],
                "linked": False,
                "host": "",
                "start_ns": span["start_us"] * 1000,
                "end_ns": (span["start_us"] + span["duration_us"]) * 1000,
            }
            for span in fixture["spans"]
        ]
        windows = [(ids[s["span_id"]], s["start_us"], s["end_us"]) for s in fixture["expected"]["sections"]]
        expected[f"{number:032x}"] = {ids[fixture["root_span_id"]]: merged(windows)}
    path = tmp_path / "agreed.jsonl"
    path.write_text("".join(otlp_line(trace_id, spans) for trace_id, spans in traces.items()))
    actual, _, _ = critical_path(path)
    assert actual == expected
    check(path, traces)


def merged(windows: list[tuple[str, int, int]]) -> list[Section]:
    """In order of time, adjacent windows of one span merged, empty ones dropped."""
    out: list[Section] = []
    for name, start, end in sorted((w for w in windows if w[1] < w[2]), key=lambda w: w[1]):
        if out and out[-1][0] == name and out[-1][2] == start:
            out[-1] = (name, out[-1][1], Decimal(end))
        else:
            out.append((name, Decimal(start), Decimal(end)))
    return out
