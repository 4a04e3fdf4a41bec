"""A service with its instrumentation's defaults and a recommender without a configuration: its pool is found.

The size that it gets is the longer test's, tests/soak/test_from_nothing.py.
"""

import os

import pytest

from sluice.common.v1.decision_pb2 import Action
from sluice_kit.applications.from_nothing import from_nothing
from sluice_kit.local_stack.driver import Stack


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core for the service and one for its load are needed")
def test_a_pool_that_nobody_named_is_found_with_its_size(
    stack: Stack, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with from_nothing(stack, tmp_path_factory.mktemp("from-nothing")) as scene:
        quick = scene.services["quick"]
        found = scene.found(quick, 300, lambda size: size.current == quick.first)
        print(f"found after {found.after_s:.0f} s of load", flush=True)
        assert found.size.current == quick.first
        assert found.size.action == Action.ACTION_HOLD
        assert {"NO_ACTUATOR", "SLO_UNCONFIRMED"} <= {reason.code for reason in found.size.reasons}
