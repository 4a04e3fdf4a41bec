"""Converts one OTLP/JSON message (TracesData or ExportTraceServiceRequest) to traces.

OTLP/JSON is protobuf's JSON mapping with two differences: ids are hexadecimal instead of base64, and enums are integers
(OTLP specification 1.x, "JSON Protobuf Encoding"). 64-bit integers may be strings or numbers. Unknown keys are ignored,
as the specification requires of receivers. Writers of protobuf's own mapping, such as Tempo, have ids in base64; the
length of the text tells the encoding. `instrumentationLibrarySpans` is the name of scopeSpans before
opentelemetry-proto 0.15.
"""

import base64
import binascii
from collections.abc import Iterator
from typing import Any

from google.protobuf.json_format import ParseDict, ParseError
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, TracesData

from sluice.cli.traces.replay.trace import BadRecordError, Trace, measure

#: Optional in a span: absent, or empty in a root.
_PARENT = ("parentSpanId", "parent_span_id")


def convert_otlp_json(record: dict[str, Any]) -> list[Trace]:
    """Converts `{"resourceSpans": [...]}` to its traces, in order of their first spans.

    Changes `record`. Raises BadRecordError that names the bad field.
    """
    for resource in _objects(record, "resourceSpans", "resource_spans"):
        _rename_libraries(resource)
    _ids_to_base64(record)
    try:
        data = ParseDict(record, TracesData(), ignore_unknown_fields=True)
    except ParseError as error:
        raise BadRecordError(f"is not OTLP JSON: {error}") from None
    traces = [measure(part) for part in _by_trace_id(data)]
    if not traces:
        raise BadRecordError("has no spans")
    return traces


def _by_trace_id(data: TracesData) -> Iterator[tuple[ResourceSpans, ...]]:
    """The same spans, grouped by trace id; a single trace is not copied."""
    ids = {span.trace_id for resource in data.resource_spans for scope in resource.scope_spans for span in scope.spans}
    if len(ids) == 1:
        yield tuple(data.resource_spans)
        return
    parts: dict[bytes, list[ResourceSpans]] = {}
    for resource in data.resource_spans:
        open_resources: dict[bytes, ResourceSpans] = {}
        for scope in resource.scope_spans:
            open_scopes: dict[bytes, Any] = {}
            for span in scope.spans:
                target = open_scopes.get(span.trace_id)
                if target is None:
                    part = open_resources.get(span.trace_id)
                    if part is None:
                        part = ResourceSpans(resource=resource.resource, schema_url=resource.schema_url)
                        open_resources[span.trace_id] = part
                        parts.setdefault(span.trace_id, []).append(part)
                    target = part.scope_spans.add(scope=scope.scope, schema_url=scope.schema_url)
                    open_scopes[span.trace_id] = target
                target.spans.append(span)
    for part_list in parts.values():
        yield tuple(part_list)


def _rename_libraries(resource: dict[str, Any]) -> None:
    """Renames the old field of one resource, in place. A resource may have both fields."""
    old = _objects(resource, "instrumentationLibrarySpans", "instrumentation_library_spans")
    if old:
        for scope in old:
            scope["scope"] = scope.get("instrumentationLibrary", scope.get("instrumentation_library")) or {}
        scopes = [*_objects(resource, "scopeSpans", "scope_spans"), *old]
        resource.pop("scope_spans", None)
        resource["scopeSpans"] = scopes


def _ids_to_base64(record: dict[str, Any]) -> None:
    for i, resource in enumerate(_objects(record, "resourceSpans", "resource_spans")):
        for j, scope in enumerate(_objects(resource, "scopeSpans", "scope_spans")):
            for k, span in enumerate(_objects(scope, "spans")):
                where = f"resourceSpans[{i}].scopeSpans[{j}].spans[{k}]"
                _id(span, ("traceId", "trace_id"), 16, where)
                _id(span, ("spanId", "span_id"), 8, where)
                if any(span.get(key) for key in _PARENT):
                    _id(span, _PARENT, 8, where)
                for n, link in enumerate(_objects(span, "links")):
                    _id(link, ("traceId", "trace_id"), 16, f"{where}.links[{n}]")
                    _id(link, ("spanId", "span_id"), 8, f"{where}.links[{n}]")


def _objects(parent: dict[str, Any], *keys: str) -> list[dict[str, Any]]:
    for key in keys:
        if (children := parent.get(key)) is not None:
            if not isinstance(children, list) or not all(isinstance(child, dict) for child in children):
                raise BadRecordError(f"{key} is not an array of objects")
            return children
    return []


def _id(owner: dict[str, Any], keys: tuple[str, ...], length: int, where: str) -> None:
    key = next((name for name in keys if owner.get(name)), None)
    if key is None:
        raise BadRecordError(f"{where}.{keys[0]} is missing")
    value = owner[key]
    raw = _bytes(value, length) if isinstance(value, str) else b""
    if len(raw) != length:
        raise BadRecordError(
            f"{where}.{key} {str(value)[:64]!r} is neither {2 * length} hexadecimal digits nor {length} bytes in base64"
        )
    if not any(raw):
        raise BadRecordError(f"{where}.{key} is all zeros")
    owner[key] = base64.b64encode(raw).decode()


def _bytes(text: str, length: int) -> bytes:
    """Bytes of an id. 16 bytes: 32 hexadecimal digits, or 22 of base64 without padding; 8 bytes: 16, or 11."""
    try:
        if len(text) == 2 * length:
            return bytes.fromhex(text) if text.isalnum() else b""
        bare = text.rstrip("=").replace("-", "+").replace("_", "/")
        return base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)
    except (ValueError, binascii.Error):
        return b""
