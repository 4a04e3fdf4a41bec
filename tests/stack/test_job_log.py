"""The log of the streaming job: no checkpoint writes a line that says nothing."""

from pathlib import Path

from sluice_kit.local_stack.driver import Stack
from sluice_kit.local_stack.flink import next_checkpoints


def test_no_checkpoint_warns_of_the_name_of_a_metric(stack: Stack) -> None:
    next_checkpoints(stack, 2)
    log = Path(stack.address["SLUICE_STATE"], "logs/flink-taskmanager.log").read_text(errors="replace")
    assert "sluice" in log  # the log of a TaskManager that runs the job
    assert "Name collision" not in log
