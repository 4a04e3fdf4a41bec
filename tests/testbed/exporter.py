"""Sends spans to an OTLP/gRPC receiver from a thread of its own."""

import logging
import random
import threading
import time
from collections import deque
from collections.abc import Mapping
from types import MappingProxyType

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import TraceServiceStub

from .otlp import encode
from .spans import Span

log = logging.getLogger(__name__)

RETRYABLE = {
    # The codes that the OTLP specification names; RESOURCE_EXHAUSTED is one when the server says so, and a full
    # collector that does not is no reason to lose spans either.
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.OUT_OF_RANGE,
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DATA_LOSS,
}


class Exporter:
    """Batches of at most ``batch`` spans, at the latest every ``interval`` seconds.

    The queue is bounded: what finds it full is dropped and counted, as in the SDKs. A batch is retried without end
    while the receiver is away (full jitter, ``first_backoff`` doubling up to ``most_backoff``); one that it rejects
    for good is dropped and counted. ``hosts``: by instance, of those that do not run on ``otlp.HOST``.
    """

    def __init__(
        self,
        address: str,
        *,
        hosts: Mapping[str, str] = MappingProxyType({}),
        batch: int = 512,
        interval: float = 0.2,
        queue: int = 16384,
        timeout: float = 5.0,
        first_backoff: float = 0.2,
        most_backoff: float = 5.0,
    ) -> None:
        self.address = address
        self.sent = 0
        self.dropped = 0
        self.retries = 0
        self._hosts = hosts
        self._batch = batch
        self._interval = interval
        self._timeout = timeout
        self._first_backoff = first_backoff
        self._most_backoff = most_backoff
        self._limit = queue
        self._queue: deque[Span] = deque()
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._deadline = float("inf")
        options = [("grpc.initial_reconnect_backoff_ms", 200), ("grpc.max_reconnect_backoff_ms", 2000)]
        self._channel = grpc.insecure_channel(address, options=options)
        self._export = TraceServiceStub(self._channel).Export  # type: ignore[no-untyped-call]
        self._thread = threading.Thread(target=self._run, name="exporter", daemon=True)

    @property
    def queued(self) -> int:
        return len(self._queue)

    def start(self) -> None:
        self._thread.start()

    def offer(self, span: Span) -> None:
        """Queues a span whose times are Unix ns; never blocks. Called from one thread only."""
        if len(self._queue) >= self._limit:
            self.dropped += 1
            return
        self._queue.append(span)
        if len(self._queue) == self._batch:
            self._wake.set()

    def stop(self, grace: float = 5.0) -> None:
        """Sends what is queued, for at most ``grace`` seconds; what is left then counts as dropped."""
        self._deadline = time.monotonic() + grace
        self._stopping.set()
        self._wake.set()
        if self._thread.ident is not None:
            self._thread.join(grace + self._timeout)
        self.dropped += len(self._queue)
        self._queue.clear()
        self._channel.close()

    def _run(self) -> None:
        while True:
            if len(self._queue) < self._batch and not self._stopping.is_set():
                self._wake.wait(self._interval)
            self._wake.clear()
            spans = [self._queue.popleft() for _ in range(min(self._batch, len(self._queue)))]
            if spans:
                self._deliver(encode(spans, self._hosts), len(spans))
            elif self._stopping.is_set():
                return

    def _deliver(self, request: ExportTraceServiceRequest, count: int) -> None:
        backoff = self._first_backoff
        while True:
            left = self._deadline - time.monotonic()
            if left <= 0:
                self.dropped += count
                return
            try:
                response = self._export(request, timeout=min(self._timeout, left))
            except grpc.RpcError as error:
                if error.code() not in RETRYABLE:
                    self.dropped += count
                    log.warning("export %d spans to %s: rejected: %s", count, self.address, error.details())
                    return
                if backoff == self._first_backoff:
                    log.warning("export spans to %s: %s; retrying", self.address, error.code().name)
                self.retries += 1
                # While stopping the event is set and no longer paces: wait a little, and give up at the deadline.
                pause = random.uniform(0, backoff)
                if self._stopping.is_set():
                    time.sleep(min(pause, max(0.0, self._deadline - time.monotonic())))
                else:
                    self._stopping.wait(pause)
                backoff = min(2 * backoff, self._most_backoff)
            else:
                rejected = response.partial_success.rejected_spans
                self.sent += count - rejected
                self.dropped += rejected
                return
