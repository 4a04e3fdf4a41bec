"""How much evidence is asked for in buckets of another length."""

import pytest

from sluice.pools.estimate.evidence import NEED, need_at


@pytest.mark.parametrize(
    ("bucket_ms", "buckets", "per_point"), [(10, 3000, 100), (50, 600, 20), (200, 150, 5), (500, 60, 5), (1000, 60, 5)]
)
def test_the_same_time_in_other_buckets(bucket_ms: int, buckets: int, per_point: int) -> None:
    need = need_at(bucket_ms)
    assert (need.buckets, need.buckets_per_point) == (buckets, per_point)
    assert (need.levels, need.coverage) == (NEED.levels, NEED.coverage)


def test_at_100_ms_nothing_changes() -> None:
    assert need_at(100) == NEED
