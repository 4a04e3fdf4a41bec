"""Ids that a CLIENT and a SERVER span share (Zipkin's B3): each side gets its own, as other tracers give it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_MASK = 2**64 - 1


@dataclass(frozen=True)
class Ids:
    """Of one span; ids are 8 bytes, `parent_id` is empty for a root."""

    span_id: bytes
    parent_id: bytes
    kind: str
    service: str


def derived(shared: bytes) -> bytes:
    """The SERVER span's id in place of a shared one: SplitMix64's output for it, big endian."""
    mixed = (int.from_bytes(shared) + 0x9E3779B97F4A7C15) & _MASK
    mixed = ((mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9) & _MASK
    mixed = ((mixed ^ mixed >> 27) * 0x94D049BB133111EB) & _MASK
    mixed ^= mixed >> 31
    return mixed.to_bytes(8) if mixed else (1).to_bytes(8, "little")


def key(span_id: bytes, kind: str) -> tuple[bytes, bool]:
    """Equal for a span and its repeats."""
    return span_id, kind == "SERVER"


def apart(spans: Sequence[Ids]) -> list[tuple[bytes, bytes]]:
    """(span id, parent id) of each span of one trace, in their order.

    A span below a shared id hangs below the CLIENT span when only callers are of its service, else below the SERVER
    span.
    """
    callers, callees = _services(spans, "CLIENT"), _services(spans, "SERVER")
    shared = callers.keys() & callees.keys()
    ids = []
    for span in spans:
        span_id, parent_id = span.span_id, span.parent_id
        if span.kind == "SERVER" and span_id in shared:
            span_id, parent_id = derived(span_id), span_id
        elif parent_id in shared and not (
            span.service in callers[parent_id] and span.service not in callees[parent_id]
        ):
            parent_id = derived(parent_id)
        ids.append((span_id, parent_id))
    return ids


def _services(spans: Iterable[Ids], kind: str) -> dict[bytes, set[str]]:
    services: dict[bytes, set[str]] = {}
    for span in spans:
        if span.kind == kind:
            services.setdefault(span.span_id, set()).add(span.service)
    return services
