"""A real OTLP/gRPC server on a loopback port that keeps what it takes, and refuses when told to."""

# ruff: noqa: N802 (method names are those of the service)

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import (
    TraceServiceServicer,
    add_TraceServiceServicer_to_server,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span


@dataclass
class OtlpReceiver(TraceServiceServicer):
    """`refusals`: codes answered to the next requests, one each, before any is taken.
    `rejects`: spans reported as rejected in each answer."""

    requests: list[ExportTraceServiceRequest] = field(default_factory=list)
    refusals: list[grpc.StatusCode] = field(default_factory=list)
    rejects: int = 0
    calls: int = 0
    address: str = ""
    most_at_once: int = 0

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._now = 0
        self._server = grpc.server(ThreadPoolExecutor(16))
        add_TraceServiceServicer_to_server(self, self._server)  # type: ignore[no-untyped-call]
        self.address = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"

    def __enter__(self) -> "OtlpReceiver":
        self._server.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.stop(None).wait()

    def Export(self, request: ExportTraceServiceRequest, context: grpc.ServicerContext) -> ExportTraceServiceResponse:
        with self._lock:
            self.calls += 1
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
            refusal = self.refusals.pop(0) if self.refusals else None
        try:
            if refusal is not None:
                context.abort(refusal, "told to refuse")
            with self._lock:
                self.requests.append(request)
            if self.rejects:
                partial = ExportTracePartialSuccess(rejected_spans=self.rejects, error_message="too old")
                return ExportTraceServiceResponse(partial_success=partial)
            return ExportTraceServiceResponse()
        finally:
            with self._lock:
                self._now -= 1

    def spans(self) -> list[Span]:
        return [
            span
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def request_sizes(self) -> list[int]:
        return [
            sum(len(scope.spans) for resource in request.resource_spans for scope in resource.scope_spans)
            for request in self.requests
        ]
