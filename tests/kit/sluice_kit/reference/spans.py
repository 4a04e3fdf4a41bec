"""The spans of the topic, named and judged; the first step of every table."""

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span as OtlpSpan
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from sluice_kit.reference import errors, rules
from sluice_kit.reference.peer_names import PEER, address, cut, first_text
from sluice_kit.reference.said import NOTHING, Said, said
from sluice_kit.reference.settings import setting

MS = 1_000_000

MAX_AGE_NS = setting("max-age-ms") * MS
MAX_AHEAD_NS = setting("max-ahead-ms") * MS
#: A message whose bytes came before within this time is a repeat; 0: none is.
REPEAT_WINDOW_MS = setting("repeat-window-ms")

INSTANCE = ("service.instance.id", "k8s.pod.name", "container.id", "host.name")
HOST = ("k8s.node.name", "host.id", "host.name")
ROWS = ("db.response.returned_rows",)
REQUEST = (
    "http.request.body.size",
    "http.request_content_length",
    "messaging.message.body.size",
    "messaging.message.payload_size_bytes",
    "messaging.message_payload_size_bytes",
)
RESPONSE = ("http.response.body.size", "http.response_content_length")
MOST_SIZE = 1 << 40
#: Of a tombstone: how large the span was that the collector took out of its message.
DROPPED = "sluice.dropped.bytes"

ACCEPTED = "accepted"
#: On which side of a pool a span of each kind is.
SIDES = {"SERVER": "server", "CONSUMER": "consumer", "CLIENT": "client", "PRODUCER": "client"}


@dataclass(frozen=True)
class Record:
    """One record of otlp_spans, and where it stands; `received_ms` is the time that the broker gave it."""

    message: bytes | None
    received_ms: int
    partition: int = 0
    offset: int = 0


#: partition, offset
Position = tuple[int, int]


def position(record: Record) -> Position:
    return record.partition, record.offset


@dataclass(frozen=True)
class Read:
    """A record as it was read: None for spans when it cannot be decoded; `repeated` when it came before."""

    received_ms: int
    spans: list["Span"] | None
    repeated: bool


@dataclass(frozen=True)
class Span:
    """`peer` is what the attributes name outright, `address` what they only locate; both "" when absent. `rows` and
    `data_bytes`, of request and response, are None where the span does not say. `said` is of samplers. `use`, `action`
    and `rule` are what the stack's rules say of it; `nested` is whether its own message shows it within another that
    holds the same place."""

    service: str
    instance: str
    host: str
    trace_id: bytes
    span_id: bytes
    parent_id: bytes
    kind: str
    operation: str
    start_ns: int
    end_ns: int
    error: bool
    linked: bool
    peer: str
    address: str
    dropped_bytes: int
    rows: int | None
    data_bytes: int | None
    received_ms: int
    said: Said = NOTHING
    use: str = "held"
    action: str = "count"
    rule: str = ""
    nested: bool = False

    @property
    def counts(self) -> bool:
        """Whether rules count it."""
        return self.use in ("held", "not_a_pool", "sidecar")

    @property
    def duration_ns(self) -> int:
        return self.end_ns - self.start_ns

    @property
    def shown_ns(self) -> int:
        """By which the graph places it: its end, or when it was received, where a clock that is ahead ends it later."""
        return min(self.end_ns, self.received_ms * MS)

    @property
    def named_peer(self) -> str:
        """The peer as far as the span itself tells."""
        return self.peer or self.address


def spans_of(record: Record) -> list[Span] | None:
    """The spans of a record in their order; None when it cannot be decoded."""
    if record.message is None:
        return None
    try:
        request = ExportTraceServiceRequest.FromString(record.message)
    except DecodeError:
        return None
    return with_nested(
        [
            _span(span, resource.resource.attributes, scope.scope, record.received_ms)
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]
    )


def with_nested(spans: list[Span]) -> list[Span]:
    """The spans of a message in their order; those that are used, and that it shows to be nested, say so."""
    from sluice_kit.reference.nesting import nested  # which reads spans

    parts: dict[bytes, list[Span]] = {}
    for span in spans:
        if judge(span) == ACCEPTED:
            parts.setdefault(span.trace_id, []).append(span)
    nested_ids: set[int] = set()
    for part in parts.values():
        by_id: dict[bytes, Span] = {}
        for span in part:
            by_id.setdefault(span.span_id, span)
        nested_ids |= {id(span) for span, _ in nested(part, by_id) if span.counts}
    return [replace(span, nested=True) if id(span) in nested_ids else span for span in spans]


