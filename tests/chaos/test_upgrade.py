"""Deploying by hand: a savepoint across parallelism and state backend. tests/soak/test_jobs_alone.py has the rest."""

from sluice_kit.local_stack.driver import Stack
from sluice_kit.local_stack.flink_jobs import FlinkJobs
from sluice_kit.traffic.sender import OF_SPANS, TRACES, Sender, assert_exact
from stack.flink import JOBS


def test_a_savepoint_is_restored_at_another_parallelism_and_on_another_backend(flink: FlinkJobs, stack: Stack) -> None:
    """Traces are open and sums half made in the savepoint. tests/soak goes back to one, too."""
    sender = Sender(stack, "savepoint-")
    halves = sender.traces(2 * TRACES)
    sender.send(halves[:TRACES])
    savepoint = flink.stop(flink.only())

    on_heap = flink.run(*JOBS, "--name", "on-heap", savepoint=savepoint, parallelism=2, backend="hashmap")
    sender.send(halves[TRACES:])
    assert_exact(sender, *OF_SPANS)
    flink.cancel(on_heap)
