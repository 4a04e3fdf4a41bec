"""Panels of the metrics of the collector, Flink and ClickHouse, from Prometheus."""

from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import Panel

from generate.measured import highest, limited, measured

# The collector's names differ by the configuration of its own metrics.
_SUFFIX = "(_total|__spans__total)?"
_TASK = "flink_taskmanager_job_task_operator"


def _spans(name: str) -> str:
    selector = f'{{__name__=~"otelcol_{name}_spans{_SUFFIX}", job=~"$job"}}'
    return f"sum by (instance) (rate({selector}[$__rate_interval]))"


def collector() -> list[Builder[Panel]]:
    queue = 'otelcol_exporter_queue_size{job=~"$job"} / otelcol_exporter_queue_capacity{job=~"$job"}'
    return [
        measured(
            "Collector: spans",
            "Spans that each collector accepted, refused to senders, sent to Kafka, and gave up.",
            "cps",
            (_spans("receiver_accepted"), "{{instance}} accepted"),
            (_spans("receiver_refused"), "{{instance}} refused"),
            (_spans("exporter_sent"), "{{instance}} sent"),
            (_spans("exporter_send_failed"), "{{instance}} failed"),
        ),
        limited(
            measured(
                "Collector: queue",
                "Filled part of the queue to Kafka. A full queue refuses spans.",
                "percentunit",
                (f"max by (instance) ({queue})", "{{instance}}"),
            ),
            (0.8, "red"),
        ),
    ]


def flink() -> list[Builder[Panel]]:
    waiting, read = (
        f'sum by (operator_name) ({_TASK}_pendingRecords{{job=~"$job"}})',
        f'sum by (operator_name) (rate({_TASK}_numRecordsIn{{job=~"$job"}}[5m]))',
    )
    return [
        limited(
            measured(
                "Flink: lag on the topic",
                "Time that the job's sources need, at their present rate, for the records that wait.",
                "s",
                (f"{waiting} / {read}", "{{operator_name}}"),
            ),
            (60, "red"),
        ),
        measured(
            "Flink: records that wait on the topic",
            "Lag of the job's sources, in messages.",
            "short",
            (f'sum by (job_name, task_name) ({_TASK}_pendingRecords{{job=~"$job"}})', "{{job_name}} {{task_name}}"),
        ),
        measured(
            "Flink: duration of checkpoints",
            "Duration of the newest checkpoint.",
            "ms",
            (highest("flink_jobmanager_job_lastCheckpointDuration", "job_name"), "{{job_name}}"),
        ),
        measured(
            "Flink: checkpoints and restarts",
            "Completed checkpoints, and restarts of the job, in 10 min.",
            "short",
            (
                'max by (job_name) (increase(flink_jobmanager_job_numRestarts{job=~"$job"}[10m]))',
                "{{job_name}} restarts",
            ),
            (
                'max by (job_name) (increase(flink_jobmanager_job_numberOfCompletedCheckpoints{job=~"$job"}[10m]))',
                "{{job_name}} checkpoints",
            ),
        ),
        measured(
            "Flink: rows that wait for a store",
            "Rows in the buffers of the sinks, and rows that they dropped, since the start.",
            "short",
            (highest(f"{_TASK}_pendingRows", "operator_name"), "{{operator_name}} waiting"),
            (highest(f"{_TASK}_shedRows", "operator_name"), "{{operator_name}} dropped"),
        ),
        measured(
            "Flink: back pressure",
            "Part of the time that a task waits for the next one, in ms a second.",
            "ms",
            (highest("flink_taskmanager_job_task_backPressuredTimeMsPerSecond", "task_name"), "{{task_name}}"),
        ),
    ]


def clickhouse() -> list[Builder[Panel]]:
    parts, free = (
        "ClickHouseAsyncMetrics_MaxPartCountForPartition",
        "ClickHouseAsyncMetrics_FilesystemMainPathAvailableBytes",
    )
    return [
        limited(
            measured(
                "ClickHouse: parts",
                "Parts of the partition with most. ClickHouse delays inserts from 1,000 on.",
                "short",
                (highest(parts, "instance"), "{{instance}}"),
            ),
            (500, "red"),
        ),
        measured(
            "ClickHouse: free disk",
            "Free bytes of the data's disk, now and in 4 days at the rate of the last 6 h.",
            "bytes",
            (highest(free, "instance"), "{{instance}}"),
            (f'predict_linear({free}{{job=~"$job"}}[6h], 4 * 86400)', "{{instance}} in 4 days"),
        ),
    ]
