"""Makes SERVER spans of nginx's access log, which comes line by line as syslog messages on a UDP port.

nginx begins each trace (`conf/nginx.conf`): the trace id is `$request_id`, the span id its first half, and both go on
to the upstream in `traceparent`. Times are known to a millisecond.
"""

import argparse
import re
import signal
import socket

from ..exporter import Exporter
from ..spans import SERVER, Span, SpanSite

SITE = SpanSite("nginx", SERVER, "", "GET /page", (("http.request.method", "GET"),), status_attribute=True)
LINE = re.compile(
    rb"(?P<trace>[0-9a-f]{32}) (?P<span>[0-9a-f]{16}) (?P<end>\d+\.\d+) (?P<seconds>\d+\.\d+) (?P<status>\d{3})\s*$"
)
_LARGEST = 1 << 16


def span_of(message: bytes) -> Span | None:
    """Of a syslog message as `log_format spans` has it; None where it is none."""
    result = LINE.search(message)
    if result is None:
        return None
    end_ns = round(float(result["end"]) * 1e3) * 1_000_000
    start_ns = end_ns - round(float(result["seconds"]) * 1e3) * 1_000_000
    failed = not result["status"].startswith((b"2", b"3"))
    return Span(int(result["trace"], 16), int(result["span"], 16), 0, SITE, "nginx-1", start_ns, end_ns, failed)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m testbed.storefront.access_log", description=__doc__)
    parser.add_argument("--port", type=int, required=True, help="UDP, of 127.0.0.1")
    parser.add_argument("--otlp", required=True, help="receiver of spans")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: (_ for _ in ()).throw(SystemExit(0)))
    exporter = Exporter(options.otlp, queue=1 << 16)
    exporter.start()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as inbox:
        inbox.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        inbox.bind(("127.0.0.1", options.port))
        try:
            while True:
                span = span_of(inbox.recv(_LARGEST))
                if span is not None:
                    exporter.offer(span)
        finally:
            exporter.stop()


if __name__ == "__main__":
    main()
