"""What a span is: computed once for spans that say the same, because spans of one operation repeat it."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from sluice.cli.traces.report.facts.addresses import address
from sluice.cli.traces.report.facts.attributes import (
    HOST,
    INSTANCE,
    PEER,
    SERVICE,
    Attributes,
    Value,
    cut,
    first_text,
)
from sluice.cli.traces.report.facts.errors import is_error
from sluice.cli.traces.report.facts.rules import Rules

#: Kinds of spans, with OTLP's numbers; a kind of another number counts as INTERNAL.
INTERNAL, SERVER, CLIENT, PRODUCER, CONSUMER = range(1, 6)
#: On which side of a pool a span of each kind is.
SIDES = {SERVER: "server", CONSUMER: "consumer", CLIENT: "client", PRODUCER: "client"}
#: Stands for the threshold in a span's tracestate, beside its attributes.
THRESHOLD = "tracestate.ot.th"
_THRESHOLD = re.compile(r"[0-9a-f]{1,14}")
PAIRS = tuple[tuple[str, Value], ...]


class Resource(NamedTuple):
    """Where a span is from; "" where the resource does not say it. pairs: its attributes that rules name."""

    service: str
    instance: str
    host: str
    pairs: PAIRS = ()


class Description(NamedTuple):
    """A span as it describes itself. `pairs`: its relevant attributes. failed: its status is ERROR. exceeded_ns: the
    longest of the rules' durations that it exceeds."""

    kind: int
    operation: str
    scope: str
    failed: bool
    pairs: PAIRS
    exceeded_ns: int = 0


class SpanFacts(NamedTuple):
    """What a span is. peer: what its attributes name, `address`: what they only locate, both "" where absent. use: HELD
    and so on, by the rule `rule`. probability: that the trace was sampled, where the span says it; else 0."""

    service: str
    instance: str
    host: str
    kind: int
    operation: str
    error: bool
    peer: str
    address: str
    use: int
    rule: str
    probability: float


def resource_of(attributes: Attributes, of_rules: Iterable[str] = ()) -> Resource:
    """of_rules: names of attributes."""
    pairs = tuple([(name, attributes[name]) for name in of_rules if name in attributes])
    return Resource(
        first_text(attributes, SERVICE), first_text(attributes, INSTANCE), first_text(attributes, HOST), pairs
    )


def facts_of(resource: Resource, description: Description, rules: Rules) -> SpanFacts:
    attributes = dict(reversed(description.pairs))  # of an attribute that is there twice, the first counts
    kind = description.kind if INTERNAL <= description.kind <= CONSUMER else INTERNAL
    asks = kind in (CLIENT, PRODUCER)
    peer = first_text(attributes, PEER) if asks else ""
    located = address(attributes) if asks else ""
    operation = cut(description.operation)
    use, rule = 0, ""
    if side := SIDES.get(kind, ""):
        named = peer or located or "unknown" if side == "client" else ""
        fields = {
            "service": resource.service,
            "side": side,
            "peer": named,
            "span": operation,
            "scope": cut(description.scope),
        }
        use, rule = rules.of(fields, (attributes, dict(resource.pairs)), description.exceeded_ns)
    error = is_error(description.failed, attributes)
    return SpanFacts(*resource[:3], kind, operation, error, peer, located, use, rule, _probability(attributes))


def threshold_of(trace_state: str) -> str:
    """The rejection threshold of consistent probability sampling (`ot=th:8`) in a tracestate; "" without one."""
    for entry in trace_state.split(","):
        vendor, _, value = entry.strip().partition("=")
        if vendor == "ot":
            for part in value.split(";"):
                if part.startswith("th:"):
                    return part[3:]
    return ""


def _probability(attributes: Attributes) -> float:
    """Of a threshold: the share of random numbers of 56 bits from it on; else the first attribute with a legal share.
    Of Jaeger's samplers `probabilistic` keeps a share; the others say none. th:8 -> 0.5."""
    threshold = attributes.get(THRESHOLD)
    if isinstance(threshold, str) and _THRESHOLD.fullmatch(threshold):
        return 1 - int(threshold.ljust(14, "0"), 16) / 2**56
    jaeger = attributes.get("sampler.type") == "probabilistic"
    rate = _number(attributes.get("SampleRate"))
    shares = (
        _number(attributes.get("sampler.param")) if jaeger else 0.0,
        _number(attributes.get("sampling.probability")),
        1 / rate if rate else 0.0,
    )
    return next((share for share in shares if 0 < share <= 1), 0.0)


def _number(value: Value | None) -> float:
    try:
        return float(value or 0.0)
    except ValueError:
        return 0.0
