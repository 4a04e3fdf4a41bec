"""Reads OTLP JSON into columns without protobuf between. What is unusual is left to the converter of `replay`."""

from collections.abc import Callable, Mapping
from typing import Any

from sluice.cli.traces.report.facts.attributes import Value
from sluice.cli.traces.report.facts.facts import CLIENT, PRODUCER, THRESHOLD, Description, threshold_of
from sluice.cli.traces.report.reading.columns import Rows
from sluice.cli.traces.report.reading.jaeger import UnusualError
from sluice.cli.traces.report.reading.memory import Memory

_NO_PARENT = bytes(8)
_KINDS = {
    f"SPAN_KIND_{name}": number
    for number, name in enumerate(("UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"))
}
_ERROR = (2, "STATUS_CODE_ERROR")
_TYPES = {"stringValue": str, "boolValue": bool, "intValue": int, "doubleValue": float}
Raw = tuple[tuple[str, str, Any], ...]


class OtlpRecords:
    """Adds messages to the columns of a Memory."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def add(self, record: dict[str, Any]) -> int:
        """Adds the spans of `{"resourceSpans"}`; their number. Raises the errors of JaegerRecords.add, and adds nothing
        then."""
        rows = Rows()
        for resource_spans in record["resourceSpans"]:
            attributes = (resource_spans.get("resource") or {}).get("attributes") or ()
            pairs = _pairs(_raw(attributes, self._memory.of_resources, {}))
            resource = self._memory.resource(dict(reversed(pairs)))
            for scope_spans in resource_spans["scopeSpans"]:
                scope = (scope_spans.get("scope") or {}).get("name", "")
                for span in scope_spans["spans"]:
                    self._span(rows, resource, scope, span)
        if not rows.ids:
            raise UnusualError
        self._memory.columns.add(rows)
        return len(rows.ids)

    def _span(self, rows: Rows, resource: int, scope: str, span: dict[str, Any]) -> None:
        trace = span["traceId"]
        parent = span.get("parentSpanId")
        rows.traces.append(_id(trace, 32))
        rows.ids.append(_id(span["spanId"], 16))
        rows.parents.append(_id(parent, 16) if parent else _NO_PARENT)
        rows.starts.append(_time(span["startTimeUnixNano"]))
        rows.ends.append(_time(span["endTimeUnixNano"]))
        links = span.get("links") or ()
        rows.linked.append(int(any(_id(link["traceId"], 32) == rows.traces[-1] for link in links)))
        failed = (span.get("status") or {}).get("code") in _ERROR
        kind = span.get("kind", 0)
        number = _KINDS[kind] if isinstance(kind, str) else kind
        names = self._memory.of_callers if number in (CLIENT, PRODUCER) else self._memory.names
        raw = _raw(span.get("attributes") or (), names, self._memory.shorten)
        if state := span.get("traceState"):
            raw = (*raw, (THRESHOLD, "stringValue", threshold_of(state)))
        name = span.get("name", "")
        exceeded_ns = self._memory.rules.exceeded(rows.ends[-1] - rows.starts[-1])
        key = (resource, scope, name, number, failed, raw, exceeded_ns)
        known = self._memory.known.get(key)
        if known is None:
            known = self._memory.learn(
                key, resource, lambda: Description(number, name, scope, failed, _pairs(raw), exceeded_ns)
            )
        rows.facts.append(known)


def _raw(attributes: Any, names: frozenset[str], shorten: Mapping[str, Callable[[str], str]]) -> Raw:
    # An attribute of another shape than {"stringValue": ...} has several values or none.
    raw = [(a["key"], *next(iter(a["value"].items()))) for a in attributes if a["key"] in names and a.get("value")]
    return tuple(
        [
            (name, kind, shorten[name](value)) if name in shorten and isinstance(value, str) else (name, kind, value)
            for name, kind, value in raw
        ]
    )


def _pairs(raw: Raw) -> tuple[tuple[str, Value], ...]:
    pairs = []
    for name, kind, value in raw:
        if kind in _TYPES:
            if kind != "intValue" and not isinstance(
                value, _TYPES[kind] if kind != "doubleValue" else int | float | str
            ):
                raise UnusualError
            pairs.append((name, _TYPES[kind](value)))
        elif not kind.endswith("Value"):
            raise UnusualError
    return tuple(pairs)


def _id(text: str, digits: int) -> bytes:
    # Otherwise it may be base64.
    if len(text) != digits or not text.isalnum():
        raise UnusualError
    return bytes.fromhex(text)


def _time(value: Any) -> int:
    if type(value) is int or (type(value) is str and value.isdigit()):
        return int(value)
    raise UnusualError
