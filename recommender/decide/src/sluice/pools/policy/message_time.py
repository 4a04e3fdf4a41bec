"""Converts the times of messages to ms of the Unix epoch."""

from __future__ import annotations

from google.protobuf.timestamp_pb2 import Timestamp

from sluice.pools.policy.state_check import IllegalStateError


def unix_ms(at: Timestamp) -> int:
    """The time in ms. IllegalError where its nanoseconds are not within a second; state_check.py bounds the seconds."""
    if not 0 <= at.nanos < 10**9:
        raise IllegalStateError(f"{at.nanos} ns of a second are not legal; legal: 0 to 999,999,999")
    return at.seconds * 1000 + at.nanos // 10**6
