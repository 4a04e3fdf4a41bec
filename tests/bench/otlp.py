"""Sends made spans to a collector."""

import http.client


def post(connection: http.client.HTTPConnection, message: bytes) -> None:
    """One request of OTLP over HTTP; returns when the collector has taken it. Raises RuntimeError."""
    connection.request("POST", "/v1/traces", message, {"Content-Type": "application/x-protobuf"})
    answer = connection.getresponse()
    answer.read()
    if answer.status != http.client.OK:
        raise RuntimeError(f"the collector answered {answer.status}")
