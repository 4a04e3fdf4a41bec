"""Critical paths: traces per second of one core, beside the same walk in plain Python, on the same made traces."""

import json
import subprocess
import time
from tempfile import NamedTemporaryFile

from integration import hotel
from integration.path_reference import critical_paths, jaeger_spans
from sluice.cli.critical_path.parts import TraceParts
from sluice.cli.critical_path.walker import command
from sluice.cli.replay.records import Skipped, read_traces

TRACES = 3_000
#: The JVM compiles while it runs: long enough that this is a small part.
REPEATS = 200


def run() -> list[tuple[str, str]]:
    """Rows (what, figure) for the table."""
    made = hotel.traces(TRACES, seed=11)
    with NamedTemporaryFile("wb") as file:
        file.writelines(len(message).to_bytes(4, "big") + message for message in _messages(made))
        file.flush()
        begun = time.perf_counter()
        counts = _run(file.name)
        elapsed_s = time.perf_counter() - begun
    java = counts["traces"] / (counts["walk_us"] / 1e6)

    spans = [jaeger_spans(trace) for trace in made]
    begun = time.process_time()
    for each in spans:
        critical_paths(each)
    python = TRACES / (time.process_time() - begun)
    return [
        ("reference: the walk in plain Python", f"{python:,.0f} traces/s/core"),
        ("the walk, from decoded spans to sections", f"{java:,.0f} traces/s/core"),
        ("walk / reference", f"{java / python:.0f}"),
        ("decode, walk and print, fed through a pipe", f"{counts['traces'] / elapsed_s:,.0f} traces/s"),
    ]


def _run(path: str) -> dict[str, int]:
    """Fed by cat, which takes next to nothing from the other core."""
    with subprocess.Popen(["cat", *[path] * REPEATS], stdout=subprocess.PIPE) as feed:
        done = subprocess.run(
            command(), stdin=feed.stdout, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True
        )
    counts: dict[str, int] = json.loads(done.stderr)
    return counts


def _messages(made: list[dict[str, object]]) -> list[bytes]:
    parts = TraceParts()
    with NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.writelines(json.dumps(trace) + "\n" for trace in made)
        file.flush()
        for trace in read_traces(file.name):
            if isinstance(trace, Skipped):
                raise ValueError(f"made trace is not readable: {trace}")
            parts.add(trace)
    messages = list(parts.messages())
    parts.close()
    return messages
