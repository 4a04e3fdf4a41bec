"""Makes traces.jsonl.gz and metrics.jsonl.gz in a folder: five minutes of a small shop, for `./sluice report`.

Between 2 and 60 users ask for carts, which take a query each. The service has 24 connections to its database. A query
takes 20 ms alone, and longer the more of them run: of fixed sizes, 9 complete most. The seed is fixed, so every run
makes the same files.

    python make_recording.py FOLDER
"""

import gzip
import heapq
import json
import sys
from collections import deque
from pathlib import Path
from random import Random
from typing import Any

START_S, SECONDS, CONNECTIONS = 1_700_000_040, 300, 24
ALONE_S, THINKS_S = 0.02, 0.08
USERS = (2, 4, 8, 16, 60)  # of each minute


def query_s(running: int) -> float:
    return ALONE_S * (1 + 0.02 * (running - 1) + 0.012 * running * (running - 1))


def recording(chance: Random) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The traces, and what the connection pool was every 10 s."""
    traces, metrics = [], []
    events = [(0.0, number, "asks", 0.0) for number in range(max(USERS))]
    heapq.heapify(events)
    waiting: deque[tuple[int, float]] = deque()
    running, next_s = 0, 10.0
    while events and events[0][0] < SECONDS:
        now, user, what, asked = heapq.heappop(events)
        while now >= next_s:
            metrics.append({"at_s": next_s, "max": CONNECTIONS, "used": running, "pending_requests": len(waiting)})
            next_s += 10.0
        if what == "asks" and user >= USERS[int(now // 60)]:
            heapq.heappush(events, (now + 1.0, user, "asks", 0.0))
            continue
        if what == "asks":
            waiting.append((user, now))
        else:
            running -= 1
            heapq.heappush(events, (now + chance.expovariate(1 / THINKS_S), user, "asks", 0.0))
        while waiting and running < CONNECTIONS:
            user, asked = waiting.popleft()
            running += 1
            took = query_s(running) * chance.uniform(0.8, 1.2)
            traces.append({"asked": asked, "begins": now, "ends": now + took})
            heapq.heappush(events, (now + took, user, "ends", asked))
    return traces, metrics


def main(folder: Path) -> None:
    chance = Random(1)
    traces, metrics = recording(chance)
    with gzip.open(folder / "traces.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(_trace(trace, chance)) + "\n" for trace in traces)
    with gzip.open(folder / "metrics.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(_message(metric)) + "\n" for metric in metrics)


def _trace(trace: dict[str, float], chance: Random) -> dict[str, Any]:
    trace_id, ids = f"{chance.getrandbits(128):032x}", [f"{chance.getrandbits(64):016x}" for _ in range(2)]
    times = [(trace["asked"], trace["ends"] + 0.001), (trace["begins"], trace["ends"])]
    names = [
        ("GET /cart", {"span.kind": "server"}),
        ("SELECT cart", {"span.kind": "client", "peer.service": "cart-db"}),
    ]
    spans = [
        {
            "traceID": trace_id,
            "spanID": span_id,
            "operationName": name,
            "references": [{"refType": "CHILD_OF", "traceID": trace_id, "spanID": ids[0]}] if span_id != ids[0] else [],
            "startTime": START_S * 10**6 + round(begin * 1e6),
            "duration": round((end - begin) * 1e6),
            "tags": [{"key": key, "type": "string", "value": value} for key, value in tags.items()],
            "processID": "p1",
        }
        for span_id, (begin, end), (name, tags) in zip(ids, times, names, strict=True)
    ]
    process = {"serviceName": "cart", "tags": [{"key": "hostname", "type": "string", "value": "cart-0"}]}
    return {"traceID": trace_id, "spans": spans, "processes": {"p1": process}}


def _message(metric: dict[str, Any]) -> dict[str, Any]:
    """As the OpenTelemetry agent for Java sends HikariCP's figures."""
    time_ns = str(round((START_S + metric["at_s"]) * 1e9))

    def level(name: str, value: int, state: str = "") -> dict[str, Any]:
        attributes = {"pool.name": "HikariPool-1"} | ({"state": state} if state else {})
        point = {"attributes": _pairs(attributes), "timeUnixNano": time_ns, "asInt": str(value)}
        return {
            "name": f"db.client.connections.{name}",
            "sum": {"aggregationTemporality": 2, "isMonotonic": False, "dataPoints": [point]},
        }

    levels = [level("max", metric["max"]), level("usage", metric["used"], "used")]
    levels.append(level("pending_requests", metric["pending_requests"]))
    resource = {"attributes": _pairs({"service.name": "cart", "service.instance.id": "cart-0"})}
    return {"resourceMetrics": [{"resource": resource, "scopeMetrics": [{"metrics": levels}]}]}


def _pairs(attributes: dict[str, str]) -> list[dict[str, Any]]:
    return [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
