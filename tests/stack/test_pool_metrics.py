"""Sizes of pools go into the collector as agents send them; `pool_metrics` and the decider's query have them."""

import time
from typing import Any

from sluice_kit.local_stack.driver import Stack, eventually
from sluice_kit.traffic.otlp_http import point, send_metric

S = 1_000_000_000
POD = {"service.name": "pooled", "service.instance.id": "pooled-0"}


def test_the_size_of_a_pool_arrives_with_its_peer(stack: Stack) -> None:
    at_ns = time.time_ns() // S * S
    name = {"pool.name": "db:5432/shop"}
    send_metric(stack, POD, "db.client.connections.max", point(at_ns, 10, **name))
    send_metric(stack, POD, "db.client.connections.usage", point(at_ns, 7, state="used", **name))
    send_metric(stack, POD, "tomcat.threads.config.max", point(at_ns, 200, name="http-nio-8080"))

    def figures() -> list[tuple[Any, ...]]:
        rows = stack.rows(
            "SELECT toString(side) AS side, pool, peer, figure, value_min, value_max, last_ns "
            "FROM pool_metrics FINAL WHERE service = 'pooled' AND instance = 'pooled-0' ORDER BY side, figure"
        )
        return [(*list(row.values())[:4], *map(int, list(row.values())[4:])) for row in rows]

    expected = [
        ("client", "db:5432/shop", "db/shop", "size", 10, 10, at_ns),
        ("client", "db:5432/shop", "db/shop", "used", 7, 7, at_ns),
        ("server", "http-nio-8080", "", "size", 200, 200, at_ns),
    ]
    assert eventually(figures, expected) == expected
