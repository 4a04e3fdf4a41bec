"""Panels of the processes' own metrics, from Prometheus."""

from grafana_foundation_sdk.builders import timeseries
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import Panel

from generate.parts import lines
from generate.prometheus import metric

_EMPTY = "Prometheus has no such metric: it does not read these processes, or the data source is another."
# The collector's names differ by the configuration of its own metrics.
_SUFFIX = "(_total|__spans__total)?"
_TASK = "flink_taskmanager_job_task_operator"


def _panel(title: str, text: str, unit: str, *series: tuple[str, str]) -> timeseries.Panel:
    """series: PromQL, and the legend."""
    queries = [metric(sql, legend, chr(ord("A") + nth)) for nth, (sql, legend) in enumerate(series)]
    return lines(title, text, *queries, unit=unit, empty=_EMPTY)


def _spans(name: str) -> str:
    selector = f'{{__name__=~"otelcol_{name}_spans{_SUFFIX}", job=~"$job"}}'
    return f"sum by (instance) (rate({selector}[$__rate_interval]))"


def _sum(name: str, by: str) -> str:
    return f'sum by ({by}) (rate({name}{{job=~"$job"}}[$__rate_interval]))'


def _max(name: str, by: str) -> str:
    return f'max by ({by}) ({name}{{job=~"$job"}})'


def collector() -> list[Builder[Panel]]:
    queue = 'otelcol_exporter_queue_size{job=~"$job"} / otelcol_exporter_queue_capacity{job=~"$job"}'
    return [
        _panel(
            "Collector: spans",
            "Spans that each collector accepted, refused to senders, sent to Kafka, and gave up.",
            "cps",
            (_spans("receiver_accepted"), "{{instance}} accepted"),
            (_spans("receiver_refused"), "{{instance}} refused"),
            (_spans("exporter_sent"), "{{instance}} sent"),
            (_spans("exporter_send_failed"), "{{instance}} failed"),
        ),
        _panel(
            "Collector: queue",
            "Filled part of the queue to Kafka. A full queue refuses spans.",
            "percentunit",
            (f"max by (instance) ({queue})", "{{instance}}"),
        ),
    ]


def flink() -> list[Builder[Panel]]:
    return [
        _panel(
            "Flink: records that wait on the topic",
            "Lag of the job's sources, in messages.",
            "short",
            (f'sum by (job_name, task_name) ({_TASK}_pendingRecords{{job=~"$job"}})', "{{job_name}} {{task_name}}"),
        ),
        _panel(
            "Flink: checkpoints and restarts",
            "Duration of the newest checkpoint in ms, and restarts of the job in 10 min.",
            "short",
            (_max("flink_jobmanager_job_lastCheckpointDuration", "job_name"), "{{job_name}} checkpoint, ms"),
            (
                'max by (job_name) (increase(flink_jobmanager_job_numRestarts{job=~"$job"}[10m]))',
                "{{job_name}} restarts",
            ),
            (
                'max by (job_name) (increase(flink_jobmanager_job_numberOfCompletedCheckpoints{job=~"$job"}[10m]))',
                "{{job_name}} checkpoints",
            ),
        ),
        _panel(
            "Flink: rows that wait for a store",
            "Rows in the buffers of the sinks, and rows that they dropped, since the start.",
            "short",
            (_max(f"{_TASK}_pendingRows", "operator_name"), "{{operator_name}} waiting"),
            (_max(f"{_TASK}_shedRows", "operator_name"), "{{operator_name}} dropped"),
        ),
        _panel(
            "Flink: back pressure",
            "Part of the time that a task waits for the next one, in ms a second.",
            "ms",
            (_max("flink_taskmanager_job_task_backPressuredTimeMsPerSecond", "task_name"), "{{task_name}}"),
        ),
    ]


def recommender() -> list[Builder[Panel]]:
    age = 'time() - max(sluice_decider_newest_period_timestamp_seconds{job=~"$job"})'
    return [
        _panel(
            "Decider: periods",
            "Duration of the newest period of each decider, and the age of the newest committed one.",
            "s",
            (_max("sluice_decider_period_seconds", "instance"), "{{instance}} duration"),
            (age, "age of the newest"),
        ),
        _panel(
            "Decider: shards and pools",
            "Shards and pools of each decider; pools without a decision, contradicted, or held at the operator's size.",
            "short",
            (_max("sluice_decider_shards", "instance"), "{{instance}} shards"),
            (_max("sluice_decider_pools", "instance"), "{{instance}} pools"),
            (_max("sluice_decider_not_renewed", "instance"), "{{instance}} not renewed"),
            (_max("sluice_decider_pools_contradicted", "reason"), "contradicted: {{reason}}"),
            (_max("sluice_decider_pools_given_up", "instance"), "{{instance}} given up"),
        ),
        _panel(
            "Decider: overruns, failures, changes taken back",
            "Per second: periods longer than configured, failures by activity, and changes taken back by reason.",
            "cps",
            (_sum("sluice_decider_overruns_total", "instance"), "{{instance}} overruns"),
            (_sum("sluice_decider_failures_total", "source"), "failures: {{source}}"),
            (_sum("sluice_decider_taken_back_total", "reason"), "taken back: {{reason}}"),
        ),
        _panel(
            "Server: leases and age of decisions",
            "Time left of each shard's lease, and the age of the newest decision.",
            "s",
            ('min by (shard) (sluice_server_lease_left_seconds{job=~"$job"})', "lease of shard {{shard}}"),
            (_max("sluice_server_newest_decision_age_seconds", "instance"), "{{instance}} newest decision"),
        ),
        _panel(
            "Server: calls",
            "Ended calls per second, by method and code.",
            "reqps",
            (_sum("sluice_server_calls_total", "method, code"), "{{method}} {{code}}"),
        ),
        _panel(
            "Records: lag of the audit",
            "Age of the oldest record of the journal that ClickHouse lacks.",
            "s",
            (_max("sluice_records_oldest_waiting_seconds", "instance"), "{{instance}}"),
        ),
    ]


def actuator() -> list[Builder[Panel]]:
    return [
        _panel(
            "Actuators: passes by outcome",
            "Passes over a target per second; FAILED and REFUSED are NACKs.",
            "cps",
            (_sum("sluice_actuator_actions_total", "outcome"), "{{outcome}}"),
            (_sum("sluice_actuator_read_errors_total", "target"), "read errors: {{target}}"),
        ),
        _panel(
            "Actuators: holds",
            "Passes per second without a write because the lease was over, sizes written back, and actuators that do "
            "not reach the recommender.",
            "short",
            (_sum("sluice_actuator_expired_total", "target"), "{{target}} lease over"),
            (_sum("sluice_actuator_rolled_back_total", "target"), "{{target}} written back"),
            ('count(sluice_actuator_recommender_reachable{job=~"$job"} == 0)', "without recommender"),
        ),
        _panel(
            "xDS: responses of clients",
            "ACKs (APPLIED) and NACKs (REFUSED) per second, by type of resource.",
            "cps",
            (_sum("sluice_xds_answers_total", "type, outcome"), "{{type}} {{outcome}}"),
        ),
    ]
