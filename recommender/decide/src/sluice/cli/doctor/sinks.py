"""The streaming job's sinks and its reader of spans: the trouble that each reports of itself."""

from typing import Any
from urllib.parse import quote

from sluice.cli.doctor.finding import Diagnosis
from sluice.cli.doctor.probe import get_json

#: A metric of each task, "" without trouble: SinkStatus.java, and ClockStatus.java in the task that has `messages`.
_METRIC = ".trouble"
_HAVE_IT = ("Writer", "messages")
_REMEDY = (
    "the store's log under .cache/stack/logs has the cause. Windows and sizes wait for ClickHouse, not for "
    "Neo4j, which gets its data with the next windows. Clock records need the right to write to the spans' topic, or "
    "--clock-records-ms 0"
)


def troubles(job: str, timeout_s: float) -> list[str]:
    """`job`: URL of the job in Flink's REST interface. Raises NotAnsweringError."""
    values: list[dict[str, str]] = []
    for vertex in get_json(job, timeout_s)["vertices"]:
        if not any(name in vertex["name"] for name in _HAVE_IT):
            continue
        url = f"{job}/vertices/{vertex['id']}/metrics"
        names = [metric["id"] for metric in get_json(url, timeout_s) if metric["id"].endswith(_METRIC)]
        if names:
            values += get_json(f"{url}?get={quote(','.join(names))}", timeout_s)
    return troubles_in(values)


def troubles_in(metrics: list[dict[str, Any]]) -> list[str]:
    """metrics: id such as `0.calls[59]__Writer.trouble`, and value. Returns "TABLE: trouble" for each with a value."""
    return sorted(
        {f"{metric['id'].split('.')[1].split('[')[0]}: {metric['value']}" for metric in metrics if metric["value"]}
    )


def judge_sinks(lines: list[str]) -> Diagnosis:
    """lines: the result of `troubles`."""
    if lines:
        return Diagnosis("warn", "; ".join(lines), _REMEDY)
    return Diagnosis("ok", "every store takes its rows")
