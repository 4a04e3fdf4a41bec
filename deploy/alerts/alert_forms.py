"""Writes the alerts of rules.yaml in three forms: the chart's, Prometheus' for Compose, and Grafana's provisioning.
`--check` writes nothing and exits with 1 where one is not current. An alert without a section in docs/runbook.md is an
error.
"""

import argparse
import re
import sys
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
RUNBOOK = "docs/runbook.md"
HEAD = "# Generated from deploy/alerts/rules.yaml: run `make generate`.\n"
RELEASE = "sluice"
# Grafana reads its Prometheus by this uid: dashboards/provisioning/datasources/prometheus.yaml.
DATASOURCE = "sluice-prometheus"


def source() -> list[dict[str, Any]]:
    """The groups of rules.yaml, each rule with its runbook_url: RUNBOOK and the section's anchor."""
    groups: list[dict[str, Any]] = yaml.safe_load((HERE / "rules.yaml").read_text())["groups"]
    for rule in rules(groups):
        rule["annotations"]["runbook_url"] = f"RUNBOOK#{rule['alert'].lower()}"
    return groups


def rules(groups: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [rule for group in groups for rule in group["rules"]]


def without_section(groups: list[dict[str, Any]], runbook: str) -> list[str]:
    """Alerts that the runbook has no heading for, and headings without an alert."""
    headings = re.findall(r"^### (Sluice\w+)$", runbook, re.MULTILINE)
    return sorted({rule["alert"] for rule in rules(groups)} ^ set(headings))


def dump(value: Any) -> str:
    return HEAD + yaml.safe_dump(value, sort_keys=False, width=10_000, allow_unicode=True)


def grafana(group: dict[str, Any]) -> dict[str, Any]:
    """A group as Grafana's provisioning has it. Any result of an expression fires, as in Prometheus, also 0 and NaN."""
    made = []
    for rule in group["rules"]:
        query = {"refId": "query", "expr": rule["expr"], "instant": True, "range": False}
        any_value = "is_number($query) || is_nan($query) || is_inf($query)"
        fires = {"refId": "fires", "type": "math", "expression": any_value}
        annotations = {
            name: text.replace("$value", "$values.query.Value") for name, text in rule["annotations"].items()
        }
        made.append(
            {
                "uid": rule["alert"].lower(),
                "title": rule["alert"],
                "condition": "fires",
                "data": [
                    {
                        "refId": "query",
                        "datasourceUid": DATASOURCE,
                        "relativeTimeRange": {"from": 600, "to": 0},
                        "model": query,
                    },
                    {"refId": "fires", "datasourceUid": "__expr__", "model": fires},
                ],
                "noDataState": "OK",
                "execErrState": "Error",
                "for": rule["for"],
                "annotations": annotations,
                "labels": rule["labels"],
            }
        )
    return {"orgId": 1, "name": group["name"], "folder": "Sluice", "interval": "30s", "rules": made}


def outputs() -> dict[Path, str]:
    """The content of each generated file."""
    chart = dump({"groups": source()})
    compose = chart.replace("RELEASE", RELEASE).replace("RUNBOOK", RUNBOOK)
    provisioning = {"apiVersion": 1, "groups": [grafana(group) for group in yaml.safe_load(compose)["groups"]]}
    return {
        REPOSITORY / "deploy/helm/sluice/files/alerts.yaml": chart,
        REPOSITORY / "deploy/compose/prometheus/alerts.yaml": compose,
        REPOSITORY / "dashboards/provisioning/alerting/sluice.yaml": dump(provisioning),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only compare")
    check = parser.parse_args().check
    faults = [
        f"{name}: not both in deploy/alerts/rules.yaml and as `### {name}` in {RUNBOOK}"
        for name in without_section(source(), (REPOSITORY / RUNBOOK).read_text())
    ]
    for path, text in outputs().items():
        if path.is_file() and path.read_text() == text:
            continue
        if check:
            faults.append(f"{path.relative_to(REPOSITORY)}: is not current: run `make generate`")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            print(f"{path.relative_to(REPOSITORY)}: written")
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
