"""`sluice doctor` of the collector and Kafka: against real small servers, and answers judged by hand."""

from sluice.cli.doctor import collector, kafka
from sluice.cli.doctor.prometheus import sums
from sluice.cli.environment import addresses

from .http_server import FixedServer

METRICS = """\
# HELP otelcol_exporter_queue_size Current size
# TYPE otelcol_exporter_queue_size gauge
otelcol_exporter_queue_size{data_type="traces",exporter="kafka"} 5
otelcol_exporter_queue_size{data_type="metrics",exporter="kafka"} 1
otelcol_exporter_queue_capacity{data_type="traces",exporter="kafka"} 50
otelcol_exporter_queue_capacity{data_type="metrics",exporter="kafka"} 50
otelcol_receiver_accepted_spans_total{receiver="otlp",transport="grpc"} 1e+03
otelcol_receiver_accepted_spans_total{receiver="otlp",transport="http"} 34
otelcol_receiver_refused_spans__spans__total{receiver="otlp",odd="}\\"{ "} 0
otelcol_exporter_sent_spans{exporter="kafka"} 1034 1700000000000
"""


def test_prometheus_sums_over_labels_and_forgives_suffixes() -> None:
    counters = sums(METRICS + "broken line\notelcol_x NaNsense\n")
    assert counters["otelcol_exporter_queue_size"] == 6
    assert counters["otelcol_receiver_accepted_spans"] == 1034
    assert counters["otelcol_receiver_refused_spans"] == 0
    assert counters["otelcol_exporter_sent_spans"] == 1034


def test_collector_counters() -> None:
    with FixedServer({"/metrics": METRICS}) as server:
        diagnosis = collector.counters(addresses({"SLUICE_COLLECTOR_METRICS": server.address}), 2)
    assert diagnosis.level == "ok"
    assert diagnosis.text == "spans since its start: 1,034 accepted, 1,034 sent, 0 failed, 0 refused; queue 6.0% full"
    queue = {"otelcol_exporter_queue_size": 90.0, "otelcol_exporter_queue_capacity": 100.0}
    assert collector.judge(queue).level == "warn"
    assert collector.judge(queue | {"otelcol_exporter_queue_size": 0.0}).level == "ok"
    failed = queue | {"otelcol_exporter_queue_size": 0.0, "otelcol_exporter_send_failed_spans": 3.0}
    assert collector.judge(failed).level == "warn"
    assert collector.judge({}).level == "unknown"


def test_collector_health_and_ports() -> None:
    with FixedServer({"/": "{}"}) as server:
        where = addresses({f"SLUICE_{name}": server.address for name in ("COLLECTOR_HEALTH", "OTLP_GRPC", "OTLP_HTTP")})
        assert collector.health(where, 2).level == "ok"
        assert collector.ports(where, 2).level == "ok"
        server.answers["/"] = (503, "{}")
        assert collector.health(where, 2).level == "fail"


def test_kafka_topics() -> None:
    expected = {"otlp_spans": 2, "otlp_metrics": 1}
    ok = kafka.judge_topics(
        expected, {"otlp_spans": 2, "otlp_metrics": 1, "x": 9}, {"otlp_spans": 1500, "otlp_metrics": 0}
    )
    assert (ok.level, ok.text) == (
        "ok",
        "otlp_spans 2 partitions, end offset 1,500; otlp_metrics 1 partitions, end offset 0",
    )
    assert kafka.judge_topics(expected, {"otlp_spans": 2}, {}).text == "topics missing: otlp_metrics"
    assert (
        kafka.judge_topics(expected, {"otlp_spans": 3, "otlp_metrics": 1}, dict.fromkeys(expected, 0)).level == "warn"
    )
    assert kafka.expected_topics() == {
        "otlp_spans": 2,
        "otlp_metrics": 1,
        "otlp_dead_letter": 1,
        "sluice_state": 1,
        "sluice_decisions": 1,
        "sluice_explanations": 1,
        "sluice_observed": 1,
        "sluice_reports": 1,
    }


def test_kafka_lag() -> None:
    assert kafka.judge_lag({}).level == "unknown"
    assert kafka.judge_lag({"a": 1000}).level == "ok"
    assert kafka.judge_lag({"a": 0, "b": 1001}).level == "warn"
