"""A random schedule of faults under load, with the exact truth as its oracle."""

import os

import pytest

from sluice_kit.faults import disks, network
from sluice_kit.faults.counted import counted
from sluice_kit.faults.machine import on_disks
from sluice_kit.faults.schedule import schedule
from sluice_kit.local_stack.driver import Stack

#: 20 minutes of an idle machine.
COUNT = 25


@pytest.mark.skipif(not (disks.possible() and network.possible()), reason="needs root, loop devices and cgroups 2")
def test_a_random_schedule_loses_nothing_and_counts_nothing_twice(
    stack: Stack, capsys: pytest.CaptureFixture[str]
) -> None:
    with capsys.disabled(), on_disks(stack) as machine:
        counted(stack, machine, schedule(int(os.environ.get("SLUICE_SEED", "1")), COUNT), "random-faults-")
