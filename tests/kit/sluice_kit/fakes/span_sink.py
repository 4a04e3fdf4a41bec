"""A real OTLP server over gRPC that keeps the spans that it is sent."""

# ruff: noqa: N802 (the method's name is the service's)

from concurrent.futures import ThreadPoolExecutor

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import (
    TraceServiceServicer,
    add_TraceServiceServicer_to_server,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span


class SpanSink(TraceServiceServicer):
    """Serves at `address` for the length of a `with` block."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self._server = grpc.server(ThreadPoolExecutor(2))
        add_TraceServiceServicer_to_server(self, self._server)  # type: ignore[no-untyped-call]
        self.address = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"

    def __enter__(self) -> "SpanSink":
        self._server.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.stop(None).wait()

    def Export(self, request: ExportTraceServiceRequest, context: grpc.ServicerContext) -> ExportTraceServiceResponse:
        for resource in request.resource_spans:
            for scope in resource.scope_spans:
                self.spans.extend(scope.spans)
        return ExportTraceServiceResponse()

    def servers(self, *attributes: str) -> list[tuple[str, ...]]:
        """The attributes of the SERVER spans received so far; "" where a span has none."""
        entries = [span for span in self.spans if span.kind == Span.SPAN_KIND_SERVER]
        values = [{pair.key: pair.value.string_value for pair in span.attributes} for span in entries]
        return [tuple(value.get(name, "") for name in attributes) for value in values]
