"""Span records, as a tracing agent would report them."""

from dataclasses import dataclass
from typing import NamedTuple

SERVER = "server"
CLIENT = "client"


@dataclass(frozen=True, slots=True)
class SpanSite:
    """Where in the code a span is made: everything that all spans of one place have in common."""

    service: str
    side: str
    """SERVER or CLIENT."""
    peer: str
    """The callee's name for CLIENT, empty for SERVER."""
    name: str
    """The span's name, such as ``GET /cart``."""
    attributes: tuple[tuple[str, str | int], ...] = ()
    """By OpenTelemetry's semantic conventions."""
    status_attribute: bool = False
    """Whether the span carries ``http.response.status_code``."""


class Span(NamedTuple):
    """One finished span; times in nanoseconds since the start of the run.

    What it covers:

    - a SERVER span starts when a thread picks the request up, not when the request arrives, and ends when the
      response leaves: a wait for a thread lies outside it;
    - a CLIENT span starts when a connection has been acquired and ends when the response is there: it contains the
      network both ways and the callee's wait for a thread, not the wait for the connection, which shows only as a
      gap inside the caller's SERVER span;
    - the parent of a CLIENT span is its service's SERVER span, that of a SERVER span the caller's CLIENT span (0 for
      a root). A callee without tracing has no spans of its own;
    - failed: a queue was full, here or below. A request that found the callee's queue full has no SERVER span;
      one that found the connection pool's queue full has no CLIENT span.
    """

    trace_id: int
    span_id: int
    parent_id: int
    site: SpanSite
    instance: str
    start_ns: int
    end_ns: int
    failed: bool