def judge(span: Span) -> str:
    """The outcome of a span: accepted, or the first fault in the documented order."""
    if span.dropped_bytes:
        return "too_large"
    oldest, newest = span.received_ms * MS - MAX_AGE_NS, span.received_ms * MS + MAX_AHEAD_NS
    if not span.service:
        return "missing_service"
    if len(span.trace_id) != 16 or len(span.span_id) != 8 or len(span.parent_id) not in (0, 8):
        return "bad_id"
    if not any(span.trace_id) or not any(span.span_id):
        return "bad_id"
    # Both limits are whole milliseconds, and so is what is compared with them.
    if any(ns == 0 or not oldest <= ns // MS * MS <= newest for ns in (span.start_ns, span.end_ns)):
        return "clock_out_of_range"
    return "ends_before_start" if span.end_ns < span.start_ns else ACCEPTED


def read(records: Sequence[Record], first: Container[Position] = ()) -> list[Read]:
    """The records in their order, of which those with the same bytes are used once: the earliest, or the one in
    `first`."""
    first_ms = {record.message: record.received_ms for record in records if position(record) in first}
    reads = []
    for record in records:
        if record.message == b"":
            continue  # a clock record
        known_ms = None if position(record) in first else first_ms.get(record.message)
        repeated = known_ms is not None and abs(record.received_ms - known_ms) < REPEAT_WINDOW_MS
        if not repeated:
            first_ms[record.message] = record.received_ms
        reads.append(Read(record.received_ms, spans_of(record), repeated))
    return reads


def accepted(records: Iterable[Read]) -> Iterator[Span]:
    """The spans that count, in order of the records."""
    for record in records:
        if not record.repeated:
            yield from (span for span in record.spans or [] if judge(span) == ACCEPTED)


def _span(span: OtlpSpan, resource: Iterable[KeyValue], scope: InstrumentationScope, received_ms: int) -> Span:
    moved = [size for names in (REQUEST, RESPONSE) if (size := _size(span.attributes, names)) is not None]
    parent_id = span.parent_span_id
    kind = OtlpSpan.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_") if 0 <= span.kind <= 5 else "UNKNOWN"
    service = first_text(resource, ("service.name",))
    asks = kind in ("CLIENT", "PRODUCER")
    peer = first_text(span.attributes, PEER) if asks else ""
    located = address(span.attributes) if asks else ""
    use, action, rule = "held", "count", ""
    if side := SIDES.get(kind, ""):
        named = peer or located or "unknown" if side == "client" else ""
        fields = {"service": service, "side": side, "peer": named, "span": cut(span.name), "scope": cut(scope.name)}
        use, action, rule = rules.use(
            fields, [*span.attributes, *resource], span.end_time_unix_nano - span.start_time_unix_nano
        )
    return Span(
        service=service,
        instance=first_text(resource, INSTANCE),
        host=first_text(resource, HOST),
        trace_id=span.trace_id,
        span_id=span.span_id,
        parent_id=b"" if parent_id == bytes(8) else parent_id,
        kind=kind,
        operation=cut(span.name),
        start_ns=span.start_time_unix_nano,
        end_ns=span.end_time_unix_nano,
        error=errors.is_error(span.status.code == Status.STATUS_CODE_ERROR, span.attributes),
        linked=any(link.trace_id == span.trace_id for link in span.links),
        peer=peer,
        address=located,
        dropped_bytes=max(
            [0, *(attribute.value.int_value for attribute in span.attributes if attribute.key == DROPPED)]
        ),
        rows=_size(span.attributes, ROWS),
        data_bytes=sum(moved) if moved else None,
        received_ms=received_ms,
        said=said(span, scope),
        use=use,
        action=action,
        rule=rule,
    )


def _size(attributes: Iterable[KeyValue], names: tuple[str, ...]) -> int | None:
    """The first name that has a number which can be a size."""
    for name in names:
        for attribute in attributes:
            value = attribute.value
            if attribute.key == name and value.HasField("int_value") and 0 <= value.int_value <= MOST_SIZE:
                return value.int_value
    return None
