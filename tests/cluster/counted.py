"""A service whose every span is counted as it is sent: what ClickHouse has of it is complete, or not."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import requests
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

_MS = 1_000_000
#: One export each EVERY_S seconds, with spans one after the other that fill this time.
EVERY_S, SPANS = 0.2, 4


class Counted:
    """Sends spans of `service` to `url` (OTLP/HTTP) until it is stopped; an export is repeated until it is taken."""

    def __init__(self, service: str, url: str) -> None:
        self.service = service
        self.sent = 0
        self.repeated = 0
        self._url = f"{url}/v1/traces"
        self._stopping = threading.Event()

    def run(self) -> None:
        while not self._stopping.is_set():
            body = self._export(time.time_ns())
            while not self._taken(body):
                self.repeated += 1
                time.sleep(EVERY_S)
            self.sent += SPANS
            self._stopping.wait(EVERY_S)

    def stop(self) -> None:
        self._stopping.set()

    def _taken(self, body: bytes) -> bool:
        try:
            answer = requests.post(self._url, data=body, headers={"Content-Type": "application/x-protobuf"}, timeout=20)
        except requests.RequestException:
            return False
        return answer.status_code == 200

    def _export(self, now_ns: int) -> bytes:
        request = ExportTraceServiceRequest()
        resource = request.resource_spans.add()
        resource.resource.attributes.add(key="service.name").value.string_value = self.service
        resource.resource.attributes.add(key="service.instance.id").value.string_value = "one"
        length = int(EVERY_S * 1000 * _MS / SPANS)
        for number in range(SPANS):
            end = now_ns - number * length
            resource.scope_spans.add().spans.add(
                trace_id=end.to_bytes(16, "big"), span_id=end.to_bytes(8, "big"), name="work",
                kind=Span.SPAN_KIND_SERVER, start_time_unix_nano=end - length, end_time_unix_nano=end,
            )  # fmt: skip
        return request.SerializeToString()


@contextmanager
def counted(service: str, url: str) -> Iterator[Counted]:
    """Sends while the block runs; after it, `sent` no longer grows."""
    sender = Counted(service, url)
    thread = threading.Thread(target=sender.run, daemon=True)
    thread.start()
    try:
        yield sender
    finally:
        sender.stop()
        thread.join()


def completions(service: str) -> str:
    """The query for spans of `service` that have their window."""
    return f"SELECT sum(completions) FROM v_windows WHERE service = '{service}'"
