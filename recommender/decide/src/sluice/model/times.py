"""Unix time as protobuf timestamps."""

from __future__ import annotations

from google.protobuf.timestamp_pb2 import Timestamp


def timestamp(ms: int) -> Timestamp:
    return Timestamp(seconds=ms // 1000, nanos=ms % 1000 * 10**6)
