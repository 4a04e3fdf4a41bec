"""200 new instances a minute and 20 deployments an hour: nothing grows with the instances that were."""

import os

import pytest

from sluice_kit.faults.growth import churned, grown, quarters
from sluice_kit.local_stack.driver import Stack


def test_nothing_grows_with_instances_that_come_and_go(stack: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        samples = churned(stack, "churn-", float(os.environ.get("SLUICE_MINUTES", "20")))
    assert not grown(quarters(samples))
