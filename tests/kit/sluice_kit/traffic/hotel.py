"""A hotel reservation in Jaeger JSON: six services, eleven spans a trace, five edges.

Shaped as DeathStarBench's hotelReservation is when traced: the frontend calls search, reservation and profile one
after the other, search calls geo and rate, every call is a CLIENT span and a SERVER span with the same operation, and
no CLIENT span names its peer.
"""

import random
from typing import Any

EDGES = {
    ("frontend", "search"),
    ("frontend", "reservation"),
    ("frontend", "profile"),
    ("search", "geo"),
    ("search", "rate"),
}
SPANS_PER_TRACE = 1 + 2 * len(EDGES)


def traces(count: int, seed: int, prefix: str = "", start_us: int = 1_655_760_000_000_000) -> list[dict[str, Any]]:
    """`count` traces, 20 ms apart from `start_us` (epoch microseconds); same seed, same traces.

    `prefix` comes before each service's name: services that no other test counts.
    """
    rng = random.Random(seed)
    return [_trace(rng, prefix, start_us + 20_000 * n) for n in range(count)]


def _trace(rng: random.Random, prefix: str, start_us: int) -> dict[str, Any]:
    trace_id = f"{rng.getrandbits(64):016x}"
    processes: dict[str, dict[str, Any]] = {}
    spans: list[dict[str, Any]] = []

    def span(service: str, operation: str, kind: str, parent: str | None, start: int, duration: int) -> str:
        span_id = f"{rng.getrandbits(64):016x}"
        host = {"key": "hostname", "type": "string", "value": f"{service}-0"}
        processes.setdefault(service, {"serviceName": prefix + service, "tags": [host]})
        references = [{"refType": "CHILD_OF", "traceID": trace_id, "spanID": parent}] if parent else []
        spans.append(
            {
                "traceID": trace_id,
                "spanID": span_id,
                "operationName": operation,
                "references": references,
                "startTime": start,
                "duration": duration,
                "tags": [{"key": "span.kind", "type": "string", "value": kind}],
                "processID": service,
            }
        )
        return span_id

    def call(caller: str, callee: str, parent: str, start: int, duration: int) -> str:
        client = span(caller, f"/{callee}", "client", parent, start, duration)
        return span(callee, f"/{callee}", "server", client, start + 300, duration - 600)

    root = span("frontend", "GET /hotels", "server", None, start_us, 60_000 + rng.randrange(20_000))
    search = call("frontend", "search", root, start_us + 500, 30_000)
    call("search", "geo", search, start_us + 1_500, 9_000 + rng.randrange(3_000))
    call("search", "rate", search, start_us + 14_000, 8_000 + rng.randrange(8_000))
    call("frontend", "reservation", root, start_us + 32_000, 12_000)
    call("frontend", "profile", root, start_us + 46_000, 5_000 + rng.randrange(9_000))
    return {"traceID": trace_id, "spans": spans, "processes": processes}
