"""Metrics that the streaming jobs add to Flink's, from their sources in Java and the comments of their classes."""

import re
from collections.abc import Iterator
from pathlib import Path

JAVA = Path(__file__).resolve().parents[2] / "streaming-jobs/functions/src/main/java/dev/sluice"
PREFIX = "flink_taskmanager_job_task_operator_"
#: Classes with metrics, and the operators that have them.
OPERATORS = {
    "sinks/SinkStatus.java": "sinks of ClickHouse and Neo4j",
    "sinks/neo4j/Ageing.java": "sink of Neo4j",
    "clock/ClockStatus.java": "readers of spans",
}
_REGISTERED = re.compile(r'\b(\w+)\.(counter|gauge)\("(\w+)"(?:, \(Gauge<(\w+)>\))?')
_GROUP = re.compile(r'MetricGroup (\w+) = \w+\.addGroup\("(\w+)"\)')
_MEANING = re.compile(r"<li>\{@code (\w+)\}: (.*?)(?=<li>|</ul>)", re.DOTALL)


def flink_metrics() -> Iterator[tuple[str, str, str, str]]:
    """Name without PREFIX, type, operators, meaning. Raises ValueError for a metric of a file that OPERATORS lacks,
    and for one without a meaning."""
    for file in sorted(JAVA.rglob("*.java")):
        source = file.read_text()
        if "import org.apache.flink.metrics." in source:
            yield from registered(str(file.relative_to(JAVA)), source)


def registered(name: str, source: str) -> Iterator[tuple[str, str, str, str]]:
    """name: of the source's file."""
    groups = dict(_GROUP.findall(source))
    meanings = {metric: re.sub(r"\s*\n \*\s*", " ", text).strip(" *\n") for metric, text in _MEANING.findall(source)}
    for group, kind, metric, value in _REGISTERED.findall(source):
        if name not in OPERATORS or metric not in meanings:
            raise ValueError(f"{name}: {metric} needs OPERATORS to name its file, and a `<li>{{@code {metric}}}: ...`")
        kind = "text" if value == "String" else kind
        meaning = f"{meanings[metric][0].upper()}{meanings[metric][1:]}."
        yield f"{groups[group]}_{metric}" if group in groups else metric, kind, OPERATORS[name], meaning
