"""A real OTLP/gRPC server inside the test process, which may refuse for a while."""

import threading
from collections.abc import Iterator
from concurrent import futures
from contextlib import contextmanager

import grpc
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2, metrics_service_pb2_grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc


class Receiver(trace_service_pb2_grpc.TraceServiceServicer):
    def __init__(self):
        self.refusals: list[grpc.StatusCode] = []
        """Codes to answer the next requests with, first one first."""
        self.rejected = 0
        """To report as rejected in the next accepted request."""
        self.requests = []
        self.metrics = Metrics()
        self.address = ""
        self._lock = threading.Lock()

    def Export(self, request, context):  # noqa: N802
        with self._lock:
            if self.refusals:
                context.abort(self.refusals.pop(0), "as the test asked")
            self.requests.append(request)
            response = trace_service_pb2.ExportTraceServiceResponse()
            if self.rejected:
                response.partial_success.rejected_spans = self.rejected
                self.rejected = 0
            return response

    def spans(self):
        """(resource attributes, span) of everything that has been accepted."""
        return [
            ({a.key: a.value.string_value for a in group.resource.attributes}, span)
            for request in list(self.requests)
            for group in request.resource_spans
            for scope in group.scope_spans
            for span in scope.spans
        ]


class Metrics(metrics_service_pb2_grpc.MetricsServiceServicer):
    def __init__(self):
        self.requests = []

    def Export(self, request, context):  # noqa: N802
        self.requests.append(request)
        return metrics_service_pb2.ExportMetricsServiceResponse()


@contextmanager
def receiver(port: int = 0) -> Iterator[Receiver]:
    server = grpc.server(futures.ThreadPoolExecutor(2))
    servicer = Receiver()
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(servicer, server)
    metrics_service_pb2_grpc.add_MetricsServiceServicer_to_server(servicer.metrics, server)
    servicer.address = f"127.0.0.1:{server.add_insecure_port(f'127.0.0.1:{port}')}"
    server.start()
    try:
        yield servicer
    finally:
        server.stop(None).wait()
