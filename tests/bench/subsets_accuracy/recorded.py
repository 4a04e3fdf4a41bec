"""Are latencies of containers log-normal (Microns 5.4, table 2)? Kolmogorov and Smirnov's test on recorded traces.

A visit is a span whose parent is another process's; its own time is what is left of it without its calls, which are
clipped to it. The traces are no part of this repository: without them there is no table.
"""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import stats

from apart.test_critical_path import RECORDED

WINDOW = 100
"""Visits of a container in one test. The more there are the surer any law is refuted."""
USUAL = 0.05
LAWS = ("log-normal", "exponential")


@dataclass(frozen=True)
class Span:
    id: str
    parent: str
    process: str
    start: float
    end: float
    """Both in ms."""


@dataclass(frozen=True)
class Tested:
    """Of one application: windows of containers, the mean p value and the share above USUAL, by law."""

    windows: int
    containers: int
    p: dict[str, float]
    kept: dict[str, float]
    d: dict[str, float]
    """The mean of the largest distance between both distributions."""


def applications() -> dict[str, list[tuple[str, list[list[Span]]]]]:
    """By application: recordings by name, each a list of traces. Only those that are there."""
    hotel = [(path.name, list(_jaeger(path))) for path in sorted(RECORDED.glob("dsb_hotel_*.jsonl.gz"))]
    boutique = [
        (path.name, list(_table(path))) for path in sorted((RECORDED.parent / "nezha").glob("construct_data/*/trace/*"))
    ]
    found = {"Hotel Reservation (DeathStarBench, 6 loads)": hotel, "OnlineBoutique (Nezha, no fault)": boutique}
    return {name: recordings for name, recordings in found.items() if recordings}


def tested(recordings: list[tuple[str, list[list[Span]]]]) -> Tested:
    """Windows of WINDOW visits of a container, one after the other within a recording."""
    windows: list[np.ndarray] = []
    processes = set()
    for _, traces in recordings:
        times: dict[str, list[tuple[float, float]]] = {}
        for spans in traces:
            for process, start, own in own_times(spans):
                times.setdefault(process, []).append((start, own))
        for process, seen in times.items():
            own = np.array([each for _, each in sorted(seen) if each > 0])
            for begin in range(0, len(own) - WINDOW + 1, WINDOW):
                windows.append(own[begin : begin + WINDOW])
                processes.add(process)
    results = {law: np.array([fits(law, each) for each in windows]) for law in LAWS}
    return Tested(
        len(windows),
        len(processes),
        {law: float(each[:, 1].mean()) for law, each in results.items()},
        {law: float((each[:, 1] > USUAL).mean()) for law, each in results.items()},
        {law: float(each[:, 0].mean()) for law, each in results.items()},
    )


def fits(law: str, own_ms: np.ndarray) -> tuple[float, float]:
    """Statistic and p value, as the paper has them: with the parameters that fit best, so p is on the high side."""
    if law == "log-normal":
        logs = np.log(own_ms)
        found = stats.kstest((logs - logs.mean()) / max(float(logs.std(ddof=1)), 1e-12), "norm")
    else:
        found = stats.kstest(own_ms / own_ms.mean(), "expon")
    return float(found.statistic), float(found.pvalue)


def own_times(spans: list[Span]) -> Iterator[tuple[str, float, float]]:
    """Of each visit: its process, its start, and its own time, ms."""
    by_id = {span.id: span for span in spans}
    below: dict[str, list[Span]] = {}
    for span in spans:
        below.setdefault(span.parent, []).append(span)
    for span in spans:
        parent = by_id.get(span.parent)
        if parent is None or parent.process != span.process:
            taken = _union([_clipped(one, span) for one in _calls(span, below)])
            yield span.process, span.start, span.end - span.start - taken


def _calls(span: Span, below: dict[str, list[Span]]) -> Iterator[Span]:
    """Spans below it within its process that have a span of another below them, or those of others themselves."""
    for one in below.get(span.id, []):
        leaves = one.process != span.process or any(each.process != span.process for each in below.get(one.id, []))
        if leaves:
            yield one
        else:
            yield from _calls(one, below)


def _clipped(one: Span, to: Span) -> tuple[float, float]:
    return max(one.start, to.start), min(one.end, to.end)


def _union(intervals: list[tuple[float, float]]) -> float:
    found, upto = 0.0, -np.inf
    for start, end in sorted(intervals):
        found += max(0.0, end - max(start, upto))
        upto = max(upto, end)
    return float(found)


def _jaeger(path: Path) -> Iterator[list[Span]]:
    with gzip.open(path, "rt") as lines:
        for line in lines:
            trace = json.loads(line)
            names = {key: each["serviceName"] for key, each in trace["processes"].items()}
            yield [
                Span(
                    each["spanID"],
                    each["references"][0]["spanID"] if each["references"] else "",
                    names[each["processID"]],
                    each["startTime"] / 1e3,
                    (each["startTime"] + each["duration"]) / 1e3,
                )
                for each in trace["spans"]
            ]


def _table(path: Path) -> Iterator[list[Span]]:
    traces: dict[str, list[Span]] = {}
    with gzip.open(path, "rt") as lines:
        for row in csv.DictReader(lines):
            start, end = int(row["StartTimeUnixNano"]) / 1e6, int(row["EndTimeUnixNano"]) / 1e6
            traces.setdefault(row["TraceID"], []).append(
                Span(row["SpanID"], row["ParentID"], row["PodName"], start, end)
            )
    yield from traces.values()
