"""The autoscaler's rule on numbers."""

import pytest

from testbed.autoscale import HorizontalScaler, VerticalScaler


def test_a_limit_goes_up_at_once_and_down_after_four_calm_samples():
    scaler = VerticalScaler(lowest=2, highest=4)
    assert [scaler.decide(2, 0.81), scaler.decide(3, 0.95), scaler.decide(4, 1.0)] == [3, 4, 4]
    assert [scaler.decide(4, 0.2) for _ in range(3)] == [4, 4, 4]
    assert scaler.decide(4, 0.5) == 4  # not calm: the count starts anew
    assert [scaler.decide(4, 0.2) for _ in range(5)] == [4, 4, 4, 3, 4]
    assert [VerticalScaler(lowest=2, patience=1).decide(2.5, 0.0), scaler.decide(3, 0.8)] == [2, 3]


@pytest.mark.parametrize(
    "build",
    [
        lambda: VerticalScaler(lowest=0),
        lambda: VerticalScaler(lowest=5, highest=4),
        lambda: VerticalScaler(step=0),
        lambda: VerticalScaler(low=0.8),
        lambda: VerticalScaler(patience=0),
    ],
)
def test_scalers_out_of_range_are_refused(build):
    with pytest.raises(ValueError, match="scale a CPU limit: needs"):
        build()


def test_replicas_come_at_once_and_go_after_four_calm_samples():
    scaler = HorizontalScaler(lowest=1, highest=3)
    assert [scaler.decide(1, 0.8), scaler.decide(1, 0.81), scaler.decide(2, 0.9), scaler.decide(3, 1.0)] == [1, 2, 3, 3]
    assert [scaler.decide(3, 0.2) for _ in range(3)] == [3, 3, 3]
    assert scaler.decide(3, 0.5) == 3  # not calm: the count starts anew
    assert [scaler.decide(3, 0.2) for _ in range(4)] == [3, 3, 3, 2]
    assert [HorizontalScaler(patience=1).decide(1, 0.0)] == [1]
