"""How far the journal's readers and the stages lag, and for how long the local broker keeps records."""

import pytest

from sluice.cli.doctor.backlog import judge_readers, judge_stage_lags
from sluice.cli.doctor.retention import PartitionRetention
from sluice.cli.doctor.time_kept import judge_time_kept

MIB, HOUR_MS, NOW_MS = 2**20, 3_600_000, 1_000_000
# The oldest record is 600 s old. 8 MiB and 6 h are kept.
SPANS = PartitionRetention("otlp_spans", 0, 0, 5000, 6 * HOUR_MS, NOW_MS - 600_000, retention_bytes=8 * MIB)


def test_readers_of_the_journal_are_named_with_their_lag() -> None:
    verdict = judge_readers({"sluice_reports-deciders": 1, "sluice_decisions-sluice-records": 2000})
    assert verdict.text == (
        "group sluice_decisions-sluice-records: 2,000 records behind; group sluice_reports-deciders: 1 records behind"
    )
    assert judge_readers({}).level == "unknown"


def test_a_lag_that_is_unknown_is_not_zero() -> None:
    verdict = judge_stage_lags([("emit to kafka", 350.0), ("newest window", None)])
    assert (verdict.level, verdict.text) == ("ok", "emit to kafka 350 ms; newest window unknown")
    assert judge_stage_lags([("newest window", None)]).level == "unknown"


@pytest.mark.parametrize(
    ("mib", "text"),
    [
        # Of 8 MiB in 6 h, 8 * 600 / 21600 = 0.222 MiB arrive in 600 s.
        (0.2, "otlp_spans: 6.0 h"),
        (1, "otlp_spans: 1.3 h at this rate, because 8 MiB a partition are full before 6.0 h"),
        (0, "too few records to tell a rate"),
    ],
)
def test_a_topic_shows_for_how_long_it_keeps_records_at_its_rate(mib: float, text: str) -> None:
    assert judge_time_kept([SPANS], {("otlp_spans", 0): int(mib * MIB)}, NOW_MS).text == text


def test_the_partition_that_is_full_first_counts() -> None:
    other = PartitionRetention("otlp_spans", 1, 0, 5000, 6 * HOUR_MS, NOW_MS - 600_000, retention_bytes=8 * MIB)
    held = {("otlp_spans", 0): MIB, ("otlp_spans", 1): 2 * MIB}
    assert judge_time_kept([SPANS, other], held, NOW_MS).text.startswith("otlp_spans: 40.0 min at this rate")


def test_a_minute_tells_no_rate_and_no_limit_is_never_full() -> None:
    held = {("otlp_spans", 0): MIB}
    assert "rate" in judge_time_kept([SPANS], held, NOW_MS - 541_000).text
    unlimited = PartitionRetention("otlp_spans", 0, 0, 5000, 6 * HOUR_MS, NOW_MS - 600_000)
    assert "too few" in judge_time_kept([unlimited], held, NOW_MS).text
