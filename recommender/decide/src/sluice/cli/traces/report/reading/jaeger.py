"""Reads a Jaeger trace into columns without protobuf between. What is unusual is left to the converter of `replay`,
which also names the fault of a bad record."""

from collections.abc import Hashable, Iterable
from typing import Any

from sluice.cli.traces.report.facts.attributes import Value
from sluice.cli.traces.report.facts.facts import CLIENT, CONSUMER, INTERNAL, PRODUCER, SERVER, Description, threshold_of
from sluice.cli.traces.report.reading.columns import Rows
from sluice.cli.traces.report.reading.memory import Memory

_KINDS = {"internal": INTERNAL, "server": SERVER, "client": CLIENT, "producer": PRODUCER, "consumer": CONSUMER}
_OF_SPAN = frozenset({"span.kind", "error", "otel.status_code", "w3c.tracestate"})
_ASKING = ("client", "producer")
_REFERENCES = ("CHILD_OF", "FOLLOWS_FROM")
_NO_PARENT = bytes(8)
#: Processes with tags of their own in each trace would fill the memory.
_MOST_RESOURCES = 20_000
Raw = tuple[tuple[str, Any, Any], ...]


class UnusualError(Exception):
    """The record is not of the usual shape."""


class JaegerRecords:
    """Adds traces to the columns of a Memory."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._relevant = memory.names | _OF_SPAN
        self._of_callers = memory.of_callers | _OF_SPAN
        self._resources: dict[Hashable, int] = {}

    def add(self, record: dict[str, Any]) -> int:
        """Adds the spans of `{"spans", "processes"}`; their number. Raises UnusualError, KeyError, TypeError,
        ValueError, AttributeError or OverflowError, and adds nothing then."""
        rows = Rows()
        resources = {pid: self._resource(process) for pid, process in record["processes"].items()}
        raw_trace, trace = "", b""
        for span in record["spans"]:
            if "process" in span or "parentSpanID" in span:
                raise UnusualError
            if span["traceID"] != raw_trace:
                raw_trace = span["traceID"]
                trace = id_of(raw_trace, 32)
            start, duration = span["startTime"], span["duration"]
            if type(start) is not int or type(duration) is not int:
                raise UnusualError
            parent, linked = _NO_PARENT, 0
            for reference in span.get("references") or ():
                other = reference.get("traceID", raw_trace)
                if reference["refType"] not in _REFERENCES or len(other) != len(raw_trace):
                    raise UnusualError  # of another length it may be the same id with zeros left out
                if other != raw_trace:
                    continue
                if reference["refType"] == "CHILD_OF" and parent is _NO_PARENT:
                    parent = id_of(reference["spanID"], 16)
                else:
                    linked = 1
            rows.traces.append(trace)
            rows.ids.append(id_of(span["spanID"], 16))
            rows.parents.append(parent)
            rows.starts.append(start * 1000)
            rows.ends.append((start + duration) * 1000)
            rows.facts.append(self._facts(resources[span["processID"]], span))
            rows.linked.append(linked)
        if not rows.ids:
            raise UnusualError
        self._memory.columns.add(rows)
        return len(rows.ids)

    def _resource(self, process: dict[str, Any]) -> int:
        service = process["serviceName"]
        tags = process.get("tags") or ()
        key = (service, *[(tag["key"], tag.get("type"), tag.get("value")) for tag in tags])
        number = self._resources.get(key)
        if number is None:
            if len(self._resources) >= _MOST_RESOURCES:
                self._resources.clear()
            number = self._resources[key] = self._new_resource(service, tags)
        return number

    def _new_resource(self, service: Any, tags: Iterable[dict[str, Any]]) -> int:
        if not service or not isinstance(service, str):
            raise UnusualError
        attributes: dict[str, Value] = {"service.name": service}
        for tag in tags:
            name = "host.name" if tag["key"] == "hostname" else tag["key"]
            if (
                name in self._memory.of_resources
                and isinstance(tag.get("value"), str)
                and tag.get("type", "string") == "string"
            ):
                attributes.setdefault(name, tag["value"])
        return self._memory.resource(attributes)

    def _facts(self, resource: int, span: dict[str, Any]) -> int:
        tags = span.get("tags") or ()
        asks = any(tag["key"] == "span.kind" and str(tag.get("value")).lower() in _ASKING for tag in tags)
        relevant = self._of_callers if asks else self._relevant
        raw = tuple(
            [
                (tag["key"], tag.get("type"), self._short(tag["key"], tag.get("value")))
                for tag in tags
                if tag["key"] in relevant
            ]
        )
        name = span["operationName"]
        exceeded_ns = self._memory.rules.exceeded(span["duration"] * 1000)
        key = (resource, name, raw, exceeded_ns)
        number = self._memory.known.get(key)
        if number is None:
            if not isinstance(name, str):
                raise UnusualError
            number = self._memory.learn(key, resource, lambda: _description(name, raw, exceeded_ns))
        return number

    def _short(self, name: str, value: Any) -> Any:
        shorten = self._memory.shorten.get(name)
        return value if shorten is None or not isinstance(value, str) else shorten(value)


def _description(operation: str, raw: Raw, exceeded_ns: int) -> Description:
    kind, failed = INTERNAL, False
    pairs: list[tuple[str, Value]] = []
    for name, declared, value in raw:
        text = str(value).lower()
        if name == "span.kind" and text in _KINDS:
            kind = _KINDS[text]
        elif name == "otel.status_code":
            failed |= text == "error"
        elif name == "w3c.tracestate":
            pairs.append(("tracestate.ot.th", threshold_of(str(value))))
        else:
            failed |= name == "error" and text == "true"
            pairs.append((name, _value(declared, value)))
    return Description(kind, operation, "", failed, tuple(pairs), exceeded_ns)


def _value(declared: Any, value: Any) -> Value:
    """As `replay` converts it: a value that does not fit its type keeps the type of JSON."""
    try:
        if declared == "int64" and isinstance(value, str):
            return int(value)
        if declared == "float64" and not isinstance(value, bool):
            return float(value)
    except ValueError:
        return str(value)
    if declared == "bool" and str(value).lower() in ("true", "false"):
        return str(value).lower() == "true"
    return value if isinstance(value, str | int | float) else str(value)


def id_of(text: str, digits: int) -> bytes:
    """The bytes of an id of at most so many hexadecimal digits. Raises UnusualError or ValueError where it is none."""
    # bytes.fromhex also accepts white space, which an id must not have.
    if len(text) > digits or not text.isalnum():
        raise UnusualError
    raw = bytes.fromhex(text.zfill(digits))
    if not any(raw):
        raise UnusualError
    return raw
