"""The collector: whether it accepts spans, and whether it can send them on."""

from sluice.cli.doctor.finding import Diagnosis, NotAnsweringError
from sluice.cli.doctor.probe import START, get, get_metrics, open_port
from sluice.cli.doctor.prometheus import sums
from sluice.cli.environment import Addresses

_QUEUE_WARN = 0.8


def health(where: Addresses, timeout_s: float) -> Diagnosis:
    try:
        answer = get(where.collector_health, timeout_s)
    except NotAnsweringError as error:
        return Diagnosis("fail", str(error), START)
    if not answer.ok:
        return Diagnosis(
            "fail", f"{where.collector_health} answered HTTP {answer.status_code}", "read the collector's log"
        )
    return Diagnosis("ok", f"healthy at {where.collector_health}")


def ports(where: Addresses, timeout_s: float) -> Diagnosis:
    try:
        for address in (where.otlp_grpc, where.otlp_http):
            open_port(address, timeout_s)
    except NotAnsweringError as error:
        return Diagnosis("fail", str(error), START)
    return Diagnosis("ok", f"OTLP open: gRPC {where.otlp_grpc}, HTTP {where.otlp_http}")


def counters(where: Addresses, timeout_s: float) -> Diagnosis:
    return judge(sums(get_metrics(where.collector_metrics, timeout_s)))


def judge(metrics: dict[str, float]) -> Diagnosis:
    """metrics: the collector's own counters, by name without suffixes (see `prometheus.sums`)."""

    def spans(name: str) -> int:
        return int(metrics.get(f"otelcol_{name}_spans", 0))

    size, capacity = metrics.get("otelcol_exporter_queue_size"), metrics.get("otelcol_exporter_queue_capacity")
    if size is None or not capacity:
        return Diagnosis("unknown", "the collector's metrics have no otelcol_exporter_queue_size and _capacity")
    failed = spans("exporter_send_failed") + spans("exporter_enqueue_failed")
    refused = spans("receiver_refused")
    text = (
        f"spans since its start: {spans('receiver_accepted'):,} accepted, {spans('exporter_sent'):,} sent, "
        f"{failed:,} failed, {refused:,} refused; queue {size / capacity:.1%} full"
    )
    if size / capacity > _QUEUE_WARN:
        return Diagnosis("warn", text, "Kafka takes the spans too slowly, or not at all: see the stage kafka")
    if failed or refused:
        return Diagnosis("warn", text, "read the collector's log for the cause; senders retry refused requests")
    return Diagnosis("ok", text)
