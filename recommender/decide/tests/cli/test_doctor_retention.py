"""How close deletion is to what is still to be read: by times, with six hours kept."""

import socket
from dataclasses import replace

import pytest

from sluice.cli.doctor.finding import Diagnosis
from sluice.cli.doctor.retention import PartitionRetention, judge_retention, looking
from sluice.journal.kafka_settings import from_environment

HOUR = 3_600_000
NOW = 100 * HOUR
METRICS = PartitionRetention("otlp_metrics", 0, 0, 0, 6 * HOUR)


def spans(**more: object) -> PartitionRetention:
    """Nothing is deleted yet; what is read next came 36 s ago."""
    kept = PartitionRetention(
        "otlp_spans", 1, 0, 500, 6 * HOUR, NOW - 2 * HOUR, "sluice-streaming", 490, NOW - HOUR // 100
    )
    return replace(kept, **more)  # type: ignore[arg-type]


def test_a_reader_that_keeps_up() -> None:
    diagnosis = judge_retention([spans(), METRICS], NOW)
    assert diagnosis == Diagnosis("ok", "otlp_spans: oldest record 2.0 h old of 6.0 h; otlp_metrics is empty")
    assert judge_retention([spans(next_ms=None, committed=500), METRICS], NOW).level == "ok"
    assert judge_retention([spans(group="", committed=None, next_ms=None), METRICS], NOW).level == "ok"


def test_half_of_the_time_is_used_up() -> None:
    assert judge_retention([spans(next_ms=NOW - 3 * HOUR), METRICS], NOW).level == "ok"
    late = judge_retention([spans(), spans(partition=0, next_ms=NOW - 4.5 * HOUR), METRICS], NOW)
    assert late.level == "warn"
    assert late.text == (
        "the next record of sluice-streaming in otlp_spans/0 is 4.5 h old, 75% of the 6.0 h that Kafka keeps"
    )
    assert "flink" in late.remedy


def test_the_limit_of_bytes_comes_first() -> None:
    # Something is deleted, and the oldest record left is an hour old: an hour is what is kept.
    short = spans(low=100, oldest_ms=NOW - HOUR)
    diagnosis = judge_retention([short, METRICS], NOW)
    assert diagnosis.level == "warn"
    assert diagnosis.text.endswith("The byte limit deletes before the time limit in otlp_spans")
    assert "retention.bytes" in diagnosis.remedy
    late = judge_retention([replace(short, next_ms=NOW - HOUR * 3 // 4), METRICS], NOW)
    assert "75% of the 1.0 h that Kafka keeps" in late.text
    # By time: what is left is nearly as old as it may get.
    assert judge_retention([spans(low=100, oldest_ms=NOW - 5.5 * HOUR), METRICS], NOW).level == "ok"


def test_without_a_limit_of_time_nothing_is_used_up() -> None:
    assert judge_retention([spans(retention_ms=-1, next_ms=0, oldest_ms=0), METRICS], NOW) == Diagnosis(
        "ok", "otlp_spans: oldest record 4.2 d old of no limit; otlp_metrics is empty"
    )


def test_what_is_deleted_before_it_was_read() -> None:
    diagnosis = judge_retention([spans(low=1490), METRICS], NOW)
    assert diagnosis.level == "warn"
    assert diagnosis.text == "Kafka deleted 1,000 records of otlp_spans/1 that sluice-streaming has not read"


def test_no_topics() -> None:
    assert judge_retention([], NOW).level == "unknown"


def test_a_broker_that_is_gone_is_no_line_in_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        gone = f"127.0.0.1:{server.getsockname()[1]}"
    consumer = looking(from_environment({"SLUICE_KAFKA": gone}))
    consumer.poll(1.0)
    consumer.close()
    assert capfd.readouterr() == ("", "")
