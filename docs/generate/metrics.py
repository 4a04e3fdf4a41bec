"""The page of metrics: those that Sluice's processes register, and others that alerts and dashboards read."""

import json
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from alert_forms import rules, source
from prometheus_client.metrics import MetricWrapperBase

from docs.generate.flink_metrics import PREFIX, flink_metrics
from docs.generate.markdown import page, table
from sluice.decider.pipeline import PipelineMetrics
from sluice.decider.products import products
from sluice.engine.counts import EngineMetrics

REPOSITORY = Path(__file__).resolve().parents[2]
_INTRODUCTION = """
What Sluice's processes expose in Prometheus' format, at `/metrics` of their health address (`SLUICE_HEALTH`). The
programs in Go also expose Go's own metrics and the process's (`go_*`, `process_*`). [Alerts](alerts.md) has the
expressions that read them.
"""
#: Go's programs that list descriptors, by module.
_LISTS = {"recommender/serve": "./internal/metrics/list", "actuators": "./internal/status/list"}
_DESCRIPTOR = re.compile(r'Desc\{fqName: (".*?"), help: (".*"), constLabels: \{.*\}, variableLabels: \{(.*)\}\}')
_PROCESSES = {
    "Decider": "sluice_decider_",
    "Server": "sluice_server_",
    "Server: advice for hardware autoscalers": "sluice_pool_",
    "Server: xDS": "sluice_xds_",
    "`records`": "sluice_records_",
    "Actuator": "sluice_actuator_",
}
_FLINK = f"""
Some operators of the streaming jobs have these, beside Flink's own. Each name begins with
`{PREFIX}`, and the labels are Flink's. Prometheus' format has no text: Flink's REST API
has the metrics of type text, and `./sluice doctor` reads them there.
"""
_COLLECTOR = "Sluice's processor `span_limit` has no metrics of its own; the collector's are OpenTelemetry's.\n"
_OTHERS = """
Metrics of other programs that alerts and dashboards read. Another version may name them differently: some collectors
add `_total` or `__spans__total` to their counters. `up` is Prometheus' own. No alert and no dashboard reads a metric of
Kafka or Neo4j.
"""
_PROGRAMS = {"otelcol_": "OpenTelemetry Collector", "flink_": "Flink", "ClickHouse": "ClickHouse"}
_NAME = re.compile(r"\b(?:sluice_|otelcol_|flink_|ClickHouse)\w+")

Row = tuple[str, str, str, str]


def text() -> str:
    rows = sorted((*decider_metrics(), *(row for module in _LISTS for row in go_metrics(listing(module)))))
    flink = list(flink_metrics())
    others = foreign({row[0] for row in rows} | {f"{PREFIX}{row[0]}" for row in flink}, readers())
    titles = ["metric", "type", "labels", "meaning"]
    return page(
        "Metrics",
        _INTRODUCTION,
        *(f"## {name}\n\n{table(titles, of(prefix, rows))}" for name, prefix in _PROCESSES.items()),
        f"## Streaming jobs\n{_FLINK}\n{table(['metric', 'type', 'of', 'meaning'], map(code, flink))}",
        f"## Collector\n\n{_COLLECTOR}",
        f"## Other programs\n{_OTHERS}\n{table(['metric', 'program', 'read by'], others)}",
    )


def of(prefix: str, rows: Sequence[Row]) -> Iterator[Row]:
    return (code(row) for row in rows if row[0].startswith(prefix))


def code(row: Row) -> Row:
    return f"`{row[0]}`", *row[1:]


def decider_metrics() -> Iterator[Row]:
    engine = EngineMetrics()
    products(lambda: None, registry=engine.registry)  # type: ignore[arg-type, return-value]  # never called
    PipelineMetrics(None, engine.registry, lambda _: None)  # type: ignore[arg-type]  # never read
    for collector in engine.registry._collector_to_names:
        assert isinstance(collector, MetricWrapperBase)
        (family,) = collector.describe()
        name = f"{family.name}_total" if family.type == "counter" else family.name
        yield name, family.type, ", ".join(collector._labelnames), family.documentation


def listing(module: str) -> str:
    """The output of a module's program."""
    # As `make lint` compiles for `go vet`, so that both use the same cache.
    environment = {**os.environ, "CGO_ENABLED": "0"}
    return subprocess.check_output(["go", "run", _LISTS[module]], cwd=REPOSITORY / module, env=environment, text=True)


def go_metrics(lines: str) -> Iterator[Row]:
    """Sluice's metrics of a listing. One without a sample is a counter if its name ends in _total, else a gauge."""
    kinds = dict(re.findall(r"^kind (\S+) (\S+)$", lines, re.MULTILINE))
    for name, meaning, labels in _DESCRIPTOR.findall(lines):
        metric = json.loads(name)
        if metric.startswith("sluice_"):
            kind = kinds.get(metric, "counter" if metric.endswith("_total") else "gauge")
            yield metric, kind.lower(), labels.replace(",", ", "), json.loads(meaning)


def readers() -> Iterator[tuple[str, str]]:
    """Each expression of an alert or dashboard, with who reads it."""
    yield from ((rule["alert"], rule["expr"]) for rule in rules(source()))
    for file in sorted((REPOSITORY / "dashboards/json").glob("*.json")):
        for expression in re.findall(r'"expr": (".*")', file.read_text()):
            yield f"dashboard {file.stem}", json.loads(expression)


def foreign(own: set[str], read: Iterator[tuple[str, str]]) -> list[tuple[str, str, str]]:
    """Metrics of other programs. Raises ValueError for one of Sluice's that no process exposes."""
    by_name: dict[str, list[str]] = {}
    for reader, expression in read:
        for name in set(_NAME.findall(expression)) - own:
            if name.startswith("sluice_"):
                raise ValueError(f"{reader} reads {name}, which no process exposes")
            by_name.setdefault(name, []).append(reader)
    programs = {name: next(p for prefix, p in _PROGRAMS.items() if name.startswith(prefix)) for name in by_name}
    return [(f"`{name}`", programs[name], ", ".join(dict.fromkeys(by_name[name]))) for name in sorted(by_name)]
