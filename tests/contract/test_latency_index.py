"""The table that every implementation is tested against is what exact arithmetic gives."""

from contract.make_latency_index import OUT, exact_index, table


def test_the_table_is_current() -> None:
    assert OUT.read_text() == table()


def test_worked_durations() -> None:
    # 1 = 2^0 ends bucket -1; 2 = 2^(64/64) ends bucket 63, and 3 lies above it; log2(1e6) * 64 = 1275.6.
    assert [exact_index(ns) for ns in (0, 1, 2, 1_000_000)] == [-1, -1, 63, 1275]
    assert exact_index(2**20) == 1279
    assert exact_index(2**20 + 1) == 1280
