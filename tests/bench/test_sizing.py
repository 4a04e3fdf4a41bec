"""The sizing guide's arithmetic, by hand."""

import pytest

from bench.sizing.guide import bytes_per_series_day, cores_per_million, doublings, need, table
from bench.sizing.stages import Costs, Table

# 2 million spans in 100 s: 20,000 a second. 4 s of the collector are 2 s a million: 500,000 spans/s a core.
COSTS = Costs(2_000_000, 100.0, {"collector": 4.0}, {"collector": 1}, 150.0, (Table("windows", 10, 4_000),), 20)


def test_cpu_of_a_million_spans() -> None:
    assert cores_per_million(COSTS) == {"collector": 2.0}


def test_a_series_and_day() -> None:
    # 4,000 bytes of 20 series in 200 s: 1 byte a series and second.
    assert bytes_per_series_day(COSTS, 200.0) == 86_400


def test_a_rate_needs_in_proportion() -> None:
    # 100,000 spans/s: 0.2 cores, 15 MB/s, 1,000 pools of two series each, 168 us a pool and second.
    needed = need(COSTS, 200.0, 100_000.0)
    assert needed.cores == pytest.approx({"collector": 0.2, "decider": 0.168})
    assert needed.kafka_bytes_per_s == 15e6
    assert needed.clickhouse_bytes_per_day == pytest.approx(2_000 * 86_400)
    assert needed.decider_bytes == pytest.approx(121.6e6)
    assert "| cores, collector | 0.20 |" in table([needed])


def test_doublings() -> None:
    assert doublings({1: 100.0, 2: 180.0, 4: 360.0}) == [(2, 1.8), (4, 2.0)]
