import pytest

from sluice.pools.estimate.confidence import confidence


@pytest.mark.parametrize(
    ("buckets", "lower", "upper", "agree", "by_caller", "value"),
    [
        (600, 10, 16, True, True, 0.87),  # 0.909 x 0.953
        (600, 8, 64, True, True, 0.51),  # 0.909 x 0.5625
        (100, 10, 16, True, True, 0.60),  # 0.625 x 0.953
        (600, 10, 16, False, False, 0.35),  # 0.87 x 0.8 x 0.5
    ],
)
def test_the_worked_values_of_its_comment(
    buckets: int, lower: float, upper: float, agree: bool, by_caller: bool, value: float
) -> None:
    assert confidence(buckets, lower, upper, 64, agree, by_caller) == pytest.approx(value, abs=0.005)
