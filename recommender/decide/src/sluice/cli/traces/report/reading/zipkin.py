"""Reads a Zipkin v2 span into columns without protobuf between. What is unusual is left to the converter of `replay`
(`zipkin.py` there has the mapping), which also names the fault of a bad record."""

from collections.abc import Hashable
from typing import Any

from sluice.cli.traces.report.facts.attributes import Value
from sluice.cli.traces.report.facts.facts import CLIENT, CONSUMER, INTERNAL, PRODUCER, SERVER, Description
from sluice.cli.traces.report.reading.columns import Rows
from sluice.cli.traces.report.reading.jaeger import UnusualError, id_of
from sluice.cli.traces.report.reading.memory import Memory

_KINDS = {"SERVER": SERVER, "CLIENT": CLIENT, "PRODUCER": PRODUCER, "CONSUMER": CONSUMER, None: INTERNAL}
_NO_PARENT = bytes(8)
_MOST_PORT = 65_535
_MOST_NS = 2**64 - 1
_AT_ONCE = 4_096
_NOTHING: dict[str, Any] = {}


class ZipkinRecords:
    """Adds spans to the columns of a Memory, some thousand at once: a record is one span."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._resources: dict[Hashable, int] = {}
        self._rows = Rows()
        self._trace: tuple[str, bytes] = ("", b"")

    def add(self, record: dict[str, Any]) -> None:
        """Takes one span. Raises UnusualError, KeyError, TypeError, ValueError or AttributeError, and takes nothing
        then."""
        if "binaryAnnotations" in record or not all(map(_is_event, record.get("annotations") or ())):
            raise UnusualError
        start, duration, parent = record["timestamp"], record.get("duration", 0), record.get("parentId")
        if type(start) is not int or type(duration) is not int:
            raise UnusualError
        local = record["localEndpoint"]
        resource = self._resource(local["serviceName"], local.get("ipv4") or local.get("ipv6") or "")
        begin_ns, end_ns = start * 1000, (start + duration) * 1000
        if not (0 <= begin_ns <= _MOST_NS and 0 <= end_ns <= _MOST_NS):
            raise UnusualError
        if record["traceId"] != self._trace[0]:
            self._trace = record["traceId"], id_of(record["traceId"], 32)
        span = id_of(record["id"], 16)
        above = id_of(parent, 16) if parent else _NO_PARENT
        facts, rows = self._facts(resource, record), self._rows
        rows.traces.append(self._trace[1])
        rows.ids.append(span)
        rows.parents.append(above)
        rows.starts.append(begin_ns)
        rows.ends.append(end_ns)
        rows.facts.append(facts)
        rows.linked.append(0)
        if len(rows.ids) >= _AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Adds the spans that were taken."""
        if self._rows.ids:
            self._memory.columns.add(self._rows)
            self._rows = Rows()

    def _resource(self, service: Any, address: Any) -> int:
        number = self._resources.get((service, address))
        if number is None:
            if not service or not isinstance(service, str) or not isinstance(address, str):
                raise UnusualError
            attributes: dict[str, Value] = {"service.name": service}
            if address:
                attributes["host.name"] = address
            number = self._resources[service, address] = self._memory.resource(attributes)
        return number

    def _facts(self, resource: int, record: dict[str, Any]) -> int:
        memory, kind, name = self._memory, _KINDS[record.get("kind")], record.get("name") or ""
        tags, remote = record.get("tags"), record.get("remoteEndpoint")
        tags = _NOTHING if tags is None else tags
        names, shorten = memory.of_callers if kind in (CLIENT, PRODUCER) else memory.names, memory.shorten
        texts = [(key, str(value)) for key, value in tags.items() if key in names]
        pairs: list[tuple[str, Value]] = (
            [pair for pair in _peer(remote) if pair[0] in names] if remote is not None else []
        )
        pairs += [(key, shorten[key](text) if key in shorten else text) for key, text in texts]
        failed = "error" in tags and str(tags["error"]).lower() != "false"
        key = ("zipkin", resource, name, kind, failed, *pairs)
        number = memory.known.get(key)
        if number is None:
            if not isinstance(name, str):
                raise UnusualError
            found = tuple(pairs)
            number = memory.learn(key, resource, lambda: Description(kind, name, "", failed, found))
        return number


def _is_event(annotation: Any) -> bool:
    return type(annotation["timestamp"]) is int and 0 <= annotation["timestamp"] * 1000 <= _MOST_NS


def _peer(remote: dict[str, Any]) -> list[tuple[str, Value]]:
    pairs: list[tuple[str, Value]] = []
    if name := remote.get("serviceName"):
        pairs.append(("peer.service", str(name)))
    if address := remote.get("ipv4") or remote.get("ipv6"):
        pairs.append(("network.peer.address", str(address)))
        port = remote.get("port")
        if type(port) is int and 0 < port <= _MOST_PORT:
            pairs.append(("network.peer.port", port))
    return pairs
