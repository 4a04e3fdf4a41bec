"""Neo4j is stuck, then killed, under load: nothing waits for it, also not a savepoint, and the graph catches up."""

import random
import time

from sluice_kit.local_stack.driver import Stack, eventually
from sluice_kit.local_stack.flink import metric, next_checkpoints
from sluice_kit.local_stack.flink_jobs import keeper_at_rest
from sluice_kit.local_stack.topics import end_offsets
from sluice_kit.local_stack.victims import Victims
from sluice_kit.reference.graph import calls_in_neo4j, newest_calls
from sluice_kit.reference.truth import TABLES, Reference, check, records_since
from sluice_kit.traffic.messages import message, produce
from sluice_kit.traffic.traffic import Traffic, trace
from stack.flink import JOBS

PREFIX = "away-"
ONCE = f"{PREFIX}once-"
SPANS_PER_S = 300
WINDOWS, EDGES = (next(table for table in TABLES if table.name == name) for name in ("windows", "call_edges"))


def test_nothing_waits_for_the_graph_and_it_misses_nothing(stack: Stack) -> None:
    start = end_offsets(stack, "otlp_spans")
    victims = Victims(stack)
    with Traffic(stack.address["SLUICE_OTLP_GRPC"], PREFIX, SPANS_PER_S, seed=1) as traffic:
        assert eventually(lambda: len(calls_in_neo4j(stack, PREFIX)), 3, steady_s=0) == 3
        with keeper_at_rest(stack) as jobs:
            job = jobs.only()
            before = retries(stack)
            with victims.stuck("neo4j"):
                assert eventually(lambda: "Neo4j" in metric(stack, "seen", "trouble"), True, steady_s=0)
                # Longer than a writer waits for an answer.
                assert eventually(lambda: retries(stack) > before, True, steady_s=0)
                next_checkpoints(stack, 3)
                once = trace(random.Random(2), ONCE, time.time_ns())
                produce(stack.address["SLUICE_KAFKA"], [(message(once), 0)])
                # What is in call_edges waits for the graph as well; nobody will ever send it again.
                assert eventually(lambda: len(EDGES.read(stack, ONCE)), 3, steady_s=0) == 3
                jobs.run(*JOBS, savepoint=jobs.stop(job))
                next_checkpoints(stack, 2)
            killed = victims.kill("neo4j")
            next_checkpoints(stack, 2)
            victims.wait_back("neo4j", killed)
            traffic.stop()

            records = [record for record in records_since(stack, start) if PREFIX.encode() in (record.message or b"")]
            reference = Reference(records)
            check(stack, WINDOWS, PREFIX, reference)
            newest = newest_calls(reference)
            assert len(newest) == 6
            assert eventually(lambda: calls_in_neo4j(stack, PREFIX), newest) == newest
            # A job that was just started has no metrics for some seconds.
            assert eventually(lambda: metric(stack, "calls", "shedRows"), "0", steady_s=0) == "0"


def retries(stack: Stack) -> int:
    return int(metric(stack, "seen", "retries") or 0)
