"""Traces as path_walk reads them: random ones with ties and faults, and where the recorded ones are."""

import random

from sluice_kit.local_stack.driver import REPOSITORY
from sluice_kit.reference.path_walk import SpanDict

RECORDED = REPOSITORY.parent / "shared/data/traces"


KINDS = ["INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"]


def random_trace(rng: random.Random, prefix: str) -> list[SpanDict]:
    """Ids are unique over traces but for those repeated on purpose. Small times: ties are frequent."""
    size = rng.choice([1, 3, 8, 20, 60])
    broken = rng.random() < 0.4
    shape = rng.choice(["deep", "wide", "any"])
    spans: list[SpanDict] = []
    for n in range(size):
        above = {"deep": n - 1, "wide": min(n - 1, rng.randrange(3)), "any": rng.randrange(n) if n else -1}[shape]
        low, high = (spans[above]["start_ns"], spans[above]["end_ns"]) if n else (500, 500 + rng.randrange(90))
        start = rng.randint(low, max(low, high)) if n else low
        end = start + rng.randrange(max(1, high - low) + 1) if n else high
        if rng.random() < 0.2:
            by = rng.randint(-60, 60)
            start, end = start + by, end + by
        parent = spans[above]["span_id"] if n else ""
        cause = rng.randrange(40) if broken else -1
        if cause == 0:
            parent = f"{prefix}{rng.randrange(size):08x}"
        elif cause == 1:
            parent = f"{prefix}{n:08x}"
        elif cause == 2:
            parent = f"{prefix}{0xFFFF:08x}"
        elif cause == 3:
            parent = ""
        elif cause == 4:
            end = start - 1
        span = {
            "span_id": f"{prefix}{rng.randrange(size) if cause == 5 else n:08x}",
            "parent_id": parent,
            "kind": rng.choice(KINDS),
            "service": rng.choice(["s", "t", "u"]),
            "linked": cause >= 0 and rng.random() < 0.2,
            "host": rng.choice(["", "a", "b"]),
            "start_ns": start,
            "end_ns": end,
        }
        if n and spans[above]["kind"] == "CLIENT" and rng.random() < 0.3:
            pair = {key: spans[above][key] for key in ("span_id", "parent_id")}
            span |= pair | {"kind": "SERVER", "linked": False}
        taken = {(s["span_id"], s["start_ns"], s["end_ns"]) for s in spans}
        if (span["span_id"], start, end) not in taken:  # which of two such stays is a matter of more than the rules
            spans.append(span)
        else:
            spans.append(span | {"span_id": f"{prefix}{0x10000 + n:08x}"})
    return stretched(rng, spans) if rng.random() < 0.5 else spans


def stretched(rng: random.Random, spans: list[SpanDict]) -> list[SpanDict]:
    """Where two spans touched they may now overlap by so little that they are serial ones."""
    return [span | {end: span[end] * 1000 + rng.randrange(100) for end in ("start_ns", "end_ns")} for span in spans]
