"""Steady traffic as an SDK sends it: a request is tried again, with the same bytes, until it is acknowledged."""

import queue
import random
import threading
import time
from collections.abc import Callable, Iterator

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from sluice_kit.traffic.made_trace import MadeTrace
from sluice_kit.traffic.messages import SentSpan, message

MS = 1_000_000
PERIOD_S = 0.1
EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
SPANS_PER_TRACE = 6


def trace(rng: random.Random, prefix: str, end_ns: int) -> list[SentSpan]:
    """edge calls orders, which works and calls stock and then its database; edges in the graph: three."""
    edge, orders, stock = (f"{prefix}{name}" for name in ("edge", "orders", "stock"))
    made = MadeTrace(rng, end_ns, parts=16)
    root = made.span(edge, "SERVER", 0, 15)
    call = made.span(edge, "CLIENT", 1, 13, root, peer_service=orders)
    served = made.span(orders, "SERVER", 2, 12, call)
    made.span(orders, "INTERNAL", 3, 5, served)
    made.span(orders, "CLIENT", 5, 7, served, peer_service=stock)
    made.span(orders, "CLIENT", 8, 11, served, rows=rng.randrange(50), peer_service=f"{prefix}db")
    return made.spans


class Traffic:
    """Sends `spans_per_s` to an OTLP/gRPC receiver, from the begin of a `with` block until `stop`, or until its end.

    make: a trace of services that begin with `prefix`, of about SPANS_PER_TRACE spans, that ends then, ns.
    acknowledged: ids of the spans whose request was answered with success. retries: requests that were sent again.
    """

    def __init__(
        self,
        address: str,
        prefix: str,
        spans_per_s: int,
        seed: int,
        senders: int = 8,
        make: Callable[[random.Random, str, int], list[SentSpan]] = trace,
    ) -> None:
        self.acknowledged: set[bytes] = set()
        self.retries = 0
        self._prefix, self._make_trace = prefix, make
        self._traces = round(spans_per_s * PERIOD_S / SPANS_PER_TRACE)
        self._rng = random.Random(seed)
        self._waiting: queue.SimpleQueue[tuple[bytes, list[bytes]] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._given_up = threading.Event()
        options = [("grpc.initial_reconnect_backoff_ms", 200), ("grpc.max_reconnect_backoff_ms", 1000)]
        self._channel = grpc.insecure_channel(address, options=options)
        self._export = self._channel.unary_unary(
            EXPORT, None, response_deserializer=ExportTraceServiceResponse.FromString
        )
        self._senders = [threading.Thread(target=self._send, daemon=True) for _ in range(senders)]
        self._maker = threading.Thread(target=self._make, daemon=True)

    def __enter__(self) -> "Traffic":
        for thread in (*self._senders, self._maker):
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        """A test that fails leaves nothing behind that sends beside the next one."""
        self._stopping.set()
        self._given_up.set()

    def stop(self, within_s: float = 60.0) -> None:
        """Makes no more, and waits until all that was made is acknowledged. Raises AssertionError when it is not."""
        self._stopping.set()
        self._maker.join(within_s)
        for _ in self._senders:
            self._waiting.put(None)
        deadline = time.monotonic() + within_s
        for thread in self._senders:
            thread.join(max(0.0, deadline - time.monotonic()))
        assert not any(thread.is_alive() for thread in self._senders), "requests were not acknowledged in time"
        self._channel.close()

    def _make(self) -> None:
        for _ in self._periods():
            now = time.time_ns()
            ends = [now - self._rng.randrange(round(PERIOD_S * 1000) * MS) for _ in range(self._traces)]
            spans = [span for end in ends for span in self._make_trace(self._rng, self._prefix, end)]
            self._waiting.put((message(spans), [span.span_id for span in spans]))

    def _periods(self) -> Iterator[None]:
        due = time.monotonic()
        while not self._stopping.is_set():
            yield
            due += PERIOD_S
            self._stopping.wait(max(0.0, due - time.monotonic()))

    def _send(self) -> None:
        while (item := self._waiting.get()) is not None:
            request, span_ids = item
            while not self._acknowledged(request):
                if self._given_up.is_set():
                    return
                time.sleep(0.1 + 0.4 * random.random())
                with self._lock:
                    self.retries += 1
            with self._lock:
                self.acknowledged.update(span_ids)

    def _acknowledged(self, request: bytes) -> bool:
        """Whether the receiver answered with success; without an answer nobody knows whether it has the request."""
        try:
            response = self._export(request, timeout=5.0)
        except grpc.RpcError:
            return False
        assert not response.partial_success.rejected_spans, "the collector rejected spans for good"
        return True
