"""The streaming jobs through Flink on Kafka input: spans per second of the TaskManager's CPU.

Beside three references on the same spans in the same run: Flink handing the same bytes on undecoded (the floor), the
decoder in a loop without Flink, and the collector's spanmetrics connector. The jobs write to the stack's real
ClickHouse and Neo4j, whose own CPU is not counted. java/README.md says how to read the table.
"""

import argparse
import os
import sys
from dataclasses import replace
from itertools import chain
from pathlib import Path

from bench import java_loop, spanmetrics, spans_topic
from bench.cluster import RUN, Cluster, cluster
from bench.drain import Drained, drain
from bench.freshness import freshness
from bench.made_spans import MadeSpans, Shape
from stack.flink import JOBS

PASSTHROUGH = Path(__file__).with_name("passthrough.py")
#: Spans that each run drains; the first part of them is warming up. As shipped the JVM compiles for minutes: more.
SPANS, TRACED_SPANS, QUICK_SPANS = 20_000_000, 36_000_000, 1_000_000
#: The job with options that leave only what the references do too: sums.
BARE = ("concurrency", "--peers-from-traces", "0", "--repeat-window-ms", "0")
BAR_FLOOR, BAR_SPANMETRICS, BAR_SHIPPED = 0.8, 4.0, 2.0
#: What `PARTS=` may name: jobs bare; jobs as shipped, each alone; all as shipped; more instances; other messages; ages.
PARTS = ("bare", "shipped", "together", "instances", "messages", "freshness")
Rows = list[tuple[str, str]]


def run(quick: bool = False) -> Rows:
    """Rows (what, figure) for the table."""
    parts = _parts(os.environ.get("PARTS", ""), ("bare",) if quick else PARTS)
    spans = QUICK_SPANS if quick else SPANS
    base = Shape()
    seconds = 1.0 if quick else 5.0
    made = MadeSpans(base)
    messages = list(chain.from_iterable(made.round(number, number * made.round_ns) for number in range(2)))
    decode = java_loop.run("DecodeLoop", messages, seconds, seconds)["spans_per_s"]
    peer = spanmetrics.run(base, spans // 4)
    with cluster(graph=not {"shipped", "together", "freshness"}.isdisjoint(parts)) as up:
        filled = _fill(up, base, spans)
        floor = drain(up, PASSTHROUGH, (), *filled)
        rows = [
            ("(a) floor: Flink passes the bytes undecoded, objects reused as in the jobs", _speed(floor)),
            ("(b) the decoder in a loop, without Flink", f"{decode:,.0f} spans/s/core"),
            ("(c) the collector's spanmetrics connector", f"{peer:,.0f} spans/s/core"),
        ]
        if "bare" in parts:
            bare = _job(up, BARE, *filled, floor, rows)
            rows += [
                (f"concurrency / (a), bar {BAR_FLOOR}", f"{bare.spans_per_cpu_s / floor.spans_per_cpu_s:.2f}"),
                (f"concurrency / (c), bar {BAR_SPANMETRICS:.0f}", f"{bare.spans_per_cpu_s / peer:.1f}"),
            ]
            if not quick:
                _job(up, BARE, *filled, floor, rows, parallelism=2)
                _job(up, ("container_latency", "--repeat-window-ms", "0"), *filled, floor, rows)
        if "shipped" in parts or "together" in parts:
            filled = _fill(up, base, QUICK_SPANS if quick else TRACED_SPANS)
        if "shipped" in parts:
            for name in ("concurrency", "call_graph", "critical_paths"):
                _job(up, (name,), *filled, floor, rows)
        if "together" in parts:
            rows += _together(up, base, filled, floor, spans // 4)
        for label, shape in _shapes(base, parts):
            filled = _fill(up, shape, spans // 2)
            own_floor = floor
            if shape.message_spans != base.message_spans:
                own_floor = drain(up, PASSTHROUGH, (), *filled)
                rows.append((f"floor, {label}", _speed(own_floor)))
            _job(up, BARE, *filled, own_floor, rows, label=label)
        if "freshness" in parts:
            rows += freshness(up)
    return rows


def _together(up: Cluster, shape: Shape, filled: tuple[int, int], floor: Drained, peer_spans: int) -> Rows:
    """All that `make up` runs, between two measurements of the connector: a machine's speed changes within minutes."""
    rows: Rows = []
    before = spanmetrics.run(shape, peer_spans)
    job = _job(up, JOBS, *filled, floor, rows)
    after = spanmetrics.run(shape, peer_spans)
    ratio = job.spans_per_cpu_s / ((before + after) / 2)
    return [
        *rows,
        ("(c) just before and after that", f"{before:,.0f} and {after:,.0f} spans/s/core"),
        (f"all that `make up` runs / the mean of these, bar {BAR_SHIPPED:.0f}", f"{ratio:.2f}"),
    ]


def _parts(named: str, usual: tuple[str, ...]) -> tuple[str, ...]:
    """Raises SystemExit for what is no part."""
    parts = tuple(named.replace(",", " ").split()) or usual
    if unknown := sorted(set(parts) - set(PARTS)):
        raise SystemExit(f"PARTS: no {', '.join(unknown)}; there are {', '.join(PARTS)}")
    return parts


def _shapes(base: Shape, parts: tuple[str, ...]) -> list[tuple[str, Shape]]:
    shapes = []
    if "instances" in parts:
        shapes += [(f"{number:,} instances", replace(base, instances=number)) for number in (1_000, 20_000)]
    if "messages" in parts:
        shapes += [(f"messages of {number:,} spans", replace(base, message_spans=number)) for number in (10, 1_000)]
    return shapes


def _fill(up: Cluster, shape: Shape, spans: int) -> tuple[int, int]:
    """The numbers of messages and of spans on the new topic."""
    messages = spans_topic.fill(up.kafka, shape, spans)
    return messages, messages * shape.message_spans


def _job(
    up: Cluster,
    words: tuple[str, ...],
    messages: int,
    spans: int,
    floor: Drained,
    rows: Rows,
    label: str = "",
    parallelism: int = 1,
) -> Drained:
    """Measures a job and adds its rows."""
    parts = [" ".join(words), label, f"parallelism {parallelism}" if parallelism > 1 else ""]
    name = ", ".join(part for part in parts if part)
    drained = drain(up, RUN, words, messages, spans, parallelism)
    share = drained.spans_per_cpu_s / floor.spans_per_cpu_s
    state_mb = drained.state_bytes / spans  # bytes a span: MB a million
    rows.append((name, f"{_speed(drained)}, {share:.2f} of its floor, state {state_mb:.2f} MB a million spans"))
    print(f"{name}: {rows[-1][1]}", file=sys.stderr, flush=True)
    return drained


def _speed(drained: Drained) -> str:
    return f"{drained.spans_per_cpu_s:,.0f} spans/s/core ({drained.spans_per_s:,.0f} spans/s by the clock)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    for what, figure in run(parser.parse_args().quick):
        print(f"{what}: {figure}")


if __name__ == "__main__":
    main()
