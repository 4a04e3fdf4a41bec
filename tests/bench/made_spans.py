"""Made spans as the bytes of ExportTraceServiceRequests, tens of thousands of messages a second.

One round of traces is encoded once, with marks where ids, times and instance numbers stand; each further round is a
copy in which those bytes are replaced. A trace is a hotel search of nine spans over five services (root, three calls
after one another, one call below the first), about 340 bytes a span. As SDKs export them, spans stand in blocks of one
instance, in the order of their ends; a message holds some blocks, as a collector batches them.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Span, Status, TracesData

SERVICES = ("frontend", "search", "geo", "reservation", "profile")
SPANS_PER_TRACE = 9
TRACES_PER_ROUND = 1_000
SPANS_PER_ROUND = SPANS_PER_TRACE * TRACES_PER_ROUND
_DIGITS = 5
_ERROR_RATE = 0.01


@dataclass(frozen=True)
class Shape:
    """What differs between topics. `spans_per_s` is in the time of the spans, whatever the speed of making them."""

    instances: int = 10
    message_spans: int = 100
    spans_per_s: float = 20_000.0

    @property
    def block_spans(self) -> int:
        return min(25, self.message_spans)


@dataclass
class _Marked:
    """A span with marks in place of what changes from round to round, and its times after the round's start."""

    service: str
    span: Span
    start_ns: int
    end_ns: int


@dataclass
class _Places:
    """Where in the bytes of a round the changing parts stand."""

    trace_ids: list[int] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    after_start_ns: list[int] = field(default_factory=list)
    digits: list[int] = field(default_factory=list)
    services: list[int] = field(default_factory=list)


class MadeSpans:
    """Rounds of messages. Same shape and seed, same bytes."""

    def __init__(self, shape: Shape, seed: int = 7) -> None:
        if shape.instances % len(SERVICES):
            raise ValueError(f"{shape.instances} instances cannot be shared evenly by {len(SERVICES)} services")
        self._shape = shape
        self._rng = random.Random(seed)
        self._places = _Places()
        self.round_ns = int(SPANS_PER_ROUND / shape.spans_per_s * 1e9)
        messages = self._encode(self._blocks(self._traces()))
        self._ends = np.cumsum([len(message) for message in messages])
        self._bytes = np.frombuffer(b"".join(messages), dtype=np.uint8).copy()
        self.bytes_per_span = len(self._bytes) / SPANS_PER_ROUND
        self._index = {
            name: np.array(getattr(self._places, name)) for name in ("trace_ids", "times", "after_start_ns", "digits")
        }
        # Of each block: how many of its service stand before it in the round, and how many there are.
        services = self._places.services
        self._before = np.array([services[:i].count(service) for i, service in enumerate(services)])
        self._blocks_of_service = np.array([services.count(service) for service in services])

    def round(self, number: int, start_ns: int) -> Iterator[bytes]:
        """The messages of a round whose first trace begins at `start_ns`, in the order of their spans' ends."""
        self._put(self._index["trace_ids"], np.full(len(self._index["trace_ids"]), number, dtype="<u4"))
        self._put(self._index["times"], (self._index["after_start_ns"] + start_ns).astype("<i8"))
        of_each = self._shape.instances // len(SERVICES)
        numbers = (self._before + number * self._blocks_of_service) % of_each
        text = np.char.zfill(numbers.astype("U"), _DIGITS).astype(f"S{_DIGITS}")
        self._put(self._index["digits"], text)
        whole = self._bytes.tobytes()
        begin = 0
        for end in self._ends:
            yield whole[begin:end]
            begin = end

    def _put(self, places: np.ndarray, values: np.ndarray) -> None:
        width = values.dtype.itemsize
        self._bytes[places[:, None] + np.arange(width)] = values.view(np.uint8).reshape(-1, width)

    def _traces(self) -> list[_Marked]:
        spans: list[_Marked] = []
        for n in range(TRACES_PER_ROUND):
            start = int(n * self.round_ns / TRACES_PER_ROUND)
            _Trace(self._rng, spans).hotel(start, int(50e6 * self._rng.lognormvariate(0.0, 0.5)))
        return spans

    def _blocks(self, spans: list[_Marked]) -> list[list[_Marked]]:
        """By service, in the order of ends; the blocks themselves in the order of their last ends."""
        size = self._shape.block_spans
        blocks = []
        for service in SERVICES:
            own = sorted((span for span in spans if span.service == service), key=lambda span: span.end_ns)
            blocks += [own[i : i + size] for i in range(0, len(own), size)]
        return sorted(blocks, key=lambda block: block[-1].end_ns)

    def _encode(self, blocks: list[list[_Marked]]) -> list[bytes]:
        """The messages; notes the places, relative to the start of the round."""
        per_message = self._shape.message_spans // self._shape.block_spans
        messages = []
        offset = 0
        for i in range(0, len(blocks), per_message):
            data = TracesData()
            marks: list[bytes] = []
            for block in blocks[i : i + per_message]:
                marks.append(self._add(data, block))
                self._places.services.append(SERVICES.index(block[0].service))
            message = data.SerializeToString()
            self._places.digits += [offset + message.index(mark) for mark in marks]
            at = 0
            for marked in (marked for block in blocks[i : i + per_message] for marked in block):
                at = message.index(marked.span.trace_id, at)
                self._places.trace_ids.append(offset + at)
                for mark, after_ns in (
                    (marked.span.start_time_unix_nano, marked.start_ns),
                    (marked.span.end_time_unix_nano, marked.end_ns),
                ):
                    at = message.index(mark.to_bytes(8, "little"), at)
                    self._places.times.append(offset + at)
                    self._places.after_start_ns.append(after_ns)
            messages.append(message)
            offset += len(message)
        return messages

    def _add(self, data: TracesData, block: list[_Marked]) -> bytes:
        """Adds a block; returns the mark in place of the instance's digits."""
        mark = "".join(self._rng.choices("!#$%&()*+;<=>?@[]^{|}~", k=_DIGITS))
        resource = ResourceSpans()
        resource.resource.attributes.extend(
            [
                _text("service.name", block[0].service),
                _text("service.instance.id", f"{block[0].service}-6c8d7f9b5-{mark}"),
                _text("k8s.node.name", "node-1"),
                _text("telemetry.sdk.language", "go"),
            ]
        )
        scope = resource.scope_spans.add()
        scope.scope.name = "go.opentelemetry.io/contrib/instrumentation"
        scope.spans.extend(marked.span for marked in block)
        data.resource_spans.append(resource)
        return mark.encode()


