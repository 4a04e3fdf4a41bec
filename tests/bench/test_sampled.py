"""A sample is held through the shipped loop, from the first second on; all requests are decided as before."""

import numpy as np
import pytest

from bench import sampled, scaled
from testbed.single.scenario import Scenario

from .test_race import made


def busy(seconds: float = 40) -> Scenario:
    """60 threads serve 450 of 730 requests a second, 10 threads all of them."""
    law = {"compute_ms": 1.9, "wait_ms": 1.2, "sigma": 0.5, "contention": 0.005, "crosstalk": 0.0003}
    return made(seconds=seconds, users=1_200, service={"cores": 2, "threads": 60, **law})


@pytest.mark.parametrize("kept", [0.5, 0.1, 0.01])
def test_a_sample_changes_no_size(kept: float) -> None:
    outcome = sampled.drive(busy(), kept, 1)
    assert outcome.changes == 0
    assert "SAMPLED" in outcome.codes
    assert outcome.good == outcome.held


def test_all_requests_are_decided() -> None:
    outcome = sampled.drive(busy(), 1.0, 1)
    assert outcome.changes > 0
    assert not outcome.codes & {"SAMPLED", "TAIL_SAMPLED"}
    assert outcome.good >= outcome.held


def test_a_sampler_that_begins_costs_nothing() -> None:
    outcome = sampled.drive(busy(60), 0.1, 1, since_s=30)
    assert "SAMPLED" in outcome.codes
    assert outcome.good >= 0.97 * sampled.drive(busy(60), 1.0, 1).good


def test_a_report_has_a_row_a_workload_and_share() -> None:
    text = sampled.report({"busy": made(seconds=12)}, (1,), (0.5,), 6)
    assert text.count("| busy | 50 % |") == 1


def test_what_is_named_by_a_sample_is_held_and_has_a_regret() -> None:
    found = scaled.named(scaled.waves(busy(), 20, 240), 0.5, 1)
    assert found.actions == {"HOLD"}
    assert len(found.sizes) == 120
    assert found.causes.total() == found.sizes.count(None)
    assert scaled.Named((1, None, 2), found.causes, found.actions).regrets(np.array([90.0, 100.0])) == [
        pytest.approx(0.1),
        0.0,
    ]
