"""What a span says of samplers before it: its tracestate, else its attributes, else nothing."""

from collections.abc import Iterable
from math import inf
from typing import NamedTuple

from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

POLICIES = ("tailsampling.policy", "tailsampling.cached_decision", "sampling.rule")
LIMITED = ("ratelimiting", "lowerbound")
PARTS = 1_024


class Said(NamedTuple):
    """adjusted: how many spans it stands for, in 1/1,024. sampled: whether it says that traces are missing. tail:
    whether it names a policy."""

    adjusted: int = PARTS
    sampled: bool = False
    tail: bool = False


NOTHING = Said()


def said(span: Span, scope: InstrumentationScope) -> Said:
    sampler = _text(span.attributes, "sampler.type")
    probability = _threshold(span.trace_state)
    if not probability and sampler == "probabilistic":
        probability = _number(span.attributes, "sampler.param")
    probability = _legal(probability) or _legal(_number(span.attributes, "sampling.probability"))
    rate = _number(span.attributes, "SampleRate")
    adjusted = _adjusted(probability or _legal(1 / rate if rate else 0.0))
    tail = any(attribute.key in POLICIES for attribute in (*span.attributes, *scope.attributes))
    return Said(adjusted or PARTS, adjusted > PARTS or sampler in LIMITED, tail)


def _legal(probability: float) -> float:
    return probability if 0 < probability <= 1 else 0.0


def _adjusted(probability: float) -> int:
    return int(PARTS / max(probability, 2**-30) + 0.5) if probability else 0


def _threshold(trace_state: str) -> float:
    for member in trace_state.split(","):
        vendor, _, value = member.strip().partition("=")
        fields = [one[3:] for one in value.split(";") if one.startswith("th:")]
        if vendor == "ot" and fields:
            digits = fields[0]
            legal = 0 < len(digits) <= 14 and all(digit in "0123456789abcdefABCDEF" for digit in digits)
            return (2**56 - int(digits.ljust(14, "0"), 16)) / 2**56 if legal else 0.0
    return 0.0


def _text(attributes: Iterable[KeyValue], name: str) -> str:
    return next((one.value.string_value for one in attributes if one.key == name), "")


def _number(attributes: Iterable[KeyValue], name: str) -> float:
    value = next((one.value for one in attributes if one.key == name), None)
    kind = value.WhichOneof("value") if value is not None else None
    if value is None or kind not in ("string_value", "int_value", "double_value"):
        return 0.0
    try:
        number = float(getattr(value, kind))
    except ValueError:
        return 0.0
    return number if abs(number) < inf else 0.0
