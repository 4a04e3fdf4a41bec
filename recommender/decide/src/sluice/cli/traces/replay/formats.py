"""Detects the format of a record by its keys. Refuses formats without a converter by name."""

from typing import Any

from sluice.cli.traces.replay.jaeger import convert_jaeger
from sluice.cli.traces.replay.otlp_json import convert_otlp_json
from sluice.cli.traces.replay.trace import BadRecordError, Trace
from sluice.cli.traces.replay.zipkin import convert_zipkin, is_zipkin

#: Keys around OTLP in answers of Jaeger's API v3 and Tempo's API v2.
_ENVELOPES = ("result", "trace")
#: OTLP's list of resources, and Tempo's name for it.
_OTLP = ("resourceSpans", "resource_spans", "batches")
#: A key that only one format has, and the format's name.
_OTHERS = {
    "traceEvents": "Chrome's trace events",
    "Segments": "AWS X-Ray",
    "Traces": "AWS X-Ray",
    "segmentId": "SkyWalking",
    "transaction": "Elastic APM",
    "meta": "Datadog",
}


def convert(record: Any) -> list[Trace]:
    """The traces of one record, in order of their first spans. Changes `record`. Raises BadRecordError."""
    if not isinstance(record, dict):
        raise BadRecordError("is JSON, but not an object: neither a Jaeger trace nor OTLP")
    for envelope in _ENVELOPES:
        inner = record.get(envelope)
        if isinstance(inner, dict) and any(key in inner for key in _OTLP):
            record = inner
            break
    if "spans" in record:
        return [convert_jaeger(record)]
    for key in _OTLP:
        if key in record:
            return convert_otlp_json({"resourceSpans": record[key]})
    if is_zipkin(record):
        return [convert_zipkin(record)]
    for key, name in _OTHERS.items():
        if key in record:
            raise BadRecordError(
                f"looks like {name} (`{key}`), which is not supported; legal: JSON of Jaeger, OTLP, Tempo, Zipkin"
            )
    keys = ", ".join(list(record)[:5]) or "none"
    raise BadRecordError(
        "is neither a Jaeger trace (`spans`), OTLP (`resourceSpans`), of Tempo (`trace`, `batches`), nor a Zipkin span "
        f"(`traceId`, `id`); its keys: {keys}"
    )
