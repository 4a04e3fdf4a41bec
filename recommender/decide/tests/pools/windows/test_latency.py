"""The recommender's end of the latency index, against the file that all implementations are held to."""

import csv
from pathlib import Path

import pytest

from sluice.pools.windows.latency import last_index_within

CONTRACT = Path(__file__).resolve().parents[5] / "tests/contract/latency_index.csv"


def test_a_threshold_ends_at_its_own_bucket_or_the_one_before() -> None:
    """Bucket i ends at 2^((i+1)/64): a duration closes its own bucket only where it is that edge, a power of two."""
    with CONTRACT.open() as lines:
        rows = [(int(row["duration_ns"]), int(row["index"])) for row in csv.DictReader(lines)]
    checked = [(ns, index) for ns, index in rows if ns >= 1]
    assert len(checked) > 200
    for ns, index in checked:
        on_the_edge = ns & (ns - 1) == 0
        assert last_index_within(ns) == (index if on_the_edge else index - 1), ns


def test_a_threshold_under_a_nanosecond_is_refused() -> None:
    with pytest.raises(ValueError, match=r"legal: >= 1 ns"):
        last_index_within(0)
