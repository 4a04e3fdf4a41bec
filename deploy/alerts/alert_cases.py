"""Prints promtool's tests of the alerts, from tests/cases.yaml. The rules are in rules.yaml beside the printed file."""

import sys
from pathlib import Path
from typing import Any

import yaml
from alert_forms import RUNBOOK, rules, source

CASES = Path(__file__).parent / "tests/cases.yaml"


def cases() -> dict[str, dict[str, Any]]:
    """The cases of each alert, by its name."""
    loaded: dict[str, dict[str, Any]] = yaml.safe_load(CASES.read_text())
    return loaded


def promtool_test(rule: dict[str, Any], case: dict[str, Any], fires: bool) -> dict[str, Any]:
    """One test of promtool: the alert's state at one time, with the series of `fires` or `quiet`."""
    annotations = {
        **rule["annotations"],
        "description": case["description"],
        "runbook_url": rule["annotations"]["runbook_url"].replace("RUNBOOK", RUNBOOK),
    }
    alert = {"exp_labels": {**rule["labels"], **case["labels"]}, "exp_annotations": annotations}
    series = case["fires" if fires else "quiet"].items()
    return {
        "name": f"{rule['alert']} {'fires' if fires else 'does not fire'}",
        "interval": case.get("interval", "30s"),
        "input_series": [{"series": name, "values": str(values)} for name, values in series],
        "alert_rule_test": [
            {"eval_time": case["at"], "alertname": rule["alert"], "exp_alerts": [alert] if fires else []}
        ],
    }


def main() -> None:
    by_alert = cases()
    tests = [promtool_test(rule, by_alert[rule["alert"]], fires) for rule in rules(source()) for fires in (True, False)]
    yaml.safe_dump({"rule_files": ["rules.yaml"], "evaluation_interval": "30s", "tests": tests}, sys.stdout)


if __name__ == "__main__":
    main()
