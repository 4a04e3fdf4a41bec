"""Neo4j takes nothing, or too much came at once: windows and checkpoints go on, and the graph catches up."""

import os
import time

from neo4j import Driver

from sluice_kit.local_stack.driver import Stack, eventually
from sluice_kit.local_stack.flink import metric, next_checkpoints
from sluice_kit.local_stack.victims import Victims
from sluice_kit.traffic.messages import PARTITIONS, SentSpan, message, produce

S = 1_000_000_000
HOUR_S = 3600
NAMES_PER_MESSAGE = 500
BYTES_PER_NAME = 4_000  # of transaction memory, at least, for removing a service with its operation


def spans(services: list[str], end_ns: int) -> list[SentSpan]:
    """A trace of one span for each service, with an operation of its own."""
    return [
        SentSpan(service, os.urandom(16), os.urandom(8), b"", "SERVER", end_ns - S // 100, end_ns, name=f"{service}-op")
        for service in services
    ]


def send(stack: Stack, services: list[str], end_ns: int) -> None:
    cut = [services[n : n + NAMES_PER_MESSAGE] for n in range(0, len(services), NAMES_PER_MESSAGE)]
    produce(
        stack.address["SLUICE_KAFKA"], [(message(spans(part, end_ns)), n % PARTITIONS) for n, part in enumerate(cut)]
    )


def assert_windows_go_on(stack: Stack, service: str) -> None:
    send(stack, [service], time.time_ns())
    query = f"SELECT toUInt32(sum(completions)) FROM v_windows WHERE service = '{service}'"
    assert eventually(lambda: stack.value(query), 1, steady_s=0) == 1


def nodes(graph: Driver, prefix: str) -> int:
    query = "MATCH (n:Service) WHERE n.name STARTS WITH $prefix RETURN count(n)"
    return int(graph.execute_query(query, prefix=prefix).records[0].value())


def test_a_graph_that_is_stuck_holds_up_nothing_and_catches_up(stack: Stack, graph: Driver) -> None:
    with Victims(stack).stuck("neo4j"):
        send(stack, ["stuck-early"], time.time_ns())
        assert_windows_go_on(stack, "stuck-before")
        assert eventually(lambda: metric(stack, "seen", "pendingRows") not in ("", "0"), True, steady_s=0)
        next_checkpoints(stack)
        assert_windows_go_on(stack, "stuck-after")
    assert eventually(lambda: nodes(graph, "stuck-"), 3, steady_s=0) == 3


def test_a_burst_of_names_that_one_transaction_cannot_remove_goes(stack: Stack, graph: Driver) -> None:
    """More than Neo4j has memory for, an hour too old when something newer is seen: they come, they go, all goes on."""
    (limit,) = graph.execute_query("SHOW SETTINGS 'db.memory.transaction.max' YIELD value").records[0].values()
    count = int(limit.removesuffix("MiB").split(".")[0]) * 2**20 // BYTES_PER_NAME
    assert eventually(lambda: metric(stack, "seen", "ageing.removed") != "", True, steady_s=0)
    removed = int(metric(stack, "seen", "ageing.removed"))
    send(stack, [f"burst-{n}" for n in range(count)], time.time_ns() - 2 * HOUR_S * S)
    send(stack, ["after-the-burst"], time.time_ns())
    assert_windows_go_on(stack, "beside-the-burst")

    # Each is a service and an operation.
    def gone() -> int:
        return min(2 * count, int(metric(stack, "seen", "ageing.removed")) - removed)

    assert eventually(gone, 2 * count, steady_s=0) == 2 * count, metric(stack, "seen", "ageing.trouble")
    # One that was removed while rows of it were still under way came again, and is removed again.
    assert eventually(lambda: nodes(graph, "burst-"), 0, steady_s=0) == 0
    assert eventually(lambda: nodes(graph, "after-the-burst"), 1, steady_s=0) == 1
    next_checkpoints(stack)
    assert_windows_go_on(stack, "after-the-burst-2")
    assert metric(stack, "seen", "shedRows") == "0"
    assert metric(stack, "seen", "numRecordsSendErrors") == "0"
