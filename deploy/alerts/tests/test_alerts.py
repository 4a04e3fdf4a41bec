"""The alerts: each is documented, tested, and reads only metrics that a process exposes. `make lint` has promtool run
the cases."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from alert_cases import cases, promtool_test
from alert_forms import REPOSITORY, grafana, outputs, rules, source, without_section

GROUPS = source()
RULES = {rule["alert"]: rule for rule in rules(GROUPS)}
NAME = re.compile(r'\b((?:sluice|otelcol|flink|ClickHouse)\w*)(?=\{| ==|\[| and|$)|__name__=~"([^"]+)"')
# Metrics of other projects' programs, with the setting that has the program expose them.
OTHERS = {
    "otelcol_": ("collector/config/local.yaml", "prometheus:"),
    "flink_": ("deploy/images/job/conf/config.yaml", "PrometheusReporterFactory"),
    "ClickHouseAsyncMetrics_": ("deploy/compose/clickhouse/limits.xml", "<asynchronous_metrics>true"),
}
# Of these, the names that Sluice's alerts may read: those of OpenTelemetry Collector 0.1xx, Flink 2, ClickHouse 26.
KNOWN = {
    "otelcol_receiver_refused_spans",
    "otelcol_receiver_accepted_spans",
    "otelcol_exporter_sent_spans",
    "otelcol_exporter_send_failed_spans",
    "otelcol_exporter_queue_size",
    "otelcol_exporter_queue_capacity",
    "flink_taskmanager_job_task_operator_pendingRecords",
    "flink_taskmanager_job_task_operator_numRecordsIn",
    "flink_jobmanager_job_numberOfCompletedCheckpoints",
    "flink_jobmanager_job_numRestarts",
    "ClickHouseAsyncMetrics_MaxPartCountForPartition",
    "ClickHouseAsyncMetrics_FilesystemMainPathAvailableBytes",
}


def metrics(expression: str) -> set[str]:
    """Names of the metrics in an expression, without the collector's suffixes."""
    found = {name or pattern for name, pattern in NAME.findall(expression)}
    return {name.removesuffix("(_total|__spans__total)?") for name in found}


def registered() -> set[str]:
    """Metrics that Sluice's own processes register: docs/generate writes them there."""
    return set(re.findall(r"^\| `(sluice_\w+)`", (REPOSITORY / "docs/reference/metrics.md").read_text(), re.MULTILINE))


@pytest.mark.parametrize("alert", RULES)
def test_an_alert_reads_metrics_that_are_exposed(alert: str) -> None:
    read = metrics(RULES[alert]["expr"])
    own = {name for name in read if name.startswith("sluice_")}
    assert own <= registered()
    assert read - own <= KNOWN
    assert read or "up{" in RULES[alert]["expr"]


@pytest.mark.parametrize("prefix", OTHERS)
def test_other_programs_expose_their_metrics(prefix: str) -> None:
    path, setting = OTHERS[prefix]
    assert setting in (REPOSITORY / path).read_text()
    assert any(name.startswith(prefix) for name in KNOWN)


def test_a_metric_that_nobody_exposes_is_found() -> None:
    assert metrics('max(sluice_decider_nothing{job="a"}) > 0') == {"sluice_decider_nothing"}
    assert "sluice_decider_nothing" not in registered()


@pytest.mark.parametrize("alert", RULES)
def test_an_alert_is_whole(alert: str) -> None:
    rule = RULES[alert]
    assert rule.keys() == {"alert", "expr", "for", "labels", "annotations"}
    assert rule["labels"]["severity"] in ("warning", "critical")
    assert rule["annotations"].keys() == {"summary", "description", "runbook_url"}
    assert "$" not in rule["annotations"]["summary"], "alert_cases.py takes it as it is"


def test_an_alert_without_section_or_case_is_found() -> None:
    runbook = (REPOSITORY / "docs/runbook.md").read_text()
    assert without_section(GROUPS, runbook) == []
    assert without_section(GROUPS, runbook.replace("### SluiceNacks\n", "")) == ["SluiceNacks"]
    assert without_section(GROUPS, f"{runbook}\n### SluiceOther\n") == ["SluiceOther"]
    assert list(cases()) == list(RULES)


@pytest.mark.parametrize("alert", RULES)
def test_a_section_has_its_three_parts(alert: str) -> None:
    text = (REPOSITORY / "docs/runbook.md").read_text().split(f"### {alert}\n")[1].split("\n### ")[0]
    parts = [text.index(f"**{part}.**") for part in ("Meaning", "Look", "Do")]
    assert parts == sorted(parts)
    assert "`" in text[parts[1] : parts[2]], "a command"
    recipes = re.findall(r"--recipe (\w+)", text)
    assert all((REPOSITORY / f"storage/clickhouse/cookbook/{name}.sql").is_file() for name in recipes)


def test_promtool_gets_a_case_of_each_kind() -> None:
    rule, case = RULES["SluiceLeaseOver"], cases()["SluiceLeaseOver"]
    fires, quiet = (promtool_test(rule, case, fires)["alert_rule_test"][0] for fires in (True, False))
    assert fires["exp_alerts"][0]["exp_labels"] == {"severity": "critical", "shard": "1"}
    assert fires["exp_alerts"][0]["exp_annotations"]["runbook_url"] == "docs/runbook.md#sluiceleaseover"
    assert quiet["exp_alerts"] == []


def test_grafana_fires_on_any_result() -> None:
    rule = grafana({"name": "one", "rules": [RULES["SluiceProcessDown"]]})["rules"][0]
    query, fires = rule["data"]
    assert query["model"]["expr"] == RULES["SluiceProcessDown"]["expr"]
    assert (fires["model"]["type"], rule["condition"]) == ("math", fires["refId"])
    assert "is_number($query)" in fires["model"]["expression"], "0 fires too, as of `up == 0`"
    uids = [rule["uid"] for group in GROUPS for rule in grafana(group)["rules"]]
    assert len(set(uids)) == len(uids) == len(RULES)
    assert max(map(len, uids)) <= 40, "Grafana's limit"


def test_grafana_knows_the_data_source() -> None:
    text = (REPOSITORY / "dashboards/provisioning/datasources/prometheus.yaml").read_text()
    (source,) = yaml.safe_load(text)["datasources"]
    used: set[Any] = {
        query["datasourceUid"] for group in GROUPS for rule in grafana(group)["rules"] for query in rule["data"]
    }
    assert used == {source["uid"], "__expr__"}


def test_no_placeholder_is_left_outside_the_chart() -> None:
    for path, text in outputs().items():
        assert ("RELEASE" in text) == (Path("deploy/helm") in path.relative_to(REPOSITORY).parents), path
