"""Queries of Prometheus are legal PromQL, and ask for metrics that the processes have."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from .frames import shown

REPOSITORY = Path(__file__).resolve().parents[2]
PROMTOOL = REPOSITORY / ".cache/bin/charts/promtool"
# What docs/generate writes of Sluice's own; those of the streaming jobs stand there without this prefix.
REFERENCE = REPOSITORY / "docs/reference/metrics.md"
FLINK = "flink_taskmanager_job_task_operator_"
# ClickHouse's own; Flink's own (in its documentation, "Metrics"); the collector's (in its, "Internal telemetry").
OTHERS = {
    "ClickHouseAsyncMetrics_FilesystemMainPathAvailableBytes",
    "ClickHouseAsyncMetrics_MaxPartCountForPartition",
    "flink_jobmanager_job_lastCheckpointDuration",
    "flink_jobmanager_job_numRestarts",
    "flink_jobmanager_job_numberOfCompletedCheckpoints",
    "flink_taskmanager_job_task_backPressuredTimeMsPerSecond",
    "flink_taskmanager_job_task_operator_numRecordsIn",
    "flink_taskmanager_job_task_operator_pendingRecords",
    "otelcol_exporter_queue_capacity",
    "otelcol_exporter_queue_size",
    "otelcol_exporter_send_failed_spans",
    "otelcol_exporter_sent_spans",
    "otelcol_receiver_accepted_spans",
    "otelcol_receiver_refused_spans",
}

# Panels with a red line, and the alert that fires above it.
LIMITS = {
    "Collector: queue": "SluiceCollectorQueueFills",
    "Flink: lag on the topic": "SluiceConsumerLag",
    "ClickHouse: parts": "SluiceClickHouseParts",
    "Decider: periods": "SluiceDeciderStopped",
    "Decider: newest window": "SluiceWindowsOld",
    "Decider: overdue trial of tuning": "SluiceTuningTrialStuck",
    "Server: newest decision": "SluiceDecisionsOld",
    "Records: lag of the audit": "SluiceRecordsBehind",
}


@pytest.fixture(scope="module")
def expressions(boards: dict[str, Any]) -> list[str]:
    return [
        query["expr"] for panel in shown(boards["sluice-pipeline"]) for query in panel["targets"] if "expr" in query
    ]


def test_red_lines_are_at_the_levels_of_alerts(boards: dict[str, Any]) -> None:
    lines = {
        panel["title"]: panel["fieldConfig"]["defaults"]["thresholds"]["steps"][-1]["value"]
        for panel in shown(boards["sluice-pipeline"])
        if "thresholdsStyle" in panel["fieldConfig"]["defaults"].get("custom", {})
    }
    groups = yaml.safe_load((REPOSITORY / "deploy/alerts/rules.yaml").read_text())["groups"]
    alerts = {rule["alert"]: re.findall(r"> ([\d.]+)", rule["expr"]) for group in groups for rule in group["rules"]}
    assert lines == {title: float(alerts[alert][0]) for title, alert in LIMITS.items()}


def test_every_metric_is_one_of_a_process(expressions: list[str]) -> None:
    names = {
        name
        for expr in expressions
        for name in re.findall(r"\b(?:sluice|flink|otelcol|ClickHouseAsyncMetrics)_\w+", expr)
    }
    assert len(names) >= 25
    own = set(re.findall(r"^\| `(\w+)`", REFERENCE.read_text(), re.MULTILINE))
    assert {name.removeprefix(FLINK) for name in names - OTHERS} <= own


@pytest.mark.skipif(not PROMTOOL.is_file(), reason="set-up takes promtool from Debian's package prometheus")
def test_every_expression_is_legal(expressions: list[str], tmp_path: Path) -> None:
    assert expressions
    values = {"$job": ".+", "$__rate_interval": "1m"}
    rules = []
    for nth, expression in enumerate(expressions):
        for name, value in values.items():
            expression = expression.replace(name, value)
        assert "$" not in expression
        rules.append({"record": f"panel:{nth}", "expr": expression})
    file = tmp_path / "rules.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    done = subprocess.run([PROMTOOL, "check", "rules", file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