class _Trace:
    """Writes the spans of one trace."""

    def __init__(self, rng: random.Random, out: list[_Marked]) -> None:
        self._rng = rng
        self._out = out
        self._trace_id = rng.randbytes(16)

    def hotel(self, start: int, length: int) -> None:
        root = self._span("frontend", Span.SPAN_KIND_SERVER, b"", "GET /hotels", "", start, length)
        search = self._call("frontend", "search", root, start, length, 0.05, 0.50)
        self._call("search", "geo", search, start, length, 0.10, 0.30)
        self._call("frontend", "reservation", root, start, length, 0.52, 0.70)
        self._call("frontend", "profile", root, start, length, 0.72, 0.95)

    def _call(self, caller: str, callee: str, parent: bytes, start: int, length: int, at: float, to: float) -> bytes:
        begin, took = start + int(at * length), int((to - at) * length)
        operation = f"{callee}.{callee.capitalize()}/Query"
        client = self._span(caller, Span.SPAN_KIND_CLIENT, parent, operation, callee, begin, took)
        return self._span(callee, Span.SPAN_KIND_SERVER, client, operation, "", begin + took // 50, took - took // 25)

    def _span(
        self, service: str, kind: "Span.SpanKind.ValueType", parent: bytes, name: str, peer: str, start: int, took: int
    ) -> bytes:
        rng = self._rng
        span = Span(
            trace_id=self._trace_id,
            span_id=rng.randbytes(8),
            parent_span_id=parent,
            name=name,
            kind=kind,
            start_time_unix_nano=rng.getrandbits(63),
            end_time_unix_nano=rng.getrandbits(63),
        )
        span.attributes.extend(
            [
                _text("rpc.system", "grpc"),
                _text("rpc.service", name.split("/")[0]),
                _text("network.protocol.version", "2"),
                # No service's name: only traces show who answers.
                _text("server.address", f"{peer or service}.shop.svc"),
                _text("user_agent.original", "grpc-go/1.66.0"),
                _text("url.path", f"/hotels/{rng.randrange(10**6):06d}/rooms"),
                KeyValue(key="rpc.grpc.status_code", value=AnyValue(int_value=0)),
                KeyValue(key="server.port", value=AnyValue(int_value=8080)),
            ]
        )
        if rng.random() < _ERROR_RATE:
            span.status.code = Status.STATUS_CODE_ERROR
        self._out.append(_Marked(service, span, start, start + took))
        return span.span_id


def _text(key: str, value: str) -> KeyValue:
    return KeyValue(key=key, value=AnyValue(string_value=value))
