"""kill -9 of processes in turn, under load: every acknowledged span is in every table, and once."""

import time
from collections.abc import Callable, Sequence
from functools import partial

import pytest

from sluice_kit.local_stack.driver import Stack
from sluice_kit.local_stack.topics import end_offsets
from sluice_kit.local_stack.victims import Victims
from sluice_kit.reference.copies import check_whichever_copy
from sluice_kit.reference.graph import calls_in_neo4j, newest_calls
from sluice_kit.reference.truth import sent_since
from sluice_kit.traffic.traffic import Traffic
from sluice_kit.waiting import eventually, until

SPANS_PER_S = 1_000
WINDOW_S = 10  # of the call graph
# Longer than a checkpoint's interval: each kill finds another state than the one before left.
PAUSE_S = 3.0


def kill_each(stack: Stack, names: Sequence[str], prefix: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Kills the processes of these names, waiting for the tables after each; then compares the tables with the truth.

    Services of the traffic begin with `prefix`, which no other test uses.
    """

    start = end_offsets(stack, "otlp_spans")
    victims = Victims(stack)
    with Traffic(stack.address["SLUICE_OTLP_GRPC"], prefix, SPANS_PER_S, seed=1) as traffic:
        wait_current(partial(newest_window, stack, prefix), time.time())
        for name in names:
            time.sleep(PAUSE_S)
            began = time.time()
            killed = victims.kill(name)
            victims.wait_back(name, killed)
            back = time.time()
            newest = newest_in_graph if name == "neo4j" else newest_window
            wait_current(partial(newest, stack, prefix), back)
            with capsys.disabled():
                print(
                    f"\n{name}: back after {back - began:.1f} s, tables current after {time.time() - began:.1f} s",
                    end="",
                )
        time.sleep(PAUSE_S)
        traffic.stop()

    reference, ids = sent_since(stack, start, prefix)
    # What the collector acknowledged is on the topic, and nothing else.
    assert set(ids) == traffic.acknowledged
    with capsys.disabled():
        print(f"\n{len(traffic.acknowledged)} spans, {traffic.retries} retries, {len(ids) - len(set(ids))} repeats")
    check_whichever_copy(stack, prefix, reference)
    calls = newest_calls(reference)
    assert calls
    assert eventually(lambda: calls_in_neo4j(stack, prefix), calls) == calls


def newest_window(stack: Stack, prefix: str) -> float:
    """Start of the newest bucket in ClickHouse of services whose names begin so, in s; 0 when there is none."""
    query = f"SELECT toUnixTimestamp64Milli(max(bucket)) FROM windows WHERE startsWith(service, '{prefix}')"
    return float(stack.value(query)) / 1000


def newest_in_graph(stack: Stack, prefix: str) -> float:
    """End of the newest window of these services' edges in Neo4j, in s; 0 when there is none."""
    return max((window + WINDOW_S for window, _, _ in calls_in_neo4j(stack, prefix).values()), default=0.0)


def wait_current(newest: Callable[[], float], since_s: float) -> None:
    """Returns when a store has spans that ended after `since_s` (Unix time)."""
    until("something newer than the kill", lambda: newest() > since_s)
