"""The doctor on spans between the collector and the topic, judged by hand."""

from dataclasses import replace

import pytest

from sluice.cli.doctor.finding import NotAnsweringError
from sluice.cli.doctor.spans import Counters, OnTopic, judge_large, judge_on_topic, parse

METRICS = """\
otelcol_process_uptime_seconds_total{otel_scope_name="x"} 724.6
otelcol_exporter_queue_size{data_type="traces",exporter="kafka"} 5
otelcol_receiver_accepted_spans_total{receiver="otlp",transport="grpc"} 1000
otelcol_receiver_accepted_spans_total{receiver="otlp",transport="http"} 34
otelcol_exporter_sent_spans_total{exporter="kafka"} 1030
otelcol_exporter_send_failed_spans_total{exporter="kafka"} 1
"""


def counters(accepted: int, sent: int, failed: int = 0, queue: int = 0) -> Counters:
    return Counters(accepted, sent, failed, queue, 720.0)


def test_counters_of_the_collector() -> None:
    assert parse(METRICS) == Counters(1034, 1030, 1, 5, 724.6)
    with pytest.raises(NotAnsweringError, match="otelcol_process_uptime"):
        parse("up 1\n")


def test_all_is_on_the_topic() -> None:
    same = counters(1034, 1034)
    diagnosis = judge_on_topic(same, same, OnTopic(1034, 1034))
    assert (diagnosis.level, diagnosis.remedy) == ("ok", "")
    assert diagnosis.text == (
        "spans in the 12.0 min since the collector's start: 1,034 accepted, 1,034 sent, 1,034 counted on the topic"
    )
    # Sent again, and spans that the queue held when the collector started: more than accepted is no loss.
    assert judge_on_topic(same, same, OnTopic(1034, 1100)).text.endswith("1,034 to 1,100 counted on the topic")
    assert judge_on_topic(counters(5, 9), counters(5, 9), OnTopic(9, 9)).level == "ok"


def test_a_load_that_goes_on_makes_no_difference() -> None:
    """What is accepted after the first look may be on its way."""
    diagnosis = judge_on_topic(counters(100, 90), counters(200, 150, queue=70), OnTopic(95, 95))
    assert diagnosis.level == "ok"


def test_what_is_neither_sent_nor_waits_is_lost() -> None:
    same = counters(100, 90, failed=3)
    diagnosis = judge_on_topic(same, same, OnTopic(90, 90))
    assert diagnosis.level == "fail"
    assert "; the collector accepted 7 that it neither sent nor has in its queue: lost" in diagnosis.text
    assert "span_limit" in diagnosis.remedy
    waiting = counters(100, 90, failed=3, queue=4096)
    assert judge_on_topic(waiting, waiting, OnTopic(90, 90)).text.endswith("; 7 wait in the queue")


def test_what_is_sent_and_not_counted() -> None:
    same = counters(100, 100)
    diagnosis = judge_on_topic(same, same, OnTopic(80, 92))
    assert diagnosis.level == "warn"
    assert "80 to 92 counted on the topic; 8 sent spans are not counted yet" in diagnosis.text
    assert "accepted_and_on_topic" in diagnosis.remedy


def test_a_clock_that_was_set_back_since_the_start() -> None:
    """The topic's spans cannot be those since a moment that is still to come."""
    same = replace(counters(100, 100), uptime_s=-3060.0)
    diagnosis = judge_on_topic(same, same, OnTopic(0, 0))
    assert diagnosis.level == "unknown"
    assert "says that it started 51.0 min from now: its clock was set back" in diagnosis.text


def test_spans_that_fit_no_message() -> None:
    assert judge_large([]).level == "ok"
    diagnosis = judge_large([("cart", 1200), ("", 3)])
    assert diagnosis.level == "warn"
    assert diagnosis.text.endswith("not counted: cart: 1,200, (no service.name): 3")
    assert "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT" in diagnosis.remedy
    many = judge_large([(f"s{n}", 9 - n) for n in range(7)])
    assert many.text.endswith("s4: 5, 2 more services")
