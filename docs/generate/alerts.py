"""The page of alerts: deploy/alerts/rules.yaml."""

from typing import Any

from alert_forms import RELEASE, source

from docs.generate.markdown import page, table

_INTRODUCTION = """
The alerts of `deploy/alerts/rules.yaml`, which the chart, Compose's Prometheus and Grafana load. `for`: how long the
expression must have a result before the alert fires. `{{ }}`: a label or value of the result. The chart replaces
`sluice-` in `job` with the full name of its release. Each name leads to the alert's section in the runbook.
"""


def text() -> str:
    return page("Alerts", _INTRODUCTION, *map(_group, source()))


def _group(group: dict[str, Any]) -> str:
    rows = [
        (
            f"[{rule['alert']}](../{rule['annotations']['runbook_url'].replace('RUNBOOK', 'runbook.md')})",
            rule["labels"]["severity"],
            rule["for"],
            f"{rule['annotations']['summary']}. {rule['annotations']['description']}",
            f"`{rule['expr'].replace('RELEASE', RELEASE)}`",
        )
        for rule in group["rules"]
    ]
    return f"## {group['name']}\n\n{table(['alert', 'severity', 'for', 'meaning', 'expression'], rows)}"
