"""Status: what is shown, and that what is not known is never 0."""

import datetime

import pytest

from stack.first_recommendation import decided
from stack.lag import ago, checkpoints_text, lag_rows, metric, missed_text, on_topic_text, topic_text
from stack.status import row, table
from stack.supervisor import Process

METRICS = """\
# TYPE otelcol_exporter_queue_size gauge
otelcol_exporter_queue_size{data_type="metrics",exporter="kafka"} 100
otelcol_exporter_queue_size{data_type="traces",exporter="kafka"} 1.5e+03
up 1
"""


def process(**changes: object) -> Process:
    facts = {"name": "kafka", "state": "RUNNING", "ready": True, "pid": 7, "restarts": 0, "exit_code": 0}
    facts |= {"started": datetime.datetime(2026, 1, 1, 11, 58, 30).timestamp(), "memory_bytes": 3 * 2**20}
    return Process(**(facts | changes))  # type: ignore[arg-type]


def test_metric_adds_up_its_series() -> None:
    assert metric(METRICS, "otelcol_exporter_queue_size") == 1600.0
    assert metric(METRICS, "up") == 1.0


def test_a_metric_that_is_not_there_is_none_and_not_0() -> None:
    assert metric(METRICS, "queue_size") is None


def test_a_lag_that_is_not_known_says_so() -> None:
    assert lag_rows([("newest window", None), ("emit to kafka", 350.0)]) == [
        ("newest window", "unknown: nothing in the last minute"),
        ("emit to kafka", "0.35 s"),
    ]


def topic(**more: object) -> dict[str, object]:
    """Two partitions of which one is empty, as kafka/offsets.py tells it: 6 h and 8 MiB a partition are kept."""
    facts = {"records": 5000, "groups": {"g": 12}, "missed": {"g": 0}, "oldest_ms": {"0": 400_000, "1": None}}
    return facts | {"retention_ms": 21_600_000, "retention_bytes": 8 * 2**20} | more


def test_a_topic_that_nobody_reads_says_so() -> None:
    empty = topic(records=0, groups={}, missed={}, oldest_ms={"0": None})
    assert topic_text(empty, {"0": 0}, 1000) == "0 records, 0.0 MiB; unknown: no consumer has committed an offset"


def test_a_topic_shows_for_how_long_it_keeps_records_at_its_rate() -> None:
    # 600 s old. Of 8 MiB in 6 h come 8 * 600 / 21600 = 0.222 MiB in 600 s.
    reader = "g is 12 behind its last checkpoint"
    assert topic_text(topic(), {"0": 2**20 // 5, "1": 0}, 1000) == (
        f"5,000 records, 0.2 MiB, the oldest 10 min 0 s old; kept 6 h 0 min; {reader}"
    )
    assert topic_text(topic(), {"0": 2**20, "1": 0}, 1000) == (
        "5,000 records, 1.0 MiB, the oldest 10 min 0 s old; "
        f"kept 1 h 20 min at this rate: 8 MiB a partition are full before 6 h 0 min; {reader}"
    )
    assert "kept" not in topic_text(topic(), {"0": 2**20}, 459)  # a minute tells no rate
    assert "kept" not in topic_text(topic(retention_bytes=-1), {"0": 2**20}, 1000)


def test_records_that_were_deleted_unread_are_told() -> None:
    text = topic_text(topic(missed={"g": 1234}), {"0": 2**20}, 459)
    assert text.endswith("; 1,234 records were deleted before g read them")
    assert missed_text([]) == "none in the last day"
    assert missed_text([("otlp_spans/0", 1234), ("otlp_spans/1", 5)]) == (
        "1,234 of otlp_spans/0, 5 of otlp_spans/1: deleted before they were read"
    )


def test_checkpoints_that_do_not_complete_for_three_periods_are_an_error() -> None:
    last = {"latest_ack_timestamp": 985_000, "end_to_end_duration": 40}
    facts = {"latest": {"completed": last}, "counts": {"failed": 1}}
    assert checkpoints_text(facts, 5.0, 500.0, 1000.0, []) == "last checkpoint 15.0 s ago, took 40 ms; 1 failed"
    assert checkpoints_text(facts, 5.0, 500.0, 1000.1, ["windows: away"]).startswith(
        "ERROR: checkpoints do not complete, see the sinks below; last checkpoint 15.1 s ago"
    )
    none = {"latest": {}, "counts": {"failed": 0}}
    assert checkpoints_text(none, 5.0, 60.0, 1000.0, []) == "no checkpoint yet; 0 failed"
    assert checkpoints_text(none, 5.0, 61.0, 1000.0, []).startswith("ERROR: checkpoints do not complete, `./sluice")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.354, "0.35 s"), (12.04, "12.0 s"), (200, "3 min 20 s"), (7500, "2 h 5 min")],
)
def test_ago(seconds: float, text: str) -> None:
    assert ago(seconds) == text


def test_a_running_process_shows_since_when() -> None:
    assert row(process()) == ("kafka", "up", "7", "2026-01-01 11:58:30", "0", "3 MiB")
    assert row(process(state="STARTING", restarts=2))[1::3] == ("up", "2")
    assert row(process(ready=False))[1] == "up, not ready"


def test_what_does_not_run_is_down() -> None:
    assert row(process(state="BACKOFF", exit_code=1)) == ("kafka", "down (backoff, exit code 1)", "-", "-", "0", "-")
    assert row(process(state="STOPPED", started=0.0))[1] == "down (not started)"
    assert not process(state="EXITED").up


def test_spans_on_the_topic_are_shown_beside_those_accepted() -> None:
    metrics = (
        'otelcol_receiver_accepted_spans_total{transport="grpc"} 1000\n'
        'otelcol_receiver_accepted_spans_total{transport="http"} 34\notelcol_exporter_sent_spans_total 1030\n'
    )
    beside = "counted since the collector's start; 1,034 accepted, 1,030 sent"
    assert on_topic_text(metrics, 1030, 1030) == f"1,030 {beside}"
    # Counts are kept for 10 s; the collector started within some that began before.
    assert on_topic_text(metrics, 1000, 1035) == f"1,000 to 1,035 {beside}"
    assert on_topic_text("up 1", 0, 0) == "0 counted since the collector's start; 0 accepted, 0 sent"


def test_table_aligns_its_columns() -> None:
    assert table(("a", "b"), [("long", "x")]) == ["a     b", "long  x"]


def test_a_recommendation_is_there_when_one_pool_has_it() -> None:
    assert not decided([])
    assert not decided([{"state": "LEARNING"}, {"state": "NO_DATA"}])
    assert not decided([{"state": "LEARNING"}, {"state": "UNSATURATED"}])
    assert decided([{"state": "LEARNING"}, {"state": "GUARDED"}])
    assert decided([{"state": "PROVIDED"}])
