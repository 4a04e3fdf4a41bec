"""Converts a protobuf message to values for `json.dumps`, for scripts.

The result follows protobuf's JSON mapping (times RFC 3339, durations "0.250s", enums by name) with three differences.
Fields have their names in the proto (snake_case); an absent field with presence is null; 64-bit integers are numbers.

Scripts outlive versions of the API: names from before sluice.pools.v1 stay (`SHORT`, `KEPT`).
"""

from typing import Any

from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from sluice.cli.pools.text import short_name
from sluice.pools.v1.evidence_pb2 import Explanation

# Enums whose values appear without their prefix.
SHORT = {
    *("sluice.pools.v1.State", "sluice.pools.v1.Basis", "sluice.pools.v1.Advice.Kind"),
    *("sluice.common.v1.Action", "sluice.subsets.v1.State"),
}
# Fields and values of the API that have another name here.
KEPT = {
    "sluice.pools.v1.Explanation.baseline": "footing",
    "sluice.pools.v1.Explanation.remembered_curve": "prior",
    "sluice.pools.v1.RememberedCurve.baseline": "footing",
    "sluice.pools.v1.CurveEvidence.points": "curve",
    "KIND_UNSPECIFIED": "PRIOR_KIND_UNSPECIFIED",
    "KIND_SAME": "PRIOR_KIND_SAME",
    "KIND_SCALED": "PRIOR_KIND_SCALED",
}
# Messages whose fields appear among those of the enclosing message.
FLAT = {"sluice.pools.v1.CurveEvidence"}


def message_to_json(message: Message) -> Any:
    """Converts every field of the message, in the proto's order."""
    if isinstance(message, Duration | Timestamp):
        return message.ToJsonString()
    values: dict[str, Any] = {}
    for field in message.DESCRIPTOR.fields:
        if field.message_type is not None and field.message_type.full_name in FLAT:
            values |= message_to_json(getattr(message, field.name))
        else:
            values[KEPT.get(field.full_name, field.name)] = _field(message, field)
    return values


def explanation_to_json(explanation: Explanation) -> Any:
    """Keeps `knee` at the top level also for a belief: scripts from before beliefs read it there."""
    values = message_to_json(explanation)
    if explanation.HasField("belief"):
        values["knee"] = float(explanation.belief.knee)
    return values


def _field(message: Message, field: Any) -> Any:
    value = getattr(message, field.name)
    if field.is_repeated:
        return [_scalar(field, item) for item in value]
    if field.has_presence and not message.HasField(field.name):
        return None
    return _scalar(field, value)


def _scalar(field: Any, value: Any) -> Any:
    if field.message_type is not None:
        return message_to_json(value)
    if field.enum_type is not None:
        if field.enum_type.full_name in SHORT:
            return short_name(field.enum_type, value)
        known = field.enum_type.values_by_number.get(value)
        return KEPT.get(known.name, known.name) if known is not None else value
    return value
