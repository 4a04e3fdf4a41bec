"""Reads files of metrics: OTLP as JSON (a message a line, or a document) or as protobuf, as the collector's file
exporter writes them, gzipped or not. Of the metrics only levels of pools count."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from google.protobuf.json_format import ParseDict, ParseError
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.metrics.v1.metrics_pb2 import AGGREGATION_TEMPORALITY_CUMULATIVE, Metric, MetricsData

from sluice.cli.traces.replay.records import Skipped, read_records
from sluice.cli.traces.replay.totals import Totals
from sluice.cli.traces.replay.trace import BadRecordError
from sluice.cli.traces.report.facts.attributes import INSTANCE, SERVICE, first_text
from sluice.cli.traces.report.facts.pool_table import PoolTable, peer_of, rows_of, series_of
from sluice.cli.traces.report.reading.framed import is_framed, read_framed
from sluice.pools.metrics.pool_metric import MetricsReading, PoolMetric, PoolOfInstance
from sluice.pools.metrics.use import Figure, FigureReading

_MS = 1_000_000


def read_metrics(
    paths: Sequence[str],
    table: PoolTable,
    totals: Totals,
    on_skip: Callable[[Skipped], None],
) -> MetricsReading:
    """The sizes of pools, and what is used of them, at each point; no peers. Counts files and
    skipped records in `totals`. Raises OSError when a file cannot be opened."""
    points = _Points(table)
    for path in paths:
        totals.files += 1
        items = read_framed(path, points.message, MetricsData) if is_framed(path) else read_records(path, points.json)
        for item in items:
            if isinstance(item, Skipped):
                totals.note_skipped(str(item))
                on_skip(item)
    return points.reading()


class _Points:
    def __init__(self, table: PoolTable) -> None:
        self._table = table
        self._sizes: list[PoolMetric] = []
        self._levels: dict[tuple[PoolOfInstance, str, int, str], dict[int, int]] = defaultdict(lambda: defaultdict(int))

    def json(self, record: Any) -> list[int]:
        """Raises BadRecordError."""
        if not isinstance(record, dict) or "resourceMetrics" not in record:
            raise BadRecordError("is not OTLP metrics (`resourceMetrics`)")
        try:
            # The ids of exemplars are hexadecimal in OTLP's JSON, which protobuf's own JSON does not read.
            message = ParseDict(_without_exemplars(record), MetricsData(), ignore_unknown_fields=True)
        except (ParseError, AttributeError, TypeError) as error:
            raise BadRecordError(f"is not OTLP metrics: {error}") from None
        return [self.message(message)]

    def message(self, message: MetricsData) -> int:
        for resource_metrics in message.resource_metrics:
            of_resource = _texts(resource_metrics.resource.attributes)
            service, instance = first_text(of_resource, SERVICE), first_text(of_resource, INSTANCE)
            if not service:
                continue
            for scope in resource_metrics.scope_metrics:
                for metric in scope.metrics:
                    if metric.name in self._table:
                        self._add(service, instance, metric)
        return 0

    def _add(self, service: str, instance: str, metric: Metric) -> None:
        for attributes, at_ms, value in _levels(metric):
            series = series_of(metric.name, attributes)
            for row in rows_of(self._table, metric.name, attributes):
                if (known := row.known(value)) is None:
                    continue
                pool = row.pool(attributes)
                of = PoolOfInstance(
                    service, instance, row.side, pool, peer_of(attributes, pool) if row.side == "client" else ""
                )
                if row.figure == "size":
                    self._sizes.append(PoolMetric(*of, row.rank, series, known, known, at_ms, at_ms))
                else:
                    self._levels[of, row.figure, row.rank, metric.name][at_ms] += known

    def reading(self) -> MetricsReading:
        uses: dict[PoolOfInstance, dict[str, Figure]] = {}
        for (of, figure, _, name), by_ms in sorted(self._levels.items(), key=lambda item: item[0][2]):
            readings = [
                FigureReading(at, at, 1, value, value, value, value, 0, 0) for at, value in sorted(by_ms.items())
            ]
            uses.setdefault(of, {}).setdefault(figure, Figure(name, readings))
        return MetricsReading(sorted(self._sizes, key=lambda size: size.last_ms), {}, uses)


def _levels(metric: Metric) -> Iterator[tuple[dict[str, str], int, float]]:
    """Attributes, time in ms, and value of the points of a metric that holds the state at a time."""
    of = metric.sum
    adds_up = of.is_monotonic or of.aggregation_temporality != AGGREGATION_TEMPORALITY_CUMULATIVE
    points = metric.gauge.data_points if metric.HasField("gauge") else () if adds_up else of.data_points
    for point in points:
        value = point.as_int if point.HasField("as_int") else point.as_double
        yield _texts(point.attributes), point.time_unix_nano // _MS, value


def _texts(attributes: Iterable[KeyValue]) -> dict[str, str]:
    return {one.key: text for one in attributes if (text := _text(one.value)) is not None}


def _text(value: AnyValue) -> str | None:
    kind = value.WhichOneof("value")
    if kind in ("string_value", "int_value"):
        return str(getattr(value, kind))
    return str(value.bool_value).lower() if kind == "bool_value" else None


def _without_exemplars(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_exemplars(part) for name, part in value.items() if name != "exemplars"}
    return [_without_exemplars(part) for part in value] if isinstance(value, list) else value
