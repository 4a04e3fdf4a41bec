"""Deploying by hand: a savepoint across parallelism and state backend. tests/long deploys each job alone."""

from collections.abc import Iterator

import pytest

from faults.flink_jobs import FlinkJobs, keeper_at_rest
from faults.sender import OF_SPANS, TRACES, Sender, assert_exact
from stack.flink import JOBS
from support.stack import Stack


@pytest.fixture(scope="module")
def flink(stack: Stack) -> Iterator[FlinkJobs]:
    with keeper_at_rest(stack) as jobs:
        yield jobs


def test_a_savepoint_is_restored_at_another_parallelism_and_on_another_backend(flink: FlinkJobs, stack: Stack) -> None:
    """Traces stay open and sums half made in each savepoint."""
    sender = Sender(stack, "savepoint-")
    thirds = sender.traces(3 * TRACES)
    sender.send(thirds[:TRACES])
    savepoint = flink.stop(flink.only())

    wider = flink.run(*JOBS, "--name", "wider", savepoint=savepoint, parallelism=2)
    sender.send(thirds[TRACES : 2 * TRACES])
    savepoint = flink.stop(wider)

    on_heap = flink.run(*JOBS, "--name", "on-heap", savepoint=savepoint, parallelism=1, backend="hashmap")
    sender.send(thirds[2 * TRACES :])
    assert_exact(sender, *OF_SPANS)
    flink.cancel(on_heap)
