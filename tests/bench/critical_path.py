"""Critical paths: traces per second of one core, beside the same walk in plain Python, on the same traces."""

import gzip
import json
import subprocess
import time
from tempfile import NamedTemporaryFile
from typing import Any

from bench import java_loop
from sluice.cli.traces.critical_path.parts import TraceParts
from sluice.cli.traces.critical_path.walker import command
from sluice.cli.traces.replay.records import Skipped, read_traces
from sluice_kit.reference.path_walk import critical_paths, jaeger_spans
from sluice_kit.traffic import hotel
from sluice_kit.traffic.path_traces import RECORDED

TRACES = 3_000
BAR = 50
#: The JVM compiles while it runs: long enough that this is a small part.
REPEATS = 100

Trace = dict[str, Any]


def run(quick: bool = False) -> list[tuple[str, str]]:
    """Rows (what, figure) for the table."""
    made = hotel.traces(TRACES, seed=11)
    rows = _walk("made", made, quick)
    recorded = RECORDED / "dsb_hotel_reservation__hotel_load100.jsonl.gz"
    if recorded.exists():
        with gzip.open(recorded, "rt") as lines:
            rows += _walk("recorded", [json.loads(line) for line, _ in zip(lines, range(TRACES), strict=False)], quick)
    return [*rows, ("made: decode, walk and print, fed through a pipe", f"{_piped(made, quick):,.0f} traces/s")]


def _walk(name: str, traces: list[Trace], quick: bool) -> list[tuple[str, str]]:
    seconds = 1.0 if quick else 5.0
    java = java_loop.run("WalkLoop", _messages(traces), seconds, seconds)["traces_per_s"]
    python = _plain_python(traces)
    return [
        (f"{name}, reference: the walk in plain Python", f"{python:,.0f} traces/s/core"),
        (f"{name}: the walk, from decoded spans to sections", f"{java:,.0f} traces/s/core"),
        (f"{name}: walk / reference (bar: {BAR})", f"{java / python:.0f}"),
    ]


def _plain_python(traces: list[Trace]) -> float:
    """Traces per CPU second; the best of three passes."""
    best = float("inf")
    for _ in range(3):
        spans = [jaeger_spans(trace) for trace in traces]
        begun = time.process_time()
        for span in spans:
            critical_paths(span)
        best = min(best, time.process_time() - begun)
    return len(traces) / best


def _piped(traces: list[Trace], quick: bool) -> float:
    """The command's own program, fed by cat, which takes next to nothing from the other core."""
    with NamedTemporaryFile("wb") as file:
        file.writelines(len(message).to_bytes(4, "big") + message for message in _messages(traces))
        file.flush()
        files = [file.name] * (REPEATS // 10 if quick else REPEATS)
        begun = time.perf_counter()
        with subprocess.Popen(["cat", *files], stdout=subprocess.PIPE) as feed:
            subprocess.run(
                command(), stdin=feed.stdout, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True
            )
        return len(traces) * len(files) / (time.perf_counter() - begun)


def _messages(traces: list[Trace]) -> list[bytes]:
    """One ExportTraceServiceRequest a trace."""
    parts = TraceParts()
    with NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.writelines(json.dumps(trace) + "\n" for trace in traces)
        file.flush()
        for trace in read_traces(file.name):
            if isinstance(trace, Skipped):
                raise ValueError(f"trace is not readable: {trace}")
            parts.add(trace)
    messages = list(parts.messages())
    parts.close()
    return messages
