"""Sends batches to an OTLP/gRPC receiver: several in flight, with retries and backoff; counts every span."""

import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import grpc
from google.rpc.error_details_pb2 import RetryInfo  # type: ignore[import-untyped]
from grpc_status import rpc_status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import TraceServiceStub

from sluice.cli.traces.replay.pace import Batch
from sluice.cli.traces.replay.totals import Totals

#: A request after its deadline is not retried: it may have arrived, and would count twice.
RETRYABLE = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED)
IN_FLIGHT = 4
_FIRST_BACKOFF_S = 0.1
_LONGEST_BACKOFF_S = 5.0
_CALL_TIMEOUT_S = 30.0


@dataclass(frozen=True)
class GaveUp:
    """The reason why sending ended early."""

    code: str
    text: str


def backoff_s(attempt: int, uniform: Callable[[float, float], float] = random.uniform) -> float:
    """Wait before retry number `attempt` (from 1): uniform over [half, whole] of 0.1 s x 2^(attempt-1), at most 5 s.

    attempt 1: 0.05 to 0.1 s; 2: 0.1 to 0.2 s; 7 and more: 2.5 to 5 s.
    """
    longest_s = min(_FIRST_BACKOFF_S * 2 ** (min(attempt, 16) - 1), _LONGEST_BACKOFF_S)
    return uniform(longest_s / 2, longest_s)


class SpanSender:
    """`send` blocks while IN_FLIGHT requests have no answer; `finish` waits for the last answers.

    After `stop` is set, or after retries of a request for `give_up_s`, it sends nothing more; `gave_up` then has the
    reason. A request that the receiver refuses for good counts as failed, and sending goes on.
    """

    def __init__(self, channel: grpc.Channel, totals: Totals, give_up_s: float, stop: threading.Event) -> None:
        self._stub = TraceServiceStub(channel)  # type: ignore[no-untyped-call]
        self._totals = totals
        self._give_up_s = give_up_s
        self._stop = stop
        self._slots = threading.BoundedSemaphore(IN_FLIGHT)
        self._pool = ThreadPoolExecutor(IN_FLIGHT, thread_name_prefix="otlp")
        self._lock = threading.Lock()
        self.gave_up: GaveUp | None = None

    def send(self, batch: Batch) -> bool:
        """Accepts one batch; returns False, without the batch, when sending has ended."""
        while not self._slots.acquire(timeout=0.1):
            if self._stop.is_set():
                return False
        if self._stop.is_set():
            self._slots.release()
            return False
        self._pool.submit(self._deliver, batch)
        return True

    def finish(self) -> None:
        self._pool.shutdown(wait=True)

    def _deliver(self, batch: Batch) -> None:
        try:
            self._deliver_with_retries(batch)
        except Exception as error:  # every batch must be counted, also a lost one
            self._end(batch, type(error).__name__, str(error))
        finally:
            self._slots.release()

    def _deliver_with_retries(self, batch: Batch) -> None:
        request = ExportTraceServiceRequest(resource_spans=batch.resource_spans)
        waited = 0.0
        attempt = 0
        while True:
            try:
                response = self._stub.Export(request, timeout=_CALL_TIMEOUT_S)
            except grpc.RpcError as error:
                attempt += 1
                pause = max(backoff_s(attempt), _asked_pause_s(error))
                code, text = error.code(), error.details() or ""
                if code not in RETRYABLE:
                    self._fail(batch, code.name, text)
                    return
                if waited + pause > self._give_up_s or self._stop.is_set():
                    self._end(batch, code.name, text)
                    return
                with self._lock:
                    self._totals.retries += 1
                self._stop.wait(pause)
                waited += pause
            else:
                self._succeed(batch, response)
                return

    def _succeed(self, batch: Batch, response: ExportTraceServiceResponse) -> None:
        partial = response.partial_success
        with self._lock:
            self._totals.requests += 1
            self._totals.traces += batch.traces
            self._totals.spans_sent += batch.spans
            self._totals.spans_rejected += partial.rejected_spans
            if partial.error_message:
                self._totals.note_refusal(partial.error_message)

    def _fail(self, batch: Batch, code: str, text: str) -> None:
        with self._lock:
            self._totals.requests_failed += 1
            self._totals.spans_failed += batch.spans
            self._totals.note_refusal(f"{code}: {text}")

    def _end(self, batch: Batch, code: str, text: str) -> None:
        self._fail(batch, code, text)
        with self._lock:
            if self.gave_up is None and not self._stop.is_set():
                self.gave_up = GaveUp(code, text)
        self._stop.set()


def _asked_pause_s(error: grpc.RpcError) -> float:
    """The pause that the receiver requests in google.rpc.RetryInfo; 0 without one."""
    status = rpc_status.from_call(error)  # type: ignore[arg-type]
    for detail in status.details if status is not None else ():
        info = RetryInfo()
        if detail.Is(RetryInfo.DESCRIPTOR) and detail.Unpack(info):
            return float(info.retry_delay.ToTimedelta().total_seconds())
    return 0.0
