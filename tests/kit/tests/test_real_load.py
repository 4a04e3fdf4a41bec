"""Percentiles of what users saw, from the histograms of their seconds."""

import math

import pytest

from sluice_kit.applications.real_load import percentile_ms
from testbed.windows import latency_index

MS = 10**6


def test_a_percentile_is_the_upper_end_of_its_bucket_and_a_failure_took_forever() -> None:
    report = {"responses": 60, "latency": {str(latency_index(1 * MS)): 60}}
    two = {"responses": 40, "latency": {str(latency_index(1 * MS)): 38, str(latency_index(2 * MS)): 1}}
    assert 1.0 <= percentile_ms([report, two], 0.98) <= 1.011
    assert 2.0 <= percentile_ms([report, two], 0.99) <= 2.022
    assert percentile_ms([report, two], 1.0) == math.inf


def test_without_responses_there_is_none() -> None:
    assert percentile_ms([{"responses": 0, "latency": {}}], 0.99) == pytest.approx(math.inf)
