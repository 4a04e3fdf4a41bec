"""Records of the journal that no decider and no server wrote: bytes of another kind, changed bytes, and messages with
any values. One that stopped the reader would stop the shard for as long as the journal has it."""

import os
from collections.abc import Callable
from typing import Any

from google.protobuf.message import Message
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sluice.decider.products import codec
from sluice.journal.broker import Record
from sluice.journal.codec import UnreadableError
from sluice.pools.inputs.operator_inputs import OperatorInputs
from sluice.pools.v1 import candidate_pb2, log_pb2, pool_size_pb2, state_pb2
from sluice.subsets.v1 import log_pb2 as subsets_log_pb2
from sluice.subsets.v1 import subset_pb2
from sluice.tuning.v1 import log_pb2 as tuning_log_pb2
from sluice_kit.hostile import messages, texts

LEGAL = {
    "service": ["shop"],
    "side": [1],
    "peer": [""],
    "instance": ["a-1"],
    "upstream": ["a"],
    "downstream": ["b"],
    "application": ["shop"],
    "session": ["first"],
    "name": ["first"],
    "number": [0],
}
KINDS: dict[str, tuple[type[Message], ...]] = {
    "facts/shop/server/": (state_pb2.PoolFacts,),
    "evidence/shop/server/": (state_pb2.PoolEvidence,),
    "pause/shop/server/": (state_pb2.PoolPause,),
    "scaling/shop": (state_pb2.ServiceScalings,),
    "subsets/shop": (subsets_log_pb2.ApplicationState,),
    "pool/shop/server/": (pool_size_pb2.PoolSize, log_pb2.Report, log_pb2.ObservedSize),
    "candidate/shop/server/": (candidate_pb2.Candidate,),
    "subset/a/a-1/b": (subset_pb2.Subset,),
    "containers/shop": (subsets_log_pb2.ServiceContainers,),
    "session/first": (tuning_log_pb2.SessionRecord, tuning_log_pb2.Command),
    "trial/first/0": (tuning_log_pb2.SessionRecord,),
    "answers/0": (tuning_log_pb2.Answers,),
    "shard/0": (log_pb2.ShardHeartbeat,),
}
CODEC = codec()


@st.composite
def values(draw: st.DrawFn, kinds: tuple[type[Message], ...]) -> bytes:
    """A message's bytes, of which some are changed, missing, or come twice."""
    value = bytearray(draw(messages(draw(st.sampled_from(kinds)), LEGAL)).SerializeToString())
    for _ in range(draw(st.integers(0, 3)) if value else 0):
        at = draw(st.integers(0, len(value)))
        match draw(st.sampled_from(("change", "cut", "insert", "repeat"))):
            case "change" if at < len(value):
                value[at] ^= 1 << draw(st.integers(0, 7))
            case "cut":
                del value[at : at + draw(st.integers(1, 9))]
            case "insert":
                value[at:at] = draw(
                    st.sampled_from((b"\xff" * 9 + b"\1", b"\0", b"\x0b", b"\x80", b"\x0a\x7f", b"\x12\0"))
                )
            case _:
                value[at:at] = value[: draw(st.integers(0, 99))]
    return bytes(value)


@st.composite
def records(draw: st.DrawFn) -> tuple[str, bytes]:
    """A key and the value of its kind; at times of another kind, or a key that is none."""
    key = draw(st.sampled_from(sorted(KINDS)))
    value = draw(values(KINDS[draw(st.sampled_from(sorted(KINDS))) if draw(st.integers(0, 9)) == 0 else key]))
    if draw(st.integers(0, 9)) == 0:
        key = key[: draw(st.integers(0, len(key)))] + draw(texts())
    return key, value


@settings(
    max_examples=int(os.environ.get("SLUICE_HOSTILE_EXAMPLES", "60")),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)
@given(st.lists(records(), min_size=1, max_size=4))
def test_a_record_is_read_or_left_out(those: list[tuple[str, bytes]]) -> None:
    found = CODEC.values(0, dict(those), dict(those), {})
    assert 0 <= found.left_out <= 2 * len(those)
    observed, reports = {}, []
    for offset, (key, value) in enumerate(those):
        record = Record("sluice_reports", offset, key, value)
        if (arrived := left_out_or(CODEC.observed, record)) is not None:
            observed[key] = arrived.value
        if (arrived := left_out_or(CODEC.report, record)) is not None:
            reports.append(arrived.value)
        left_out_or(CODEC.generation, record)
    OperatorInputs(found.parts["pools"], 0).take(CODEC.received(observed, reports, len(those)))


def left_out_or(read: Callable[[Record], Any], record: Record) -> Any:
    """What is read; None where it is left out."""
    try:
        return read(record)
    except UnreadableError:
        return None
